//! One change of a turn inside a command, behind its fence.
//!
//! Invariants
//! - A writer whose epoch no longer holds writes nothing: it is checked when the turn is read and again, by the number of rows
//!   written, when it is stored.
//! - What the turn was found with is looked at in place of the store as long as this change alone has written to it.

use super::{Call, Entered, Epoch, Fence, Step, StepRef, StepState, Turn, TurnState};
use crate::actor::Actor;
use crate::card::Card;
use crate::error::{Error, Result};
use crate::job::Job;
use crate::memory::MemoryMark;
use crate::store::Transaction;
use crate::task::{ChangeNotice, Projections, TaskChange};
use crate::time::Timestamp;

/// A turn that is being moved on by the worker that has it.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says of another list whether it is worth reading"
)]
pub(crate) struct TurnChange<'tx> {
    pub(crate) task: TaskChange<'tx>,
    pub(crate) turn: Turn,
    /// The task's projections, with what this change writes of them.
    pub(super) projections: Option<Projections>,
    /// The step at the resume point, as it was found.
    pub(super) step: Option<Step>,
    /// Its calls, as they were found.
    pub(super) calls: Vec<Call>,
    has_inbox: bool,
    has_notices: bool,
    has_open_cards: bool,
    /// Whether the task refers to works, those of this change included.
    pub(super) has_works: bool,
    has_jobs: bool,
    /// How often memory had changed as it was found.
    pub(super) memory: MemoryMark,
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
        let entered = entered_turn(tx, fence).await?;
        Self::enter_with(tx, entered, fence, (step, at))
    }

    /// The same with what was found.
    pub(super) fn enter_with(
        tx: &'tx dyn Transaction,
        entered: Entered,
        fence: Fence,
        (step, at): (u32, Timestamp),
    ) -> Result<Self> {
        let turn = &entered.turn;
        if turn.epoch != fence.epoch || turn.state != TurnState::Running {
            return Err(fenced(fence, turn.epoch));
        }
        let actor = Actor::Agent {
            task: fence.task,
            turn: turn.number,
            step,
        };
        let at_step = StepRef {
            turn: turn.number,
            step,
        };
        let mut change = Self::of(tx, entered, (actor, at));
        change.task.step = Some(at_step);
        Ok(change)
    }

    /// Starts with a turn as it was found, whoever has it.
    pub(super) fn of(
        tx: &'tx dyn Transaction,
        entered: Entered,
        (actor, at): (Actor, Timestamp),
    ) -> Self {
        Self {
            task: TaskChange::of(tx, entered.task, actor, at),
            presented: entered.turn.epoch,
            turn: entered.turn,
            projections: entered.projections,
            step: entered.step,
            calls: entered.calls,
            has_inbox: entered.has_inbox,
            has_notices: entered.has_notices,
            has_open_cards: entered.has_open_cards,
            has_works: entered.has_works,
            has_jobs: entered.has_jobs,
            memory: entered.memory,
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

    /// The step of this number, which waits for its decision.
    pub(crate) fn undecided(&self, number: u32) -> Result<Step> {
        let found = self.step.clone();
        found
            .filter(|step| step.at.step == number && step.state == StepState::Open)
            .ok_or_else(|| Error::Conflict(format!("step {number} does not wait for a decision")))
    }

    /// Whether messages wait that no decision has read.
    pub(super) fn has_inbox(&self) -> bool {
        self.has_inbox
    }

    /// Unread change notices, oldest first.
    pub(super) async fn notices(&self) -> Result<Vec<ChangeNotice>> {
        if !self.has_notices {
            return Ok(Vec::new());
        }
        self.tx().list_change_notices(&[self.turn.task]).await
    }

    /// Open cards of the task, those of this change included.
    pub(super) async fn open_cards(&self) -> Result<Vec<Card>> {
        if !self.has_open_cards && !self.task.has_raised() {
            return Ok(Vec::new());
        }
        self.tx().list_cards(&[self.turn.task], Some(true)).await
    }

    /// Orders of the task that are under way.
    pub(super) async fn jobs(&self) -> Result<Vec<Job>> {
        if !self.has_jobs {
            return Ok(Vec::new());
        }
        self.tx()
            .list_jobs_under_way(self.turn.workspace, self.turn.task)
            .await
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
        if !self.has_inbox {
            return Ok(());
        }
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
        self.tx().update_turn(&self.turn, self.presented).await?;
        self.task.save().await?;
        Ok(())
    }
}

/// The turn behind a fence with all that belongs to it, whatever its epoch.
pub(super) async fn entered_turn(tx: &dyn Transaction, fence: Fence) -> Result<Entered> {
    let found = tx.enter_turn(fence.turn).await?;
    found
        .filter(|entered| entered.turn.task == fence.task)
        .ok_or_else(|| Error::not_found("turn", fence.turn))
}

fn fenced(fence: Fence, current: Epoch) -> Error {
    Error::Fenced {
        turn: fence.turn,
        presented: fence.epoch,
        current,
    }
}

/// Refuses a write whose epoch no longer holds. For writes that change nothing of the turn itself.
pub(crate) async fn check_fence(tx: &dyn Transaction, fence: Fence) -> Result<Turn> {
    let found = tx.list_turns_by_id(&[fence.turn]).await?.pop();
    let turn = found
        .filter(|turn| turn.task == fence.task)
        .ok_or_else(|| Error::not_found("turn", fence.turn))?;
    if turn.epoch == fence.epoch && turn.state == TurnState::Running {
        return Ok(turn);
    }
    Err(fenced(fence, turn.epoch))
}
