//! Keeping a turn, and giving it back.

use std::time::Duration;

use async_trait::async_trait;

use super::change::check_fence;
use super::{Fence, Lease, TurnState, WorkerId};
use crate::error::Result;
use crate::store::{Command, Scope, Transaction};
use crate::task::{TaskChange, TaskStatus};
use crate::time::Timestamp;

/// Makes a lease last longer. Renewing is no move: the watchdog also looks at whether a turn comes further.
#[derive(Debug, Clone)]
pub struct RenewLease {
    /// The turn's fence.
    pub fence: Fence,
    /// Who has it.
    pub owner: WorkerId,
    /// For how long from now on.
    pub lease: Duration,
    /// The present time.
    pub at: Timestamp,
}

#[async_trait]
impl Command for RenewLease {
    type Output = ();
    const NAME: &'static str = "turn.renew";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.fence.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        let mut turn = check_fence(tx, self.fence).await?;
        turn.lease = Some(Lease {
            owner: self.owner,
            expires_at: tx.lease_time(self.at).await?.plus(self.lease),
        });
        tx.update_turn(&turn, self.fence.epoch).await
    }
}

/// Gives a turn back, so that another worker goes on at once: its process stops.
#[derive(Debug, Clone)]
pub struct ReleaseTurn {
    /// The turn's fence.
    pub fence: Fence,
    /// The present time.
    pub at: Timestamp,
}

#[async_trait]
impl Command for ReleaseTurn {
    type Output = ();
    const NAME: &'static str = "turn.release";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.fence.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        let mut turn = check_fence(tx, self.fence).await?;
        turn.lease = None;
        // A step whose calls are under way is judged by whoever claims the turn next, as after a crash.
        turn.state = TurnState::Queued;
        turn.queued_at = self.at;
        turn.idle_claims = turn.idle_claims.saturating_sub(1);
        tx.update_turn(&turn, self.fence.epoch).await?;
        let mut task =
            TaskChange::load(tx, turn.task, crate::actor::Actor::System, self.at).await?;
        if task.task.status == TaskStatus::Running {
            task.set_status(TaskStatus::Queued, None);
        }
        task.wake(&turn).await?;
        task.save().await?;
        Ok(())
    }
}
