//! Finishing calls: the result and everything it brings about, in one transaction; the last one of a step settles it.
//!
//! Invariants
//! - A result that comes after a stop is stored and changes nothing else (D6).
//! - A result of a worker whose turn was taken over is refused.

use async_trait::async_trait;
use serde_json::{Value, json};

use super::change::entered_turn;
use super::settle::{After, settle};
use super::{
    Call, CallOutcome, CallState, Effect, Fence, LargeResult, Spare, TurnChange, TurnState,
};
use crate::actor::Actor;
use crate::document::Version;
use crate::error::{Error, Result};
use crate::event::EventKind;
use crate::ids::{TurnId, WorkId};
use crate::journal::JournalKind;
use crate::store::{Command, Scope, Transaction};
use crate::task::{LinkedWork, TaskChange, TaskLimits};
use crate::time::Timestamp;

/// Stores what came of calls of one step.
#[derive(Debug, Clone)]
pub struct FinishCalls {
    /// The turn's fence.
    pub fence: Fence,
    /// The step.
    pub step: u32,
    /// What came of them.
    pub finished: Vec<FinishedCall>,
    /// Limits of tasks.
    pub limits: TaskLimits,
    /// Ids for what is made.
    pub spare: Spare,
    /// The present time.
    pub at: Timestamp,
}

/// What came of one call.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedCall {
    /// Which one, by index.
    pub index: u32,
    /// What came of it; a large result is a digest here.
    pub outcome: CallOutcome,
    /// The whole of a large result.
    pub large: Option<LargeResult>,
    /// What it brings about.
    pub effects: Vec<Effect>,
}

#[async_trait]
impl Command for FinishCalls {
    /// What follows; none where the turn was stopped meanwhile and the results were stored all the same.
    type Output = Option<After>;
    const NAME: &'static str = "call.finish";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.fence.workspace)
    }

    fn enters(&self) -> Option<TurnId> {
        Some(self.fence.turn)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<Option<After>> {
        let entered = entered_turn(tx, self.fence).await?;
        if entered.turn.state == TurnState::Cancelled {
            self.store_late(tx).await?;
            return Ok(None);
        }
        let place = (self.step, self.at);
        let mut change = TurnChange::enter_with(tx, entered, self.fence, place)?;
        let found = change.step.clone();
        let step = found
            .filter(|step| step.at.step == self.step)
            .ok_or_else(|| Error::Conflict(format!("step {} is settled", self.step)))?;
        let mut calls = change.calls.clone();
        let is_stale = change.memory.forgets != step.seen.forgets;
        for finished in &self.finished {
            let call = started(&mut calls, finished.index, self.fence)?;
            let unread = unread(finished);
            let finished = if is_stale && READS_MEMORY.contains(&call.tool.as_str()) {
                &unread
            } else {
                finished
            };
            self.store(tx, call, finished).await?;
            for effect in &finished.effects {
                apply(&mut change, call, effect).await?;
            }
            change.note_result(call);
        }
        let after = if calls.iter().all(|call| call.state.is_over()) {
            settle(&mut change, step, &calls, self.limits, self.spare).await?
        } else {
            After::Calls { step, calls }
        };
        change.save().await?;
        Ok(Some(after))
    }
}

/// Tools that can bring what was remembered or said before: what they brought may hold what was forgotten since.
const READS_MEMORY: [&str; 5] = [
    "delegate",
    "read_journal",
    "read_result",
    "recall",
    "search",
];

/// The call as if it had found nothing: what it used is paid for.
fn unread(finished: &FinishedCall) -> FinishedCall {
    let is_used = |effect: &&Effect| matches!(effect, Effect::Used(_));
    FinishedCall {
        index: finished.index,
        outcome: CallOutcome::Failed {
            error: "something was forgotten meanwhile; make the call again where it is needed"
                .to_owned(),
            result: None,
        },
        large: None,
        effects: finished.effects.iter().filter(is_used).cloned().collect(),
    }
}

/// A call that this epoch has begun.
fn started(calls: &mut [Call], index: u32, fence: Fence) -> Result<&mut Call> {
    calls
        .iter_mut()
        .find(|call| call.id.index == index)
        .filter(|call| call.state == CallState::Started && call.epoch == fence.epoch)
        .ok_or_else(|| Error::Conflict(format!("call {index} is not under way")))
}

impl FinishCalls {
    async fn store(
        &self,
        tx: &dyn Transaction,
        call: &mut Call,
        finished: &FinishedCall,
    ) -> Result<()> {
        call.ended_at = Some(self.at);
        (call.state, call.result, call.error) = match finished.outcome.clone() {
            CallOutcome::Done(result) => (CallState::Done, Some(result), None),
            CallOutcome::Failed { error, result } => (CallState::Failed, result, Some(error)),
            CallOutcome::OutcomeUnknown(error) => (CallState::OutcomeUnknown, None, Some(error)),
        };
        if let Some(large) = &finished.large {
            tx.insert_large_result(self.fence.workspace, &call.id, large)
                .await?;
        }
        tx.update_call(call).await
    }

    /// The turn was stopped while the calls ran: what they did is known, and paid for, and wakes nothing.
    async fn store_late(&self, tx: &dyn Transaction) -> Result<()> {
        let mut task = TaskChange::load(tx, self.fence.task, Actor::System, self.at).await?;
        let mut calls = tx.list_step_calls(self.fence.turn, self.step).await?;
        for finished in &self.finished {
            // Stopping has raised the epoch of the turn, not that of the call; a resume has called its outcome unknown.
            let is_late = |call: &&mut Call| {
                call.id.index == finished.index
                    && call.epoch == self.fence.epoch
                    && matches!(call.state, CallState::Started | CallState::OutcomeUnknown)
            };
            let Some(call) = calls.iter_mut().find(is_late) else {
                continue;
            };
            self.store(tx, call, finished).await?;
            for effect in &finished.effects {
                if let Effect::Used(usage) = effect {
                    task.task.usage.add(usage);
                }
            }
            task.note(
                JournalKind::Result,
                format!("{}: came after the stop", call.tool),
                json!({"call": call.id, "tool": call.tool, "state": call.state, "result": call.result, "error": call.error, "isLate": true}),
            );
            task.note_call(call);
        }
        task.save().await?;
        Ok(())
    }
}

async fn apply(change: &mut TurnChange<'_>, call: &Call, effect: &Effect) -> Result<()> {
    let tx = change.tx();
    match effect {
        Effect::Reply(message) => change.task.post(message).await,
        Effect::Ask(card) => {
            if let Some(item) = &card.item {
                let shown = &mut change.task.task.course.shown_items;
                if !shown.contains(item) {
                    shown.push(item.clone());
                }
            }
            change.task.raise(card).await
        }
        Effect::Exchange { line, exchange } => {
            tx.insert_line(line).await?;
            tx.insert_exchange(line.workspace, exchange).await?;
            let data = json!({"call": call.id, "executor": line.executor, "line": line.id, "exchange": exchange.number});
            change
                .task
                .note(JournalKind::Answer, exchange.answer.clone(), data);
            Ok(())
        }
        Effect::LoadTools(domain) => {
            let domains = &mut change.task.task.course.tool_domains;
            if !domains.contains(domain) {
                domains.push(domain.clone());
            }
            Ok(())
        }
        Effect::Read(work, version) => {
            let linked = linked(change, *work, *version);
            let read = LinkedWork {
                last_read_at: Some(change.task.at),
                ..linked
            };
            tx.put_linked_work(&read).await
        }
        Effect::Wrote(work, version) => {
            let linked = linked(change, *work, *version);
            let written = LinkedWork {
                last_written_at: Some(change.task.at),
                ..linked
            };
            tx.put_linked_work(&written).await?;
            let data = json!({"workId": work, "version": version.0});
            change.task.tell(EventKind::TaskUpdated, data);
            Ok(())
        }
        Effect::Used(usage) => {
            change.task.task.usage.add(usage);
            Ok(())
        }
    }
}

fn linked(change: &mut TurnChange<'_>, work: WorkId, version: Version) -> LinkedWork {
    change.has_works = true;
    LinkedWork {
        workspace: change.turn.workspace,
        task: change.turn.task,
        work,
        seen_version: version,
        last_read_at: None,
        last_written_at: None,
    }
}

/// Where a result is larger than this many bytes of JSON, its call holds a digest (C3).
pub const LARGE_RESULT_BYTES: usize = 8 << 10;

/// The digest of a large result: its beginning, its size, and how to read the rest.
pub fn digest(call: super::CallId, body: &str) -> Value {
    let shown: String = body.chars().take(2_000).collect();
    json!({
        "handle": call,
        "bytes": body.len(),
        "beginning": shown,
        "note": "the whole is stored; read and search it with read_result",
    })
}
