//! Settling a step: all its calls are over, and stored state says what happens next (A2).

use super::open::{OpenedStep, open_step};
use super::{Call, CallState, Risk, Spare, Step, StepState, TurnChange, TurnState};
use crate::card::{ADJUST, CONFIRM, Card, CardKind, CardOption, CardOrigin, CardState, CardWords};
use crate::error::Result;
use crate::job::waits;
use crate::memory::note_milestone;
use crate::task::{ChecklistItem, Standing, Task, TaskLimits, TaskStatus, Verdict, verdict};
use crate::time::Timestamp;

/// Before any step of a turn.
const BEFORE_ALL_STEPS: u32 = 0;

/// What there is to do for the worker of a turn.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "one is made for a step, and handed on at once"
)]
pub enum After {
    /// A step is open: the model is to be asked.
    Opened(Box<OpenedStep>),
    /// A step is decided: these calls are to be carried out, all of the step are named.
    Calls {
        /// The step.
        step: Step,
        /// Its calls, by index.
        calls: Vec<Call>,
    },
    /// The turn is over.
    Ended,
}

/// Settles a step whose calls are all over, and opens the next one or ends the turn.
pub(super) async fn settle(
    change: &mut TurnChange<'_>,
    mut step: Step,
    calls: &[Call],
    limits: TaskLimits,
    spare: Spare,
) -> Result<After> {
    step.state = StepState::Settled;
    change.tx().put_step(&step).await?;
    change.turn.settled_steps = step.at.step;
    change.turn.has_progress |= calls.iter().any(is_progress);
    let (workspace, id) = (change.turn.workspace, change.turn.task);
    let projections = change.projections.as_ref();
    let checklist = projections.map(|projections| projections.checklist.clone());
    let checklist = checklist.unwrap_or_default();
    let has_unread = change.has_inbox() && change.tx().count_unread(workspace, id).await? > 0;
    let cards = change.open_cards().await?;
    // A card about a message that the task could not take is no question of the task.
    let has_open_card = cards.iter().any(|card| card.message.is_none());
    let is_looking =
        has_open_card && has_looked(calls) && change.has_consumed_since(BEFORE_ALL_STEPS).await?;
    let task = &change.task.task;
    let idle_turns = idle_turns(task, change.turn.has_progress);
    let jobs = change.jobs().await?;
    let task = &change.task.task;
    let verdict = verdict(&Standing {
        status: task.status,
        autonomy: task.autonomy,
        checklist: &checklist,
        shown_items: &task.course.shown_items,
        has_unread,
        has_open_card,
        is_looking,
        has_trouble: calls.iter().any(is_trouble),
        waits_for_jobs: waits(&checklist, &jobs, has_rested(calls)),
        steps: change.turn.settled_steps,
        idle_turns,
        limit: limit_reached(task, change.turn.settled_steps, change.task.at, limits),
        limits,
    });
    carry_out(change, verdict, &checklist, (limits, spare)).await
}

/// Settles a step of Main, and goes on with the next message, or rests until one comes: no plan and no limit holds it.
pub(crate) async fn settle_routing(
    change: &mut TurnChange<'_>,
    mut step: Step,
    limits: TaskLimits,
    spare: Spare,
) -> Result<After> {
    step.state = StepState::Settled;
    change.tx().put_step(&step).await?;
    change.turn.settled_steps = step.at.step;
    let (workspace, id) = (change.turn.workspace, change.turn.task);
    let has_unread = change.tx().count_unread(workspace, id).await? > 0;
    if has_unread && step.at.step < limits.steps_per_turn {
        let next = step.at.step + 1;
        return Ok(After::Opened(Box::new(open_step(change, next).await?)));
    }
    change.end(TurnState::Completed);
    if has_unread {
        change.task.queue_turn(spare.turn).await?;
    } else {
        change.task.set_status(TaskStatus::Delivered, None);
    }
    Ok(After::Ended)
}

/// Turns in a row without progress, with one that has made some or none.
fn idle_turns(task: &Task, has_progress: bool) -> u32 {
    if has_progress {
        return 0;
    }
    task.course.idle_turns + 1
}

/// A new usable result (A3): replies and reads are none.
fn is_progress(call: &Call) -> bool {
    let repeats = call
        .result
        .as_ref()
        .is_some_and(|result| result.get("repeats").is_some());
    call.state == CallState::Done
        && !repeats
        && (call.risk != Risk::Read || call.tool == "delegate")
}

/// Whether a step looked something up: its results mean nothing to anybody but the model. What was looked up together with a
/// question can wait for the answer.
fn has_looked(calls: &[Call]) -> bool {
    let is_look = |call: &Call| call.risk == Risk::Read && call.state == CallState::Done;
    let is_talk = |call: &Call| ["reply", "ask", "delegate"].contains(&call.tool.as_str());
    calls.iter().any(|call| is_look(call) && !is_talk(call))
        && calls.iter().all(|call| call.tool != "ask")
}

/// Whether a step did nothing but talk.
fn has_rested(calls: &[Call]) -> bool {
    calls.iter().all(|call| call.tool == "reply")
}

/// What the model must see before the task can be called delivered.
fn is_trouble(call: &Call) -> bool {
    call.state != CallState::Done
}

fn limit_reached(task: &Task, steps: u32, now: Timestamp, limits: TaskLimits) -> Option<String> {
    let tokens = task.usage.input_tokens + task.usage.output_tokens;
    let days = now.since(task.created_at).as_secs() / 86_400;
    let turns = task.course.turns_since_resume;
    // The last turn that is allowed comes to its end.
    if turns > limits.turns || (turns == limits.turns && steps >= limits.steps_per_turn) {
        return Some(format!("the limit of {} turns is reached", limits.turns));
    }
    if tokens >= limits.tokens {
        return Some(format!("the limit of {} tokens is reached", limits.tokens));
    }
    if let Some(budget) = task.budget_micros
        && task.usage.spent_micros > budget
    {
        return Some(format!("the budget of {budget} micros is spent"));
    }
    (days >= u64::from(limits.days))
        .then(|| format!("the limit of {} days is reached", limits.days))
}

async fn carry_out(
    change: &mut TurnChange<'_>,
    verdict: Verdict,
    checklist: &[ChecklistItem],
    (limits, spare): (TaskLimits, Spare),
) -> Result<After> {
    let (status, reason) = match verdict {
        Verdict::NextStep => {
            let next = change.turn.settled_steps + 1;
            return Ok(After::Opened(Box::new(open_step(change, next).await?)));
        }
        Verdict::NextTurn => {
            end_turn(change, limits);
            change.task.queue_turn(spare.turn).await?;
            return Ok(After::Ended);
        }
        Verdict::AskPerson(item) => {
            if item.is_some() {
                note_milestone_of(change).await?;
            }
            if let Some(item) = checklist
                .iter()
                .find(|known| Some(&known.id) == item.as_ref())
            {
                ask_about(change, item, spare).await?;
            }
            (
                TaskStatus::WaitingForPerson,
                Some("a question waits for an answer".to_owned()),
            )
        }
        Verdict::AwaitJobs => (
            TaskStatus::WaitingExternal,
            Some("generations are under way".to_owned()),
        ),
        Verdict::Hold => (TaskStatus::Paused, change.task.task.status_reason.clone()),
        Verdict::Limit(limit) => (
            TaskStatus::Paused,
            Some(format!("{limit}; raise it or resume the task to go on")),
        ),
        Verdict::NoProgress => (
            TaskStatus::Blocked,
            Some(format!(
                "nothing came of the last {} turns; say what to do differently, or resume the task",
                limits.idle_turns + 1
            )),
        ),
        Verdict::Deliver => {
            note_milestone_of(change).await?;
            (TaskStatus::Delivered, None)
        }
    };
    end_turn(change, limits);
    change.task.set_status(status, reason);
    Ok(After::Ended)
}

/// What has come of the task is remembered.
async fn note_milestone_of(change: &TurnChange<'_>) -> Result<()> {
    let (task, projections) = (&change.task.task, change.projections.as_ref());
    note_milestone(change.tx(), task, projections, change.task.at).await
}

/// Ends the turn, and counts whether anything came of it.
fn end_turn(change: &mut TurnChange<'_>, limits: TaskLimits) {
    let idle_turns = idle_turns(&change.task.task, change.turn.has_progress);
    let course = &mut change.task.task.course;
    course.idle_turns = idle_turns;
    course.is_nudge_due = course.idle_turns >= limits.idle_turns;
    change.end(TurnState::Completed);
}

/// The runtime asks, because the model did not (A4).
async fn ask_about(change: &mut TurnChange<'_>, item: &ChecklistItem, spare: Spare) -> Result<()> {
    let shown = &mut change.task.task.course.shown_items;
    if !shown.contains(&item.id) {
        shown.push(item.id.clone());
    }
    let task = &change.task.task;
    let words = CardWords::of(&task.language);
    let card = Card {
        id: spare.card,
        workspace: task.workspace,
        kind: CardKind::Checkpoint,
        task: Some(task.id),
        message: None,
        call: None,
        item: Some(item.id.clone()),
        prompt: format!("{}: {}", words.done, item.title),
        options: vec![
            CardOption::plain(CONFIRM, words.confirm),
            CardOption::plain(ADJUST, words.adjust),
        ],
        recommended: Some(CONFIRM.to_owned()),
        works: item.outputs.clone(),
        cost: None,
        job: None,
        raised_by: CardOrigin::Runtime,
        state: CardState::Open,
        answer: None,
        created_at: change.task.at,
    };
    change.task.raise(&card).await
}

impl TurnChange<'_> {
    /// Notes what came of a call, in the journal and for those who follow.
    pub(super) fn note_result(&mut self, call: &Call) {
        self.task.note_result(call);
    }

    /// Tells those who follow that a call has another state.
    pub(super) fn note_state(&mut self, call: &Call) {
        self.task.note_call(call);
    }

    /// Whether a step of this turn after the given one has consumed a message.
    pub(super) async fn has_consumed_since(&self, step: u32) -> Result<bool> {
        self.tx()
            .is_consumed_after(self.turn.task, self.step_ref(step))
            .await
    }
}
