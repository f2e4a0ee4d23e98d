//! How a message found its place.
//!
//! Not here: the candidates that were weighed, which come with the router.

use async_graphql::{Context, Enum, Object};
use domain::message;

use super::task::Task;
use crate::graphql::error::{Nullable, nullable};
use crate::graphql::scalars::DateTime;

/// How a message's place was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "message::RoutingStage")]
pub(crate) enum RoutingStage {
    /// By a rule.
    Deterministic,
    /// By the router's model.
    Semantic,
    /// A person moved it.
    Correction,
}

/// What place was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "message::RoutingOutcome")]
pub(crate) enum RoutingOutcome {
    /// Main answered.
    AnsweredByMain,
    /// A light task was made.
    LightweightTask,
    /// A task that was there.
    ExistingTask,
    /// A new task was made.
    NewTask,
    /// A person must choose.
    NeedsClarification,
    /// The place can not take it.
    Rejected,
}

/// How a message found its place.
#[derive(Debug, Clone)]
pub(crate) struct Routing(pub(crate) message::Routing);

/// How a message found its place.
#[Object]
impl Routing {
    /// How.
    async fn stage(&self) -> RoutingStage {
        self.0.stage.into()
    }

    /// What came of it.
    async fn outcome(&self) -> RoutingOutcome {
        self.0.outcome.into()
    }

    /// Why, in words for a person.
    async fn rationale(&self) -> Option<&str> {
        self.0.rationale.as_deref()
    }

    /// When.
    async fn decided_at(&self) -> Option<DateTime> {
        Some(DateTime(self.0.decided_at))
    }

    /// Set when a person moved the message afterwards: the task it stood in before.
    async fn corrected_from(&self, ctx: &Context<'_>) -> Nullable<Task> {
        nullable(Task::find(ctx, self.0.corrected_from?).await)
    }
}
