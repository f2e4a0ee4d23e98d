//! The store: lanes that carry out commands, reads of what is committed, wake-ups.
//!
//! Invariants
//! - Here alone transactions begin, commit and are tried again.
//! - A command goes to the lane of its workspace, so commands of one workspace keep their order within a process; the
//!   lock on the workspace's row orders them across processes.

mod lane;
mod listen;

use std::any::Any;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use domain::event::Sequence;
use domain::ids::WorkspaceId;
use domain::store::{ErasedCommand, Reads, Scope, Signal, Store};
use domain::turn::TurnWake;
use domain::{Error, Result};
use sea_orm::{DatabaseConnection, DbBackend};
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::session::Session;
use crate::wake::Wakes;

use lane::Waiting;

/// Commands that wait for a lane; their callers wait when there are more.
const QUEUE: usize = 4_096;
/// Lanes on PostgreSQL, each with a connection of its own.
pub(crate) const LANES: u32 = 4;

/// Commands and reads over a database.
pub(crate) struct DatabaseStore {
    reads: Session<DatabaseConnection>,
    lanes: Vec<mpsc::Sender<Waiting>>,
    wakes: Arc<Wakes>,
    signals: Option<mpsc::Sender<Signal>>,
    stop: CancellationToken,
    lane_tasks: Mutex<Vec<JoinHandle<()>>>,
    news_tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl DatabaseStore {
    /// Starts the lanes. `writer` has a connection for each lane.
    pub(crate) fn start(reader: DatabaseConnection, writer: &DatabaseConnection) -> Self {
        let wakes = Arc::new(Wakes::default());
        let stop = CancellationToken::new();
        let mut lane_tasks = Vec::new();
        let mut tasks = Vec::new();
        let is_shared = reader.get_database_backend() == DbBackend::Postgres;
        let lanes = (0..if is_shared { LANES } else { 1 }).map(|_| {
            let (sender, queue) = mpsc::channel(QUEUE);
            lane_tasks.push(tokio::spawn(lane::run(
                writer.clone(),
                wakes.clone(),
                queue,
                stop.clone(),
            )));
            sender
        });
        let lanes = lanes.collect();
        let signals = is_shared.then(|| {
            let (sender, queue) = mpsc::channel(QUEUE);
            tasks.push(tokio::spawn(listen::listen(reader.clone(), wakes.clone())));
            tasks.push(tokio::spawn(listen::poll(
                Session::of_reads(reader.clone()),
                wakes.clone(),
            )));
            tasks.push(tokio::spawn(listen::tell(reader.clone(), queue)));
            sender
        });
        Self {
            reads: Session::of_reads(reader),
            lanes,
            wakes,
            signals,
            stop,
            lane_tasks: Mutex::new(lane_tasks),
            news_tasks: Mutex::new(tasks),
        }
    }

    /// Takes no more commands, and returns when those that waited are carried out.
    pub(crate) async fn stop(&self) {
        self.stop.cancel();
        for task in take(&self.lane_tasks) {
            if let Err(error) = task.await {
                tracing::error!(%error, "a lane of the store ended badly");
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
        &self.reads
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

fn take(tasks: &Mutex<Vec<JoinHandle<()>>>) -> Vec<JoinHandle<()>> {
    std::mem::take(&mut *tasks.lock().unwrap_or_else(PoisonError::into_inner))
}

fn stopped() -> Error {
    Error::Unavailable("the store has stopped".into())
}
