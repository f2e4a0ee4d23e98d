//! The document service.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::watch;

use crate::document::{
    Access, Content, EditNodes, EditOutcome, EditText, Editor, Inbound, Join, NodeState, Outbound,
    Presence, ReplaceText, RestoreVersion, Version,
};
use crate::error::Result;
use crate::ids::WorkId;
use crate::store::SharedStore;
use crate::time::SharedClock;
use crate::work::{AssetFile, FinishedUpload};

/// Limits and sizes of the service.
#[derive(Debug, Clone)]
pub struct DocumentOptions {
    /// Threads that hold documents.
    pub threads: usize,
    /// Stack of each, in bytes.
    pub stack_bytes: usize,
    /// Largest document state, in bytes.
    pub document_bytes: usize,
    /// Largest awareness state of one client, in bytes.
    pub awareness_bytes: usize,
    /// How long a document without connections stays open, in milliseconds.
    pub idle_ms: u64,
}

impl Default for DocumentOptions {
    fn default() -> Self {
        Self {
            threads: 2,
            stack_bytes: 64 << 20,
            document_bytes: 64 << 20,
            awareness_bytes: 64 << 10,
            idle_ms: 10_000,
        }
    }
}

/// The one way to read and write documents. Cheap to clone.
#[derive(Clone)]
pub struct DocumentService {
    #[expect(dead_code, reason = "being built")]
    store: SharedStore,
    #[expect(dead_code, reason = "being built")]
    clock: SharedClock,
}

/// A connection to a live document.
pub struct Connection {}

#[expect(clippy::unused_async, clippy::todo, reason = "being built")]
impl Connection {
    /// Hands a frame to the document; waits while the document is busy.
    pub async fn send(&self, _frame: Inbound) {
        todo!()
    }
    /// The next frame for the editor; none after `Closed` was taken.
    pub async fn next(&self) -> Option<Outbound> {
        todo!()
    }
    /// A frame that is ready now.
    pub fn try_next(&self) -> Option<Outbound> {
        todo!()
    }
    /// Changes what the connection may do; the editor is told.
    pub fn set_access(&self, _access: Access) {
        todo!()
    }
}

#[expect(clippy::unused_async, clippy::todo, reason = "being built")]
impl DocumentService {
    /// Starts the threads.
    pub fn start(_options: DocumentOptions, store: SharedStore, clock: SharedClock) -> Self {
        let _ = Arc::new(());
        Self { store, clock }
    }
    /// Joins a document; opens it where needed.
    pub async fn join(&self, _join: Join) -> Result<Connection> {
        todo!()
    }
    /// See [`EditNodes`].
    pub async fn edit_nodes(&self, _edit: EditNodes) -> Result<EditOutcome> {
        todo!()
    }
    /// See [`EditText`].
    pub async fn edit_text(&self, _edit: EditText) -> Result<EditOutcome> {
        todo!()
    }
    /// See [`ReplaceText`].
    pub async fn replace_text(&self, _edit: ReplaceText) -> Result<EditOutcome> {
        todo!()
    }
    /// See [`RestoreVersion`].
    pub async fn restore_version(&self, _edit: RestoreVersion) -> Result<EditOutcome> {
        todo!()
    }
    /// Merges a raw Yjs update (encoding v1), like a sync message.
    pub async fn apply_update(
        &self,
        _work: WorkId,
        _editor: Editor,
        _update: Bytes,
    ) -> Result<EditOutcome> {
        todo!()
    }
    /// Makes a finished upload the present version of its asset; returns that version.
    pub async fn finish_upload(
        &self,
        _work: WorkId,
        _editor: Editor,
        _upload: FinishedUpload,
    ) -> Result<Version> {
        todo!()
    }
    /// The committed content of documents, at a version (none: the present one), in the order of the ids; batches its reads.
    /// Permission is checked by the caller. A version beyond the present one is `Invalid`.
    pub async fn contents(
        &self,
        _works: &[WorkId],
        _at: Option<Version>,
    ) -> Result<Vec<Arc<Content>>> {
        todo!()
    }
    /// The nodes of structured documents with their last change, at a version.
    pub async fn node_states(
        &self,
        _works: &[WorkId],
        _at: Option<Version>,
    ) -> Result<Vec<Vec<NodeState>>> {
        todo!()
    }
    /// The whole state of documents as Yjs updates (encoding v1), for export and doctor.
    pub async fn state(&self, _work: WorkId, _at: Option<Version>) -> Result<Bytes> {
        todo!()
    }
    /// Who is at a document now, in this and other processes.
    pub async fn presence(&self, _work: WorkId) -> Result<Vec<Presence>> {
        todo!()
    }
    /// Follows who is at a document.
    pub async fn follow_presence(&self, _work: WorkId) -> Result<watch::Receiver<Vec<Presence>>> {
        todo!()
    }
    /// The first change of a new work of this kind with this content, encoding v1, for `work::CreateWork`.
    pub fn seed(
        &self,
        _content: &Content,
        _kind: crate::work::WorkKind,
    ) -> Result<(Bytes, super::Touched)> {
        todo!()
    }
    /// Closes every connection (1012), stores what is pending, ends the threads.
    pub async fn stop(&self) {
        todo!()
    }
    /// A description of a file, as an asset document shows it.
    #[expect(dead_code, reason = "being built")]
    fn describe(_file: &AssetFile) {}
}
