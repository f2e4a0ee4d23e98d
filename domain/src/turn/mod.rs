//! Turns, steps and calls: the durable execution of a task (D1 to D7).
//!
//! Invariants
//! - A turn's epoch only rises: at each claim, and at a stop. A write carries the epoch it was claimed with and is refused, in
//!   its own transaction, once another holds.
//! - A decision is stored before any of its calls starts, and a call is stored as started before it runs.
//! - A step that is decided is never decided again; a call that is done never runs again.
//!
//! Not here: what the model is told, what a tool does (`runtime`); where a task stands after a step (`task::standing`).

mod call;
mod change;
mod claim;
mod decide;
mod entered;
mod fail;
mod finish;
mod lease;
mod open;
mod segment;
mod settle;
mod start;

use std::fmt;
use std::str::FromStr;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::document::Version;
use crate::error::Result;
use crate::ids::{TaskId, TurnId, WorkId, WorkspaceId};
use crate::names::named;
use crate::page::{End, Page, Window};
use crate::routing::StoreRouting;
use crate::store::Command;
use crate::time::Timestamp;

pub use call::{
    Call, CallId, CallOutcome, CallState, Effect, LargeResult, PlannedCall, Risk, equal_key,
};
pub(crate) use change::{TurnChange, check_fence};
pub use claim::{ClaimTurn, Claimed};
pub use decide::{Decision, NextHint, StoreDecision};
pub use entered::Entered;
pub use fail::{FailStep, StepFailure};
pub use finish::{FinishCalls, FinishedCall, LARGE_RESULT_BYTES, digest};
pub use lease::{ReleaseTurn, RenewLease};
pub use open::OpenedStep;
pub use segment::StoreSegment;
pub use settle::After;
pub(crate) use settle::settle_routing;
pub use start::{ExecutorPrompt, StartCalls};

/// The fencing token of a turn: 0 before the first claim.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Epoch(pub u32);

impl Epoch {
    /// The epoch after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

/// One life of one worker process: never a host name, so that a successor is another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WorkerId(pub Uuid);

impl fmt::Display for WorkerId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "worker_{}", self.0.simple())
    }
}

impl FromStr for WorkerId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> std::result::Result<Self, uuid::Error> {
        text.strip_prefix("worker_")
            .unwrap_or(text)
            .parse()
            .map(Self)
    }
}

/// What every write for a turn carries: it holds while this epoch of the turn does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fence {
    /// The workspace of the task.
    pub workspace: WorkspaceId,
    /// The task.
    pub task: TaskId,
    /// The turn.
    pub turn: TurnId,
    /// The epoch that the writer was given at its claim.
    pub epoch: Epoch,
}

/// A step of a task, by its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StepRef {
    /// Number of the turn in the task, from 1 on.
    pub turn: u32,
    /// Number of the step in the turn, from 1 on.
    pub step: u32,
}

named! {
    /// Where a turn stands.
    TurnState {
        /// It waits for a worker.
        Queued = "QUEUED",
        /// A worker has it, or had it when it died.
        Running = "RUNNING",
        /// It waits for a time to come: the model could not be asked.
        Suspended = "SUSPENDED",
        /// It came to its end.
        Completed = "COMPLETED",
        /// It could not go on.
        Failed = "FAILED",
        /// A person ended it.
        Cancelled = "CANCELLED",
    }
}

impl TurnState {
    /// Whether nothing will change it any more.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// The right of one worker to run a turn, for a short time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Who has it.
    pub owner: WorkerId,
    /// Until when, by the clock of the database.
    pub expires_at: Timestamp,
}

/// A turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// Its id.
    pub id: TurnId,
    /// Where it belongs.
    pub workspace: WorkspaceId,
    /// The task it moves on.
    pub task: TaskId,
    /// Its number in the task, from 1 on.
    pub number: u32,
    /// Where it stands.
    pub state: TurnState,
    /// The fencing token that holds.
    pub epoch: Epoch,
    /// Who has it.
    pub lease: Option<Lease>,
    /// Since when it waits for a worker.
    pub queued_at: Timestamp,
    /// Not to be claimed before this time.
    pub not_before: Option<Timestamp>,
    /// When it was claimed first.
    pub started_at: Option<Timestamp>,
    /// When it was over.
    pub ended_at: Option<Timestamp>,
    /// The resume point: steps that are settled.
    pub settled_steps: u32,
    /// When it last moved on; renewing a lease is no move.
    pub moved_at: Timestamp,
    /// Claims in a row after which it did not move on.
    pub idle_claims: u32,
    /// Whether it has made meaningful progress (A3).
    pub has_progress: bool,
}

named! {
    /// Where a step stands.
    StepState {
        /// It has taken its messages, and waits for the model's decision.
        Open = "OPEN",
        /// Its decision is stored; its calls are being carried out.
        Decided = "DECIDED",
        /// All its calls are over.
        Settled = "SETTLED",
    }
}

/// A step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its workspace.
    pub workspace: WorkspaceId,
    /// Its task.
    pub task: TaskId,
    /// Its turn.
    pub turn: TurnId,
    /// Its numbers.
    pub at: StepRef,
    /// Where it stands.
    pub state: StepState,
    /// The epoch in which it was opened, and then the one in which it was decided.
    pub epoch: Epoch,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// When it was decided.
    pub decided_at: Option<Timestamp>,
    /// Why, in the model's words.
    pub rationale: String,
    /// What the request was made of.
    pub seen: Seen,
    /// Tokens of the request by layer, and what the provider reported.
    pub context: Option<ContextUsage>,
}

/// What stood in the request of a step, as far as it matters later.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Seen {
    /// The newest journal entry.
    pub journal_sequence: u64,
    /// Unread change notices, each up to a version.
    pub notices: Vec<(WorkId, Version)>,
    /// Whether the request nudged for want of progress.
    pub is_nudged: bool,
    /// How often something of the workspace had been forgotten.
    #[serde(default)]
    pub forgets: u64,
}

/// Tokens of one model request by layer, as sent (estimated), and what the provider reported (C7).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ContextUsage {
    /// The model that answered.
    pub model: String,
    /// Tokens of the stable prefix.
    pub stable_prefix: u32,
    /// Tokens of the segment summaries.
    pub summaries: u32,
    /// Tokens of the recent history.
    pub recent: u32,
    /// Tokens of the dynamic tail.
    pub dynamic_tail: u32,
    /// Reported: tokens of the request.
    pub input_tokens: u64,
    /// Reported: of these, read from the cache.
    pub cached_tokens: u64,
    /// Reported: tokens of the reply.
    pub output_tokens: u64,
    /// SHA-256 of the stable prefix, hexadecimal.
    pub stable_prefix_hash: String,
    /// What it cost in micros, where the prices are known.
    pub cost_micros: u64,
}

/// Ids that a command may need for what it makes; a command runs again with the same ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spare {
    /// For a new turn.
    pub turn: TurnId,
    /// For a card that the runtime raises.
    pub card: crate::ids::CardId,
    /// For a new task.
    pub task: TaskId,
}

impl Spare {
    /// Fresh ones.
    pub fn new() -> Self {
        Self {
            turn: TurnId::new(),
            card: crate::ids::CardId::new(),
            task: TaskId::new(),
        }
    }
}

impl Default for Spare {
    fn default() -> Self {
        Self::new()
    }
}

/// A turn that somebody may claim now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claimable {
    /// Its workspace.
    pub workspace: WorkspaceId,
    /// Its task.
    pub task: TaskId,
    /// The turn.
    pub turn: TurnId,
    /// Its present epoch.
    pub epoch: Epoch,
}

/// Reading turns.
#[async_trait]
pub trait TurnReads {
    /// The time by which leases are judged: the database's own where several processes share it, `here` otherwise.
    async fn lease_time(&self, here: Timestamp) -> Result<Timestamp>;
    /// Turns that may be claimed: queued or suspended and due, or running with a lease that ended. Fair between workspaces:
    /// the longest waiting of each come before the second of any.
    async fn list_claimable(&self, now: Timestamp, limit: u32) -> Result<Vec<Claimable>>;
    /// Running turns with a lease that has not ended, that have not moved since a time.
    async fn list_unmoved(
        &self,
        now: Timestamp,
        moved_before: Timestamp,
        limit: u32,
    ) -> Result<Vec<Claimable>>;
    /// Tasks with an unread inbox, no turn that is not over, and a status that messages wake.
    async fn list_unwoken(&self, limit: u32) -> Result<Vec<(WorkspaceId, TaskId)>>;
    /// A turn with everything that a command of it begins with.
    async fn enter_turn(&self, turn: TurnId) -> Result<Option<Entered>>;
    /// Turns by id.
    async fn list_turns_by_id(&self, ids: &[TurnId]) -> Result<Vec<Turn>>;
    /// Turns of a task, by number.
    async fn list_turns(&self, task: TaskId, window: Window<u32>) -> Result<Page<Turn>>;
    /// The ends of the lists of turns of these tasks: at most `limit` turns of each, by task and then number.
    async fn list_turns_of(&self, tasks: &[TaskId], limit: u32, end: End) -> Result<Vec<Turn>>;
    /// Steps of tasks, by their numbers; in no order.
    async fn list_steps_by_number(&self, steps: &[(TaskId, StepRef)]) -> Result<Vec<Step>>;
    /// Steps of these turns, by turn and number.
    async fn list_steps(&self, turns: &[TurnId]) -> Result<Vec<Step>>;
    /// Calls of these turns, by turn, step and index.
    async fn list_calls(&self, turns: &[TurnId]) -> Result<Vec<Call>>;
    /// The step of a turn with this number.
    async fn find_step(&self, turn: TurnId, number: u32) -> Result<Option<Step>>;
    /// Calls of one step, by index.
    async fn list_step_calls(&self, turn: TurnId, step: u32) -> Result<Vec<Call>>;
    /// The newest call of a task with this key that is done or of unknown outcome.
    async fn find_equal_call(&self, task: TaskId, key: Uuid) -> Result<Option<Call>>;
    /// A result that was too large for its call.
    async fn find_large_result(&self, call: &CallId) -> Result<Option<LargeResult>>;
}

/// Writing turns.
#[async_trait]
pub trait TurnWrites {
    /// Inserts a turn.
    async fn insert_turn(&self, turn: &Turn) -> Result<()>;
    /// Writes a turn where it still has this epoch and is not over. Elsewhere its command fails with `Fenced`, at the latest as
    /// it ends.
    async fn update_turn(&self, turn: &Turn, presented: Epoch) -> Result<()>;
    /// Inserts a step, or writes one that is there.
    async fn put_step(&self, step: &Step) -> Result<()>;
    /// Inserts calls.
    async fn insert_calls(&self, calls: &[Call]) -> Result<()>;
    /// Writes state, attempts, epoch, result, error and times of a call.
    async fn update_call(&self, call: &Call) -> Result<()>;
    /// Stores a large result; one that is there stays.
    async fn insert_large_result(
        &self,
        workspace: WorkspaceId,
        call: &CallId,
        result: &LargeResult,
    ) -> Result<()>;
    /// Wakes workers, and those who run this turn under an older epoch, in every process, once this is committed.
    async fn announce_turn(&self, wake: TurnWake) -> Result<()>;
}

/// A hint that something is to be done for a turn. Doubles are harmless, and a lost one costs a delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnWake {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// The task.
    pub task: TaskId,
    /// The turn.
    pub turn: TurnId,
    /// The epoch that holds now.
    pub epoch: Epoch,
}

/// Every command with which a turn is moved on: the places at which a process can die with something stored. Each has a case in the
/// tests of crashes.
pub const WRITE_POINTS: [&str; 6] = [
    <ClaimTurn as Command>::NAME,
    <StoreDecision as Command>::NAME,
    <StartCalls as Command>::NAME,
    <FinishCalls as Command>::NAME,
    <StoreSegment as Command>::NAME,
    <StoreRouting as Command>::NAME,
];
