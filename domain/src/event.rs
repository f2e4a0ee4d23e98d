//! The event log of a workspace: what happened, in the order of commits.
//!
//! Invariants
//! - Sequences of a workspace start at 1 and have no gap; order of sequences = order of commits.
//! - An event is written in the transaction of the change it tells of (`store::EventWrites::emit`).
//! - Reading up to n has shown everything before n.
//!
//! Not here: the opaque cursor that clients see (`api`).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::actor::Actor;
use crate::ids::{CardId, JobId, MemoryId, MessageId, TaskId, UserId, WorkId, WorkspaceId};
use crate::names::named;
use crate::time::Timestamp;

/// A position in the event log of one workspace; 0 stands before the first event.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Sequence(pub u64);

named! {
    /// What kind of thing happened; the names are those of the contract's `EventKind`.
    EventKind {
        /// A message was posted.
        MessagePosted = "MESSAGE_POSTED",
        /// A message got another state.
        MessageStateChanged = "MESSAGE_STATE_CHANGED",
        /// A task was made.
        TaskCreated = "TASK_CREATED",
        /// A task got another status.
        TaskStatusChanged = "TASK_STATUS_CHANGED",
        /// Something else of a task changed: its words, its checklist, its works.
        TaskUpdated = "TASK_UPDATED",
        /// The journal of a task grew by one entry.
        JournalAppended = "JOURNAL_APPENDED",
        /// A decision was stored.
        StepDecided = "STEP_DECIDED",
        /// A call got another state.
        CallStateChanged = "CALL_STATE_CHANGED",
        /// A card was raised.
        CardOpened = "CARD_OPENED",
        /// A card was answered or withdrawn.
        CardAnswered = "CARD_ANSWERED",
        /// An order got another state.
        JobStateChanged = "JOB_STATE_CHANGED",
        /// The upstream of an order told how far it is.
        JobProgress = "JOB_PROGRESS",
        /// A work was made.
        WorkCreated = "WORK_CREATED",
        /// A change of a work was stored: one event per change.
        WorkChanged = "WORK_CHANGED",
        /// A work got another title.
        WorkRenamed = "WORK_RENAMED",
        /// A work went to the bin.
        WorkDeleted = "WORK_DELETED",
        /// A work came back from the bin.
        WorkRestored = "WORK_RESTORED",
        /// A member was added, changed or removed.
        MembersChanged = "MEMBERS_CHANGED",
        /// Limits were set, or money was set aside, spent or given back.
        BudgetChanged = "BUDGET_CHANGED",
        /// A memory was made, or says, reaches or stands otherwise.
        MemoryChanged = "MEMORY_CHANGED",
        /// A memory lost words, or a message may not be used any more.
        MemoryForgotten = "MEMORY_FORGOTTEN",
        /// A profile has another version.
        ProfileChanged = "PROFILE_CHANGED",
    }
}

/// What an event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Subject {
    /// A work.
    Work(WorkId),
    /// A member of the workspace.
    Member(UserId),
    /// A task.
    Task(TaskId),
    /// A message.
    Message(MessageId),
    /// A card.
    Card(CardId),
    /// An order.
    Job(JobId),
    /// The workspace itself.
    Workspace,
    /// A memory.
    Memory(MemoryId),
}

/// An event before it has a place in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEvent {
    /// What happened.
    pub kind: EventKind,
    /// To what.
    pub subject: Subject,
    /// The task whose log it belongs to as well.
    pub task: Option<TaskId>,
    /// By whom.
    pub actor: Actor,
    /// When, by the clock of the process that built the command.
    pub at: Timestamp,
    /// Details, by kind; for `WorkChanged` `{version, nodeIds, summary}`.
    pub data: Value,
}

/// An event of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The log it stands in.
    pub workspace: WorkspaceId,
    /// Its place.
    pub sequence: Sequence,
    /// What happened.
    pub kind: EventKind,
    /// To what.
    pub subject: Subject,
    /// The task whose log it belongs to as well.
    pub task: Option<TaskId>,
    /// By whom.
    pub actor: Actor,
    /// When.
    pub at: Timestamp,
    /// Details, by kind.
    pub data: Value,
}
