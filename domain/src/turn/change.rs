//! One change of a turn inside a command, behind its fence.
//!
//! Invariants
//! - A writer whose epoch no longer holds writes nothing: it is checked when the turn is read and again, by the number of rows
//!   written, when it is stored.

use super::{Epoch, Fence, StepRef, Turn, TurnState};
use crate::actor::Actor;
use crate::error::{Error, Result};
use crate::store::Transaction;
use crate::task::TaskChange;
use crate::time::Timestamp;

/// A turn that is being moved on by the worker that has it.
pub(crate) struct TurnChange<'tx> {
    pub(crate) task: TaskChange<'tx>,
    pub(crate) turn: Turn,
    presented: Epoch,
}

impl<'tx> TurnChange<'tx> {
    /// Starts, for a step of this number; `Fenced` where another epoch holds or the turn is over.
    pub(crate) async fn enter(
        tx: &'tx dyn Transaction,
        fence: Fence,
        step: u32,
        at: Timestamp,
    ) -> Result<Self> {
        let turn = stored_turn(tx, fence).await?;
        if turn.epoch != fence.epoch || turn.state != TurnState::Running {
            return Err(fenced(fence, turn.epoch));
        }
        let actor = Actor::Agent {
            task: fence.task,
            turn: turn.number,
            step,
        };
        let mut task = TaskChange::load(tx, fence.task, actor, at).await?;
        task.step = Some(StepRef {
            turn: turn.number,
            step,
        });
        Ok(Self {
            task,
            turn,
            presented: fence.epoch,
        })
    }

    /// Starts with a turn that a claim is about to take; `presented` is the epoch it had.
    pub(super) fn of(task: TaskChange<'tx>, turn: Turn, presented: Epoch) -> Self {
        Self {
            task,
            turn,
            presented,
        }
    }

    pub(crate) fn tx(&self) -> &'tx dyn Transaction {
        self.task.tx
    }

    /// The step that this change is about.
    pub(crate) fn step_ref(&self, number: u32) -> StepRef {
        StepRef {
            turn: self.turn.number,
            step: number,
        }
    }

    /// Ends the turn.
    pub(crate) fn end(&mut self, state: TurnState) {
        self.turn.state = state;
        self.turn.ended_at = Some(self.task.at);
        self.turn.lease = None;
        self.task.task.active_turn = None;
    }

    /// Puts what an undecided step took back into the inbox, for a turn that ends without a decision.
    pub(super) async fn release_open_step(&self) -> Result<()> {
        let step = self.step_ref(self.turn.settled_steps + 1);
        self.tx()
            .release_inbox(self.turn.workspace, self.turn.task, step)
            .await
    }

    /// Writes everything; `Fenced` where another epoch holds by now.
    pub(crate) async fn save(mut self) -> Result<()> {
        self.turn.moved_at = self.task.at;
        self.turn.idle_claims = 0;
        self.write().await
    }

    /// The same for a claim, which is no move: claims in a row are counted until something is written under one.
    pub(super) async fn save_claim(mut self, idle_claims: u32) -> Result<()> {
        self.turn.idle_claims = idle_claims;
        self.write().await
    }

    async fn write(self) -> Result<()> {
        if !self.tx().update_turn(&self.turn, self.presented).await? {
            let fence = Fence {
                workspace: self.turn.workspace,
                task: self.turn.task,
                turn: self.turn.id,
                epoch: self.presented,
            };
            let current = stored_turn(self.tx(), fence).await?.epoch;
            return Err(fenced(fence, current));
        }
        self.task.save().await?;
        Ok(())
    }
}

/// The turn behind a fence, whatever its epoch.
pub(super) async fn stored_turn(tx: &dyn Transaction, fence: Fence) -> Result<Turn> {
    let found = tx.list_turns_by_id(&[fence.turn]).await?.pop();
    found
        .filter(|turn| turn.task == fence.task)
        .ok_or_else(|| Error::not_found("turn", fence.turn))
}

pub(super) fn fenced(fence: Fence, current: Epoch) -> Error {
    Error::Fenced {
        turn: fence.turn,
        presented: fence.epoch,
        current,
    }
}

/// Refuses a write whose epoch no longer holds. For writes that change nothing of the turn itself.
pub(crate) async fn check_fence(tx: &dyn Transaction, fence: Fence) -> Result<Turn> {
    let turn = stored_turn(tx, fence).await?;
    if turn.epoch == fence.epoch && turn.state == TurnState::Running {
        return Ok(turn);
    }
    Err(fenced(fence, turn.epoch))
}
