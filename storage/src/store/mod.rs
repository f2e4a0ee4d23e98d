//! The store: lanes that carry out commands, reads of what is committed, wake-ups.
//!
//! Invariants
//! - Here alone transactions begin, commit and are tried again.
//! - A command goes to the lane of its workspace, so commands of one workspace keep their order within a process; the
//!   lock on the workspace's row orders them across processes.

mod lane;
mod listen;

use std::any::Any;
use std::future::Future;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use domain::event::Sequence;
use domain::ids::WorkspaceId;
use domain::store::{ErasedCommand, Reads, Scope, Signal, Store};
use domain::turn::TurnWake;
use domain::{Error, Result};
use sea_orm::DatabaseConnection;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::link::{Begin, Link, SqliteReads, SqliteWriter};
use crate::session::Session;
use crate::wake::Wakes;

use lane::Waiting;

/// Commands that wait for a lane; their callers wait when there are more.
const QUEUE: usize = 4_096;
/// Lanes on PostgreSQL, each with a connection of its own.
pub(crate) const LANES: u32 = 4;

/// Commands and reads over a database.
pub(crate) struct DatabaseStore {
    reads: Box<dyn Reads>,
    lanes: Vec<mpsc::Sender<Waiting>>,
    wakes: Arc<Wakes>,
    signals: Option<mpsc::Sender<Signal>>,
    stop: CancellationToken,
    /// Each is dropped by its lane, at the end.
    lane_ends: Mutex<Vec<oneshot::Receiver<()>>>,
    news_tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl DatabaseStore {
    /// Starts on SQLite.
    ///
    /// The lane waits for the disk on a thread of its own.
    pub(crate) fn on_sqlite(reader: SqliteReads, writer: SqliteWriter) -> Result<Self> {
        let mut store = Self::over(Session::of_reads(reader));
        let lane = store.add_lane(writer);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .map_err(|error| Error::Internal(error.into()))?;
        std::thread::Builder::new()
            .name("store-lane".to_owned())
            .spawn(move || runtime.block_on(lane))
            .map_err(|error| Error::Internal(error.into()))?;
        Ok(store)
    }

    /// Starts on PostgreSQL. `writer` has a connection for each lane.
    pub(crate) fn on_postgres(reader: DatabaseConnection, writer: &DatabaseConnection) -> Self {
        let mut store = Self::over(Session::of_reads(reader.clone()));
        for _ in 0..LANES {
            let lane = store.add_lane(writer.clone());
            tokio::spawn(lane);
        }
        let (sender, queue) = mpsc::channel(QUEUE);
        store.signals = Some(sender);
        let wakes = &store.wakes;
        store.news_tasks = Mutex::new(vec![
            tokio::spawn(listen::listen(reader.clone(), wakes.clone())),
            tokio::spawn(listen::poll(
                Session::of_reads(reader.clone()),
                wakes.clone(),
            )),
            tokio::spawn(listen::tell(reader, queue)),
        ]);
        store
    }

    fn over<C: Link + 'static>(reads: Session<C>) -> Self {
        Self {
            reads: Box::new(reads),
            lanes: Vec::new(),
            wakes: Arc::new(new_wakes()),
            signals: None,
            stop: CancellationToken::new(),
            lane_ends: Mutex::default(),
            news_tasks: Mutex::default(),
        }
    }

    /// A lane over the connection; it runs until the store stops.
    fn add_lane<B: Begin + 'static>(
        &mut self,
        connection: B,
    ) -> impl Future<Output = ()> + Send + use<B> {
        let (sender, queue) = mpsc::channel(QUEUE);
        let (ended, end) = oneshot::channel();
        self.lanes.push(sender);
        let ends = self.lane_ends.get_mut();
        ends.unwrap_or_else(PoisonError::into_inner).push(end);
        let (wakes, stop) = (self.wakes.clone(), self.stop.clone());
        async move {
            lane::run(connection, wakes, queue, stop).await;
            // Nobody listens before the store stops.
            let _ = ended.send(());
        }
    }

    /// Takes no more commands, and returns when those that waited are carried out.
    pub(crate) async fn stop(&self) {
        self.stop.cancel();
        for end in take(&self.lane_ends) {
            if end.await.is_err() {
                tracing::error!("a lane of the store ended badly");
            }
        }
        for task in take(&self.news_tasks) {
            task.abort();
        }
    }

    fn lane(&self, scope: Scope) -> &mpsc::Sender<Waiting> {
        let mut hasher = DefaultHasher::new();
        scope.hash(&mut hasher);
        &self.lanes[hasher.finish() as usize % self.lanes.len()]
    }
}

#[async_trait]
impl Store for DatabaseStore {
    async fn run_erased(&self, command: Arc<dyn ErasedCommand>) -> Result<Box<dyn Any + Send>> {
        let (reply, answer) = oneshot::channel();
        let lane = self.lane(command.scope());
        lane.send(Waiting { command, reply })
            .await
            .map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }

    fn reads(&self) -> &dyn Reads {
        self.reads.as_ref()
    }

    fn is_shared(&self) -> bool {
        self.signals.is_some()
    }

    fn follow(&self, workspace: WorkspaceId) -> watch::Receiver<Sequence> {
        self.wakes.follow(workspace)
    }

    fn follow_logs(&self) -> broadcast::Receiver<(WorkspaceId, Sequence)> {
        self.wakes.follow_logs()
    }

    fn follow_access(&self) -> watch::Receiver<u64> {
        self.wakes.follow_access()
    }

    fn follow_jobs(&self) -> watch::Receiver<u64> {
        self.wakes.follow_jobs()
    }

    fn follow_turns(&self) -> broadcast::Receiver<TurnWake> {
        self.wakes.follow_turns()
    }

    fn follow_signals(&self) -> broadcast::Receiver<Signal> {
        self.wakes.follow_signals()
    }

    async fn signal(&self, signal: Signal) -> Result<()> {
        if let Some(signals) = &self.signals {
            // A full queue drops it: signals are best effort.
            drop(signals.try_send(signal));
        }
        Ok(())
    }
}

fn take<T>(tasks: &Mutex<Vec<T>>) -> Vec<T> {
    std::mem::take(&mut *tasks.lock().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(feature = "test-support")]
fn new_wakes() -> Wakes {
    Wakes::arriving(crate::faults::arrivals())
}

#[cfg(not(feature = "test-support"))]
fn new_wakes() -> Wakes {
    Wakes::default()
}

fn stopped() -> Error {
    Error::Unavailable("the store has stopped".into())
}
