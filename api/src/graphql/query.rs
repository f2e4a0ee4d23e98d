//! Reading.

use async_graphql::{Context, ID, Object, Result};
use domain::Error;
use domain::ids::{TokenId, UserId, WorkId, WorkspaceId};

use super::error::{Nullable, nullable};
use super::model::{ApiTokenObject, Node, UserObject, Viewer, WorkObject, WorkspaceObject};
use super::scope::scope;

/// Objects that one request may ask for by id at once.
const NODES: usize = 100;

/// Reading.
#[derive(Debug, Default)]
pub struct Query;

#[Object]
impl Query {
    /// Any object by its id; null where there is none, or none for the caller.
    async fn node(&self, ctx: &Context<'_>, id: ID) -> Nullable<Node> {
        nullable(find(ctx, &id).await)
    }

    /// Many objects by their ids, in their order.
    async fn nodes(&self, ctx: &Context<'_>, ids: Vec<ID>) -> Result<Vec<Nullable<Node>>> {
        if ids.len() > NODES {
            return Err(Error::Invalid(format!(
                "`ids` can hold {NODES} ids, and holds {}",
                ids.len()
            ))
            .into());
        }
        let found = futures_util::future::join_all(ids.iter().map(|id| find(ctx, id))).await;
        Ok(found.into_iter().map(nullable).collect())
    }

    /// Who asks.
    async fn viewer(&self, ctx: &Context<'_>) -> Result<Viewer> {
        let scope = scope(ctx)?;
        let user = scope.users.load(scope.caller.user).await?;
        Ok(user.map(Viewer).ok_or_else(|| {
            Error::Unauthenticated("this person does not exist any more".to_owned())
        })?)
    }

    /// A workspace by its id; null where there is none, or none for the caller.
    async fn workspace(&self, ctx: &Context<'_>, id: ID) -> Nullable<WorkspaceObject> {
        let Ok(id) = id.parse::<WorkspaceId>() else {
            return None;
        };
        nullable(WorkspaceObject::find(ctx, id).await)
    }
}

async fn find(ctx: &Context<'_>, id: &ID) -> Result<Option<Node>> {
    let scope = scope(ctx)?;
    if let Ok(work) = id.parse::<WorkId>() {
        return Ok(scope
            .works
            .load(work)
            .await?
            .map(|work| WorkObject::from(work).into()));
    }
    if let Ok(workspace) = id.parse::<WorkspaceId>() {
        return Ok(WorkspaceObject::find(ctx, workspace)
            .await?
            .map(Node::Workspace));
    }
    if let Ok(user) = id.parse::<UserId>() {
        return find_user(ctx, user).await;
    }
    let Ok(token) = id.parse::<TokenId>() else {
        return Ok(None);
    };
    let tokens = scope
        .services
        .store
        .reads()
        .list_tokens_by_id(&[token])
        .await?;
    let own = tokens
        .into_iter()
        .find(|token| token.user == scope.caller.user);
    Ok(own.map(|token| Node::ApiToken(ApiTokenObject(token))))
}

/// A person whom the caller shares a workspace with.
async fn find_user(ctx: &Context<'_>, user: UserId) -> Result<Option<Node>> {
    let scope = scope(ctx)?;
    if user != scope.caller.user {
        let known = scope
            .services
            .store
            .reads()
            .list_acquainted(scope.caller.user, &[user])
            .await?;
        if known.is_empty() {
            return Ok(None);
        }
    }
    Ok(scope
        .users
        .load(user)
        .await?
        .map(|user| Node::User(UserObject(user))))
}
