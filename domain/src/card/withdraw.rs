//! Withdrawing questions whose reason has gone by what a person did elsewhere.

use uuid::Uuid;

use super::CardKind;
use super::propose_delete::withdraw_alone;
use crate::actor::Actor;
use crate::error::Result;
use crate::ids::TurnId;
use crate::store::Transaction;
use crate::task::{TaskChange, TaskStatus};
use crate::time::Timestamp;
use crate::work::Work;

/// Nobody needs to say any more whether a work may go to the bin that lies there. A task that waited for nothing else goes on.
pub(crate) async fn withdraw_about_work(
    tx: &dyn Transaction,
    work: &Work,
    (actor, at): (Actor, Timestamp),
) -> Result<()> {
    withdraw_alone(tx, work, (actor.clone(), at)).await?;
    let linked = tx.list_linked_tasks(work.workspace, &[work.id]).await?;
    let tasks: Vec<_> = linked.iter().map(|linked| linked.task).collect();
    let open = tx.list_cards(&tasks, Some(true)).await?;
    for task in tasks {
        let (asked, others): (Vec<_>, Vec<_>) = open
            .iter()
            .filter(|card| card.task == Some(task))
            .cloned()
            .partition(|card| {
                card.kind == CardKind::ConfirmIrreversible && card.works.contains(&work.id)
            });
        let Some(first) = asked.first().map(|card| card.id) else {
            continue;
        };
        let mut change = TaskChange::load(tx, task, actor.clone(), at).await?;
        change.withdraw(asked).await?;
        let waits = change.task.status == TaskStatus::WaitingForPerson;
        if waits && others.iter().all(|card| card.message.is_some()) {
            // The same turn at every run of the command.
            let turn = Uuid::new_v5(&first.uuid(), b"withdrawn");
            change.queue_turn(TurnId::from_uuid(turn)).await?;
        }
        change.save().await?;
    }
    Ok(())
}
