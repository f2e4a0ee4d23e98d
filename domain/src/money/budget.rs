//! Setting what a workspace may spend.

use async_trait::async_trait;
use serde_json::json;

use super::{DAILY_LIMIT, PER_OPERATION_LIMIT};
use crate::error::{Error, Result};
use crate::event::{EventKind, NewEvent, Subject};
use crate::ids::WorkspaceId;
use crate::people::{Caller, Role, require};
use crate::store::{Command, Scope, Transaction};
use crate::time::Timestamp;

/// Amounts above this can not be added up without fear of an overflow.
const LARGEST: u64 = 1 << 53;

/// Sets limits of a workspace, in micros. What is none stays; `Some(None)` takes a limit away, or puts it back to its default.
#[derive(Debug, Clone)]
pub struct SetBudget {
    /// Who sets them: an owner.
    pub caller: Caller,
    /// The workspace.
    pub workspace: WorkspaceId,
    /// What may be spent in all.
    pub limit: Option<Option<u64>>,
    /// What one operation may cost without a person's word.
    pub per_operation: Option<Option<u64>>,
    /// The same for a day.
    pub daily: Option<Option<u64>>,
    /// The present time.
    pub at: Timestamp,
}

#[async_trait]
impl Command for SetBudget {
    type Output = ();
    const NAME: &'static str = "budget.set";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        require(tx, self.workspace, self.caller.user, Role::Owner).await?;
        for amount in [self.limit, self.per_operation, self.daily] {
            if amount.flatten().is_some_and(|amount| amount > LARGEST) {
                return Err(Error::Invalid(format!("an amount is at most {LARGEST}")));
            }
        }
        let mut budget = tx.budget(self.workspace).await?;
        let before = budget;
        if let Some(limit) = self.limit {
            let used = budget.spent + budget.reserved;
            if limit.is_some_and(|limit| limit < used) {
                return Err(Error::Invalid(format!(
                    "{} micros are spent and {} set aside; the limit can not be below {used}: cancel what is under way first, or set \
                     it to {used} so that nothing more is ordered",
                    budget.spent, budget.reserved
                )));
            }
            budget.limit = limit;
        }
        if let Some(amount) = self.per_operation {
            budget.per_operation = amount.unwrap_or(PER_OPERATION_LIMIT);
        }
        if let Some(amount) = self.daily {
            budget.daily = amount.unwrap_or(DAILY_LIMIT);
        }
        if budget == before {
            return Ok(());
        }
        tx.put_budget(self.workspace, &budget).await?;
        let event = NewEvent {
            kind: EventKind::BudgetChanged,
            subject: Subject::Workspace,
            task: None,
            actor: self.caller.actor(),
            at: self.at,
            data: json!({
                "limit": budget.limit, "perOperationLimit": budget.per_operation, "dailyLimit": budget.daily,
                "spent": budget.spent, "reserved": budget.reserved,
            }),
        };
        tx.emit(self.workspace, vec![event]).await
    }
}
