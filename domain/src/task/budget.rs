//! What a task may spend, and who may say so.
//!
//! Invariants
//! - What an owner allowed is the most: editors set less, and neither raise it nor take it away, by a card's answer either.
//! - A limit is never set below what is spent and set aside.
//!
//! Not here: limits of the workspace (`money`), when a limit is asked about (`money::objection`).

use super::{Task, TaskChange};
use crate::error::{Error, Result};
use crate::money::reserved_of_task;
use crate::people::Role;

/// Sets what a task may spend, in micros; none takes the limit away.
pub(super) async fn set_budget(
    change: &mut TaskChange<'_>,
    role: Role,
    budget: Option<u64>,
) -> Result<()> {
    let spent = change.task.usage.spent_micros;
    let reserved = reserved_of_task(change).await?;
    let bound = spent + reserved;
    let is_new = budget != change.task.budget_micros;
    if is_new && budget.is_some_and(|budget| budget < bound) {
        return Err(Error::Invalid(format!(
            "the task has spent {spent} micros and {reserved} are set aside; its budget can not be below {bound}: cancel what is under \
             way first, or set it to {bound} so that nothing more is ordered without a person's word"
        )));
    }
    allow_budget(&mut change.task, role, budget)
}

/// Lets a task spend so much, where a person of this role can say so.
pub(crate) fn allow_budget(task: &mut Task, role: Role, budget: Option<u64>) -> Result<()> {
    if role == Role::Owner {
        task.course.owner_budget = budget;
    } else if let Some(most) = task.course.owner_budget
        && budget.is_none_or(|budget| budget > most)
    {
        return Err(Error::Forbidden(format!(
            "an owner lets this task spend {most} micros at most; an owner can raise that with updateTask, or approve the cost"
        )));
    }
    task.budget_micros = budget;
    Ok(())
}
