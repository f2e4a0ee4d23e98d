//! Tasks: one goal each, with where it stands, what was said, and what it has done.
//!
//! Not here: lists of tasks (`task_list`).

use std::sync::Arc;

use async_graphql::{Context, Enum, ID, Object, Result};
use domain::ids::TaskId;
use domain::task;

use super::card::Card;
use super::job::GenerationJob;
use super::journal::{JournalConnection, JournalKind, page_of_journal};
use super::line::Line;
use super::linked_work::{ChangeNotice, LinkedWork};
use super::message::{Message, MessageConnection, MessageState, page_of_thread};
use super::money::{Budget, Usage};
use super::projection::{ChecklistItem, Projection};
use super::turn::{Turn, TurnConnection, page_of_turns};
use super::workspace::Workspace;
use crate::graphql::choice::Choice;
use crate::graphql::connection::Asked;
use crate::graphql::error::{Nullable, nullable};
use crate::graphql::scalars::{Cursor, DateTime};
use crate::graphql::scope::Scope;

/// How much a task weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "task::TaskKind")]
pub(crate) enum TaskKind {
    /// One generation with its result; stands in a list only where its kind is asked for.
    Lightweight,
    /// The full life cycle.
    Persistent,
}

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "task::TaskStatus")]
pub(crate) enum TaskStatus {
    /// It will go on as soon as a worker is free.
    Queued,
    /// A worker has it.
    Running,
    /// It waits for something outside, such as a generation.
    WaitingExternal,
    /// It waits for a person.
    WaitingForPerson,
    /// A person or a limit holds it.
    Paused,
    /// It can not go on by itself.
    Blocked,
    /// A person ended it.
    Stopped,
    /// Its checklist is closed.
    Delivered,
    /// It is out of the way.
    Archived,
}

/// How far the agent may go by itself. Says nothing about money or permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "task::Autonomy")]
pub(crate) enum Autonomy {
    /// A card after each closed item.
    AskEachStep,
    /// A card at each checkpoint of the plan.
    AskAtCheckpoints,
    /// Passes checkpoints; never a question of cost or of what can not be undone.
    RunUntilDone,
}

/// One goal that the agent works towards.
#[derive(Debug, Clone)]
pub(crate) struct Task(pub(crate) Arc<task::Task>);

impl Task {
    /// A task, where the caller may see it.
    pub(super) async fn find(ctx: &Context<'_>, id: TaskId) -> Result<Option<Self>> {
        Ok(Scope::of(ctx)?.find_task(id).await?.map(Self))
    }
}

/// One goal that the agent works towards.
#[Object]
impl Task {
    /// The id of the task.
    pub(crate) async fn id(&self) -> ID {
        self.0.id.into()
    }

    /// Where it belongs.
    async fn workspace(&self, ctx: &Context<'_>) -> Result<Workspace> {
        let found = Scope::of(ctx)?.workspace(self.0.workspace).await?;
        Ok(Workspace(found))
    }

    /// How much it weighs.
    async fn kind(&self) -> TaskKind {
        self.0.kind.into()
    }

    /// Where it stands.
    async fn status(&self) -> TaskStatus {
        self.0.status.into()
    }

    /// Why it stands still, in words for a person; null while it moves.
    async fn status_reason(&self) -> Option<&str> {
        self.0.status_reason.as_deref()
    }

    /// Its title.
    async fn title(&self) -> &str {
        &self.0.title
    }

    /// What it is to reach, as it was put first.
    async fn goal(&self) -> &str {
        &self.0.goal
    }

    /// What is to be kept in mind.
    async fn brief(&self) -> &str {
        &self.0.brief
    }

    /// BCP 47 tag of the language in which the agent writes here.
    async fn language(&self) -> &str {
        &self.0.language
    }

    /// When it was made.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    /// When anything of it changed last.
    async fn updated_at(&self) -> DateTime {
        DateTime(self.0.updated_at)
    }

    /// The message it came from; null where it was made by itself.
    async fn origin(&self, ctx: &Context<'_>) -> Nullable<Message> {
        nullable(Message::find(ctx, self.0.origin?).await)
    }

    /// Where it is, in prose.
    async fn summary(&self, ctx: &Context<'_>) -> Result<Projection> {
        let found = Scope::of(ctx)?.projections(self.0.id).await?;
        Ok(Projection::new(&self.0, &found, &found.summary))
    }

    /// Where it is, in one line for lists.
    async fn short_line(&self, ctx: &Context<'_>) -> Result<Projection> {
        let found = Scope::of(ctx)?.projections(self.0.id).await?;
        Ok(Projection::new(&self.0, &found, &found.short_line))
    }

    /// Its plan.
    async fn checklist(&self, ctx: &Context<'_>) -> Result<Vec<ChecklistItem>> {
        let found = Scope::of(ctx)?.projections(self.0.id).await?;
        Ok(ChecklistItem::list(&found))
    }

    /// What people wrote to it and no decision has read yet, oldest first; `states` shows messages in these states instead.
    async fn inbox(
        &self,
        ctx: &Context<'_>,
        states: Option<Vec<MessageState>>,
    ) -> Result<Vec<Message>> {
        let states = Choice::new(states);
        if states.is_nothing() {
            return Ok(Vec::new());
        }
        let states = states.values().to_vec();
        let found = Scope::of(ctx)?.inbox(self.0.id, states).await?;
        Ok(found.iter().cloned().map(Message::from).collect())
    }

    /// What people and the agent wrote, oldest first.
    async fn thread(
        &self,
        ctx: &Context<'_>,
        first: Option<i32>,
        after: Option<Cursor>,
        last: Option<i32>,
        before: Option<Cursor>,
    ) -> Result<MessageConnection> {
        let asked = Asked {
            first,
            after,
            last,
            before,
        };
        page_of_thread(Scope::of(ctx)?, self.0.id, &asked).await
    }

    /// What happened and why, oldest first; `kinds` leaves out all others.
    async fn journal(
        &self,
        ctx: &Context<'_>,
        first: Option<i32>,
        after: Option<Cursor>,
        kinds: Option<Vec<JournalKind>>,
    ) -> Result<JournalConnection> {
        page_of_journal(Scope::of(ctx)?, self.0.id, kinds, first, after.as_ref()).await
    }

    /// Its turns, by number.
    async fn turns(
        &self,
        ctx: &Context<'_>,
        first: Option<i32>,
        after: Option<Cursor>,
        last: Option<i32>,
        before: Option<Cursor>,
    ) -> Result<TurnConnection> {
        let asked = Asked {
            first,
            after,
            last,
            before,
        };
        page_of_turns(Scope::of(ctx)?, self.0.id, &asked).await
    }

    /// The turn with this number.
    async fn turn(&self, ctx: &Context<'_>, number: i32) -> Nullable<Turn> {
        nullable(Turn::find(ctx, self.0.id, number).await)
    }

    /// Persistent working contexts of executors, in the order they were opened.
    async fn lines(&self, ctx: &Context<'_>) -> Result<Vec<Line>> {
        let found = Scope::of(ctx)?.lines(self.0.id).await?;
        Ok(found.iter().cloned().map(Line).collect())
    }

    /// Works that it refers to, in the order they were linked.
    async fn works(&self, ctx: &Context<'_>) -> Result<Vec<LinkedWork>> {
        let found = Scope::of(ctx)?.linked_works(self.0.id).await?;
        Ok(found.iter().cloned().map(LinkedWork).collect())
    }

    /// What others changed in these works and no decision has seen yet.
    async fn change_notices(&self, ctx: &Context<'_>) -> Result<Vec<ChangeNotice>> {
        let found = Scope::of(ctx)?.change_notices(self.0.id).await?;
        Ok(found.iter().cloned().map(ChangeNotice).collect())
    }

    /// Its cards, oldest first; `open` chooses those that wait for an answer, or the others.
    async fn cards(&self, ctx: &Context<'_>, open: Option<bool>) -> Result<Vec<Card>> {
        let found = Scope::of(ctx)?.cards(self.0.id, open).await?;
        Ok(found.iter().cloned().map(Card::from).collect())
    }

    /// Its orders at media providers, oldest first.
    async fn jobs(&self, ctx: &Context<'_>) -> Result<Vec<GenerationJob>> {
        let found = Scope::of(ctx)?.jobs(self.0.id).await?;
        Ok(found.iter().cloned().map(GenerationJob).collect())
    }

    /// How far the agent may go by itself.
    async fn autonomy(&self) -> Autonomy {
        self.0.autonomy.into()
    }

    /// What it may spend, and has spent.
    async fn budget(&self, ctx: &Context<'_>) -> Result<Budget> {
        let scope = Scope::of(ctx)?;
        let of_workspace = scope.budget(self.0.workspace).await?;
        let jobs = scope.jobs(self.0.id).await?;
        Ok(Budget {
            limit: self.0.budget_micros,
            spent: self.0.usage.spent_micros,
            reserved: jobs.iter().map(|job| job.reserved).sum(),
            per_operation: of_workspace.per_operation,
            daily: of_workspace.daily,
        })
    }

    /// What it has used.
    async fn usage(&self) -> Usage {
        Usage(self.0.usage)
    }
}
