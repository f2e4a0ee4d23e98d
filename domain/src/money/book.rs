//! Booking what happens to an order, and what speaks against one.

use serde_json::json;
use uuid::Uuid;

use super::{LedgerEntry, LedgerKind, WorkspaceBudget};
use crate::error::Result;
use crate::event::{EventKind, Subject};
use crate::ids::LedgerEntryId;
use crate::job::Job;
use crate::store::Transaction;
use crate::task::TaskChange;
use crate::time::Timestamp;

const DAY_MICROS: i64 = 86_400_000_000;

/// What speaks against setting a price aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Objection {
    /// The workspace has not that much: nobody can approve it before a limit is raised.
    Beyond(String),
    /// A person must approve it: why.
    Ask(String),
}

/// What speaks against an order at this price: hard limits of the workspace, and what a person has to be asked about (A6).
pub(crate) async fn objection(
    change: &TaskChange<'_>,
    price: u64,
    is_ceiling: bool,
) -> Result<Option<Objection>> {
    if price == 0 && is_ceiling {
        return Ok(Some(Objection::Beyond(
            "its price is not known before, and one operation may cost nothing here: an owner can say with setBudget what it may cost at \
             most (perOperationLimit); then a person is asked"
                .to_owned(),
        )));
    }
    if price == 0 {
        return Ok(None);
    }
    let (tx, workspace) = (change.tx, change.task.workspace);
    let budget = tx.budget(workspace).await?;
    if let Some(beyond) = beyond(&budget, price) {
        return Ok(Some(Objection::Beyond(beyond)));
    }
    let ask = |why: String| Ok(Some(Objection::Ask(why)));
    if is_ceiling {
        return ask("its price is not known before; this is what it costs at most".to_owned());
    }
    if change.task.course.is_by_program {
        return ask("paid work that a program ordered is approved one by one".to_owned());
    }
    if price > budget.per_operation {
        return ask(format!(
            "it costs more than one operation may: {price} of {} micros",
            budget.per_operation
        ));
    }
    let bound = tx.bound_since(workspace, midnight(change.at)).await?;
    if bound + price > budget.daily {
        return ask(format!(
            "today would cost more than a day may: {bound} of {} micros are bound",
            budget.daily
        ));
    }
    if let Some(plan) = change.task.budget_micros {
        let used = change.task.usage.spent_micros + reserved_of_task(change).await?;
        if used + price > plan {
            return ask(format!(
                "the task would cost more than was planned: {used} of {plan} micros are used"
            ));
        }
    }
    Ok(None)
}

/// Why the workspace can not pay so much, if it can not.
pub(crate) fn beyond(budget: &WorkspaceBudget, price: u64) -> Option<String> {
    let limit = budget.limit?;
    let used = budget.spent + budget.reserved;
    (used + price > limit).then(|| {
        format!(
            "the workspace's budget of {limit} micros does not reach: {used} are spent or set aside, and this costs {price}; an owner \
             can raise it with setBudget"
        )
    })
}

/// What is set aside for orders of a task.
pub(crate) async fn reserved_of_task(change: &TaskChange<'_>) -> Result<u64> {
    let task = &change.task;
    let jobs = change
        .tx
        .list_jobs_under_way(task.workspace, task.id)
        .await?;
    Ok(jobs.iter().map(|job| job.reserved).sum())
}

fn midnight(at: Timestamp) -> Timestamp {
    Timestamp::from_micros(at.micros() - at.micros().rem_euclid(DAY_MICROS))
}

/// Books what changed of an order: `before` is the order as it was.
pub(crate) async fn book(
    change: &mut TaskChange<'_>,
    (before, after): (&Job, &Job),
    entries: &[(LedgerKind, u64)],
) -> Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    let tx: &dyn Transaction = change.tx;
    let mut budget = tx.budget(after.workspace).await?;
    budget.reserved = (budget.reserved + after.reserved).saturating_sub(before.reserved);
    budget.spent = (budget.spent + after.spent).saturating_sub(before.spent);
    let mut rows = Vec::with_capacity(entries.len());
    for (kind, amount) in entries {
        budget.ledger_head += 1;
        rows.push(LedgerEntry {
            id: entry_id(after, budget.ledger_head),
            workspace: after.workspace,
            sequence: budget.ledger_head,
            kind: *kind,
            amount: *amount,
            job: after.id,
            task: after.task,
            at: change.at,
        });
    }
    tx.append_ledger(&rows).await?;
    tx.put_budget(after.workspace, &budget).await?;
    let usage = &mut change.task.usage;
    usage.spent_micros = (usage.spent_micros + after.spent).saturating_sub(before.spent);
    change.tell_of(
        EventKind::BudgetChanged,
        Subject::Workspace,
        json!({"spent": budget.spent, "reserved": budget.reserved, "limit": budget.limit}),
    );
    Ok(())
}

/// The same at every run of its command.
fn entry_id(job: &Job, sequence: u64) -> LedgerEntryId {
    let name = format!("{}/{sequence}", job.id);
    LedgerEntryId::from_uuid(Uuid::new_v5(&job.workspace.uuid(), name.as_bytes()))
}
