//! A store in memory, for tests of what is around it: it holds what a test puts there, and refuses everything else.

mod memories;
mod tasks;

use std::any::Any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use domain::document::Version;
use domain::embedding::{Embedding, EmbeddingMark, EmbeddingReads};
use domain::event::{Event, Sequence};
use domain::idempotency::{IdempotencyKey, IdempotencyRecord, IdempotencyStore};
use domain::ids::{JobId, MessageId, TaskId, TokenId, UploadId, UserId, WorkId, WorkspaceId};
use domain::installation::InstallationReads;
use domain::job::{Job, JobReads};
use domain::money::{LedgerEntry, MoneyReads, WorkspaceBudget};
use domain::page::{Page, PageRequest};
use domain::people::{ApiToken, CreatedPosition, Member, PeopleReads, User, Workspace};
use domain::store::{ErasedCommand, EventReads, Reads, Signal, Store};
use domain::time::{Clock, Timestamp};
use domain::turn::TurnWake;
use domain::work::{
    AssetFile, Change, NodeVersion, QuarantinedUpdate, Revision, StoredDocument, Upload, Work,
    WorkKind, WorkReads,
};
use domain::{Error, Result};
use serde_json::Value;
use tokio::sync::{broadcast, mpsc, watch};

/// What a test has put there.
pub(crate) struct MemoryStore {
    pub(crate) tokens: Mutex<Vec<ApiToken>>,
    pub(crate) members: Mutex<Vec<Member>>,
    pub(crate) works: Mutex<Vec<Work>>,
    pub(crate) uploads: Mutex<Vec<Upload>>,
    pub(crate) files: Mutex<Vec<(WorkspaceId, AssetFile)>>,
    /// How often tokens were looked up.
    pub(crate) looked_up: AtomicUsize,
    /// Grows when rights change.
    pub(crate) access: watch::Sender<u64>,
    /// Names of the commands that were run.
    commands: mpsc::UnboundedSender<&'static str>,
}

impl MemoryStore {
    /// An empty store, and the names of the commands that it is asked to run; none of them does anything.
    pub(crate) fn new() -> (Arc<Self>, mpsc::UnboundedReceiver<&'static str>) {
        let (commands, names) = mpsc::unbounded_channel();
        let store = Self {
            tokens: Mutex::default(),
            members: Mutex::default(),
            works: Mutex::default(),
            uploads: Mutex::default(),
            files: Mutex::default(),
            looked_up: AtomicUsize::new(0),
            access: watch::Sender::new(0),
            commands,
        };
        (Arc::new(store), names)
    }
}

/// A clock that a test sets.
#[derive(Default)]
pub(crate) struct HandClock(pub(crate) std::sync::atomic::AtomicI64);

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}

fn unused<T>() -> Result<T> {
    Err(Error::internal("not in this store"))
}

#[async_trait]
impl Store for MemoryStore {
    async fn run_erased(&self, command: Arc<dyn ErasedCommand>) -> Result<Box<dyn Any + Send>> {
        self.commands
            .send(command.name())
            .expect("the test listens");
        Ok(Box::new(()))
    }

    fn reads(&self) -> &dyn Reads {
        self
    }

    fn follow(&self, _: WorkspaceId) -> watch::Receiver<Sequence> {
        watch::channel(Sequence(0)).1
    }

    fn follow_logs(&self) -> broadcast::Receiver<(WorkspaceId, Sequence)> {
        broadcast::channel(1).1
    }

    fn follow_jobs(&self) -> watch::Receiver<u64> {
        self.access.subscribe()
    }

    fn follow_access(&self) -> watch::Receiver<u64> {
        self.access.subscribe()
    }

    fn follow_turns(&self) -> broadcast::Receiver<TurnWake> {
        broadcast::channel(1).1
    }

    fn follow_signals(&self) -> broadcast::Receiver<Signal> {
        broadcast::channel(1).1
    }

    async fn signal(&self, _: Signal) -> Result<()> {
        unused()
    }
}

#[async_trait]
impl InstallationReads for MemoryStore {
    async fn list_workspace_ids(&self, _: Option<WorkspaceId>, _: u32) -> Result<Vec<WorkspaceId>> {
        unused()
    }
    async fn list_work_ids(
        &self,
        _: WorkspaceId,
        _: Option<WorkId>,
        _: u32,
    ) -> Result<Vec<WorkId>> {
        unused()
    }
    async fn list_task_ids(
        &self,
        _: WorkspaceId,
        _: Option<TaskId>,
        _: u32,
    ) -> Result<Vec<TaskId>> {
        unused()
    }
    async fn list_message_ids(
        &self,
        _: WorkspaceId,
        _: Option<MessageId>,
        _: u32,
    ) -> Result<Vec<MessageId>> {
        unused()
    }
    async fn list_files(&self, _: WorkspaceId, _: Option<&str>, _: u32) -> Result<Vec<AssetFile>> {
        unused()
    }
    async fn count_quarantined(&self, _: WorkspaceId) -> Result<Vec<(WorkId, u64)>> {
        unused()
    }
}

#[async_trait]
impl EmbeddingReads for MemoryStore {
    async fn embedding_mark(&self, _: WorkspaceId, _: &str) -> Result<EmbeddingMark> {
        unused()
    }
    async fn list_embedding_hashes(
        &self,
        _: WorkspaceId,
        _: &str,
        _: &[uuid::Uuid],
    ) -> Result<Vec<(uuid::Uuid, [u8; 32])>> {
        unused()
    }
    async fn list_embeddings(
        &self,
        _: WorkspaceId,
        _: &str,
        _: (u64, uuid::Uuid),
        _: u32,
    ) -> Result<Vec<(u64, Embedding)>> {
        unused()
    }
}

#[async_trait]
impl PeopleReads for MemoryStore {
    async fn is_empty_installation(&self) -> Result<bool> {
        unused()
    }
    async fn list_users(&self, _: &[UserId]) -> Result<Vec<User>> {
        unused()
    }
    async fn find_user_by_email(&self, _: &str) -> Result<Option<User>> {
        unused()
    }
    async fn has_token(&self, _: UserId) -> Result<bool> {
        unused()
    }
    async fn list_tokens_by_hash_prefix(&self, prefix: [u8; 8]) -> Result<Vec<ApiToken>> {
        self.looked_up.fetch_add(1, Ordering::SeqCst);
        let tokens = self.tokens.lock().expect("not poisoned");
        Ok(tokens
            .iter()
            .filter(|token| token.secret_hash[..8] == prefix)
            .cloned()
            .collect())
    }
    async fn list_tokens(&self, _: UserId) -> Result<Vec<ApiToken>> {
        unused()
    }
    async fn list_tokens_by_id(&self, _: &[TokenId]) -> Result<Vec<ApiToken>> {
        unused()
    }
    async fn list_workspaces(&self, _: &[WorkspaceId]) -> Result<Vec<Workspace>> {
        unused()
    }
    async fn list_workspaces_of(
        &self,
        _: UserId,
        _: PageRequest<CreatedPosition>,
    ) -> Result<Page<Workspace>> {
        unused()
    }
    async fn count_workspaces_of(&self, _: UserId) -> Result<u64> {
        unused()
    }
    async fn list_roles(&self, user: UserId, workspaces: &[WorkspaceId]) -> Result<Vec<Member>> {
        let members = self.members.lock().expect("not poisoned");
        Ok(members
            .iter()
            .filter(|member| member.user == user && workspaces.contains(&member.workspace))
            .cloned()
            .collect())
    }
    async fn list_members(&self, _: &[WorkspaceId]) -> Result<Vec<Member>> {
        unused()
    }
    async fn list_acquainted(&self, _: UserId, _: &[UserId]) -> Result<Vec<UserId>> {
        unused()
    }
}

#[async_trait]
impl WorkReads for MemoryStore {
    async fn list_works_by_id(&self, ids: &[WorkId]) -> Result<Vec<Work>> {
        let works = self.works.lock().expect("not poisoned");
        Ok(works
            .iter()
            .filter(|work| ids.contains(&work.id))
            .cloned()
            .collect())
    }
    async fn list_works(
        &self,
        _: WorkspaceId,
        _: &[WorkKind],
        _: PageRequest<CreatedPosition>,
    ) -> Result<Page<Work>> {
        unused()
    }
    async fn count_works(&self, _: WorkspaceId, _: &[WorkKind]) -> Result<u64> {
        unused()
    }
    async fn load_documents(
        &self,
        _: &[WorkId],
        _: Option<Version>,
    ) -> Result<Vec<StoredDocument>> {
        unused()
    }
    async fn list_changes(&self, _: WorkId, _: Version, _: u32) -> Result<Vec<Change>> {
        unused()
    }
    async fn list_node_versions(
        &self,
        _: &[WorkId],
        _: Option<Version>,
    ) -> Result<Vec<NodeVersion>> {
        unused()
    }
    async fn list_node_actors(&self, _: WorkId, _: Version) -> Result<Vec<NodeVersion>> {
        unused()
    }
    async fn list_revisions(&self, _: WorkId, _: PageRequest<Version>) -> Result<Page<Revision>> {
        unused()
    }
    async fn list_newest_revisions(&self, _: &[WorkId], _: u32) -> Result<Vec<Revision>> {
        unused()
    }
    async fn list_revisions_after(&self, _: WorkId, _: Version) -> Result<Vec<Revision>> {
        unused()
    }
    async fn find_upload(&self, id: UploadId) -> Result<Option<Upload>> {
        let uploads = self.uploads.lock().expect("not poisoned");
        Ok(uploads.iter().find(|upload| upload.id == id).cloned())
    }
    async fn find_file(&self, workspace: WorkspaceId, sha256: &str) -> Result<Option<AssetFile>> {
        let files = self.files.lock().expect("not poisoned");
        Ok(files
            .iter()
            .find(|(place, file)| *place == workspace && file.sha256 == sha256)
            .map(|(_, file)| file.clone()))
    }
    async fn list_quarantine(&self, _: WorkId, _: u32) -> Result<Vec<QuarantinedUpdate>> {
        unused()
    }
}

#[async_trait]
impl EventReads for MemoryStore {
    async fn event_head(&self, _: WorkspaceId) -> Result<Sequence> {
        unused()
    }
    async fn list_event_heads(&self, _: &[WorkspaceId]) -> Result<Vec<(WorkspaceId, Sequence)>> {
        unused()
    }
    async fn list_events(&self, _: WorkspaceId, _: Sequence, _: u32) -> Result<Vec<Event>> {
        unused()
    }
    async fn list_task_events(
        &self,
        _: WorkspaceId,
        _: TaskId,
        _: Sequence,
        _: u32,
    ) -> Result<Vec<Event>> {
        unused()
    }
}

#[async_trait]
impl JobReads for MemoryStore {
    async fn list_jobs_by_id(&self, _: &[JobId]) -> Result<Vec<Job>> {
        unused()
    }
    async fn list_jobs(&self, _: &[TaskId]) -> Result<Vec<Job>> {
        unused()
    }
    async fn list_jobs_under_way(&self, _: WorkspaceId, _: TaskId) -> Result<Vec<Job>> {
        unused()
    }
    async fn list_due_jobs(&self, _: Timestamp, _: u32) -> Result<Vec<(WorkspaceId, JobId)>> {
        unused()
    }
    async fn next_due_job(&self) -> Result<Option<Timestamp>> {
        unused()
    }
    async fn find_job_by_upstream(&self, _: &str, _: &str) -> Result<Option<JobId>> {
        unused()
    }
}

#[async_trait]
impl MoneyReads for MemoryStore {
    async fn budget(&self, _: WorkspaceId) -> Result<WorkspaceBudget> {
        unused()
    }
    async fn list_ledger(&self, _: WorkspaceId, _: PageRequest<u64>) -> Result<Page<LedgerEntry>> {
        unused()
    }
    async fn bound_since(&self, _: WorkspaceId, _: Timestamp) -> Result<u64> {
        unused()
    }
}

#[async_trait]
impl IdempotencyStore for MemoryStore {
    async fn find_idempotency(&self, _: &IdempotencyKey) -> Result<Option<IdempotencyRecord>> {
        unused()
    }
    async fn remember_idempotency(&self, _: &IdempotencyKey, _: &Value) -> Result<()> {
        unused()
    }
}
