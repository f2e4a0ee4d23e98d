//! Making a task, and who may see one.

use async_trait::async_trait;
use serde_json::json;

use super::{LinkedWork, Task, TaskChange, TaskReads};
use crate::document::Version;
use crate::error::{Error, Result};
use crate::idempotency::{IdempotencyKey, first_result};
use crate::ids::{TaskId, UserId, WorkId};
use crate::journal::JournalKind;
use crate::people::{Caller, PeopleReads, Role, check_text, require, role_in};
use crate::store::{Command, Scope, Transaction};
use crate::turn::Spare;

/// Works that one task can be given at its beginning.
const WORKS: usize = 100;

/// Makes a task and queues its first turn.
#[derive(Debug, Clone)]
pub struct CreateTask {
    /// Who asks.
    pub caller: Caller,
    /// What is made, as it stands before its first turn.
    pub task: Task,
    /// Works that it refers to from the beginning.
    pub works: Vec<WorkId>,
    /// The key of the request.
    pub idempotency: Option<IdempotencyKey>,
    /// Ids for what is made.
    pub spare: Spare,
}

#[async_trait]
impl Command for CreateTask {
    /// The task, or the one that the same key made before.
    type Output = TaskId;
    const NAME: &'static str = "task.create";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.task.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<TaskId> {
        require(tx, self.task.workspace, self.caller.user, Role::Editor).await?;
        check_text("a task's goal", &self.task.goal, 20_000)?;
        check_text("a task's title", &self.task.title, 200)?;
        if let Some(key) = &self.idempotency {
            if let Some(first) = first_result(tx, key).await? {
                return serde_json::from_value(first)
                    .map_err(|error| Error::Internal(error.into()));
            }
            tx.remember_idempotency(key, &json!(self.task.id)).await?;
        }
        let actor = self.caller.actor();
        let mut change = TaskChange::new(tx, self.task.clone(), actor, self.task.created_at);
        change.note(
            JournalKind::SystemEvent,
            self.task.goal.clone(),
            json!({"created": self.task.id, "goal": self.task.goal, "works": self.works}),
        );
        link_works(&change, &self.works).await?;
        change.queue_turn(self.spare.turn).await?;
        Ok(change.save().await?.id)
    }
}

/// Links works of the task's own workspace; others are not there.
pub(crate) async fn link_works(change: &TaskChange<'_>, works: &[WorkId]) -> Result<()> {
    if works.len() > WORKS {
        return Err(Error::Invalid(format!(
            "a task can be given {WORKS} works at once, and got {}",
            works.len()
        )));
    }
    let found = change.tx.list_works_by_id(works).await?;
    for id in works {
        found
            .iter()
            .find(|work| work.id == *id && work.workspace == change.task.workspace)
            .ok_or_else(|| Error::not_found("work", id))?;
        change
            .tx
            .put_linked_work(&LinkedWork {
                workspace: change.task.workspace,
                task: change.task.id,
                work: *id,
                // What the task has not read yet, it has not seen.
                seen_version: Version(0),
                last_read_at: None,
                last_written_at: None,
            })
            .await?;
    }
    Ok(())
}

/// A task that the user may see, with the user's role; `NotFound` otherwise.
pub async fn visible_task<R>(reads: &R, id: TaskId, user: UserId) -> Result<(Task, Role)>
where
    R: TaskReads + PeopleReads + ?Sized,
{
    let found = reads.list_tasks_by_id(&[id]).await?.pop();
    let task = found.ok_or_else(|| Error::not_found("task", id))?;
    match role_in(reads, task.workspace, user).await {
        Ok(role) => Ok((task, role)),
        Err(Error::NotFound(_)) => Err(Error::not_found("task", id)),
        Err(error) => Err(error),
    }
}
