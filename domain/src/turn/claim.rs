//! Claiming a turn: another epoch, a lease, and what there is to go on from, in one transaction (D4).
//!
//! Invariants
//! - Of several that claim at once, one gets the turn: a claim is written over the epoch that it has read.
//! - What a dead worker left begun is judged here, once: what may run again will, the rest has an unknown outcome (D3).

use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;

use super::change::entered_turn;
use super::open::open_step;
use super::settle::{After, settle};
use super::{
    Call, CallState, Fence, Lease, Spare, Step, StepState, Turn, TurnChange, TurnState, WorkerId,
};
use crate::actor::Actor;
use crate::error::Result;
use crate::ids::TurnId;
use crate::journal::JournalKind;
use crate::store::{Command, Scope, Transaction};
use crate::task::{TaskLimits, TaskStatus};
use crate::time::Timestamp;

/// Claims a turn that is due, or whose worker is gone.
#[derive(Debug, Clone)]
pub struct ClaimTurn {
    /// The turn, with the epoch at which it was seen.
    pub fence: Fence,
    /// Who claims.
    pub owner: WorkerId,
    /// For how long.
    pub lease: Duration,
    /// Take it over from a worker that renews its lease and does not move on.
    pub is_forced: bool,
    /// Limits of tasks.
    pub limits: TaskLimits,
    /// Ids for what is made.
    pub spare: Spare,
    /// The present time.
    pub at: Timestamp,
}

/// A claimed turn, and what there is to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Claimed {
    /// The fence of everything that follows.
    pub fence: Fence,
    /// What there is to do.
    pub after: After,
}

#[async_trait]
impl Command for ClaimTurn {
    /// None where there was nothing to claim, or nothing left to do.
    type Output = Option<Claimed>;
    const NAME: &'static str = "turn.claim";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.fence.workspace)
    }

    fn enters(&self) -> Option<TurnId> {
        Some(self.fence.turn)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<Option<Claimed>> {
        let entered = entered_turn(tx, self.fence).await?;
        let now = tx.lease_time(self.at).await?;
        if entered.turn.epoch != self.fence.epoch || !self.is_claimable(&entered.turn, now) {
            return Ok(None);
        }
        let mut change = TurnChange::of(tx, entered, (Actor::System, self.at));
        let turn = &mut change.turn;
        let is_takeover = turn.state == TurnState::Running;
        turn.epoch = turn.epoch.next();
        turn.state = TurnState::Running;
        turn.lease = Some(Lease {
            owner: self.owner,
            expires_at: now.plus(self.lease),
        });
        turn.not_before = None;
        turn.started_at.get_or_insert(self.at);
        turn.idle_claims += 1;
        let fence = Fence {
            epoch: turn.epoch,
            ..self.fence
        };
        let idle_claims = turn.idle_claims;
        if idle_claims > self.limits.idle_claims {
            return hold(change).await;
        }
        if is_takeover {
            change.task.note(
                JournalKind::SystemEvent,
                format!("another worker took turn {} over", change.turn.number),
                json!({"turn": change.turn.id, "epoch": change.turn.epoch}),
            );
        }
        if change.task.task.status != TaskStatus::Paused {
            change.task.set_status(TaskStatus::Running, None);
        }
        let after = self.resume(&mut change).await?;
        change.save_claim(idle_claims).await?;
        Ok(Some(Claimed { fence, after }))
    }
}

impl ClaimTurn {
    fn is_claimable(&self, turn: &Turn, now: Timestamp) -> bool {
        let is_due = turn.not_before.is_none_or(|time| time <= now);
        let has_ended = turn.lease.is_none_or(|lease| lease.expires_at <= now);
        match turn.state {
            TurnState::Queued | TurnState::Suspended => is_due,
            TurnState::Running => has_ended || self.is_forced,
            TurnState::Completed | TurnState::Failed | TurnState::Cancelled => false,
        }
    }

    /// What there is to do from the resume point on.
    async fn resume(&self, change: &mut TurnChange<'_>) -> Result<After> {
        let number = change.turn.settled_steps + 1;
        match change.step.clone() {
            Some(step) if step.state == StepState::Decided => self.go_on_with(change, step).await,
            _ if change.task.task.status == TaskStatus::Paused => {
                change.release_open_step().await?;
                change.end(TurnState::Completed);
                Ok(After::Ended)
            }
            _ => Ok(After::Opened(Box::new(open_step(change, number).await?))),
        }
    }

    /// Judges what was begun, and goes on with the calls of a decided step.
    async fn go_on_with(&self, change: &mut TurnChange<'_>, step: Step) -> Result<After> {
        let mut calls = change.calls.clone();
        for call in &mut calls {
            if call.state == CallState::Started && !call.idempotent {
                give_up(change, call).await?;
            }
        }
        if calls.iter().all(|call| call.state.is_over()) {
            return settle(change, step, &calls, self.limits, self.spare).await;
        }
        Ok(After::Calls { step, calls })
    }
}

/// Gives a turn up that never moves on, so that it does not take down one worker after the other.
async fn hold(mut change: TurnChange<'_>) -> Result<Option<Claimed>> {
    let reason = format!(
        "turn {} was begun {} times at the same place and did not get further; look into the journal and the log of the \
         server, then resume",
        change.turn.number,
        change.turn.idle_claims - 1
    );
    change.task.set_status(TaskStatus::Blocked, Some(reason));
    change.release_open_step().await?;
    change.end(TurnState::Failed);
    change.save().await?;
    Ok(None)
}

/// Nobody knows whether the call had its effect: the model is told to look before it decides.
async fn give_up(change: &mut TurnChange<'_>, call: &mut Call) -> Result<()> {
    call.state = CallState::OutcomeUnknown;
    call.ended_at = Some(change.task.at);
    call.error = Some(
        "the worker was lost while this ran: it may have had its effect or not; check the state before you decide"
            .to_owned(),
    );
    change.tx().update_call(call).await?;
    change.note_result(call);
    Ok(())
}
