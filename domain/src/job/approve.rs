//! What a person's answer to a question of cost does to the order.

use super::order::tell_state;
use super::take::{note_end, stored};
use super::{JobState, JobTiming, News, waits};
use crate::card::Card;
use crate::error::{Error, Result};
use crate::journal::JournalKind;
use crate::money::{beyond, book, reserved_of_task};
use crate::people::Role;
use crate::task::{TaskChange, TaskStatus, allow_budget};
use crate::turn::Spare;

/// Lets the order of a card be paid, or not. What the workspace can not pay, or a person of this role can not approve, stays open.
pub(crate) async fn answer_cost(
    change: &mut TaskChange<'_>,
    card: &Card,
    (is_approved, role): (bool, Role),
) -> Result<()> {
    let id = card
        .job
        .ok_or_else(|| Error::internal("a question of cost is about no order"))?;
    let mut job = stored(change.tx, card.workspace, id).await?;
    let before = job.clone();
    let news = if is_approved {
        let budget = change.tx.budget(card.workspace).await?;
        if let Some(beyond) = beyond(&budget, job.price) {
            return Err(Error::Conflict(beyond));
        }
        raise_plan(change, job.price, role).await?;
        News::Approved
    } else {
        News::Declined(Some("a person declined the cost".to_owned()))
    };
    let moved = job.take(&news, JobTiming::default(), change.at);
    book(change, (&before, &job), &moved.entries).await?;
    change.tx.update_job(&job).await?;
    change.tx.announce_jobs().await?;
    tell_state(change, &job);
    if moved.is_decided {
        note_end(change, &job);
    }
    Ok(())
}

/// A cost beyond the plan that a person approves is part of the plan from then on.
async fn raise_plan(change: &mut TaskChange<'_>, price: u64, role: Role) -> Result<()> {
    let Some(plan) = change.task.budget_micros else {
        return Ok(());
    };
    let needed = change.task.usage.spent_micros + reserved_of_task(change).await? + price;
    if needed > plan {
        allow_budget(&mut change.task, role, Some(needed))?;
        change.note(
            JournalKind::SystemEvent,
            format!("the task's budget is {needed} micros now: a person approved a cost beyond it"),
            serde_json::json!({"budgetMicros": needed, "former": plan}),
        );
    }
    Ok(())
}

/// Orders that nobody approved end with their task.
pub(crate) async fn withdraw_orders(change: &mut TaskChange<'_>) -> Result<()> {
    let (workspace, id) = (change.task.workspace, change.task.id);
    for mut job in change.tx.list_jobs_under_way(workspace, id).await? {
        if job.state != JobState::AwaitingApproval {
            continue;
        }
        let why = "its task ended before the cost was approved".to_owned();
        job.take(&News::Declined(Some(why)), JobTiming::default(), change.at);
        change.tx.update_job(&job).await?;
        tell_state(change, &job);
        note_end(change, &job);
    }
    Ok(())
}

/// What a task does once a question of cost is closed: other questions hold it; otherwise it waits for its orders, is delivered, or
/// goes on.
pub(crate) async fn go_on_after_cost(
    change: &mut TaskChange<'_>,
    is_approved: bool,
    spare: Spare,
) -> Result<()> {
    if change.task.status != TaskStatus::WaitingForPerson {
        return Ok(());
    }
    let (workspace, id) = (change.task.workspace, change.task.id);
    let cards = change.tx.list_cards(&[id], Some(true)).await?;
    if cards.iter().any(|card| card.message.is_none()) {
        return Ok(());
    }
    let found = change.tx.list_projections(&[id]).await?.pop();
    let checklist = found.map(|(_, projections)| projections.checklist);
    let checklist = checklist.unwrap_or_default();
    let jobs = change.tx.list_jobs_under_way(workspace, id).await?;
    if is_approved && waits(&checklist, &jobs, true) {
        let reason = "generations are under way".to_owned();
        change.set_status(TaskStatus::WaitingExternal, Some(reason));
        return Ok(());
    }
    if is_approved && checklist.iter().all(|item| item.state.is_closed()) {
        change.set_status(TaskStatus::Delivered, None);
        return Ok(());
    }
    change.queue_turn(spare.turn).await
}
