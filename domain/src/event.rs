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
use crate::ids::{UserId, WorkId, WorkspaceId};
use crate::time::Timestamp;

/// A position in the event log of one workspace; 0 stands before the first event.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Sequence(pub u64);

/// What kind of thing happened; the names are those of the contract's `EventKind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum EventKind {
    /// A work was made.
    WorkCreated,
    /// A change of a work was stored: one event per change.
    WorkChanged,
    /// A work got another title.
    WorkRenamed,
    /// A work went to the bin.
    WorkDeleted,
    /// A work came back from the bin.
    WorkRestored,
    /// A member was added, changed or removed.
    MembersChanged,
}

impl EventKind {
    /// The name in tables and in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::WorkCreated => "WORK_CREATED",
            Self::WorkChanged => "WORK_CHANGED",
            Self::WorkRenamed => "WORK_RENAMED",
            Self::WorkDeleted => "WORK_DELETED",
            Self::WorkRestored => "WORK_RESTORED",
            Self::MembersChanged => "MEMBERS_CHANGED",
        }
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [
            Self::WorkCreated,
            Self::WorkChanged,
            Self::WorkRenamed,
            Self::WorkDeleted,
            Self::WorkRestored,
            Self::MembersChanged,
        ]
        .into_iter()
        .find(|kind| kind.name() == name)
    }
}

/// What an event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Subject {
    /// A work.
    Work(WorkId),
    /// A member of the workspace.
    Member(UserId),
}

/// An event before it has a place in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEvent {
    /// What happened.
    pub kind: EventKind,
    /// To what.
    pub subject: Subject,
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
    /// By whom.
    pub actor: Actor,
    /// When.
    pub at: Timestamp,
    /// Details, by kind.
    pub data: Value,
}
