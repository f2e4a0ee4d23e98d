//! The lines of an archive. Their form outlives versions of the server: it is not the form of tables.

use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use domain::actor::Actor;
use domain::archive::TaskPart;
use domain::card::Card;
use domain::document::{Touched, Version};
use domain::event::{Event, EventKind, NewEvent, Sequence, Subject};
use domain::ids::{TaskId, UserId, WorkId, WorkspaceId};
use domain::memory::{Evidence, ForgottenMessage, Memory, MemoryVersion, Tombstone};
use domain::message::Message;
use domain::people::{Member, Role, User, Workspace};
use domain::task::Task;
use domain::time::Timestamp;
use domain::work::{AssetFile, Change, PendingChange, QuarantinedUpdate, Work, WorkKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The number of this form; form 1 had no tasks.
pub(crate) const FORM: u32 = 2;

/// What kind of archive it is.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Head {
    /// The number of its form.
    pub(crate) atelier_archive: u32,
    /// The workspace.
    pub(crate) workspace: WorkspaceRow,
}

/// A workspace.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WorkspaceRow {
    id: WorkspaceId,
    name: String,
    created_at: Timestamp,
}

/// A person.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct UserRow {
    pub(crate) id: UserId,
    pub(crate) name: String,
    pub(crate) email: Option<String>,
    pub(crate) created_at: Timestamp,
}

/// A member.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct MemberRow {
    pub(crate) user: UserId,
    pub(crate) role: Role,
    pub(crate) joined_at: Timestamp,
}

/// A work at its last version.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WorkRow {
    pub(crate) id: WorkId,
    pub(crate) kind: WorkKind,
    pub(crate) title: String,
    pub(crate) version: Version,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) updated_by: Actor,
    pub(crate) deleted_at: Option<Timestamp>,
    pub(crate) asset: Option<AssetFile>,
}

/// A change.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ChangeRow {
    pub(crate) work: WorkId,
    pub(crate) version: Version,
    pub(crate) actor: Actor,
    pub(crate) at: Timestamp,
    #[serde(with = "base64_bytes")]
    pub(crate) update: Bytes,
    pub(crate) touched: Touched,
}

/// An event.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct EventRow {
    pub(crate) sequence: Sequence,
    pub(crate) kind: EventKind,
    pub(crate) subject: Subject,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) task: Option<TaskId>,
    pub(crate) actor: Actor,
    pub(crate) at: Timestamp,
    pub(crate) data: Value,
}

/// A line of the tasks' entry: a task, or something of the task above it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TaskRow {
    /// A task begins.
    Task(Task),
    /// It goes on.
    Part(TaskPart),
}

/// A line of the main threads' entry.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MessageRow {
    /// A message of no task.
    Message(Message),
    /// A card about one.
    Card(Card),
}

/// A line of the memories' entry.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MemoryRow {
    /// A memory with everything that is stored of it.
    Memory {
        /// The memory.
        memory: Memory,
        /// Its versions, by number.
        versions: Vec<MemoryVersion>,
        /// What they rest on.
        evidence: Vec<Evidence>,
    },
    /// The receipt of something forgotten.
    Tombstone(Tombstone),
    /// A message that may not be used.
    Forgotten(ForgottenMessage),
}

/// A refused update.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct QuarantineRow {
    pub(crate) work: WorkId,
    pub(crate) actor: Actor,
    pub(crate) reason: String,
    #[serde(with = "base64_bytes")]
    pub(crate) bytes: Bytes,
    pub(crate) at: Timestamp,
}

impl From<Workspace> for WorkspaceRow {
    fn from(workspace: Workspace) -> Self {
        Self {
            id: workspace.id,
            name: workspace.name,
            created_at: workspace.created_at,
        }
    }
}

impl From<WorkspaceRow> for Workspace {
    fn from(row: WorkspaceRow) -> Self {
        Self {
            id: row.id,
            name: row.name,
            created_at: row.created_at,
        }
    }
}

impl From<User> for UserRow {
    fn from(user: User) -> Self {
        Self {
            id: user.id,
            name: user.name,
            email: user.email,
            created_at: user.created_at,
        }
    }
}

impl From<Member> for MemberRow {
    fn from(member: Member) -> Self {
        Self {
            user: member.user,
            role: member.role,
            joined_at: member.joined_at,
        }
    }
}

impl From<Work> for WorkRow {
    fn from(work: Work) -> Self {
        Self {
            id: work.id,
            kind: work.kind,
            title: work.title,
            version: work.version,
            created_at: work.created_at,
            updated_at: work.updated_at,
            updated_by: work.updated_by,
            deleted_at: work.deleted_at,
            asset: work.asset,
        }
    }
}

impl WorkRow {
    /// The work, in a workspace and by an actor of this installation.
    pub(crate) fn into_work(self, workspace: WorkspaceId, updated_by: Actor) -> Work {
        Work {
            id: self.id,
            workspace,
            kind: self.kind,
            title: self.title,
            version: self.version,
            created_at: self.created_at,
            updated_at: self.updated_at,
            updated_by,
            deleted_at: self.deleted_at,
            asset: self.asset,
        }
    }
}

impl From<Change> for ChangeRow {
    fn from(change: Change) -> Self {
        Self {
            work: change.work,
            version: change.version,
            actor: change.actor,
            at: change.at,
            update: change.update,
            touched: change.touched,
        }
    }
}

impl ChangeRow {
    /// The change, by an actor of this installation.
    pub(crate) fn into_pending(self, actor: Actor) -> PendingChange {
        PendingChange {
            actor,
            at: self.at,
            update: self.update,
            touched: self.touched,
        }
    }
}

impl From<Event> for EventRow {
    fn from(event: Event) -> Self {
        Self {
            sequence: event.sequence,
            kind: event.kind,
            subject: event.subject,
            task: event.task,
            actor: event.actor,
            at: event.at,
            data: event.data,
        }
    }
}

impl EventRow {
    /// The event, by an actor and about a subject of this installation.
    pub(crate) fn into_new(self, actor: Actor, subject: Subject) -> NewEvent {
        NewEvent {
            kind: self.kind,
            subject,
            task: self.task,
            actor,
            at: self.at,
            data: self.data,
        }
    }
}

impl From<QuarantinedUpdate> for QuarantineRow {
    fn from(update: QuarantinedUpdate) -> Self {
        Self {
            work: update.work,
            actor: update.actor,
            reason: update.reason,
            bytes: update.bytes,
            at: update.at,
        }
    }
}

impl QuarantineRow {
    /// The refused update, by an actor of this installation.
    pub(crate) fn into_update(self, workspace: WorkspaceId, actor: Actor) -> QuarantinedUpdate {
        QuarantinedUpdate {
            work: self.work,
            workspace,
            actor,
            reason: self.reason,
            bytes: self.bytes,
            at: self.at,
        }
    }
}

mod base64_bytes {
    //! Bytes as base64 text.

    use serde::{Deserializer, Serializer, de::Error as _};

    use base64::Engine as _;

    use super::{Bytes, Deserialize, STANDARD};

    pub(super) fn serialize<S: Serializer>(
        bytes: &Bytes,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Bytes, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD
            .decode(text)
            .map(Bytes::from)
            .map_err(|_| D::Error::custom("bytes that are no base64"))
    }
}
