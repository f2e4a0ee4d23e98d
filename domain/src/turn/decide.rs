//! Storing a decision: with its calls, what it consumed, the rewritten projections and the journal, before any call runs (D2, J3).
//!
//! Invariants
//! - A step is decided once. The same worker that stores it again gets what followed the first time, and nothing is stored.

use async_trait::async_trait;
use serde_json::json;

use super::open::open_step;
use super::settle::{After, settle};
use super::{
    Call, CallId, CallState, ContextUsage, Fence, PlannedCall, Risk, Spare, Step, StepState,
    TurnChange,
};
use crate::error::Result;
use crate::event::{EventKind, Subject};
use crate::ids::TurnId;
use crate::job::Job;
use crate::journal::JournalKind;
use crate::memory;
use crate::names::named;
use crate::store::{Command, Scope, Transaction};
use crate::task::{ChecklistItem, ChecklistState, Projections, TaskLimits, Usage, dependents};
use crate::time::Timestamp;

named! {
    /// What the model expects to come next; a hint only.
    NextHint {
        /// More steps.
        Continue = "continue",
        /// Something that is waited for.
        Wait = "wait",
        /// Nothing.
        Finish = "finish",
    }
}

/// What a model decided for one step, checked against the contract.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// Why this step.
    pub rationale: String,
    /// The whole rewritten summary.
    pub summary: String,
    /// The whole rewritten short line.
    pub short_line: String,
    /// The whole rewritten plan; `is_confirmed` is not the model's to write, and is ignored.
    pub checklist: Vec<ChecklistItem>,
    /// The calls, in order.
    pub calls: Vec<PlannedCall>,
    /// What the model expects next.
    pub next: NextHint,
}

/// Stores the decision of an open step.
#[derive(Debug, Clone)]
pub struct StoreDecision {
    /// The turn's fence.
    pub fence: Fence,
    /// The step.
    pub step: u32,
    /// What was decided.
    pub decision: Decision,
    /// What the request was made of, and what it cost.
    pub context: ContextUsage,
    /// Limits of tasks.
    pub limits: TaskLimits,
    /// Ids for what is made.
    pub spare: Spare,
    /// The present time.
    pub at: Timestamp,
}

#[async_trait]
impl Command for StoreDecision {
    type Output = After;
    const NAME: &'static str = "step.decide";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.fence.workspace)
    }

    fn enters(&self) -> Option<TurnId> {
        Some(self.fence.turn)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<After> {
        let mut change = TurnChange::enter(tx, self.fence, self.step, self.at).await?;
        let mut step = change.undecided(self.step)?;
        if change.memory.forgets != step.seen.forgets {
            // Something that may stand in the request was forgotten since: the model is asked with what is left.
            let opened = open_step(&mut change, self.step).await?;
            change.save().await?;
            return Ok(After::Opened(Box::new(opened)));
        }
        step.state = StepState::Decided;
        step.epoch = self.fence.epoch;
        step.decided_at = Some(self.at);
        step.rationale.clone_from(&self.decision.rationale);
        step.context = Some(self.context.clone());
        self.consume(&mut change, &step).await?;
        self.rewrite(&mut change, &step).await?;
        self.count(&mut change);
        let calls = self.plan_calls(&mut change, &step).await?;
        change.task.tell(
            EventKind::StepDecided,
            json!({"turnNumber": step.at.turn, "stepNumber": step.at.step, "calls": calls.len()}),
        );
        let after = if calls.iter().all(|call| call.state.is_over()) {
            settle(&mut change, step, &calls, self.limits, self.spare).await?
        } else {
            tx.put_step(&step).await?;
            After::Calls { step, calls }
        };
        change.save().await?;
        Ok(after)
    }
}

impl StoreDecision {
    /// What the request contained is read now: messages and change notices.
    async fn consume(&self, change: &mut TurnChange<'_>, step: &Step) -> Result<()> {
        let (workspace, task) = (self.fence.workspace, self.fence.task);
        let consumed = if change.has_inbox() {
            change.tx().consume_inbox(workspace, task, step.at).await?
        } else {
            Vec::new()
        };
        memory::queue_read(change.tx(), &consumed, self.at).await?;
        for message in consumed {
            change.task.tell_of(
                EventKind::MessageStateChanged,
                Subject::Message(message),
                json!({"state": "CONSUMED", "turnNumber": step.at.turn, "stepNumber": step.at.step}),
            );
        }
        if !step.seen.notices.is_empty() {
            change
                .tx()
                .read_change_notices(workspace, task, &step.seen.notices)
                .await?;
        }
        if step.seen.is_nudged {
            change.task.task.course.is_nudge_due = false;
        }
        Ok(())
    }

    /// Rewrites the projections; the journal's entry holds them whole, so that they can be folded anew (J4).
    async fn rewrite(&self, change: &mut TurnChange<'_>, step: &Step) -> Result<()> {
        let task = self.fence.task;
        let former = change.projections.take().unwrap_or_default();
        let seen = step.seen.journal_sequence;
        let mut checklist = merged(&former.checklist, &self.decision.checklist, seen);
        self.mark_reopened(change, &former.checklist, &mut checklist)
            .await?;
        note_closed(change, &former.checklist, &checklist);
        withdraw_settled(change, &checklist).await?;
        let calls: Vec<_> = self
            .decision
            .calls
            .iter()
            .map(|call| json!({"tool": call.tool, "arguments": call.arguments}))
            .collect();
        change.task.note(
            JournalKind::Plan,
            self.decision.rationale.clone(),
            json!({
                "summary": self.decision.summary,
                "shortLine": self.decision.short_line,
                "checklist": checklist,
                "actions": calls,
                "next": self.decision.next,
                "seenSequence": step.seen.journal_sequence,
            }),
        );
        let projections = Projections {
            summary: self.decision.summary.clone(),
            short_line: self.decision.short_line.clone(),
            checklist,
            rewritten_at: Some(self.at),
            journal_sequence: step.seen.journal_sequence,
        };
        change
            .tx()
            .put_projections(self.fence.workspace, task, &projections)
            .await?;
        change.task.tell(
            EventKind::TaskUpdated,
            json!({"shortLine": projections.short_line}),
        );
        change.projections = Some(projections);
        Ok(())
    }

    /// What was made after an item that is done anew is to be made anew, unless the decision says otherwise itself (K3).
    async fn mark_reopened(
        &self,
        change: &TurnChange<'_>,
        former: &[ChecklistItem],
        new: &mut [ChecklistItem],
    ) -> Result<()> {
        let was_done = |item: &ChecklistItem| {
            let known = former.iter().find(|known| known.id == item.id);
            known.is_some_and(|known| known.state == ChecklistState::Done)
        };
        let reopened: Vec<_> = new
            .iter()
            .filter(|item| was_done(item) && !item.state.is_closed())
            .map(|item| item.id.clone())
            .collect();
        if reopened.is_empty() {
            return Ok(());
        }
        let jobs = change.tx().list_jobs(&[self.fence.task]).await?;
        let resting = dependents(new, &reopened);
        for item in new.iter_mut().filter(|item| resting.contains(&item.id)) {
            let is_made = |job: &Job| job.item.as_ref() == Some(&item.id);
            if jobs.iter().any(is_made) {
                item.state = ChecklistState::Stale;
                item.is_confirmed = false;
            }
        }
        Ok(())
    }

    fn count(&self, change: &mut TurnChange<'_>) {
        let task = &mut change.task.task;
        task.course.model_failures = 0;
        task.usage.add(&Usage {
            steps: 1,
            input_tokens: self.context.input_tokens,
            cached_tokens: self.context.cached_tokens,
            output_tokens: self.context.output_tokens,
            spent_micros: self.context.cost_micros,
        });
    }

    async fn plan_calls(&self, change: &mut TurnChange<'_>, step: &Step) -> Result<Vec<Call>> {
        let mut calls = Vec::with_capacity(self.decision.calls.len());
        for (index, planned) in (0..).zip(&self.decision.calls) {
            let mut call = pending(index, planned, step);
            if let Some(reason) = &planned.refusal {
                call.state = CallState::Refused;
                call.error = Some(reason.clone());
            } else if call.is_worth_guarding() {
                match twin(&calls, &call) {
                    Some(twin) => refuse_twin(&mut call, twin.id),
                    None => self.reuse_equal(change, &mut call).await?,
                }
            }
            if call.state.is_over() {
                call.ended_at = Some(self.at);
                change.note_result(&call);
            }
            calls.push(call);
        }
        if !calls.is_empty() {
            change.tx().insert_calls(&calls).await?;
        }
        Ok(calls)
    }

    /// A call that was planned anew, though an equal one of this turn is done or may be, is not run a second time: only a
    /// person's word since then makes it another wish.
    async fn reuse_equal(&self, change: &mut TurnChange<'_>, call: &mut Call) -> Result<()> {
        let tx = change.tx();
        let Some(equal) = tx.find_equal_call(call.task, call.equal_key()).await? else {
            return Ok(());
        };
        if equal.id.turn != call.id.turn || change.has_consumed_since(equal.id.step).await? {
            return Ok(());
        }
        let note = format!(
            "the same as call {}, which was made before and is not made twice",
            equal.id
        );
        match equal.state {
            CallState::Done => {
                call.state = CallState::Done;
                call.result =
                    Some(json!({"repeats": equal.id, "note": note, "result": equal.result}));
            }
            _ if call.risk == Risk::Read => {}
            _ => {
                call.state = CallState::Refused;
                call.error = Some(format!(
                    "{note}; its outcome is unknown: check the state, and ask the person before you do it again"
                ));
            }
        }
        Ok(())
    }
}

/// A call of the same decision that asks for the same, and will run.
fn twin<'a>(calls: &'a [Call], call: &Call) -> Option<&'a Call> {
    let key = call.equal_key();
    calls
        .iter()
        .find(|earlier| !earlier.state.is_over() && earlier.equal_key() == key)
}

/// Of two equal wishes in one list nobody can say whether the second was meant, and its effect could be one too many. Refused rather
/// than answered with the other's result: that one has not run, and may fail.
fn refuse_twin(call: &mut Call, twin: CallId) {
    call.state = CallState::Refused;
    call.error = Some(format!(
        "the same as call {twin} of this decision, which is made once; where a second one is meant, let its arguments say what \
         is different about it"
    ));
}

/// A call as it is stored before it begins.
fn pending(index: u32, planned: &PlannedCall, step: &Step) -> Call {
    Call {
        id: CallId {
            turn: step.turn,
            step: step.at.step,
            index,
        },
        workspace: step.workspace,
        task: step.task,
        tool: planned.tool.clone(),
        risk: planned.risk,
        idempotent: planned.idempotent,
        arguments: planned.arguments.clone(),
        state: CallState::Pending,
        attempts: 0,
        epoch: step.epoch,
        result: None,
        error: None,
        started_at: None,
        ended_at: None,
    }
}

/// The new plan: items keep their ids and what a person confirmed, new ones are numbered.
/// A mark that the decision has not seen stays.
fn merged(former: &[ChecklistItem], planned: &[ChecklistItem], seen: u64) -> Vec<ChecklistItem> {
    let is_taken = |id: &str| {
        former.iter().any(|item| item.id == id) || planned.iter().any(|item| item.id == id)
    };
    let mut free = (1..)
        .map(|number: u32| format!("item-{number}"))
        .filter(|id| !is_taken(id));
    planned
        .iter()
        .map(|item| {
            let mut item = item.clone();
            if item.id.is_empty() {
                // Titles find an item again whose id the model forgot.
                let same = former.iter().find(|known| {
                    known.title == item.title && !planned.iter().any(|other| other.id == known.id)
                });
                item.id = match same {
                    Some(known) => known.id.clone(),
                    None => free.next().unwrap_or_default(),
                };
            }
            let known = former.iter().find(|known| known.id == item.id);
            let mark = known.and_then(|known| known.stale_since);
            item.stale_since = mark.filter(|since| *since > seen);
            if item.stale_since.is_some() && item.state == ChecklistState::Done {
                item.state = ChecklistState::Stale;
            }
            // What is done anew is to be confirmed anew.
            item.is_confirmed = item.state == ChecklistState::Done
                && known
                    .is_some_and(|known| known.is_confirmed && known.state == ChecklistState::Done);
            item
        })
        .collect()
}

/// Questions about items that are not there or not done any more are no longer asked.
async fn withdraw_settled(change: &mut TurnChange<'_>, checklist: &[ChecklistItem]) -> Result<()> {
    let is_done = |id: &String| {
        let item = checklist.iter().find(|item| item.id == *id);
        item.is_some_and(|item| item.state == ChecklistState::Done)
    };
    let mut cards = change.open_cards().await?;
    cards.retain(|card| card.item.as_ref().is_some_and(|item| !is_done(item)));
    change.task.withdraw(cards).await
}

/// An item that is closed for the first time is meaningful progress (A3); one that opened again is shown again.
fn note_closed(change: &mut TurnChange<'_>, former: &[ChecklistItem], new: &[ChecklistItem]) {
    let course = &mut change.task.task.course;
    for item in new {
        if item.state == ChecklistState::Done && !course.closed_items.contains(&item.id) {
            course.closed_items.push(item.id.clone());
            change.turn.has_progress = true;
        }
        let was_done = former
            .iter()
            .any(|known| known.id == item.id && known.state == ChecklistState::Done);
        if was_done && item.state != ChecklistState::Done {
            course.shown_items.retain(|id| *id != item.id);
        }
    }
}
