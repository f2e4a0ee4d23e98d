//! Money: amounts, what a workspace or task may spend and has spent, and the ledger.

use async_graphql::{Context, Enum, ID, Object, Result, SimpleObject};
use domain::{money, task};

use super::job::GenerationJob;
use crate::graphql::connection::connection;
use crate::graphql::cursor::{Kind, List};
use crate::graphql::error::{Nullable, nullable};
use crate::graphql::scalars::{Cursor, DateTime, Int64, int};
use crate::graphql::scope::Scope;

/// The currency of every amount.
pub(crate) const CURRENCY: &str = "USD";

/// Millionths of the currency unit, exact.
#[derive(Debug, Clone, SimpleObject)]
pub(crate) struct Money {
    /// Millionths of the currency unit.
    micros: Int64,
    /// Code of ISO 4217, such as USD.
    currency: &'static str,
}

impl Money {
    /// An amount.
    pub(crate) fn new(micros: u64) -> Self {
        Self {
            micros: Int64(i64::try_from(micros).unwrap_or(i64::MAX)),
            currency: CURRENCY,
        }
    }
}

/// What may be spent, and what was.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    pub(crate) limit: Option<u64>,
    pub(crate) spent: u64,
    pub(crate) reserved: u64,
    pub(crate) per_operation: u64,
    pub(crate) daily: u64,
}

impl From<money::WorkspaceBudget> for Budget {
    fn from(budget: money::WorkspaceBudget) -> Self {
        Self {
            limit: budget.limit,
            spent: budget.spent,
            reserved: budget.reserved,
            per_operation: budget.per_operation,
            daily: budget.daily,
        }
    }
}

/// What may be spent, and what was.
#[Object]
impl Budget {
    /// What may be spent in all; null where there is no limit.
    async fn limit(&self) -> Option<Money> {
        self.limit.map(Money::new)
    }

    /// What was spent.
    async fn spent(&self) -> Money {
        Money::new(self.spent)
    }

    /// What is set aside for what has begun and is not paid yet.
    async fn reserved(&self) -> Money {
        Money::new(self.reserved)
    }

    /// What one operation may cost without a person's word.
    async fn per_operation_limit(&self) -> Money {
        Money::new(self.per_operation)
    }

    /// What operations of one day (UTC) may cost without a person's word.
    async fn daily_limit(&self) -> Money {
        Money::new(self.daily)
    }
}

/// What an entry of the ledger books.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "money::LedgerKind")]
pub(crate) enum LedgerKind {
    /// Sets an amount aside.
    Reserve,
    /// Spends it, and uses up what was set aside for it.
    Charge,
    /// Gives back what was set aside.
    Release,
    /// Gives back what was spent.
    Refund,
}

/// An entry of the ledger; there is no way to change one.
#[derive(Debug, Clone)]
pub(crate) struct LedgerEntry(money::LedgerEntry);

/// An entry of the ledger; there is no way to change one.
#[Object]
impl LedgerEntry {
    /// The id of the entry.
    async fn id(&self) -> ID {
        self.0.id.into()
    }

    /// What it books.
    async fn kind(&self) -> LedgerKind {
        self.0.kind.into()
    }

    /// How much; above zero.
    async fn amount(&self) -> Money {
        Money::new(self.0.amount)
    }

    /// For which order.
    async fn job(&self, ctx: &Context<'_>) -> Nullable<GenerationJob> {
        nullable(GenerationJob::find(ctx, self.0.job).await)
    }

    /// When.
    async fn at(&self) -> DateTime {
        DateTime(self.0.at)
    }
}

connection!(
    LedgerConnection,
    LedgerEdge,
    LedgerEntry,
    [],
    "A page of the ledger.",
    "An entry in a page.",
    {}
);

/// The ledger of a workspace that the caller is a member of, oldest first.
pub(crate) async fn page_of_ledger(
    scope: &Scope,
    workspace: domain::ids::WorkspaceId,
    (first, after): (Option<i32>, Option<&Cursor>),
) -> Result<LedgerConnection> {
    scope.role(workspace).await?;
    let cursors = &scope.services.cursors;
    let list = List::of(Kind::Ledger, workspace.uuid());
    let page = cursors.page::<u64>(&list, first, after)?;
    let found = scope.reads().list_ledger(workspace, page).await?;
    let edge = |entry: money::LedgerEntry| {
        let cursor = cursors.seal(&list, &entry.sequence);
        LedgerEdge {
            node: LedgerEntry(entry),
            cursor,
        }
    };
    Ok(LedgerConnection {
        edges: found.rows.into_iter().map(edge).collect(),
        has_next: found.has_next,
        has_previous: page.after.is_some(),
    })
}

/// What a task has used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage(pub(crate) task::Usage);

/// What a task has used.
#[Object]
impl Usage {
    /// Decided steps.
    async fn steps(&self) -> i32 {
        int(self.0.steps)
    }

    /// Tokens of requests, cached ones included.
    async fn input_tokens(&self) -> i32 {
        int(self.0.input_tokens)
    }

    /// Of these, read from providers' caches.
    async fn cached_tokens(&self) -> i32 {
        int(self.0.cached_tokens)
    }

    /// Tokens of replies.
    async fn output_tokens(&self) -> i32 {
        int(self.0.output_tokens)
    }

    /// What models and media cost, where their prices are known.
    async fn spent(&self) -> Money {
        Money::new(self.0.spent_micros)
    }
}
