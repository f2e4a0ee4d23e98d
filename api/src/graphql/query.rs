//! The query root.

use async_graphql::{Context, ID, Object, Result};
use domain::ids::WorkspaceId;
use futures_util::future::join_all;

use super::error::{Nullable, nullable};
use super::model::call::ToolCall;
use super::model::node::Node;
use super::model::people::Viewer;
use super::model::routing::{RouterCandidate, candidates_for};
use super::model::search::{Asked, SearchConnection, SearchKind, page_of_search};
use super::model::workspace::Workspace;
use super::scalars::Cursor;
use super::scope::Scope;

/// What can be asked for.
#[derive(Debug, Default)]
pub struct Query;

/// What can be asked for.
#[Object]
impl Query {
    /// Whatever has this id; null where there is nothing, or nothing for the caller.
    async fn node(&self, ctx: &Context<'_>, id: ID) -> Nullable<Node> {
        nullable(find(ctx, &id).await)
    }

    /// The same for several ids, in their order.
    async fn nodes(&self, ctx: &Context<'_>, ids: Vec<ID>) -> Vec<Nullable<Node>> {
        let found = join_all(ids.iter().map(|id| find(ctx, id))).await;
        found.into_iter().map(nullable).collect()
    }

    /// The call with this id (turn id / step number / index), and by its `step` why it was made; null where there is none, or
    /// none for the caller.
    async fn call(&self, ctx: &Context<'_>, id: ID) -> Nullable<ToolCall> {
        nullable(find_call(ctx, &id).await)
    }

    /// The person who asks.
    async fn viewer(&self) -> Viewer {
        Viewer
    }

    /// Tasks, memories, works and messages of a workspace that fit these words or their meaning, best first. Never gives
    /// forgotten text.
    #[expect(
        clippy::too_many_arguments,
        reason = "they are the arguments of the field"
    )]
    async fn search(
        &self,
        ctx: &Context<'_>,
        workspace_id: ID,
        query: String,
        kinds: Option<Vec<SearchKind>>,
        first: Option<i32>,
        after: Option<Cursor>,
    ) -> Result<SearchConnection> {
        let asked = Asked {
            workspace: workspace_id.parse().map_err(domain::Error::from)?,
            question: query,
            kinds,
            first,
            after,
        };
        page_of_search(Scope::of(ctx)?, asked).await
    }

    /// The candidates that the router would be shown for this text, best first, with what made each a candidate.
    async fn router_candidates(
        &self,
        ctx: &Context<'_>,
        workspace_id: ID,
        text: String,
        first: Option<i32>,
    ) -> Result<Vec<RouterCandidate>> {
        let workspace = workspace_id.parse().map_err(domain::Error::from)?;
        candidates_for(Scope::of(ctx)?, workspace, (&text, first)).await
    }

    /// A workspace that the caller is a member of; null for any other.
    async fn workspace(&self, ctx: &Context<'_>, id: ID) -> Nullable<Workspace> {
        nullable(find_workspace(ctx, id.parse().ok()?).await)
    }
}

async fn find(ctx: &Context<'_>, id: &ID) -> Result<Option<Node>> {
    Node::find(Scope::of(ctx)?, id).await
}

async fn find_call(ctx: &Context<'_>, id: &ID) -> Result<Option<ToolCall>> {
    ToolCall::find(Scope::of(ctx)?, id).await
}

async fn find_workspace(ctx: &Context<'_>, id: WorkspaceId) -> Result<Option<Workspace>> {
    let found = Scope::of(ctx)?.find_workspace(id).await?;
    Ok(found.map(Workspace))
}
