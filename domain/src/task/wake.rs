//! Waking a task whose inbox was left unread: what the watchdog does where a wake-up was lost (D5).

use async_trait::async_trait;

use super::TaskChange;
use crate::actor::Actor;
use crate::error::Result;
use crate::ids::{TaskId, WorkspaceId};
use crate::store::{Command, Scope, Transaction};
use crate::time::Timestamp;
use crate::turn::Spare;

/// Queues a turn where a task has an unread inbox, no turn, and a status that messages wake.
#[derive(Debug, Clone)]
pub struct WakeTask {
    /// The task's workspace.
    pub workspace: WorkspaceId,
    /// The task.
    pub task: TaskId,
    /// Ids for what is made.
    pub spare: Spare,
    /// The present time.
    pub at: Timestamp,
}

#[async_trait]
impl Command for WakeTask {
    type Output = ();
    const NAME: &'static str = "task.wake";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        let mut change = TaskChange::load(tx, self.task, Actor::System, self.at).await?;
        let is_due = change.task.status.is_woken_by_message()
            && change.task.active_turn.is_none()
            && tx.count_unread(self.workspace, self.task).await? > 0;
        if is_due {
            change.queue_turn(self.spare.turn).await?;
            change.save().await?;
        }
        Ok(())
    }
}
