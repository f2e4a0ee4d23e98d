//! Mutations of tasks: making, holding, ending, changing them.

use std::sync::Arc;

use async_graphql::{Context, ID, InputObject, MaybeUndefined, Object, Result, SimpleObject};
use domain::Error;
use domain::ids::{TaskId, WorkId};
use domain::routing::MergeTasks;
use domain::store::Command;
use domain::task::{
    self, ArchiveTask, CreateTask, PauseTask, PromoteTask, RebuildProjections, ResumeTask,
    StopTask, TaskAction, UpdateTask, detect_language, title_of,
};
use domain::turn::Spare;

use super::input::{id, idempotency, present};
use super::money::{MoneyInput, limit};
use crate::graphql::model::task::{Autonomy, Task, TaskKind};
use crate::graphql::scope::Scope;

/// A task to make; it starts at once.
#[derive(InputObject)]
struct CreateTaskInput {
    /// The workspace it belongs to.
    workspace_id: ID,
    /// What it is to reach.
    goal: String,
    /// How much it weighs; PERSISTENT where none is given.
    kind: Option<TaskKind>,
    /// Its title; without one the first line of the goal, cut to 80 characters.
    title: Option<String>,
    /// BCP 47 tag of the language in which the agent writes; without one the goal's own.
    language: Option<String>,
    /// How far the agent may go by itself; ASK_AT_CHECKPOINTS where none is given.
    autonomy: Option<Autonomy>,
    /// What it may spend; without it there is no limit of its own.
    budget: Option<MoneyInput>,
    /// Works that it refers to from the beginning.
    work_ids: Option<Vec<ID>>,
    /// The same key by the same person gives the first task again, and makes no second one.
    idempotency_key: Option<String>,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// A task that was made.
#[derive(SimpleObject)]
struct CreateTaskPayload {
    /// The task.
    task: Task,
    /// As it was given.
    client_mutation_id: Option<String>,
}

/// What is to be done to which task.
#[derive(InputObject)]
struct TaskActionInput {
    /// The task.
    task_id: ID,
    /// Why, for its status and journal.
    reason: Option<String>,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// A task and what changes of it: an absent member is left alone.
#[derive(InputObject)]
struct UpdateTaskInput {
    /// The task.
    task_id: ID,
    /// Its title.
    title: MaybeUndefined<String>,
    /// What is to be kept in mind; null empties it.
    brief: MaybeUndefined<String>,
    /// How far the agent may go by itself.
    autonomy: MaybeUndefined<Autonomy>,
    /// What it may spend; null takes the limit away.
    budget: MaybeUndefined<MoneyInput>,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// A superfluous task, and the one that goes on.
#[derive(InputObject)]
#[expect(clippy::struct_field_names, reason = "they are the contract's names")]
struct MergeTasksInput {
    /// The task that ends.
    from_task_id: ID,
    /// The task that goes on.
    into_task_id: ID,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// A task that was changed.
#[derive(SimpleObject)]
struct TaskPayload {
    /// The task.
    task: Task,
    /// As it was given.
    client_mutation_id: Option<String>,
}

/// Mutations of tasks.
#[derive(Debug, Default)]
pub(crate) struct TaskMutation;

#[Object]
impl TaskMutation {
    /// Makes a task, which starts at once.
    async fn create_task(
        &self,
        ctx: &Context<'_>,
        input: CreateTaskInput,
    ) -> Result<CreateTaskPayload> {
        let scope = Scope::of(ctx)?;
        let key = input.idempotency_key.as_deref();
        let idempotency = idempotency(scope, "createTask", key, &input)?;
        let works = input.work_ids.iter().flatten().map(id::<WorkId>);
        let command = CreateTask {
            caller: scope.caller,
            works: works.collect::<Result<_, _>>()?,
            task: new_task(scope, &input)?,
            idempotency,
            spare: Spare::new(),
        };
        let made = scope.run(command).await?;
        Ok(CreateTaskPayload {
            task: Task(scope.task(made).await?),
            client_mutation_id: input.client_mutation_id,
        })
    }

    /// Holds a task at the next boundary of a step.
    async fn pause_task(&self, ctx: &Context<'_>, input: TaskActionInput) -> Result<TaskPayload> {
        act(ctx, input, PauseTask).await
    }

    /// Lets a task go on that is paused, blocked, stopped or archived.
    async fn resume_task(&self, ctx: &Context<'_>, input: TaskActionInput) -> Result<TaskPayload> {
        act(ctx, input, ResumeTask).await
    }

    /// Ends a task at once; it stays ended until a person resumes it.
    async fn stop_task(&self, ctx: &Context<'_>, input: TaskActionInput) -> Result<TaskPayload> {
        act(ctx, input, StopTask).await
    }

    /// Ends a task and puts it out of the way.
    async fn archive_task(&self, ctx: &Context<'_>, input: TaskActionInput) -> Result<TaskPayload> {
        act(ctx, input, ArchiveTask).await
    }

    /// Makes a light task a persistent one; everything stays.
    async fn promote_task(&self, ctx: &Context<'_>, input: TaskActionInput) -> Result<TaskPayload> {
        act(ctx, input, PromoteTask).await
    }

    /// Merges a task into another: what is open of it moves, its journal stays, and both journals say so. It is archived.
    async fn merge_tasks(&self, ctx: &Context<'_>, input: MergeTasksInput) -> Result<TaskPayload> {
        let scope = Scope::of(ctx)?;
        let from = scope.task(id(&input.from_task_id)?).await?;
        let into = scope.task(id(&input.into_task_id)?).await?;
        let command = MergeTasks {
            caller: scope.caller,
            workspace: into.workspace,
            from: from.id,
            into: into.id,
            spare: Spare::new(),
            at: scope.now(),
        };
        scope.run(command).await?;
        payload(scope, into.id, input.client_mutation_id).await
    }

    /// Folds summary, short line and checklist anew out of the journal.
    async fn rebuild_projections(
        &self,
        ctx: &Context<'_>,
        input: TaskActionInput,
    ) -> Result<TaskPayload> {
        act(ctx, input, RebuildProjections).await
    }

    /// Changes the words of a task, and how far the agent may go.
    async fn update_task(&self, ctx: &Context<'_>, input: UpdateTaskInput) -> Result<TaskPayload> {
        let scope = Scope::of(ctx)?;
        let task = scope.task(id(&input.task_id)?).await?;
        let command = UpdateTask {
            action: action(scope, &task, None),
            title: present("title", input.title)?,
            brief: emptied(input.brief),
            autonomy: present("autonomy", input.autonomy)?.map(Into::into),
            budget_micros: limit(input.budget)?,
        };
        scope.run(command).await?;
        payload(scope, task.id, input.client_mutation_id).await
    }
}

/// Runs the command of one action.
async fn act<C: Command<Output = ()>>(
    ctx: &Context<'_>,
    input: TaskActionInput,
    command: fn(TaskAction) -> C,
) -> Result<TaskPayload> {
    let scope = Scope::of(ctx)?;
    let task = scope.task(id(&input.task_id)?).await?;
    scope
        .run(command(action(scope, &task, input.reason)))
        .await?;
    payload(scope, task.id, input.client_mutation_id).await
}

fn action(scope: &Scope, task: &Arc<task::Task>, reason: Option<String>) -> TaskAction {
    TaskAction {
        caller: scope.caller,
        workspace: task.workspace,
        task: task.id,
        reason,
        spare: Spare::new(),
        at: scope.now(),
    }
}

async fn payload(
    scope: &Scope,
    task: TaskId,
    client_mutation_id: Option<String>,
) -> Result<TaskPayload> {
    Ok(TaskPayload {
        task: Task(scope.task(task).await?),
        client_mutation_id,
    })
}

fn new_task(scope: &Scope, input: &CreateTaskInput) -> Result<task::Task, Error> {
    let now = scope.now();
    let goal = input.goal.as_str();
    let language = input.language.as_deref();
    Ok(task::Task {
        id: TaskId::new(),
        workspace: id(&input.workspace_id)?,
        kind: input.kind.unwrap_or(TaskKind::Persistent).into(),
        status: task::TaskStatus::Queued,
        status_reason: None,
        title: input.title.clone().unwrap_or_else(|| title_of(goal)),
        goal: goal.to_owned(),
        brief: String::new(),
        language: language.unwrap_or_else(|| detect_language(goal)).to_owned(),
        created_by: scope.caller.user,
        origin: None,
        main_of: None,
        autonomy: input.autonomy.unwrap_or(Autonomy::AskAtCheckpoints).into(),
        budget_micros: input.budget.as_ref().map(MoneyInput::micros).transpose()?,
        created_at: now,
        updated_at: now,
        journal_head: 0,
        news_head: 0,
        active_turn: None,
        course: task::Course::default(),
        usage: task::Usage::default(),
    })
}

/// A text that null empties.
fn emptied(given: MaybeUndefined<String>) -> Option<String> {
    match given {
        MaybeUndefined::Undefined => None,
        MaybeUndefined::Null => Some(String::new()),
        MaybeUndefined::Value(text) => Some(text),
    }
}
