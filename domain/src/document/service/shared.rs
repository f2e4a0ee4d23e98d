//! What all actors share: store, clock, threads, the table of open documents, and news from other processes.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::actor::Actor;
use crate::document::actor::{DocumentActor, Message};
use crate::document::service::DocumentOptions;
use crate::document::threads::DocumentThreads;
use crate::document::{Content, Version, history};
use crate::error::{Error, Result};
use crate::event::{EventKind, Sequence, Subject};
use crate::ids::{WorkId, WorkspaceId};
use crate::store::{Command, SharedStore, Signal, StoreExt};
use crate::time::{SharedClock, Timestamp};
use crate::work::{
    AppendChanges, Appended, Change, NodeVersion, Quarantine, QuarantinedUpdate, SaveSnapshot,
    Snapshot, StoredDocument, Work,
};

/// Messages that wait for one document; their senders wait when there are more.
const MAILBOX: usize = 1_024;
/// Bytes of a refused update that are kept.
const QUARANTINE_BYTES: usize = 64 << 10;
/// How often the log is looked at without being woken.
const LOG_INTERVAL: Duration = Duration::from_secs(2);
/// Topic of awareness, and of the wish to hear of it.
const PRESENCE: &str = "presence:";
const PRESENCE_WANTED: &str = "presence-wanted:";

/// What the service is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentStatistics {
    /// Documents that are open in this process.
    pub open: usize,
    /// Those of them that rest: nobody works on them, and only who is connected is in memory.
    pub resting: usize,
    /// Live documents that had to be built anew.
    pub failures: u64,
    /// Updates that were refused and kept.
    pub quarantined: u64,
}

/// What all actors share.
pub(crate) struct Shared {
    pub(crate) options: DocumentOptions,
    pub(crate) store: SharedStore,
    pub(crate) threads: DocumentThreads,
    clock: SharedClock,
    process: uuid::Uuid,
    runtime: Handle,
    open: Mutex<HashMap<WorkId, mpsc::Sender<Message>>>,
    open_count: watch::Sender<usize>,
    /// Commands that are stored in the background.
    background_count: watch::Sender<usize>,
    followed: Mutex<HashSet<WorkspaceId>>,
    followers: Mutex<Vec<JoinHandle<()>>>,
    is_stopping: watch::Sender<bool>,
    resting: Arc<()>,
    failures: AtomicU64,
    quarantined: AtomicU64,
}

impl Shared {
    pub(super) fn start(
        options: DocumentOptions,
        store: SharedStore,
        clock: SharedClock,
    ) -> Arc<Self> {
        let threads = DocumentThreads::start(options.threads, options.stack_bytes);
        let shared = Arc::new(Self {
            options,
            threads,
            clock,
            process: uuid::Uuid::new_v4(),
            runtime: Handle::current(),
            open: Mutex::default(),
            open_count: watch::channel(0).0,
            background_count: watch::channel(0).0,
            followed: Mutex::default(),
            followers: Mutex::default(),
            is_stopping: watch::channel(false).0,
            resting: Arc::default(),
            failures: AtomicU64::new(0),
            quarantined: AtomicU64::new(0),
            store,
        });
        if shared.store.is_shared() {
            shared.follow(shared.clone().follow_signals());
        }
        shared
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Sends a message to a document's actor, opening the document where needed; returns the actor's mailbox.
    pub(super) async fn send(
        self: &Arc<Self>,
        work: WorkId,
        message: Message,
    ) -> Result<mpsc::Sender<Message>> {
        let mut message = message;
        loop {
            let mailbox = self.mailbox(work).await?;
            match mailbox.send(message).await {
                Ok(()) => return Ok(mailbox),
                Err(returned) => message = returned.0,
            }
        }
    }

    async fn mailbox(self: &Arc<Self>, work: WorkId) -> Result<mpsc::Sender<Message>> {
        if *self.is_stopping.borrow() {
            return Err(Error::Unavailable("the server is stopping".into()));
        }
        let mailbox = {
            let mut open = lock(&self.open);
            if let Some(sender) = open.get(&work).filter(|sender| !sender.is_closed()) {
                return Ok(sender.clone());
            }
            let (sender, mailbox) = mpsc::channel(MAILBOX);
            open.insert(work, sender.clone());
            self.open_count.send_replace(open.len());
            (sender, mailbox)
        };
        let (sender, mailbox) = mailbox;
        let shared = self.clone();
        self.threads
            .spawn(work, move || shared.live(work, mailbox))
            .await?;
        Ok(sender)
    }

    /// The life of one actor, from reading its document to its last commit.
    async fn live(self: Arc<Self>, work: WorkId, mailbox: mpsc::Receiver<Message>) {
        match self.open_actor(work).await {
            Ok(actor) => self.live_on(actor, work, mailbox).await,
            Err(error) => {
                tracing::error!(document.id = %work, %error, source = ?error, "a document can not be opened");
                self.bury(work, mailbox);
            }
        }
    }

    /// The rest of an actor's life, which may go on elsewhere.
    async fn live_on(
        self: Arc<Self>,
        actor: DocumentActor,
        work: WorkId,
        mut mailbox: mpsc::Receiver<Message>,
    ) {
        match actor.run(&mut mailbox).await {
            None => self.bury(work, mailbox),
            Some((actor, thread)) => {
                thread.spawn(move || -> Pin<Box<dyn Future<Output = ()>>> {
                    Box::pin(self.live_on(actor, work, mailbox))
                });
            }
        }
    }

    fn bury(&self, work: WorkId, mut mailbox: mpsc::Receiver<Message>) {
        // What is still in the mailbox is dropped with it: its senders see that and come to a new actor.
        mailbox.close();
        drop(mailbox);
        let mut open = lock(&self.open);
        if open.get(&work).is_some_and(mpsc::Sender::is_closed) {
            open.remove(&work);
        }
        self.open_count.send_replace(open.len());
    }

    async fn open_actor(self: &Arc<Self>, work: WorkId) -> Result<DocumentActor> {
        let row = self
            .store
            .reads()
            .list_works_by_id(&[work])
            .await?
            .pop()
            .ok_or_else(|| Error::not_found("work", work))?;
        if self.store.is_shared() && !lock(&self.followed).contains(&row.workspace) {
            // The position is read before the document, so that no change falls between them.
            let head = self.store.reads().event_head(row.workspace).await?;
            if lock(&self.followed).insert(row.workspace) {
                self.follow(self.clone().follow_log(row.workspace, head));
            }
        }
        DocumentActor::open(self.clone(), row).await
    }

    pub(crate) async fn load(&self, work: WorkId) -> Result<(StoredDocument, Vec<NodeVersion>)> {
        let reads = self.store.reads();
        let stored = reads.load_documents(&[work], None).await?.pop();
        let stored = stored.ok_or_else(|| Error::not_found("work", work))?;
        // Up to the same version, neither less nor more: another process may be storing changes.
        let version = history::version_of(&stored);
        let touches = reads.list_node_actors(work, version).await?;
        Ok((stored, touches))
    }

    pub(crate) async fn content_at(&self, work: &Work, at: Version) -> Result<Arc<Content>> {
        let stored = self
            .store
            .reads()
            .load_documents(&[work.id], Some(at))
            .await?
            .pop();
        let stored = stored.ok_or_else(|| Error::not_found("work", work.id))?;
        history::content_of(&self.threads, work, stored, at).await
    }

    pub(crate) async fn list_changes(
        &self,
        work: WorkId,
        after: Version,
        limit: u32,
    ) -> Result<Vec<Change>> {
        self.store.reads().list_changes(work, after, limit).await
    }

    pub(crate) async fn append(self: Arc<Self>, command: AppendChanges) -> Result<Appended> {
        self.store.run(command).await
    }

    /// Stores a snapshot in the background: it only makes opening faster.
    pub(crate) fn save_snapshot(&self, work: &Work, snapshot: Snapshot) {
        let workspace = work.workspace;
        let command = SaveSnapshot {
            workspace,
            snapshot,
        };
        self.run_in_background(command, "a snapshot was not stored");
    }

    /// Runs a command that nobody waits for but the stop of the service.
    fn run_in_background<C: Command>(&self, command: C, failure: &'static str) {
        let store = self.store.clone();
        let count = self.background_count.clone();
        count.send_modify(|count| *count += 1);
        self.runtime.spawn(async move {
            if let Err(error) = store.run(command).await {
                tracing::warn!(%error, "{failure}");
            }
            count.send_modify(|count| *count -= 1);
        });
    }

    /// Keeps refused bytes, in the background.
    pub(crate) fn quarantine(&self, work: &Work, actor: Actor, bytes: &[u8], reason: &str) {
        self.quarantined.fetch_add(1, Ordering::Relaxed);
        tracing::warn!(document.id = %work.id, %actor, reason, "an update was refused");
        let kept = Bytes::copy_from_slice(&bytes[..bytes.len().min(QUARANTINE_BYTES)]);
        let at = self.now();
        let update = QuarantinedUpdate {
            work: work.id,
            workspace: work.workspace,
            actor,
            reason: reason.to_owned(),
            bytes: kept,
            at,
        };
        self.run_in_background(Quarantine(update), "a refused update was not kept");
    }

    /// Counts as a document that rests for as long as it is held.
    pub(crate) fn rest(&self) -> Arc<()> {
        self.resting.clone()
    }

    pub(crate) fn count_failure(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }

    /// Who speaks for somebody without a connection: another one in each process, because others let nobody speak for them.
    pub(crate) fn speaker(&self, actor: &Actor) -> uuid::Uuid {
        uuid::Uuid::new_v5(&self.process, actor.key().as_bytes())
    }

    /// Tells other processes of awareness, or asks them for theirs.
    pub(crate) fn signal_presence(&self, work: WorkId, update: Option<Bytes>) {
        if !self.store.is_shared() {
            return;
        }
        let topic = format!(
            "{}{work}",
            if update.is_some() {
                PRESENCE
            } else {
                PRESENCE_WANTED
            }
        );
        let signal = Signal {
            process: self.process,
            topic,
            payload: update.unwrap_or_default(),
        };
        let store = self.store.clone();
        self.runtime.spawn(async move {
            if let Err(error) = store.signal(signal).await {
                tracing::debug!(%error, "other processes were not told of presence");
            }
        });
    }

    pub(super) fn is_open(&self, work: WorkId) -> bool {
        lock(&self.open).contains_key(&work)
    }

    fn open_mailbox(&self, work: WorkId) -> Option<mpsc::Sender<Message>> {
        lock(&self.open).get(&work).cloned()
    }

    fn follow(&self, follower: impl Future<Output = ()> + Send + 'static) {
        lock(&self.followers).push(self.runtime.spawn(follower));
    }

    /// Tells open documents of changes that other processes stored.
    async fn follow_log(self: Arc<Self>, workspace: WorkspaceId, mut position: Sequence) {
        let mut wake = self.store.follow(workspace);
        loop {
            // Both ends of the wait mean the same: look at the log.
            let _ = tokio::time::timeout(LOG_INTERVAL, wake.changed()).await;
            match self
                .store
                .reads()
                .list_events(workspace, position, 500)
                .await
            {
                Ok(events) => {
                    for event in events {
                        position = event.sequence;
                        if let (EventKind::WorkChanged, Subject::Work(work)) =
                            (event.kind, event.subject)
                        {
                            let version =
                                Version(event.data["version"].as_u64().unwrap_or_default());
                            if let Some(mailbox) = self.open_mailbox(work) {
                                // A mailbox that has closed belongs to a document that is read anew.
                                let _ = mailbox.send(Message::CatchUp(version)).await;
                            }
                        }
                    }
                }
                Err(error) => tracing::warn!(%error, "the event log can not be read; trying again"),
            }
        }
    }

    async fn follow_signals(self: Arc<Self>) {
        let mut signals = self.store.follow_signals();
        loop {
            match signals.recv().await {
                Ok(signal) if signal.process != self.process => self.take_signal(signal).await,
                // Missed awareness comes again with its next renewal.
                Ok(_) | Err(tokio::sync::broadcast::error::RecvError::Lagged(_)) => {}
                Err(tokio::sync::broadcast::error::RecvError::Closed) => return,
            }
        }
    }

    async fn take_signal(&self, signal: Signal) {
        let (id, payload) = match signal.topic.strip_prefix(PRESENCE) {
            Some(id) => (id, Some(signal.payload)),
            None => (
                signal
                    .topic
                    .strip_prefix(PRESENCE_WANTED)
                    .unwrap_or_default(),
                None,
            ),
        };
        let mailbox = id.parse().ok().and_then(|work| self.open_mailbox(work));
        if let Some(mailbox) = mailbox {
            // A mailbox that has closed belongs to a document where nobody is.
            let _ = mailbox.send(Message::Signal(signal.process, payload)).await;
        }
    }

    pub(super) fn statistics(&self) -> DocumentStatistics {
        DocumentStatistics {
            open: lock(&self.open).len(),
            resting: Arc::strong_count(&self.resting) - 1,
            failures: self.failures.load(Ordering::Relaxed),
            quarantined: self.quarantined.load(Ordering::Relaxed),
        }
    }

    pub(super) async fn stop(&self) {
        self.is_stopping.send_replace(true);
        for follower in std::mem::take(&mut *lock(&self.followers)) {
            follower.abort();
        }
        let mailboxes: Vec<_> = lock(&self.open).values().cloned().collect();
        for mailbox in mailboxes {
            // One that has closed has ended already.
            let _ = mailbox.send(Message::Stop).await;
        }
        // The senders live as long as this service, so the waits can only end with the counts. The documents come first:
        // what they leave to the background is counted by then.
        for count in [&self.open_count, &self.background_count] {
            let _ = count.subscribe().wait_for(|count| *count == 0).await;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
