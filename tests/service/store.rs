//! A store with hands on it: what passes through can be held back, or lost on its way.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use domain::event::Sequence;
use domain::ids::WorkspaceId;
use domain::store::{ErasedCommand, Reads, SharedStore, Signal, Store};
use domain::turn::TurnWake;
use domain::{Error, Result};
use tokio::sync::{Semaphore, broadcast, watch};

/// The command that stores changes.
const APPEND: &str = "document.append_changes";

/// A store of one process among several on one database.
pub(crate) struct HandledStore {
    store: SharedStore,
    /// Commands that store changes take a permit.
    pub(crate) gate: Semaphore,
    /// How many commands have come to the gate.
    pub(crate) arrived: watch::Sender<usize>,
    /// How many of the next ones are lost.
    pub(crate) losses: AtomicUsize,
}

impl HandledStore {
    /// Nothing is held back yet.
    pub(crate) fn new(store: SharedStore) -> Arc<Self> {
        Arc::new(Self {
            store,
            gate: Semaphore::new(Semaphore::MAX_PERMITS),
            arrived: watch::Sender::new(0),
            losses: AtomicUsize::new(0),
        })
    }

    /// Holds back every change from now on.
    pub(crate) fn hold(&self) {
        self.gate.forget_permits(Semaphore::MAX_PERMITS);
    }

    /// Lets everything pass again.
    pub(crate) fn let_go(&self) {
        self.gate.add_permits(Semaphore::MAX_PERMITS);
    }
}

#[async_trait]
impl Store for HandledStore {
    async fn run_erased(&self, command: Arc<dyn ErasedCommand>) -> Result<Box<dyn Any + Send>> {
        if command.name() == APPEND {
            self.arrived.send_modify(|count| *count += 1);
            let _permit = self.gate.acquire().await.expect("the gate is not closed");
            let is_lost = |left: usize| left.checked_sub(1);
            if self
                .losses
                .try_update(Ordering::SeqCst, Ordering::SeqCst, is_lost)
                .is_ok()
            {
                return Err(Error::Unavailable("the connection was lost".into()));
            }
        }
        self.store.run_erased(command).await
    }

    fn reads(&self) -> &dyn Reads {
        self.store.reads()
    }

    /// Other services of the test stand for other processes, on SQLite as well.
    fn is_shared(&self) -> bool {
        true
    }

    fn follow(&self, workspace: WorkspaceId) -> watch::Receiver<Sequence> {
        self.store.follow(workspace)
    }

    fn follow_logs(&self) -> broadcast::Receiver<(WorkspaceId, Sequence)> {
        self.store.follow_logs()
    }

    fn follow_jobs(&self) -> watch::Receiver<u64> {
        self.store.follow_jobs()
    }

    fn follow_access(&self) -> watch::Receiver<u64> {
        self.store.follow_access()
    }

    fn follow_turns(&self) -> broadcast::Receiver<TurnWake> {
        self.store.follow_turns()
    }

    fn follow_signals(&self) -> broadcast::Receiver<Signal> {
        self.store.follow_signals()
    }

    async fn signal(&self, signal: Signal) -> Result<()> {
        self.store.signal(signal).await
    }
}
