//! How a message found its place, and which tasks were weighed.

use async_graphql::{Context, Enum, Object, Result};
use domain::Error;
use domain::ids::WorkspaceId;
use domain::message;
use domain::page::PAGE_LIMIT;
use domain::routing::{self, CandidateRequest};
use futures_util::future::try_join_all;

use super::task::Task;
use crate::graphql::error::{Nullable, nullable};
use crate::graphql::scalars::DateTime;
use crate::graphql::scope::Scope;

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
    async fn decided_at(&self) -> DateTime {
        DateTime(self.0.decided_at)
    }

    /// The tasks that were weighed, best first; those that the caller may not see are left out.
    async fn candidates(&self, ctx: &Context<'_>) -> Result<Vec<RouterCandidate>> {
        visible(Scope::of(ctx)?, self.0.candidates.clone()).await
    }

    /// Set when a person moved the message afterwards: the task it stood in before.
    async fn corrected_from(&self, ctx: &Context<'_>) -> Nullable<Task> {
        nullable(Task::find(ctx, self.0.corrected_from?).await)
    }
}

/// What made a task a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "routing::CandidateReason")]
pub(crate) enum CandidateReason {
    /// It is among those that changed last, or was just spoken of.
    RecentlyActive,
    /// Words of the message stand in it.
    Keyword,
    /// It means something alike.
    Vector,
    /// It works on something that came with the message, or that the message speaks of.
    LinkedWork,
    /// It is in work and looks like the new goal.
    SimilarInProgress,
}

/// A task that a message may belong to.
#[derive(Debug, Clone)]
pub(crate) struct RouterCandidate {
    task: Task,
    candidate: routing::Candidate,
}

/// A task that a message may belong to.
#[Object]
impl RouterCandidate {
    /// The task.
    async fn task(&self) -> &Task {
        &self.task
    }

    /// How well it fits beside the others, from 0 to 1.
    async fn score(&self) -> f64 {
        self.candidate.score
    }

    /// What made it a candidate.
    async fn reasons(&self) -> Vec<CandidateReason> {
        let reasons = self.candidate.reasons.iter();
        reasons.map(|reason| (*reason).into()).collect()
    }
}

/// Those candidates that the caller may see.
async fn visible(
    scope: &Scope,
    candidates: Vec<routing::Candidate>,
) -> Result<Vec<RouterCandidate>> {
    let found = candidates.into_iter().map(|candidate| async move {
        let task = scope.find_task(candidate.task).await?;
        Ok::<_, async_graphql::Error>(task.map(|task| RouterCandidate {
            task: Task(task),
            candidate,
        }))
    });
    Ok(try_join_all(found).await?.into_iter().flatten().collect())
}

/// The candidates that the router would be shown for a text of the caller.
pub(crate) async fn candidates_for(
    scope: &Scope,
    workspace: WorkspaceId,
    (text, first): (&str, Option<i32>),
) -> Result<Vec<RouterCandidate>> {
    scope.role(workspace).await?;
    let most = match first {
        None => routing::SHOWN,
        Some(first) => usize::try_from(first).unwrap_or(0),
    };
    if !(1..=PAGE_LIMIT as usize).contains(&most) {
        let text = format!("`first` must be between 1 and {PAGE_LIMIT}");
        return Err(Error::Invalid(text).into());
    }
    let request = CandidateRequest {
        workspace,
        user: scope.caller.user,
        text,
        works: &[],
        at: scope.now(),
    };
    let search = &*scope.services.search;
    let found = routing::candidates(scope.reads(), search, request).await?;
    let mut stored = found.stored();
    stored.truncate(most);
    visible(scope, stored).await
}
