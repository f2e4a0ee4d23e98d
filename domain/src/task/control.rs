//! What people do to a task: pause, resume, stop, archive, promote, change its words, rebuild its projections.
//!
//! Invariants
//! - A pause takes effect at the next boundary of a step: what is decided is carried out, and nothing more is decided.
//! - A stop takes effect at once: it raises the epoch, so whatever the worker does then is refused (D4, D6).

use async_trait::async_trait;
use serde_json::json;

use super::budget::set_budget;
use super::create::visible_task;
use super::fold::fold;
use super::{Autonomy, TaskChange, TaskKind, TaskStatus};
use crate::actor::Actor;
use crate::error::{Error, Result};
use crate::event::EventKind;
use crate::ids::{TaskId, WorkspaceId};
use crate::job::withdraw_orders;
use crate::journal::JournalKind;
use crate::page::{End, Window};
use crate::people::{Caller, Role, TokenKind, check_text, role_in};
use crate::routing::deliver_refused;
use crate::store::{Command, Scope, Transaction};
use crate::time::Timestamp;
use crate::turn::{CallState, Spare, StepRef, TurnState};

/// Who does something to which task.
#[derive(Debug, Clone)]
pub struct TaskAction {
    /// Who asks.
    pub caller: Caller,
    /// The task's workspace.
    pub workspace: WorkspaceId,
    /// The task.
    pub task: TaskId,
    /// Why, in the person's words.
    pub reason: Option<String>,
    /// Ids for what is made.
    pub spare: Spare,
    /// The present time.
    pub at: Timestamp,
}

impl TaskAction {
    async fn change<'tx>(&self, tx: &'tx dyn Transaction) -> Result<TaskChange<'tx>> {
        let (task, role) = visible_task(tx, self.task, self.caller.user).await?;
        if role < Role::Editor {
            return Err(Error::Forbidden(
                "this needs the role editor; you are viewer".to_owned(),
            ));
        }
        if let Some(reason) = &self.reason {
            check_text("a reason", reason, 2_000)?;
        }
        Ok(TaskChange::of(tx, task, self.caller.actor(), self.at))
    }
}

macro_rules! actions {
    ($($(#[$doc:meta])* $name:ident, $text:literal, $act:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $name(pub TaskAction);

        #[async_trait]
        impl Command for $name {
            type Output = ();
            const NAME: &'static str = $text;

            fn scope(&self) -> Scope {
                Scope::Workspace(self.0.workspace)
            }

            async fn run(&self, tx: &dyn Transaction) -> Result<()> {
                let mut change = self.0.change(tx).await?;
                $act(&mut change, &self.0).await?;
                change.save().await?;
                Ok(())
            }
        }
    )*};
}

actions! {
    /// Holds a task at the next boundary of a step.
    PauseTask, "task.pause", pause;
    /// Lets a task go on that is paused, blocked, stopped or archived.
    ResumeTask, "task.resume", resume;
    /// Ends a task at once; it stays ended until a person resumes it.
    StopTask, "task.stop", stop;
    /// Ends a task and puts it out of the way.
    ArchiveTask, "task.archive", archive;
    /// Makes a light task a persistent one; everything stays.
    PromoteTask, "task.promote", promote;
    /// Folds the projections anew out of the journal.
    RebuildProjections, "task.rebuild_projections", rebuild;
    /// Drops the projections; the next decision or a rebuild brings them back.
    DropProjections, "task.drop_projections", drop_projections;
}

#[expect(
    clippy::unused_async,
    reason = "the table of actions calls all of them alike"
)]
async fn pause(change: &mut TaskChange<'_>, action: &TaskAction) -> Result<()> {
    match change.task.status {
        TaskStatus::Paused => Ok(()),
        TaskStatus::Stopped | TaskStatus::Archived | TaskStatus::Delivered => {
            Err(not_possible(change, "be paused"))
        }
        _ => {
            let reason = action
                .reason
                .clone()
                .unwrap_or_else(|| "paused by a person".to_owned());
            change.set_status(TaskStatus::Paused, Some(reason));
            Ok(())
        }
    }
}

async fn resume(change: &mut TaskChange<'_>, action: &TaskAction) -> Result<()> {
    match change.task.status {
        TaskStatus::Paused | TaskStatus::Blocked | TaskStatus::Stopped | TaskStatus::Archived => {
            change.task.course.is_by_program |= action.caller.kind == TokenKind::PublicApi;
            go_on(change, action.spare).await
        }
        TaskStatus::Queued | TaskStatus::Running => Ok(()),
        _ => Err(not_possible(
            change,
            "be resumed; write to it to make it go on",
        )),
    }
}

/// Lets a task go on, with fresh limits, and gives it what it could not be given meanwhile.
pub(crate) async fn go_on(change: &mut TaskChange<'_>, spare: Spare) -> Result<()> {
    go_on_from_here(change, spare).await?;
    deliver_refused(change, spare).await
}

/// One that a card holds waits for its answer.
async fn go_on_from_here(change: &mut TaskChange<'_>, spare: Spare) -> Result<()> {
    let course = &mut change.task.course;
    course.turns_since_resume = 0;
    course.idle_turns = 0;
    course.is_nudge_due = false;
    course.model_failures = 0;
    let Some(id) = change.task.active_turn else {
        give_up_calls(change).await?;
        return change.queue_turn(spare.turn).await;
    };
    // Paused before the boundary was reached: the turn has never stopped.
    let turn = change.tx.list_turns_by_id(&[id]).await?.pop();
    let is_running = turn.is_some_and(|turn| turn.state == TurnState::Running);
    let status = if is_running {
        TaskStatus::Running
    } else {
        TaskStatus::Queued
    };
    change.set_status(status, None);
    Ok(())
}

/// What was under way as the task was stopped, and has not come back, may have had its effect: the next step reads that.
async fn give_up_calls(change: &mut TaskChange<'_>) -> Result<()> {
    if !matches!(
        change.task.status,
        TaskStatus::Stopped | TaskStatus::Archived
    ) {
        return Ok(());
    }
    let last = Window {
        limit: 1,
        end: End::Last,
        after: None,
        before: None,
    };
    let turns = change.tx.list_turns(change.task.id, last).await?.rows;
    let ids: Vec<_> = turns.iter().map(|turn| turn.id).collect();
    for mut call in change.tx.list_calls(&ids).await? {
        if call.state != CallState::Started {
            continue;
        }
        call.state = CallState::OutcomeUnknown;
        call.ended_at = Some(change.at);
        call.error = Some(
            "the task was stopped while this ran: it may have had its effect or not; check the state before you decide"
                .to_owned(),
        );
        change.tx.update_call(&call).await?;
        change.note_result(&call);
    }
    Ok(())
}

async fn stop(change: &mut TaskChange<'_>, action: &TaskAction) -> Result<()> {
    if matches!(
        change.task.status,
        TaskStatus::Stopped | TaskStatus::Archived
    ) {
        return Ok(());
    }
    let reason = action
        .reason
        .clone()
        .unwrap_or_else(|| "stopped by a person".to_owned());
    end(change, TaskStatus::Stopped, reason).await
}

async fn archive(change: &mut TaskChange<'_>, action: &TaskAction) -> Result<()> {
    if change.task.status == TaskStatus::Archived {
        return Ok(());
    }
    let reason = action
        .reason
        .clone()
        .unwrap_or_else(|| "archived by a person".to_owned());
    end(change, TaskStatus::Archived, reason).await
}

/// Cancels what runs, withdraws what the task has asked, and gives it its last status. Where a message belongs is still asked.
pub(crate) async fn end(
    change: &mut TaskChange<'_>,
    status: TaskStatus,
    reason: String,
) -> Result<()> {
    if let Some(id) = change.task.active_turn.take()
        && let Some(mut turn) = change.tx.list_turns_by_id(&[id]).await?.pop()
    {
        let presented = turn.epoch;
        turn.epoch = presented.next();
        turn.state = TurnState::Cancelled;
        turn.ended_at = Some(change.at);
        turn.lease = None;
        change.tx.update_turn(&turn, presented).await?;
        let step = StepRef {
            turn: turn.number,
            step: turn.settled_steps + 1,
        };
        change
            .tx
            .release_inbox(turn.workspace, turn.task, step)
            .await?;
        for mut call in change.tx.list_step_calls(id, step.step).await? {
            if call.state == CallState::Pending {
                call.state = CallState::Refused;
                call.error = Some("the task was stopped before this began".to_owned());
                call.ended_at = Some(change.at);
                change.tx.update_call(&call).await?;
            }
        }
        change.wake(&turn).await?;
    }
    change.withdraw_cards().await?;
    withdraw_orders(change).await?;
    change.set_status(status, Some(reason));
    Ok(())
}

#[expect(
    clippy::unused_async,
    reason = "the table of actions calls all of them alike"
)]
async fn promote(change: &mut TaskChange<'_>, _: &TaskAction) -> Result<()> {
    become_persistent(change);
    Ok(())
}

/// Makes a light task a persistent one; it has nothing to lose by it (T3).
pub(crate) fn become_persistent(change: &mut TaskChange<'_>) {
    if change.task.kind == TaskKind::Persistent {
        return;
    }
    change.task.kind = TaskKind::Persistent;
    change.note(
        JournalKind::SystemEvent,
        "the task became a persistent one",
        json!({"promoted": true}),
    );
    change.tell(
        EventKind::TaskUpdated,
        json!({"kind": TaskKind::Persistent}),
    );
}

async fn drop_projections(change: &mut TaskChange<'_>, _: &TaskAction) -> Result<()> {
    let (workspace, id) = (change.task.workspace, change.task.id);
    change.tx.delete_projections(workspace, id).await
}

async fn rebuild(change: &mut TaskChange<'_>, _: &TaskAction) -> Result<()> {
    fold_anew(change).await
}

async fn fold_anew(change: &mut TaskChange<'_>) -> Result<()> {
    let (workspace, id) = (change.task.workspace, change.task.id);
    match fold(change.tx, id).await? {
        Some(projections) => {
            change
                .tx
                .put_projections(workspace, id, &projections)
                .await?;
        }
        None => change.tx.delete_projections(workspace, id).await?,
    }
    change.tell(EventKind::TaskUpdated, json!({"rebuilt": true}));
    Ok(())
}

/// The same at an operator's word, for one task.
#[derive(Debug, Clone)]
pub struct FoldProjections {
    /// The task's workspace.
    pub workspace: WorkspaceId,
    /// The task.
    pub task: TaskId,
    /// The present time.
    pub at: Timestamp,
}

#[async_trait]
impl Command for FoldProjections {
    type Output = ();
    const NAME: &'static str = "task.fold_projections";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        let mut change = TaskChange::load(tx, self.task, Actor::System, self.at).await?;
        fold_anew(&mut change).await?;
        change.save().await?;
        Ok(())
    }
}

fn not_possible(change: &TaskChange<'_>, what: &str) -> Error {
    Error::Conflict(format!(
        "task {} is {} and can not {what}",
        change.task.id,
        change.task.status.name().to_lowercase()
    ))
}

/// Changes the words and the authority of a task; what is none stays.
#[derive(Debug, Clone)]
pub struct UpdateTask {
    /// Who changes which task.
    pub action: TaskAction,
    /// Its title.
    pub title: Option<String>,
    /// Its brief; empty empties it.
    pub brief: Option<String>,
    /// How far the agent may go.
    pub autonomy: Option<Autonomy>,
    /// What it may spend, in micros; `Some(None)` takes the limit away.
    pub budget_micros: Option<Option<u64>>,
}

#[async_trait]
impl Command for UpdateTask {
    type Output = ();
    const NAME: &'static str = "task.update";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.action.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        let mut change = self.action.change(tx).await?;
        let mut changed = Vec::new();
        if let Some(title) = &self.title {
            check_text("a task's title", title, 200)?;
            change.task.title.clone_from(title);
            changed.push("title");
        }
        if let Some(brief) = &self.brief {
            if !brief.is_empty() {
                check_text("a brief", brief, 20_000)?;
            }
            change.task.brief.clone_from(brief);
            changed.push("brief");
        }
        if let Some(autonomy) = self.autonomy {
            change.task.autonomy = autonomy;
            changed.push("autonomy");
        }
        if let Some(budget) = self.budget_micros {
            let user = self.action.caller.user;
            let role = role_in(tx, self.action.workspace, user).await?;
            set_budget(&mut change, role, budget).await?;
            changed.push("budget");
        }
        if changed.is_empty() {
            return Ok(());
        }
        let text = format!("a person changed: {}", changed.join(", "));
        let data = json!({
            "changed": changed, "title": change.task.title, "brief": change.task.brief,
            "autonomy": change.task.autonomy, "budgetMicros": change.task.budget_micros,
        });
        change.note(JournalKind::SystemEvent, text, data);
        change.tell(EventKind::TaskUpdated, json!({"changed": changed}));
        change.save().await?;
        Ok(())
    }
}
