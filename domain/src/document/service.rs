//! The document service: finds or opens the actor of a document, and hands it what is asked.
//!
//! Invariants
//! - A document has at most one actor in this process: the entry in `open` decides, and is made before anything is read.
//! - Permission is checked here for edits; for reads and joins by the caller, who knows the work already.
//!
//! Not here: what an actor does (`actor`), other versions than the present one (`history`).

mod connection;
mod shared;
mod undo;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use tokio::sync::{oneshot, watch};

use crate::actor::Actor;
use crate::document::actor::{Edit, EditRequest, Message};
use crate::document::contain::install_hook;
use crate::document::outbox::Outbox;
use crate::document::{
    Access, Content, EditNodes, EditOutcome, EditText, Editor, Join, NodeOperation, NodeState,
    Presence, ReplaceText, RestoreVersion, Touched, Version, history, seed,
};
use crate::error::{Error, Result};
use crate::ids::{TaskId, UserId, WorkId};
use crate::people::Role;
use crate::store::{Reads, SharedStore};
use crate::time::SharedClock;
use crate::work::{FinishedUpload, Work, WorkKind, visible_work};

pub use connection::Connection;
pub use shared::DocumentStatistics;
pub(crate) use shared::Shared;

/// How often a request is handed to a new actor when the former one ended under it.
const ATTEMPTS: usize = 3;

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
    shared: Arc<Shared>,
}

impl DocumentService {
    /// Starts the threads. Must be called inside a runtime.
    pub fn start(options: DocumentOptions, store: SharedStore, clock: SharedClock) -> Self {
        install_hook();
        Self {
            shared: Shared::start(options, store, clock),
        }
    }

    /// Joins a document; opens it where needed.
    pub async fn join(&self, join: Join) -> Result<Connection> {
        for _ in 0..ATTEMPTS {
            let outbox = Arc::new(Outbox::default());
            let may_write = Arc::new(AtomicBool::new(join.access == Access::Write));
            let (reply, answer) = oneshot::channel();
            let message = Message::Join(
                Box::new(join.clone()),
                outbox.clone(),
                may_write.clone(),
                reply,
            );
            let mailbox = self.shared.send(join.work, message).await?;
            if answer.await.is_ok() {
                return Ok(Connection::new(join.connection, mailbox, outbox, may_write));
            }
        }
        Err(unavailable())
    }

    /// See [`EditNodes`].
    pub async fn edit_nodes(&self, mut edit: EditNodes) -> Result<EditOutcome> {
        for operation in &mut edit.operations {
            name(operation);
        }
        self.edit(edit.work, Edit::Nodes(edit)).await
    }

    /// See [`EditText`].
    pub async fn edit_text(&self, edit: EditText) -> Result<EditOutcome> {
        self.edit(edit.work, Edit::Text(edit)).await
    }

    /// See [`ReplaceText`].
    pub async fn replace_text(&self, edit: ReplaceText) -> Result<EditOutcome> {
        self.edit(edit.work, Edit::Replace(edit)).await
    }

    /// See [`RestoreVersion`].
    pub async fn restore_version(&self, edit: RestoreVersion) -> Result<EditOutcome> {
        self.edit(edit.work, Edit::Restore(edit)).await
    }

    /// Merges a raw Yjs update (encoding v1), like a sync message.
    pub async fn apply_update(
        &self,
        work: WorkId,
        editor: Editor,
        update: Bytes,
    ) -> Result<EditOutcome> {
        self.edit(work, Edit::Update(editor, update)).await
    }

    /// Makes a finished upload the present version of its asset; returns that version.
    pub async fn finish_upload(
        &self,
        work: WorkId,
        editor: Editor,
        upload: FinishedUpload,
    ) -> Result<Version> {
        match self.edit(work, Edit::Upload(editor, upload)).await? {
            EditOutcome::Applied(applied) => Ok(applied.version),
            outcome => Err(Error::internal(format!("an upload ended as {outcome:?}"))),
        }
    }

    async fn edit(&self, work: WorkId, edit: Edit) -> Result<EditOutcome> {
        self.check_editor(work, &edit).await?;
        for _ in 0..ATTEMPTS {
            let (reply, answer) = oneshot::channel();
            self.shared
                .send(
                    work,
                    Message::Edit(Box::new(EditRequest {
                        edit: edit.clone(),
                        reply,
                    })),
                )
                .await?;
            // An actor that ended before it took the edit leaves it unanswered; one that took it answers.
            if let Ok(outcome) = answer.await {
                return outcome;
            }
        }
        Err(unavailable())
    }

    async fn check_editor(&self, work: WorkId, edit: &Edit) -> Result<()> {
        let reads = self.shared.store.reads();
        let user = match &edit.editor().actor {
            Actor::Person(user) | Actor::Program { user, .. } => *user,
            Actor::Agent { task, .. } => authority_of(reads, *task).await?,
            Actor::System | Actor::Provider(_) => return Ok(()),
        };
        let (work, role) = visible_work(reads, work, user).await?;
        if role < Role::Editor {
            return Err(Error::Forbidden(
                "this needs the role editor; you are viewer".to_owned(),
            ));
        }
        if work.deleted_at.is_some() {
            return Err(Error::Conflict(format!(
                "work {} lies in the bin; restore it first",
                work.id
            )));
        }
        match edit.editor().fence {
            Some(fence) if fence.workspace != work.workspace => {
                Err(Error::not_found("work", work.id))
            }
            _ => Ok(()),
        }
    }

    /// The committed content of documents, at a version (none: the present one), in the order of the ids; batches its reads.
    /// Permission is checked by the caller. A version beyond the present one is `Invalid`.
    pub async fn contents(
        &self,
        works: &[WorkId],
        at: Option<Version>,
    ) -> Result<Vec<Arc<Content>>> {
        let rows = self.works(works).await?;
        let mut stored = self
            .shared
            .store
            .reads()
            .load_documents(works, at)
            .await?
            .into_iter();
        let mut contents = Vec::with_capacity(rows.len());
        for work in rows {
            let version = history::check_version(&work, at)?;
            let document = stored
                .next()
                .ok_or_else(|| Error::not_found("work", work.id))?;
            let version = at.unwrap_or_else(|| history::version_of(&document).max(version));
            contents
                .push(history::content_of(&self.shared.threads, &work, document, version).await?);
        }
        Ok(contents)
    }

    /// The nodes of structured documents with their last change, at a version.
    pub async fn node_states(
        &self,
        works: &[WorkId],
        at: Option<Version>,
    ) -> Result<Vec<Vec<NodeState>>> {
        let contents = self.contents(works, at).await?;
        let mut versions = self
            .shared
            .store
            .reads()
            .list_node_versions(works, at)
            .await?;
        let states = works.iter().zip(contents).map(|(work, content)| {
            let own = versions
                .extract_if(.., |version| version.work == *work)
                .collect();
            history::node_states(&content, own)
        });
        Ok(states.collect())
    }

    /// The whole state of a document as one Yjs update (encoding v1).
    pub async fn state(&self, work: WorkId, at: Option<Version>) -> Result<Bytes> {
        let row = self
            .works(&[work])
            .await?
            .pop()
            .ok_or_else(|| Error::not_found("work", work))?;
        history::check_version(&row, at)?;
        let stored = self
            .shared
            .store
            .reads()
            .load_documents(&[work], at)
            .await?
            .pop();
        let stored = stored.ok_or_else(|| Error::not_found("work", work))?;
        history::state_of(&self.shared.threads, &row, stored).await
    }

    async fn works(&self, ids: &[WorkId]) -> Result<Vec<Work>> {
        let rows = self.shared.store.reads().list_works_by_id(ids).await?;
        let find = |id: &WorkId| {
            rows.iter()
                .find(|row| row.id == *id)
                .cloned()
                .ok_or_else(|| Error::not_found("work", id))
        };
        ids.iter().map(find).collect()
    }

    /// Who is at a document now, in this and other processes.
    pub async fn presence(&self, work: WorkId) -> Result<Vec<Presence>> {
        if !self.shared.is_open(work) && !self.shared.store.is_shared() {
            return Ok(Vec::new());
        }
        Ok(self.follow_presence(work).await?.borrow().clone())
    }

    /// Shows somebody without a connection at a document, until they have not been shown again for half a minute.
    /// Permission is checked by the caller.
    pub async fn show_presence(
        &self,
        work: WorkId,
        actor: Actor,
        label: &str,
        node: Option<String>,
    ) -> Result<()> {
        let message = Message::Show(Box::new((actor, label.to_owned(), node)));
        self.shared.send(work, message).await.map(drop)
    }

    /// Follows who is at a document.
    pub async fn follow_presence(&self, work: WorkId) -> Result<watch::Receiver<Vec<Presence>>> {
        for _ in 0..ATTEMPTS {
            let (reply, answer) = oneshot::channel();
            self.shared.send(work, Message::Presence(reply)).await?;
            if let Ok(presence) = answer.await {
                return Ok(presence);
            }
        }
        Err(unavailable())
    }

    /// The first change of a new work of this kind with this content, encoding v1, for `work::CreateWork`.
    pub fn seed(&self, content: &Content, kind: WorkKind) -> Result<(Bytes, Touched)> {
        seed::seed_update(kind, content).map(|(update, touched)| (Bytes::from(update), touched))
    }

    /// What the service is doing, for metrics.
    pub fn statistics(&self) -> DocumentStatistics {
        self.shared.statistics()
    }

    /// Closes every connection (1012), stores what is pending, and returns when it is stored.
    pub async fn stop(&self) {
        self.shared.stop().await;
    }
}

/// The agent has no authority of its own: it acts on that of the person whose task it is.
async fn authority_of(reads: &dyn Reads, task: TaskId) -> Result<UserId> {
    let found = reads.list_tasks_by_id(&[task]).await?.pop();
    let task = found.ok_or_else(|| Error::not_found("task", task))?;
    Ok(task.created_by)
}

/// Gives new nodes and edges an id.
fn name(operation: &mut NodeOperation) {
    let id = match operation {
        NodeOperation::Put(node) => &mut node.id,
        NodeOperation::Connect(edge) => &mut edge.id,
        _ => return,
    };
    id.get_or_insert_with(|| uuid::Uuid::now_v7().simple().to_string());
}

fn unavailable() -> Error {
    Error::Unavailable("the document is being reloaded".into())
}

impl Connection {
    /// Changes what the connection may do; holds for the next frame, and the editor is told.
    pub fn set_access(&self, access: Access) {
        let may_write = access == Access::Write;
        if self.may_write.swap(may_write, Ordering::Relaxed) != may_write {
            self.outbox
                .push(crate::document::Outbound::AccessChanged(access));
        }
    }
}
