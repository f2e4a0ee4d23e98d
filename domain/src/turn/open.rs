//! Opening a step: it takes the unread inbox, and what its request must hold is fixed, before the model is asked.

use serde_json::json;

use super::{Seen, Step, StepState, TurnChange};
use crate::card::Card;
use crate::error::Result;
use crate::event::{EventKind, Subject};
use crate::job::Job;
use crate::journal::JournalEntry;
use crate::memory::MemoryMark;
use crate::message::Message;
use crate::task::{ChangeNotice, Projections, Task};

/// A step that waits for its decision, with what its request is made of as far as its transaction has read it.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenedStep {
    /// The step.
    pub step: Step,
    /// The messages that it has taken, oldest first.
    pub messages: Vec<Message>,
    /// The task.
    pub task: Task,
    /// Its projections.
    pub projections: Projections,
    /// Unread change notices, oldest first.
    pub notices: Vec<ChangeNotice>,
    /// Open cards.
    pub cards: Vec<Card>,
    /// Orders that are under way.
    pub jobs: Vec<Job>,
    /// Whether the task refers to works.
    pub has_works: bool,
    /// How often memory has changed for the person whose task it is.
    pub memory: MemoryMark,
    /// The newest entries of the journal, oldest first: those of the transaction that opened the step. Older ones are in the store.
    pub noted: Vec<JournalEntry>,
}

/// Opens the step of this number, or takes an abandoned one up again: with the messages that it took, and those since.
pub(super) async fn open_step(change: &mut TurnChange<'_>, number: u32) -> Result<OpenedStep> {
    let at = change.step_ref(number);
    let (workspace, task) = (change.turn.workspace, change.turn.task);
    // Main looks for the place of one message in a step: each is a decision of its own.
    let most = change.task.task.is_main().then_some(1);
    let messages = if change.has_inbox() {
        change.tx().take_inbox(workspace, task, at, most).await?
    } else {
        Vec::new()
    };
    for message in messages.iter().filter(|_| most.is_some()) {
        change.task.tell_of(
            EventKind::MessageStateChanged,
            Subject::Message(message.id),
            json!({"state": message.state}),
        );
    }
    let notices = change.notices().await?;
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
            forgets: change.memory.forgets,
        },
        context: None,
    };
    change.tx().put_step(&step).await?;
    Ok(OpenedStep {
        step,
        messages,
        task: Task {
            updated_at: change.task.at,
            ..change.task.task.clone()
        },
        projections: change.projections.clone().unwrap_or_default(),
        notices,
        cards: change.open_cards().await?,
        jobs: change.jobs().await?,
        has_works: change.has_works,
        memory: change.memory,
        noted: change.task.noted().to_vec(),
    })
}
