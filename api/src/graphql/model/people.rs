//! People: users, members, tokens, and the person who asks.

use std::sync::Arc;

use async_graphql::{Context, Enum, ID, Object, Result};
use domain::ids::UserId;
use domain::people;

use super::workspace::{WorkspaceConnection, list_own};
use crate::graphql::scalars::{Cursor, DateTime};
use crate::graphql::scope::Scope;

/// What a member may do: each role includes the ones after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "people::Role")]
pub(crate) enum Role {
    /// Adds and removes members, and sets budgets.
    Owner,
    /// Changes works, and talks.
    Editor,
    /// Reads.
    Viewer,
}

/// A PERSONAL token acts as the person in the interface; PUBLIC_API marks programs: each of their paid calls is confirmed one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "people::TokenKind")]
pub(crate) enum TokenKind {
    /// Acts as the person in the interface.
    Personal,
    /// Marks a program.
    PublicApi,
}

/// A person.
#[derive(Debug, Clone)]
pub(crate) struct User(pub(crate) people::User);

impl User {
    /// The person behind an id that a visible object names.
    pub(crate) async fn load(ctx: &Context<'_>, id: UserId) -> Result<Self> {
        Ok(Self(Scope::of(ctx)?.user(id).await?))
    }
}

/// A person.
#[Object]
impl User {
    /// The id of the person.
    pub(crate) async fn id(&self) -> ID {
        self.0.id.into()
    }

    /// As shown to others.
    async fn name(&self) -> &str {
        &self.0.name
    }

    /// The e-mail address, where one is known.
    async fn email(&self) -> Option<&str> {
        self.0.email.as_deref()
    }

    /// When the person was made known here.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }
}

/// A person in a workspace.
#[derive(Debug, Clone)]
pub(crate) struct Member(pub(crate) people::Member);

/// A person in a workspace.
#[Object]
impl Member {
    /// The person.
    async fn user(&self, ctx: &Context<'_>) -> Result<User> {
        User::load(ctx, self.0.user).await
    }

    /// What the person may do there.
    async fn role(&self) -> Role {
        self.0.role.into()
    }

    /// Since when.
    async fn joined_at(&self) -> DateTime {
        DateTime(self.0.joined_at)
    }
}

/// A token, without its secret.
#[derive(Debug, Clone)]
pub(crate) struct ApiToken(pub(crate) people::ApiToken);

/// A token, without its secret.
#[Object]
impl ApiToken {
    /// The id of the token; its secret is another thing.
    pub(crate) async fn id(&self) -> ID {
        self.0.id.into()
    }

    /// What its owner calls it.
    async fn label(&self) -> &str {
        &self.0.label
    }

    /// What it stands for.
    async fn kind(&self) -> TokenKind {
        self.0.kind.into()
    }

    /// When it was made.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    /// When it was used last, to the minute.
    async fn last_used_at(&self) -> Option<DateTime> {
        self.0.last_used_at.map(DateTime)
    }

    /// From when on it is refused; null for never.
    async fn expires_at(&self) -> Option<DateTime> {
        self.0.expires_at.map(DateTime)
    }
}

/// The person who asks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Viewer;

/// The person who asks.
#[Object]
impl Viewer {
    /// The person.
    async fn user(&self, ctx: &Context<'_>) -> Result<User> {
        User::load(ctx, Scope::of(ctx)?.caller.user).await
    }

    /// The workspaces that the person is a member of, newest first.
    async fn workspaces(
        &self,
        ctx: &Context<'_>,
        first: Option<i32>,
        after: Option<Cursor>,
    ) -> Result<WorkspaceConnection> {
        list_own(Scope::of(ctx)?, first, after.as_ref()).await
    }

    /// The person's tokens, oldest first.
    async fn tokens(&self, ctx: &Context<'_>) -> Result<Vec<ApiToken>> {
        let tokens = Scope::of(ctx)?.tokens().await?;
        Ok(Arc::unwrap_or_clone(tokens)
            .into_iter()
            .map(ApiToken)
            .collect())
    }
}
