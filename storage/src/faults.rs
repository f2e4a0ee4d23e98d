//! A store that fails where a test says: before it writes, or after it wrote; and wake-ups that are lost or doubled. For tests only.
//!
//! Invariants
//! - Without a plan it is the store that it stands before.

use std::any::Any;
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
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
pub enum Fault {
    /// The process dies before the command is carried out.
    CrashBefore,
    /// The process dies after the command was committed, before it hears of it.
    CrashAfter,
    /// The store says that it failed, and has committed.
    LoseAnswer,
    /// The store says that it failed, and has.
    Refuse,
    /// The process is really killed before the command is carried out.
    KillBefore,
    /// The process is really killed after the command was committed.
    KillAfter,
    /// The process stands still after the command was committed, until somebody lets it go on.
    FreezeAfter,
}

/// The variable that lets a process end or stand still at a command: `step.decide 2 after`, with `before`, `after` or `freeze`.
const FAULT_AT: &str = "ATELIER_TEST_FAULT_AT";

/// The variable that lets a process note the name of each command that it carries out for the first time in a file, a line each.
const SEEN_IN: &str = "ATELIER_TEST_SEEN_IN";

/// The store, or one that kills the process where the environment says so.
pub fn from_environment(inner: SharedStore) -> SharedStore {
    if let Ok(file) = std::env::var(SEEN_IN) {
        let store = FaultyStore::new(inner);
        *store.seen_in.lock().expect("a lock") = Some(file.into());
        return store;
    }
    let Ok(text) = std::env::var(FAULT_AT) else {
        return inner;
    };
    let words: Vec<&str> = text.split(' ').collect();
    let [command, run, place] = words.as_slice() else {
        panic!("{FAULT_AT} is `{text}`, and not such as `step.decide 2 after`");
    };
    let run = run.parse().expect("a number");
    let fault = match *place {
        "before" => Fault::KillBefore,
        "after" => Fault::KillAfter,
        "freeze" => Fault::FreezeAfter,
        other => panic!("{FAULT_AT}: `{other}` is none of `before`, `after`, `freeze`"),
    };
    let store = FaultyStore::new(inner);
    // It lives as long as the process.
    store.plan(command.to_string().leak(), run, fault);
    store
}

/// The variable that lets each wake-up of a process arrive `never` or `twice`.
const WAKES: &str = "ATELIER_TEST_WAKES";

/// How often each wake-up arrives.
pub(crate) fn arrivals() -> u32 {
    match std::env::var(WAKES).as_deref() {
        Err(_) => 1,
        Ok("never") => 0,
        Ok("twice") => 2,
        Ok(other) => panic!("{WAKES} is `{other}`, and neither `never` nor `twice`"),
    }
}

/// Ends this process as a power failure would.
fn kill_this_process() -> ! {
    signal_this_process("-KILL");
    panic!("the process outlived its end");
}

fn signal_this_process(signal: &str) {
    let process = std::process::id().to_string();
    let sent = std::process::Command::new("kill")
        .args([signal, &process])
        .status();
    assert!(sent.is_ok_and(|status| status.success()), "`kill` runs");
}

/// Faults by command and by how often it was run; the first run is number 1.
type Plan = BTreeMap<(&'static str, u32), Fault>;

/// Decides at each command whether it meets a fault.
pub type Chance = Box<dyn FnMut(&'static str) -> Option<Fault> + Send>;

/// A store with faults.
pub struct FaultyStore {
    inner: SharedStore,
    plan: Mutex<Plan>,
    runs: Mutex<BTreeMap<&'static str, u32>>,
    chance: Mutex<Option<Chance>>,
    seen_in: Mutex<Option<PathBuf>>,
}

impl FaultyStore {
    /// Stands before this store.
    pub fn new(inner: SharedStore) -> Arc<Self> {
        Arc::new(Self {
            inner,
            plan: Mutex::default(),
            runs: Mutex::default(),
            chance: Mutex::default(),
            seen_in: Mutex::default(),
        })
    }

    /// Lets the given run of a command, counted from now on, meet a fault.
    pub fn plan(&self, command: &'static str, run: u32, fault: Fault) {
        let done = self.runs(command);
        self.plan
            .lock()
            .expect("a lock")
            .insert((command, done + run), fault);
    }

    /// Decides by chance; none takes the chance away.
    pub fn set_chance(&self, chance: Option<Chance>) {
        *self.chance.lock().expect("a lock") = chance;
    }

    /// How often a command was run.
    pub fn runs(&self, command: &str) -> u32 {
        self.runs
            .lock()
            .expect("a lock")
            .get(command)
            .copied()
            .unwrap_or_default()
    }

    /// Every command that was run.
    pub fn seen(&self) -> Vec<&'static str> {
        self.runs.lock().expect("a lock").keys().copied().collect()
    }

    fn fault(&self, command: &'static str) -> Option<Fault> {
        let mut runs = self.runs.lock().expect("a lock");
        let run = runs.entry(command).or_default();
        *run += 1;
        if *run == 1 {
            self.note(command);
        }
        let planned = self.plan.lock().expect("a lock").remove(&(command, *run));
        planned.or_else(|| {
            let mut chance = self.chance.lock().expect("a lock");
            chance.as_mut().and_then(|chance| chance(command))
        })
    }
}

impl FaultyStore {
    /// Notes a command that is met for the first time.
    fn note(&self, command: &str) {
        let file = self.seen_in.lock().expect("a lock");
        if let Some(path) = &*file {
            let file = OpenOptions::new().create(true).append(true).open(path);
            let mut file = file.expect("the file can be written");
            writeln!(file, "{command}").expect("the file can be written");
        }
    }
}

/// The error that stands for the end of the process: nothing catches it.
pub fn crash() -> Error {
    Error::internal("the process died here")
}

/// Whether an error stands for the end of the process.
pub fn is_crash(error: &Error) -> bool {
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
            Some(Fault::KillBefore) => kill_this_process(),
            Some(Fault::KillAfter) => {
                self.inner.run_erased(command).await?;
                kill_this_process()
            }
            Some(Fault::FreezeAfter) => {
                let output = self.inner.run_erased(command).await;
                signal_this_process("-STOP");
                output
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

    fn follow_logs(&self) -> broadcast::Receiver<(WorkspaceId, Sequence)> {
        self.inner.follow_logs()
    }

    fn follow_access(&self) -> watch::Receiver<u64> {
        self.inner.follow_access()
    }

    fn follow_jobs(&self) -> watch::Receiver<u64> {
        self.inner.follow_jobs()
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
