//! The worker: claims turns that are due, keeps their leases, and looks after those that nobody moves on (D4, D5).
//!
//! Invariants
//! - A wake-up is a hint: what is due is read from the store at every interval of the watchdog as well.
//! - At most so many turns run at once in this process, and of one workspace; who waited longest comes first.
//! - A turn that stands still is taken over, also from a worker that renews its lease.
//! - At a stop nothing new is claimed, and what runs is given back.

mod running;
mod watchdog;

use std::sync::Arc;
use std::time::Duration;

use domain::error::Error;
use domain::turn::{Claimable, Fence, TurnWake};
use tokio::sync::{Notify, broadcast};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::engine::{Drive, Engine, Progress};
use crate::memory::{ExtractionOptions, extract};
use running::{Place, Running};

/// How a worker works.
#[derive(Debug, Clone)]
pub struct WorkerOptions {
    /// Turns that run at once.
    pub turns: usize,
    /// Of these, of one workspace.
    pub turns_per_workspace: usize,
    /// How often stored state is looked through for what was missed.
    pub watchdog: Duration,
    /// How long a turn may stand still before it is taken from a worker that renews its lease.
    pub stillness: Duration,
    /// How long what runs may take to come to a boundary at a stop.
    pub farewell: Duration,
    /// How memories are extracted.
    pub extraction: ExtractionOptions,
}

impl Default for WorkerOptions {
    fn default() -> Self {
        Self {
            turns: 32,
            turns_per_workspace: 16,
            watchdog: Duration::from_secs(10),
            stillness: Duration::from_mins(20),
            farewell: Duration::from_secs(5),
            extraction: ExtractionOptions::default(),
        }
    }
}

/// Turns that are looked for at once.
const CLAIMS: u32 = 64;

/// A worker of this process.
pub struct Worker {
    shared: Arc<Shared>,
    loops: Vec<JoinHandle<()>>,
}

struct Shared {
    engine: Engine,
    options: WorkerOptions,
    running: Running,
    turns: TaskTracker,
    /// Told when something may be due, or a place has become free.
    due: Notify,
    stop: CancellationToken,
}

impl Worker {
    /// Starts; must be called inside a runtime.
    pub fn start(engine: Engine, options: WorkerOptions) -> Self {
        let shared = Arc::new(Shared {
            running: Running::new(options.turns, options.turns_per_workspace),
            engine,
            options,
            turns: TaskTracker::new(),
            due: Notify::new(),
            stop: CancellationToken::new(),
        });
        tracing::info!(worker = %shared.engine.worker(), "a worker has started");
        let wakes = shared.engine.store().follow_turns();
        let extractor = Arc::new(shared.engine.extractor(shared.options.extraction));
        let loops = vec![
            tokio::spawn(shared.clone().listen(wakes)),
            tokio::spawn(shared.clone().claim_what_is_due()),
            tokio::spawn(watchdog::watch(shared.clone())),
            tokio::spawn(extract(extractor, shared.stop.clone())),
        ];
        Self { shared, loops }
    }

    /// Ends in order: claims nothing more, lets what runs come to a boundary, gives the rest back.
    pub async fn stop(self) {
        self.shared.stop.cancel();
        self.shared.turns.close();
        for handle in self.loops {
            if let Err(error) = handle.await {
                tracing::error!(%error, "a loop of the worker ended badly");
            }
        }
        self.shared.turns.wait().await;
        tracing::info!(worker = %self.shared.engine.worker(), "the worker has stopped");
    }
}

impl Shared {
    /// Follows wake-ups: a turn of ours with a newer epoch is let go, any other may be due.
    async fn listen(self: Arc<Self>, mut wakes: broadcast::Receiver<TurnWake>) {
        loop {
            let wake = tokio::select! {
                () = self.stop.cancelled() => return,
                wake = wakes.recv() => wake,
            };
            match wake {
                Ok(wake) => {
                    if !self.running.heard(wake) {
                        self.due.notify_one();
                    }
                }
                // What was missed is found by looking.
                Err(broadcast::error::RecvError::Lagged(_)) => self.due.notify_one(),
                Err(broadcast::error::RecvError::Closed) => return,
            }
        }
    }

    /// Claims what is due, as long as there is room.
    async fn claim_what_is_due(self: Arc<Self>) {
        loop {
            let more = match self.claim_some().await {
                Ok(more) => more,
                Err(error) => {
                    tracing::warn!(%error, "due turns can not be read; trying again");
                    false
                }
            };
            if more {
                continue;
            }
            tokio::select! {
                () = self.stop.cancelled() => return,
                () = self.due.notified() => {}
                () = tokio::time::sleep(self.options.watchdog) => {}
            }
        }
    }

    /// Starts turns that are due; whether there may be more.
    async fn claim_some(self: &Arc<Self>) -> domain::Result<bool> {
        if self.stop.is_cancelled() || !self.running.has_room() {
            return Ok(false);
        }
        let reads = self.engine.store().reads();
        let now = reads.lease_time(self.engine.now()).await?;
        let due = reads.list_claimable(now, CLAIMS).await?;
        let mut started = 0;
        for turn in &due {
            if let Some(place) = self.running.take(turn) {
                started += 1;
                self.turns
                    .spawn(self.clone().claim_and_drive(*turn, place, false));
            }
        }
        Ok(due.len() == CLAIMS as usize && started > 0)
    }

    async fn claim_and_drive(self: Arc<Self>, turn: Claimable, place: Place, is_forced: bool) {
        match self.engine.claim(turn, is_forced).await {
            Ok(Some(drive)) => {
                place.claimed(drive.fence.epoch);
                self.drive(drive, &place).await;
            }
            Ok(None) => {}
            Err(error) => tracing::warn!(turn.id = %turn.turn, %error, "a turn can not be claimed"),
        }
        drop(place);
        self.due.notify_one();
    }

    /// Moves a turn on to its end, and keeps its lease meanwhile.
    async fn drive(&self, mut drive: Drive, place: &Place) {
        let fence = drive.fence;
        let (lost, stop) = (place.lost(), CancellationToken::new());
        let moved = async {
            loop {
                if self.stop.is_cancelled() {
                    return Ok(Progress::Onward);
                }
                match self.engine.advance(&mut drive, &stop).await? {
                    Progress::Onward => {}
                    Progress::Over => return Ok::<_, Error>(Progress::Over),
                }
            }
        };
        // What a call does is paid for and stored, also after a stop: only the wait for the model ends at once.
        let let_go = async {
            tokio::select! {
                () = self.keep_lease(fence) => {}
                () = lost.cancelled() => {}
            }
            stop.cancel();
            std::future::pending::<()>().await;
        };
        let farewell = async {
            self.stop.cancelled().await;
            stop.cancel();
            tokio::time::sleep(self.options.farewell).await;
        };
        let ended = tokio::select! {
            ended = moved => ended,
            () = let_go => Ok(Progress::Over),
            () = farewell => Ok(Progress::Onward),
        };
        match ended {
            Ok(Progress::Over) => {}
            Ok(Progress::Onward) => self.give_back(fence).await,
            Err(error) => {
                tracing::error!(turn.id = %fence.turn, %error, "a turn could not be moved on; it is taken up again");
                self.give_back(fence).await;
            }
        }
    }

    /// Renews a lease; returns when it is lost.
    async fn keep_lease(&self, fence: Fence) {
        let pause = self.engine.options().lease / 3;
        loop {
            tokio::time::sleep(pause).await;
            match self.engine.renew(fence).await {
                Ok(()) => {}
                Err(error @ Error::Fenced { .. }) => return self.engine.note_fenced(&error),
                Err(error) => {
                    tracing::warn!(turn.id = %fence.turn, %error, "a lease could not be renewed");
                }
            }
        }
    }

    async fn give_back(&self, fence: Fence) {
        match self.engine.release(fence).await {
            Ok(()) | Err(Error::Fenced { .. }) => {}
            Err(error) => {
                tracing::warn!(turn.id = %fence.turn, %error, "a turn could not be given back; its lease ends by itself");
            }
        }
    }
}
