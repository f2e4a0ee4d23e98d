//! Works: stable things with identity, versions and permissions; each holds one document.
//!
//! Invariants
//! - A work never moves to another workspace, and its kind never changes.
//! - `version` rises by one with each stored change; version 0 is the empty document.
//! - Changes, revisions and quarantine are append-only (a revision grows at its end).
//!
//! Not here: what is inside a document (`document`).

mod append;
mod commands;

use async_trait::async_trait;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::document::{Touched, Version};
use crate::error::Result;
use crate::ids::{UploadId, UserId, WorkId, WorkspaceId};
use crate::page::{Page, PageRequest};
use crate::people::CreatedPosition;
use crate::time::Timestamp;

pub(crate) use append::change_event;
pub use append::{
    AppendChanges, Appended, FinishedUpload, PendingChange, Quarantine, SaveSnapshot,
};
pub use commands::{CreateUpload, CreateWork, DeleteWork, RenameWork, RestoreWork, visible_work};
pub(crate) use commands::{delete_by_person, work_event};

/// What a work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum WorkKind {
    /// Shots in order.
    Storyboard,
    /// Nodes and edges.
    Flow,
    /// Markdown.
    Text,
    /// Items in order.
    Collection,
    /// A file.
    Asset,
}

impl WorkKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [
        Self::Storyboard,
        Self::Flow,
        Self::Text,
        Self::Collection,
        Self::Asset,
    ];

    /// The name in tables and in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Storyboard => "STORYBOARD",
            Self::Flow => "FLOW",
            Self::Text => "TEXT",
            Self::Collection => "COLLECTION",
            Self::Asset => "ASSET",
        }
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether it is an ordered set of nodes.
    pub const fn is_structured(self) -> bool {
        matches!(self, Self::Storyboard | Self::Flow | Self::Collection)
    }
}

/// A work, without its content.
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    /// Its id.
    pub id: WorkId,
    /// Where it belongs.
    pub workspace: WorkspaceId,
    /// What it is.
    pub kind: WorkKind,
    /// Its title.
    pub title: String,
    /// The version of its document.
    pub version: Version,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its title, document or place (bin or not) changed last.
    pub updated_at: Timestamp,
    /// Who changed it last.
    pub updated_by: Actor,
    /// Since when it lies in the bin.
    pub deleted_at: Option<Timestamp>,
    /// For an asset: the file of its present version, or the one that was promised.
    pub asset: Option<AssetFile>,
}

/// A file behind an asset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssetFile {
    /// SHA-256 of the bytes, 64 lower-case hexadecimal digits; empty before the bytes came.
    pub sha256: String,
    /// Its media type, checked against the bytes.
    pub media_type: String,
    /// Its size in bytes.
    pub byte_size: u64,
}

/// A registered upload, until its bytes came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// Its id.
    pub id: UploadId,
    /// Where it belongs.
    pub workspace: WorkspaceId,
    /// The asset whose next version it is.
    pub work: WorkId,
    /// Who registered it.
    pub user: UserId,
    /// The promised media type.
    pub media_type: String,
    /// The promised size in bytes.
    pub byte_size: u64,
    /// When it was registered.
    pub created_at: Timestamp,
    /// When the bytes were there.
    pub finished_at: Option<Timestamp>,
}

/// A stored change of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The work.
    pub work: WorkId,
    /// The version it made.
    pub version: Version,
    /// Who made it.
    pub actor: Actor,
    /// When.
    pub at: Timestamp,
    /// The Yjs update, encoding v1.
    pub update: Bytes,
    /// What it touched.
    pub touched: Touched,
}

/// The whole state of a document at a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The work.
    pub work: WorkId,
    /// The version.
    pub version: Version,
    /// The state as one Yjs update, encoding v1.
    pub state: Bytes,
}

/// What is needed to build a document: the nearest snapshot and the changes after it, oldest first.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredDocument {
    /// The work.
    pub work: WorkId,
    /// The nearest snapshot at or below the wanted version.
    pub snapshot: Option<Snapshot>,
    /// Changes after the snapshot, up to the wanted version.
    pub changes: Vec<(Version, Bytes)>,
}

/// Who changed a node, and when: a row for each change that touched it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeVersion {
    /// The work.
    pub work: WorkId,
    /// The node or edge.
    pub node: String,
    /// The version that touched it.
    pub version: Version,
    /// Who.
    pub actor: Actor,
}

/// A run of versions by one actor without a pause over a minute: one entry of history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Revision {
    /// The work.
    pub work: WorkId,
    /// First version of the run.
    pub from_version: Version,
    /// Last version of the run.
    pub to_version: Version,
    /// When the last version was made.
    pub at: Timestamp,
    /// Who made it.
    pub actor: Actor,
    /// What it touched, all versions together; `Touched::summary` puts it in words.
    pub touched: Touched,
}

/// Refused updates that are kept of one work, the newest: whoever may write could fill the disk with them.
pub const KEPT_QUARANTINED: u32 = 200;

/// Refused bytes, kept for those who look after the server.
#[derive(Debug, Clone, PartialEq)]
pub struct QuarantinedUpdate {
    /// The work it was meant for.
    pub work: WorkId,
    /// Where that belongs.
    pub workspace: WorkspaceId,
    /// Who sent it.
    pub actor: Actor,
    /// Why it was refused.
    pub reason: String,
    /// At most the first 64 KiB of it.
    pub bytes: Bytes,
    /// When.
    pub at: Timestamp,
}

/// Reading works. Lists by ids leave out what is not there and promise no order.
#[async_trait]
pub trait WorkReads {
    /// Works by id, those in the bin included.
    async fn list_works_by_id(&self, ids: &[WorkId]) -> Result<Vec<Work>>;
    /// Works of a workspace, newest first, without those in the bin; no kinds means all.
    async fn list_works(
        &self,
        workspace: WorkspaceId,
        kinds: &[WorkKind],
        page: PageRequest<CreatedPosition>,
    ) -> Result<Page<Work>>;
    /// How many works such a list has.
    async fn count_works(&self, workspace: WorkspaceId, kinds: &[WorkKind]) -> Result<u64>;
    /// What is needed to build these documents at a version (none: the present one); one entry per id, in their order.
    async fn load_documents(
        &self,
        ids: &[WorkId],
        at: Option<Version>,
    ) -> Result<Vec<StoredDocument>>;
    /// Changes of a work after a version, oldest first, at most `limit`.
    async fn list_changes(&self, work: WorkId, after: Version, limit: u32) -> Result<Vec<Change>>;
    /// For each node of these works its last touch at or below a version (none: the present one).
    async fn list_node_versions(
        &self,
        works: &[WorkId],
        at: Option<Version>,
    ) -> Result<Vec<NodeVersion>>;
    /// For each node of a work the last touch by each actor at or below a version: what conflict rules need.
    async fn list_node_actors(&self, work: WorkId, at: Version) -> Result<Vec<NodeVersion>>;
    /// Revisions of a work, newest first; a position is the `from_version` of a revision.
    async fn list_revisions(
        &self,
        work: WorkId,
        page: PageRequest<Version>,
    ) -> Result<Page<Revision>>;
    /// The newest revisions of each of these works, at most `limit` of each, by work and then newest first.
    async fn list_newest_revisions(&self, works: &[WorkId], limit: u32) -> Result<Vec<Revision>>;
    /// Revisions of a work that reach beyond a version, oldest first, at most 100.
    async fn list_revisions_after(&self, work: WorkId, version: Version) -> Result<Vec<Revision>>;
    /// An upload by id.
    async fn find_upload(&self, id: UploadId) -> Result<Option<Upload>>;
    /// The file with this SHA-256, where it came to this workspace by an upload: nothing else makes its bytes readable there.
    async fn find_file(&self, workspace: WorkspaceId, sha256: &str) -> Result<Option<AssetFile>>;
    /// The last `limit` quarantined updates of a work, newest first.
    async fn list_quarantine(&self, work: WorkId, limit: u32) -> Result<Vec<QuarantinedUpdate>>;
}

/// Writing works.
#[async_trait]
pub trait WorkWrites {
    /// Inserts a work at version 0; `Conflict` where the id is taken.
    async fn insert_work(&self, work: &Work) -> Result<()>;
    /// Writes title, `updated_at`, `updated_by`, `deleted_at` and `asset` of a work.
    async fn update_work(&self, work: &Work) -> Result<()>;
    /// Stores changes of one work with the versions that follow its present one, in this order, with touched nodes, the
    /// revisions they make or extend, and the work's new version; returns the version of the first.
    async fn append_changes(
        &self,
        work: WorkId,
        workspace: WorkspaceId,
        changes: &[PendingChange],
    ) -> Result<Version>;
    /// Stores a snapshot; one that is there already stays.
    async fn insert_snapshot(&self, workspace: WorkspaceId, snapshot: &Snapshot) -> Result<()>;
    /// Stores refused bytes.
    async fn insert_quarantined(&self, update: &QuarantinedUpdate) -> Result<()>;
    /// Inserts an upload.
    async fn insert_upload(&self, upload: &Upload) -> Result<()>;
    /// Makes a file a workspace's own, without an upload; one that is its own already stays.
    async fn insert_file(&self, workspace: WorkspaceId, file: &AssetFile) -> Result<()>;
    /// Marks an upload as finished and its file as the workspace's own; false where it was finished before.
    async fn finish_upload(
        &self,
        upload: UploadId,
        file: &AssetFile,
        at: Timestamp,
    ) -> Result<bool>;
}
