//! Who did something, as clients see it.

use async_graphql::{Context, Enum, Object, Result};

use super::people::User;
use crate::graphql::error::Nullable;
use crate::graphql::scope::Scope;

/// What kind of actor it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
pub(crate) enum ActorKind {
    /// A person.
    Person,
    /// The agent, for a task.
    Agent,
    /// The server itself.
    System,
    /// A media provider.
    Provider,
}

/// Who did something.
#[derive(Debug, Clone)]
pub(crate) struct Actor(pub(crate) domain::actor::Actor);

/// Who did something.
#[Object]
impl Actor {
    /// What kind of actor it is.
    async fn kind(&self) -> ActorKind {
        match self.0 {
            domain::actor::Actor::Person(_) => ActorKind::Person,
            domain::actor::Actor::Agent { .. } => ActorKind::Agent,
            domain::actor::Actor::System => ActorKind::System,
            domain::actor::Actor::Provider(_) => ActorKind::Provider,
        }
    }

    /// The person, where it is one.
    async fn user(&self, ctx: &Context<'_>) -> Nullable<User> {
        let domain::actor::Actor::Person(id) = self.0 else {
            return None;
        };
        Some(User::load(ctx, id).await)
    }

    /// What people call this actor.
    async fn label(&self, ctx: &Context<'_>) -> Result<String> {
        Ok(match &self.0 {
            domain::actor::Actor::Person(id) => Scope::of(ctx)?.user(*id).await?.name,
            domain::actor::Actor::Agent { .. } => "Agent".to_owned(),
            domain::actor::Actor::System => "System".to_owned(),
            domain::actor::Actor::Provider(name) => name.clone(),
        })
    }
}
