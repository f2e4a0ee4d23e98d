//! The ports of storage, and commands: the only way to change anything.
//!
//! Invariants
//! - A command is a plain value: no clock, randomness, spawn or network in it. It may be run again after a conflict.
//! - Commands of one workspace run one after the other, across all processes ([`Scope`]), so what a command has read
//!   stays true until it commits.
//! - All effects of a command, its events included, are durable when [`StoreExt::run`] returns, or none is.
//!
//! Not here: SQL, retries, databases (`storage`).

use std::any::Any;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::watch;

use crate::card::{CardReads, CardWrites};
use crate::embedding::{EmbeddingReads, EmbeddingWrites};
use crate::error::{Error, Result};
use crate::event::{Event, NewEvent, Sequence};
use crate::idempotency::IdempotencyStore;
use crate::ids::{TaskId, TurnId, WorkspaceId};
use crate::installation::{InstallationReads, InstallationWrites};
use crate::job::{JobReads, JobWrites};
use crate::journal::{JournalReads, JournalWrites};
use crate::line::{LineReads, LineWrites};
use crate::memory::{MemoryReads, MemoryWrites};
use crate::message::{MessageReads, MessageWrites};
use crate::money::{MoneyReads, MoneyWrites};
use crate::people::{PeopleReads, PeopleWrites};
use crate::task::{TaskReads, TaskWrites};
use crate::turn::{TurnReads, TurnWake, TurnWrites};
use crate::work::{WorkReads, WorkWrites};

/// What a command may touch, and so which commands it waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// One workspace, which must exist: others see `NotFound`.
    Workspace(WorkspaceId),
    /// What belongs to no workspace: users, tokens, new workspaces.
    Installation,
}

/// One change of the stored state: checks permission, then state, then writes, then emits.
#[async_trait]
pub trait Command: Send + Sync + 'static {
    /// What the caller gets when it is committed.
    type Output: Send + 'static;
    /// `noun.verb`, for traces and metrics.
    const NAME: &'static str;

    /// What it may touch.
    fn scope(&self) -> Scope;

    /// The turn that it enters, if it enters one; a store may read the turns of many waiting commands at once.
    fn enters(&self) -> Option<TurnId> {
        None
    }

    /// Carries it out. An error undoes all of it.
    async fn run(&self, tx: &dyn Transaction) -> Result<Self::Output>;
}

macro_rules! sum_of {
    ($(#[$doc:meta])* $name:ident: $first:ident $(+ $more:ident)*) => {
        $(#[$doc])*
        pub trait $name: $first $(+ $more)* {}
        impl<T> $name for T where T: $first $(+ $more)* {}
    };
}

sum_of! {
    /// Everything that can be read.
    Reads: InstallationReads + PeopleReads + WorkReads + TaskReads + TurnReads + MessageReads + JournalReads + LineReads
        + CardReads + JobReads + MoneyReads + MemoryReads + EmbeddingReads + EventReads + IdempotencyStore + Send + Sync
}

sum_of! {
    /// Everything that can be read and written inside a command.
    Transaction: Reads + InstallationWrites + PeopleWrites + WorkWrites + TaskWrites + TurnWrites + MessageWrites
        + JournalWrites + LineWrites + CardWrites + JobWrites + MoneyWrites + MemoryWrites + EmbeddingWrites + EventWrites
}

/// Reading the event log.
#[async_trait]
pub trait EventReads {
    /// The last sequence of the workspace's log.
    async fn event_head(&self, workspace: WorkspaceId) -> Result<Sequence>;
    /// The last sequence of each of these workspaces' logs; workspaces that do not exist are left out.
    async fn list_event_heads(
        &self,
        workspaces: &[WorkspaceId],
    ) -> Result<Vec<(WorkspaceId, Sequence)>>;
    /// Events after a position, oldest first, at most `limit`.
    async fn list_events(
        &self,
        workspace: WorkspaceId,
        after: Sequence,
        limit: u32,
    ) -> Result<Vec<Event>>;
    /// Events of a task after a position of its workspace's log, oldest first, at most `limit`.
    async fn list_task_events(
        &self,
        workspace: WorkspaceId,
        task: TaskId,
        after: Sequence,
        limit: u32,
    ) -> Result<Vec<Event>>;
}

/// Writing the event log.
#[async_trait]
pub trait EventWrites {
    /// Appends events to the log of the command's workspace, in this order.
    async fn emit(&self, workspace: WorkspaceId, events: Vec<NewEvent>) -> Result<()>;
    /// Wakes those who hold rights of people, in every process, once this is committed: a token or a membership changed.
    async fn announce_access_change(&self) -> Result<()>;
}

/// The store: runs commands, gives reads, and wakes those who follow the log.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Runs a command; callers use [`StoreExt::run`].
    async fn run_erased(&self, command: Arc<dyn ErasedCommand>) -> Result<Box<dyn Any + Send>>;
    /// Reads what is committed.
    fn reads(&self) -> &dyn Reads;
    /// Whether other processes may write the same store.
    fn is_shared(&self) -> bool {
        false
    }
    /// Wakes when the log of a workspace may have grown; losing a wake-up is possible, so followers also poll.
    /// The number is the highest sequence known to this process.
    fn follow(&self, workspace: WorkspaceId) -> watch::Receiver<Sequence>;
    /// Hears of every log that grows, as far as this process knows; a follower that is too slow misses some, so it also looks
    /// by itself from time to time.
    fn follow_logs(&self) -> tokio::sync::broadcast::Receiver<(WorkspaceId, Sequence)>;
    /// Wakes when tokens or memberships may have changed.
    fn follow_access(&self) -> watch::Receiver<u64>;
    /// Wakes when something is to be done for a turn, or another epoch of it holds; a follower that is too slow misses some.
    fn follow_turns(&self) -> tokio::sync::broadcast::Receiver<TurnWake>;
    /// Wakes when a job may be due; losing a wake-up is possible, so whoever looks after jobs also looks by itself.
    fn follow_jobs(&self) -> watch::Receiver<u64>;
    /// Wakes with what another process sends to all (presence); never an event that must not be lost.
    fn follow_signals(&self) -> tokio::sync::broadcast::Receiver<Signal>;
    /// Sends a signal to the other processes, best effort.
    async fn signal(&self, signal: Signal) -> Result<()>;
}

/// A short-lived message between processes: which process sent it, about which topic, what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signal {
    /// The process that sent it; receivers skip their own.
    pub process: uuid::Uuid,
    /// What it concerns, such as `presence:work_…`.
    pub topic: String,
    /// Its content, as the topic defines it.
    pub payload: bytes::Bytes,
}

/// A command without its output type, so that a store can be a trait object.
#[async_trait]
pub trait ErasedCommand: Send + Sync {
    /// See [`Command::NAME`].
    fn name(&self) -> &'static str;
    /// See [`Command::scope`].
    fn scope(&self) -> Scope;
    /// See [`Command::enters`].
    fn enters(&self) -> Option<TurnId>;
    /// See [`Command::run`].
    async fn run_erased(&self, tx: &dyn Transaction) -> Result<Box<dyn Any + Send>>;
}

#[async_trait]
impl<C: Command> ErasedCommand for C {
    fn name(&self) -> &'static str {
        C::NAME
    }

    fn scope(&self) -> Scope {
        Command::scope(self)
    }

    fn enters(&self) -> Option<TurnId> {
        Command::enters(self)
    }

    async fn run_erased(&self, tx: &dyn Transaction) -> Result<Box<dyn Any + Send>> {
        Ok(Box::new(Command::run(self, tx).await?))
    }
}

/// A store that is shared.
pub type SharedStore = Arc<dyn Store>;

/// Running commands with their own output type.
#[async_trait]
pub trait StoreExt {
    /// Runs a command and returns when it is durable.
    async fn run<C: Command>(&self, command: C) -> Result<C::Output>;
}

#[async_trait]
impl StoreExt for dyn Store {
    async fn run<C: Command>(&self, command: C) -> Result<C::Output> {
        let output = self.run_erased(Arc::new(command)).await?;
        output
            .downcast::<C::Output>()
            .map(|output| *output)
            .map_err(|_| Error::internal("a command gave another output"))
    }
}
