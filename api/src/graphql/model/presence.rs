//! Who is at a work at the moment.

use async_graphql::{ID, Object};
use domain::document;

use super::actor::Actor;
use crate::graphql::scalars::DateTime;

/// Somebody at a work, as others see it.
#[derive(Debug, Clone)]
pub(crate) struct Presence(pub(crate) document::Presence);

/// Somebody at a work, as others see it.
#[Object]
impl Presence {
    /// Who it is.
    async fn actor(&self) -> Actor {
        Actor(self.0.actor.clone())
    }

    /// The node that is being looked at or edited, where the editor says so.
    async fn node_id(&self) -> Option<ID> {
        self.0.node_id.as_ref().map(ID::from)
    }

    /// The name that others see.
    async fn label(&self) -> &str {
        &self.0.label
    }

    /// Since when.
    async fn since(&self) -> DateTime {
        DateTime(self.0.since)
    }
}
