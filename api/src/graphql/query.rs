//! The query root.

use async_graphql::{Context, ID, Object, Result};
use domain::ids::WorkspaceId;

use super::model::node::Node;
use super::model::people::Viewer;
use super::model::workspace::Workspace;
use super::scope::Scope;

/// What can be asked for.
#[derive(Debug, Default)]
pub(crate) struct WorksQuery;

#[Object]
impl WorksQuery {
    /// Whatever has this id; null where there is nothing, or nothing for the caller.
    async fn node(&self, ctx: &Context<'_>, id: ID) -> Option<Result<Node>> {
        let found = async { Node::find(Scope::of(ctx)?, &id).await };
        found.await.transpose()
    }

    /// The same for several ids, in their order.
    async fn nodes(&self, ctx: &Context<'_>, ids: Vec<ID>) -> Vec<Option<Result<Node>>> {
        let found = ids.iter().map(|id| async move {
            let found = async { Node::find(Scope::of(ctx)?, id).await };
            found.await.transpose()
        });
        futures_util::future::join_all(found).await
    }

    /// The person who asks.
    async fn viewer(&self) -> Viewer {
        Viewer
    }

    /// A workspace that the caller is a member of; null for any other.
    async fn workspace(&self, ctx: &Context<'_>, id: ID) -> Option<Result<Workspace>> {
        let id: WorkspaceId = id.parse().ok()?;
        let found = async { Scope::of(ctx)?.find_workspace(id).await };
        Some(found.await.transpose()?.map(Workspace))
    }
}
