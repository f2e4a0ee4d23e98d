//! A store that fails where a test says: before it writes, or after it wrote.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use domain::event::Sequence;
use domain::ids::WorkspaceId;
use domain::store::{ErasedCommand, Reads, SharedStore, Signal, Store};
use domain::turn::TurnWake;
use domain::{Error, Result};
use tokio::sync::{broadcast, watch};

/// What happens to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The process dies before the command is carried out.
    CrashBefore,
    /// The process dies after the command was committed, before it hears of it.
    CrashAfter,
    /// The store says that it failed, and has committed.
    LoseAnswer,
    /// The store says that it failed, and has.
    Refuse,
}

/// Faults by command and by how often it was run; the first run is number 1.
type Plan = BTreeMap<(&'static str, u32), Fault>;

/// A store with faults.
pub(crate) struct FaultyStore {
    inner: SharedStore,
    plan: Mutex<Plan>,
    runs: Mutex<BTreeMap<&'static str, u32>>,
    chance: Mutex<Option<Box<dyn FnMut(&'static str) -> Option<Fault> + Send>>>,
}

impl FaultyStore {
    pub(crate) fn new(inner: SharedStore) -> Arc<Self> {
        Arc::new(Self {
            inner,
            plan: Mutex::default(),
            runs: Mutex::default(),
            chance: Mutex::default(),
        })
    }

    /// Lets the given run of a command, counted from now on, meet a fault.
    pub(crate) fn plan(&self, command: &'static str, run: u32, fault: Fault) {
        let done = self.runs(command);
        self.plan
            .lock()
            .expect("a lock")
            .insert((command, done + run), fault);
    }

    /// Decides by chance; none takes the chance away.
    pub(crate) fn set_chance(
        &self,
        chance: Option<Box<dyn FnMut(&'static str) -> Option<Fault> + Send>>,
    ) {
        *self.chance.lock().expect("a lock") = chance;
    }

    /// How often a command was run.
    pub(crate) fn runs(&self, command: &str) -> u32 {
        self.runs
            .lock()
            .expect("a lock")
            .get(command)
            .copied()
            .unwrap_or_default()
    }

    /// Every command that was run.
    pub(crate) fn seen(&self) -> Vec<&'static str> {
        self.runs.lock().expect("a lock").keys().copied().collect()
    }

    fn fault(&self, command: &'static str) -> Option<Fault> {
        let mut runs = self.runs.lock().expect("a lock");
        let run = runs.entry(command).or_default();
        *run += 1;
        let planned = self.plan.lock().expect("a lock").remove(&(command, *run));
        planned.or_else(|| {
            let mut chance = self.chance.lock().expect("a lock");
            chance.as_mut().and_then(|chance| chance(command))
        })
    }
}

/// The error that stands for the end of the process: nothing catches it.
pub(crate) fn crash() -> Error {
    Error::internal("the process died here")
}

/// Whether an error stands for the end of the process.
pub(crate) fn is_crash(error: &Error) -> bool {
    matches!(error, Error::Internal(source) if source.to_string() == "the process died here")
}

#[async_trait]
impl Store for FaultyStore {
    async fn run_erased(&self, command: Arc<dyn ErasedCommand>) -> Result<Box<dyn Any + Send>> {
        let lost = || Error::Unavailable("the store did not answer".into());
        match self.fault(command.name()) {
            None => self.inner.run_erased(command).await,
            Some(Fault::CrashBefore) => Err(crash()),
            Some(Fault::Refuse) => Err(lost()),
            Some(Fault::CrashAfter) => {
                self.inner.run_erased(command).await?;
                Err(crash())
            }
            Some(Fault::LoseAnswer) => {
                self.inner.run_erased(command).await?;
                Err(lost())
            }
        }
    }

    fn reads(&self) -> &dyn Reads {
        self.inner.reads()
    }

    fn is_shared(&self) -> bool {
        self.inner.is_shared()
    }

    fn follow(&self, workspace: WorkspaceId) -> watch::Receiver<Sequence> {
        self.inner.follow(workspace)
    }

    fn follow_access(&self) -> watch::Receiver<u64> {
        self.inner.follow_access()
    }

    fn follow_turns(&self) -> broadcast::Receiver<TurnWake> {
        self.inner.follow_turns()
    }

    fn follow_signals(&self) -> broadcast::Receiver<Signal> {
        self.inner.follow_signals()
    }

    async fn signal(&self, signal: Signal) -> Result<()> {
        self.inner.signal(signal).await
    }
}
