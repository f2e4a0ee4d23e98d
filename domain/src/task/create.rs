//! Making a task, and who may see one.

use async_trait::async_trait;
use serde_json::json;

use super::language::{check_language, detect_language};
use super::{
    Autonomy, Course, LinkedWork, Task, TaskChange, TaskKind, TaskReads, TaskStatus, Usage,
};
use crate::actor::Actor;
use crate::document::Version;
use crate::error::{Error, Result};
use crate::idempotency::{IdempotencyKey, first_result};
use crate::ids::{TaskId, UserId, WorkId};
use crate::journal::JournalKind;
use crate::message::Message;
use crate::people::{Caller, PeopleReads, Role, TokenKind, check_text, require, role_in};
use crate::store::{Command, Scope, Transaction};
use crate::time::Timestamp;
use crate::turn::Spare;

/// Works that one task can be given at its beginning.
const WORKS: usize = 100;
/// Characters of a title that is made from a goal.
const TITLE: usize = 80;

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
        let role = require(tx, self.task.workspace, self.caller.user, Role::Editor).await?;
        check_text("a task's goal", &self.task.goal, 20_000)?;
        check_text("a task's title", &self.task.title, 200)?;
        check_language(&self.task.language)?;
        if let Some(key) = &self.idempotency {
            if let Some(first) = first_result(tx, key).await? {
                return serde_json::from_value(first)
                    .map_err(|error| Error::Internal(error.into()));
            }
            tx.remember_idempotency(key, &json!(self.task.id)).await?;
        }
        let actor = self.caller.actor();
        let mut task = self.task.clone();
        task.course.is_by_program = self.caller.kind == TokenKind::PublicApi;
        task.course.owner_budget = task.budget_micros.filter(|_| role == Role::Owner);
        let change = begin(tx, task, &self.works, (actor, self.spare)).await?;
        Ok(change.save().await?.id)
    }
}

/// Begins a task that is not stored yet; its first turn is queued.
pub(crate) async fn begin<'tx>(
    tx: &'tx dyn Transaction,
    task: Task,
    works: &[WorkId],
    (actor, spare): (Actor, Spare),
) -> Result<TaskChange<'tx>> {
    let at = task.created_at;
    let mut change = TaskChange::new(tx, task, actor, at);
    let (id, goal) = (change.task.id, change.task.goal.clone());
    change.note(
        JournalKind::SystemEvent,
        goal.clone(),
        json!({"created": id, "goal": goal, "works": works, "origin": change.task.origin}),
    );
    link_works(&change, works).await?;
    change.queue_turn(spare.turn).await?;
    Ok(change)
}

/// The task that a person's message asks for, before its first turn; it keeps the language in which the person wrote (T5).
pub(crate) fn task_of(message: &Message, id: TaskId, goal: &str, at: Timestamp) -> Result<Task> {
    let Some(user) = message.person() else {
        return Err(Error::internal("a message of the agent makes no task"));
    };
    let language = message.language.clone();
    Ok(Task {
        id,
        workspace: message.workspace,
        kind: TaskKind::Persistent,
        status: TaskStatus::Queued,
        status_reason: None,
        title: title_of(goal),
        goal: goal.to_owned(),
        brief: String::new(),
        language: language.unwrap_or_else(|| detect_language(&message.text).to_owned()),
        created_by: user,
        origin: Some(message.id),
        main_of: None,
        autonomy: Autonomy::AskAtCheckpoints,
        budget_micros: None,
        created_at: at,
        updated_at: at,
        journal_head: 0,
        news_head: 0,
        active_turn: None,
        course: Course::default(),
        usage: Usage::default(),
    })
}

/// A title for a task that was given none: the first line of its goal, cut after a word.
pub fn title_of(goal: &str) -> String {
    let line = goal.trim().lines().next().unwrap_or_default().trim_end();
    if line.chars().count() <= TITLE {
        return line.to_owned();
    }
    let cut: String = line.chars().take(TITLE - 1).collect();
    let is_whole_word = line[cut.len()..].starts_with(char::is_whitespace);
    // Where people write without spaces, or one word fills the line, there is no better place than the last.
    let end = match cut.rfind(char::is_whitespace) {
        Some(space) if !is_whole_word && space > 0 => space,
        _ => cut.len(),
    };
    format!("{}…", cut[..end].trim_end())
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
    let task = found
        .filter(|task| !task.is_main())
        .ok_or_else(|| Error::not_found("task", id))?;
    match role_in(reads, task.workspace, user).await {
        Ok(role) => Ok((task, role)),
        Err(Error::NotFound(_)) => Err(Error::not_found("task", id)),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_first_line_of_the_goal_cut_after_a_word() {
        assert_eq!(
            title_of("  Three posters\nfor the spring fair"),
            "Three posters"
        );
        assert_eq!(title_of(" \n "), "");
        let long = title_of(&"poster ".repeat(20));
        assert_eq!(long, format!("{}…", ["poster"; 11].join(" ")));
        let exact = format!("{} end", "a".repeat(79));
        assert_eq!(title_of(&exact), format!("{}…", "a".repeat(79)));
        let unspaced = title_of(&"海报".repeat(60));
        assert_eq!(unspaced.chars().count(), TITLE);
    }
}
