//! Opening a step: it takes the unread inbox, and what its request must hold is fixed, before the model is asked.

use super::{Seen, Step, StepState, TurnChange};
use crate::error::Result;
use crate::message::Message;

/// A step that waits for its decision.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenedStep {
    /// The step.
    pub step: Step,
    /// The messages that it has taken, oldest first.
    pub messages: Vec<Message>,
}

/// Opens the step of this number, or takes an abandoned one up again: with the messages that it took, and those since.
pub(super) async fn open_step(change: &mut TurnChange<'_>, number: u32) -> Result<OpenedStep> {
    let at = change.step_ref(number);
    let (workspace, task) = (change.turn.workspace, change.turn.task);
    let messages = change.tx().take_inbox(workspace, task, at).await?;
    let notices = change.tx().list_change_notices(&[task]).await?;
    let step = Step {
        workspace,
        task,
        turn: change.turn.id,
        at,
        state: StepState::Open,
        epoch: change.turn.epoch,
        opened_at: change.task.at,
        decided_at: None,
        rationale: String::new(),
        seen: Seen {
            journal_sequence: change.task.task.journal_head,
            notices: notices
                .iter()
                .map(|notice| (notice.work, notice.to_version))
                .collect(),
            is_nudged: change.task.task.course.is_nudge_due,
        },
        context: None,
    };
    change.tx().put_step(&step).await?;
    Ok(OpenedStep { step, messages })
}
