//! Money: what a workspace may spend, and the ledger of what it did.
//!
//! Invariants
//! - Money is whole micros of one currency; amounts in the ledger are above zero.
//! - The ledger is only ever appended to, in the transaction of what it books; its sums are always those of the jobs.
//! - Commands of a workspace run one after the other, so that reservations that come at once can not pass a limit together.
//!
//! Not here: when something is booked (`job`).

mod book;
mod budget;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::ids::{JobId, LedgerEntryId, TaskId, WorkspaceId};
use crate::names::named;
use crate::page::{Page, PageRequest};
use crate::time::Timestamp;

pub(crate) use book::{Objection, beyond, book, objection, reserved_of_task};
pub use budget::SetBudget;

named! {
    /// What an entry books.
    LedgerKind {
        /// Sets an amount aside.
        Reserve = "RESERVE",
        /// Spends it, and uses up what was set aside for it.
        Charge = "CHARGE",
        /// Gives back what was set aside.
        Release = "RELEASE",
        /// Gives back what was spent.
        Refund = "REFUND",
    }
}

/// What one operation may cost without a person's word, where nobody said otherwise: one unit.
pub const PER_OPERATION_LIMIT: u64 = 1_000_000;
/// The same for a day: twenty units.
pub const DAILY_LIMIT: u64 = 20_000_000;

/// What a workspace may spend, and has spent on jobs; in micros.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceBudget {
    /// What may be spent in all; nothing passes it.
    pub limit: Option<u64>,
    /// What one operation may cost without a person's word.
    pub per_operation: u64,
    /// What operations of one day (UTC) may cost without a person's word.
    pub daily: u64,
    /// What was spent.
    pub spent: u64,
    /// What is set aside.
    pub reserved: u64,
    /// Sequence of the newest ledger entry; 0 before the first.
    pub ledger_head: u64,
}

impl Default for WorkspaceBudget {
    fn default() -> Self {
        Self {
            limit: None,
            per_operation: PER_OPERATION_LIMIT,
            daily: DAILY_LIMIT,
            spent: 0,
            reserved: 0,
            ledger_head: 0,
        }
    }
}

/// An entry of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerEntry {
    /// Its id.
    pub id: LedgerEntryId,
    /// Its workspace.
    pub workspace: WorkspaceId,
    /// Its place in the workspace's ledger, from 1 on.
    pub sequence: u64,
    /// What it books.
    pub kind: LedgerKind,
    /// How much, in micros.
    pub amount: u64,
    /// For which order.
    pub job: JobId,
    /// Of which task.
    pub task: TaskId,
    /// When.
    pub at: Timestamp,
}

/// Reading money.
#[async_trait]
pub trait MoneyReads {
    /// The budget of a workspace; the default one where nobody set any and nothing was booked.
    async fn budget(&self, workspace: WorkspaceId) -> Result<WorkspaceBudget>;
    /// The ledger of a workspace, oldest first.
    async fn list_ledger(
        &self,
        workspace: WorkspaceId,
        page: PageRequest<u64>,
    ) -> Result<Page<LedgerEntry>>;
    /// What was bound since a time: reserved, less what came back.
    async fn bound_since(&self, workspace: WorkspaceId, since: Timestamp) -> Result<u64>;
}

/// Writing money.
#[async_trait]
pub trait MoneyWrites {
    /// Writes the budget of a workspace.
    async fn put_budget(&self, workspace: WorkspaceId, budget: &WorkspaceBudget) -> Result<()>;
    /// Appends entries to the ledger; their sequences follow the last one.
    async fn append_ledger(&self, entries: &[LedgerEntry]) -> Result<()>;
}
