//! A step that could not be decided: the model does not fit, refuses, or can not be reached.
//!
//! Invariants
//! - The messages that the step took go back into the inbox: nothing was decided about them.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;

use super::{Fence, TurnChange, TurnState};
use crate::error::Result;
use crate::event::{EventKind, Subject};
use crate::ids::TurnId;
use crate::journal::JournalKind;
use crate::message::MessageState;
use crate::store::{Command, Scope, Transaction};
use crate::task::{TaskLimits, TaskStatus};
use crate::time::Timestamp;

/// Why a step could not be decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepFailure {
    /// The model will answer the same again; a person must change something. The text says what.
    Final(String),
    /// It may work later; the turn is suspended until then, each time longer.
    Passing {
        /// What happened.
        reason: String,
        /// When the provider wants to be asked again.
        retry_after: Option<Duration>,
    },
}

/// Ends or suspends a turn whose open step can not be decided.
#[derive(Debug, Clone)]
pub struct FailStep {
    /// The turn's fence.
    pub fence: Fence,
    /// The step.
    pub step: u32,
    /// Why.
    pub failure: StepFailure,
    /// Limits of tasks.
    pub limits: TaskLimits,
    /// The present time.
    pub at: Timestamp,
}

/// The first pause before a model is asked again; it doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_mins(10);
const LONGEST_MAIN_PAUSE: Duration = Duration::from_secs(30);

#[async_trait]
impl Command for FailStep {
    type Output = ();
    const NAME: &'static str = "step.fail";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.fence.workspace)
    }

    fn enters(&self) -> Option<TurnId> {
        Some(self.fence.turn)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        let mut change = TurnChange::enter(tx, self.fence, self.step, self.at).await?;
        let failures = change.task.task.course.model_failures + 1;
        match &self.failure {
            StepFailure::Passing {
                reason,
                retry_after,
            } if change.task.task.is_main() => {
                change.task.task.course.model_failures = failures;
                let pause = main_pause(failures).max(retry_after.unwrap_or_default());
                self.wait(&mut change, reason, pause).await?;
            }
            StepFailure::Passing {
                reason,
                retry_after,
            } if failures <= self.limits.model_failures => {
                change.task.task.course.model_failures = failures;
                let pause = pause(failures).max(retry_after.unwrap_or_default());
                self.suspend(&mut change, reason, pause).await?;
            }
            StepFailure::Passing { reason, .. } | StepFailure::Final(reason) => {
                change.task.task.course.model_failures = 0;
                self.block(&mut change, reason).await?;
            }
        }
        change.save().await
    }
}

impl FailStep {
    /// Main never gives up: what waits for its place is told why, and is looked at again soon.
    async fn wait(&self, change: &mut TurnChange<'_>, reason: &str, pause: Duration) -> Result<()> {
        let (main, routing) = ([change.turn.task], [MessageState::Routing]);
        for message in change.tx().list_inbox(&main, &routing).await? {
            let state = MessageState::Received;
            change.task.tell_of(
                EventKind::MessageStateChanged,
                Subject::Message(message.id),
                json!({"state": state, "reason": reason, "retryInSeconds": pause.as_secs()}),
            );
        }
        let until = change.tx().lease_time(self.at).await?.plus(pause);
        change.turn.state = TurnState::Suspended;
        change.turn.lease = None;
        change.turn.not_before = Some(until);
        change.release_open_step().await?;
        let failures = change.task.task.course.model_failures;
        if failures == 1 {
            // Once for each time of waiting, however long it is.
            change
                .task
                .note(JournalKind::SystemEvent, reason, json!({"step": self.step}));
        }
        let text = format!("{reason}; it is tried again in {} s", pause.as_secs());
        change.task.set_status(TaskStatus::Queued, Some(text));
        Ok(())
    }

    async fn suspend(
        &self,
        change: &mut TurnChange<'_>,
        reason: &str,
        pause: Duration,
    ) -> Result<()> {
        let until = change.tx().lease_time(self.at).await?.plus(pause);
        change.turn.state = TurnState::Suspended;
        change.turn.lease = None;
        change.turn.not_before = Some(until);
        change.release_open_step().await?;
        let text = format!("{reason}; it is tried again in {} s", pause.as_secs());
        change.task.note(
            JournalKind::SystemEvent,
            text.clone(),
            json!({"step": self.step, "notBefore": until.micros()}),
        );
        if change.task.task.status != TaskStatus::Paused {
            change.task.set_status(TaskStatus::Queued, Some(text));
        }
        Ok(())
    }

    async fn block(&self, change: &mut TurnChange<'_>, reason: &str) -> Result<()> {
        change.release_open_step().await?;
        change.end(TurnState::Failed);
        if change.task.task.status == TaskStatus::Paused {
            change
                .task
                .note(JournalKind::SystemEvent, reason, json!({"step": self.step}));
        } else {
            change
                .task
                .set_status(TaskStatus::Blocked, Some(reason.to_owned()));
        }
        Ok(())
    }
}

/// A person waits for an answer: at most half a minute.
fn main_pause(failures: u32) -> Duration {
    Duration::from_secs(1 << failures.saturating_sub(1).min(5)).min(LONGEST_MAIN_PAUSE)
}

fn pause(failures: u32) -> Duration {
    FIRST_PAUSE
        .saturating_mul(1 << failures.saturating_sub(1).min(10))
        .min(LONGEST_PAUSE)
}
