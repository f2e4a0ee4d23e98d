//! The engine: moves one claimed turn on, from stored state to stored state (D1 to D7).
//!
//! Invariants
//! - Before the model is asked, the step is stored as open; before a call runs, it is stored as started; what came of either is
//!   stored before anything else follows from it.
//! - Where an answer of the store is lost, stored state is read again and says how to go on: memory decides nothing.
//! - From step to step of one drive what only the owner of the turn can write is kept; what others can write comes with the
//!   transaction that opened the step.
//! - A worker whose epoch is superseded stops, and that is no fault.
//!
//! Not here: which turns are claimed, leases, wake-ups (`worker`).

mod ask;
mod calls;
mod durable;
mod route;

use std::sync::Arc;
use std::time::Duration;

use domain::error::{Error, Result};
use domain::message::MessageState;
use domain::store::{Reads, SharedStore, StoreExt as _};
use domain::task::TaskLimits;
use domain::time::Timestamp;
use domain::turn::{
    After, ClaimTurn, Claimable, Fence, OpenedStep, ReleaseTurn, RenewLease, Spare, StepState,
    TurnState, WorkerId,
};
use tokio_util::sync::CancellationToken;

use crate::context::{Context, ContextLimits, Known};
use crate::memory::{ExtractionOptions, Extractor};
use crate::model::{ModelClient, Prices};
use crate::tools::{ToolServices, Tools};

/// How the engine works.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// How long a claim holds without being renewed.
    pub lease: Duration,
    /// Limits of tasks.
    pub limits: TaskLimits,
    /// Budgets of requests.
    pub context: ContextLimits,
    /// How long one call of a tool may run.
    pub call_time: Duration,
    /// What tokens cost.
    pub prices: Prices,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(30),
            limits: TaskLimits::default(),
            context: ContextLimits::default(),
            call_time: Duration::from_mins(5),
            prices: Prices::default(),
        }
    }
}

/// Moves turns on.
pub struct Engine {
    services: ToolServices,
    tools: Arc<Tools>,
    context: Context,
    options: EngineOptions,
    worker: WorkerId,
}

/// A claimed turn, and what there is to do for it.
#[derive(Debug)]
pub struct Drive {
    /// The fence of everything that is written for it.
    pub fence: Fence,
    /// What there is to do.
    pub after: After,
    /// What the last request was made of.
    known: Option<Known>,
}

/// Whether there is more to do for a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// There is.
    Onward,
    /// The turn is over, or no longer this worker's.
    Over,
}

impl Engine {
    /// An engine under a fresh identity.
    #[must_use]
    pub fn new(services: ToolServices, tools: Arc<Tools>, options: EngineOptions) -> Self {
        let context = Context::new(tools.clone(), &services.executors, options.context);
        Self {
            services,
            tools,
            context,
            options,
            worker: WorkerId(uuid::Uuid::new_v4()),
        }
    }

    /// This life of this worker.
    #[must_use]
    pub fn worker(&self) -> WorkerId {
        self.worker
    }

    /// How it works.
    #[must_use]
    pub fn options(&self) -> &EngineOptions {
        &self.options
    }

    /// Commands and reads.
    #[must_use]
    pub fn store(&self) -> &SharedStore {
        &self.services.store
    }

    /// The present time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.services.clock.now()
    }

    /// Who extracts memories with the services of this engine.
    #[must_use]
    pub fn extractor(&self, options: ExtractionOptions) -> Extractor {
        Extractor::new(self.services.clone(), options)
    }

    fn reads(&self) -> &dyn Reads {
        self.services.store.reads()
    }

    fn model(&self) -> &dyn ModelClient {
        &*self.services.model
    }

    /// Claims a turn; none where another was first, or nothing is left to do.
    pub async fn claim(&self, turn: Claimable, is_forced: bool) -> Result<Option<Drive>> {
        let command = ClaimTurn {
            fence: Fence {
                workspace: turn.workspace,
                task: turn.task,
                turn: turn.turn,
                epoch: turn.epoch,
            },
            owner: self.worker,
            lease: self.options.lease,
            is_forced,
            limits: self.options.limits,
            spare: Spare::new(),
            at: self.now(),
        };
        let claimed = self.store().run(command).await?;
        Ok(claimed.map(|claimed| Drive {
            fence: claimed.fence,
            after: claimed.after,
            known: None,
        }))
    }

    /// Does the next thing for a turn. Cancelling leaves stored state as after a crash; that is always safe.
    pub async fn advance(&self, drive: &mut Drive, stop: &CancellationToken) -> Result<Progress> {
        let fence = drive.fence;
        let next = match &drive.after {
            After::Ended => return Ok(Progress::Over),
            After::Opened(opened) if opened.task.is_main() => self.route(fence, opened, stop).await,
            After::Opened(opened) => self.ask(fence, opened, (&mut drive.known, stop)).await,
            After::Calls { step, calls } => {
                if let Some(known) = &mut drive.known {
                    known.note_calls();
                }
                self.run_calls(fence, step, calls).await
            }
        };
        match next {
            Ok(Some(after)) => drive.after = after,
            Ok(None) => {
                drive.known = None;
                drive.after = self.position(fence).await?;
            }
            Err(error @ Error::Fenced { .. }) => {
                self.note_fenced(&error);
                drive.after = After::Ended;
            }
            Err(error) => return Err(error),
        }
        Ok(match drive.after {
            After::Ended => Progress::Over,
            _ => Progress::Onward,
        })
    }

    /// Counts and logs a refused write. It is benign: whoever has the turn now goes on.
    pub(crate) fn note_fenced(&self, error: &Error) {
        metrics::counter!("atelier_fenced_writes_total").increment(1);
        tracing::warn!(worker = %self.worker, %error, "a write was fenced off");
    }

    /// What there is to do by stored state, for the worker that still has the turn.
    pub async fn position(&self, fence: Fence) -> Result<After> {
        let reads = self.reads();
        let found = reads.enter_turn(fence.turn).await?;
        let found = found.ok_or_else(|| Error::not_found("turn", fence.turn))?;
        if found.turn.epoch != fence.epoch || found.turn.state != TurnState::Running {
            return Ok(After::Ended);
        }
        let number = found.turn.settled_steps + 1;
        let step = found.step.ok_or_else(|| Error::not_found("step", number))?;
        if step.state == StepState::Decided {
            let calls = found.calls;
            return Ok(After::Calls { step, calls });
        }
        // What Main has taken is on its way.
        let waiting = [MessageState::Delivered, MessageState::Routing];
        let mut messages = reads.list_inbox(&[fence.task], &waiting).await?;
        messages.retain(|message| message.taken_by == Some(step.at));
        Ok(After::Opened(Box::new(OpenedStep {
            step,
            messages,
            task: found.task,
            projections: found.projections.unwrap_or_default(),
            notices: reads.list_change_notices(&[fence.task]).await?,
            cards: reads.list_cards(&[fence.task], Some(true)).await?,
            jobs: reads
                .list_jobs_under_way(fence.workspace, fence.task)
                .await?,
            has_works: found.has_works,
            memory: found.memory,
            noted: Vec::new(),
        })))
    }

    /// Makes the lease of a turn last longer.
    pub async fn renew(&self, fence: Fence) -> Result<()> {
        let command = RenewLease {
            fence,
            owner: self.worker,
            lease: self.options.lease,
            at: self.now(),
        };
        self.store().run(command).await
    }

    /// Gives a turn back, for another worker to go on with at once.
    pub async fn release(&self, fence: Fence) -> Result<()> {
        let at = self.now();
        self.store().run(ReleaseTurn { fence, at }).await
    }
}
