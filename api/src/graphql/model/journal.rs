//! The journal of a task: what happened and why, in order.

use async_graphql::{Context, Enum, Object, Result};
use domain::ids::TaskId;
use domain::journal;
use domain::page::Page;

use super::actor::Actor;
use super::step::Step;
use crate::graphql::choice::Choice;
use crate::graphql::connection::connection;
use crate::graphql::cursor::{Kind, List};
use crate::graphql::error::{Nullable, nullable};
use crate::graphql::scalars::{Cursor, DateTime, Json, int};
use crate::graphql::scope::Scope;

/// What an entry tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "journal::JournalKind")]
pub(crate) enum JournalKind {
    /// What a person wrote, or answered to a card.
    IncomingMessage,
    /// A decision, with the projections that it rewrote.
    Plan,
    /// The whole prompt of an executor.
    Prompt,
    /// An executor's answer.
    Answer,
    /// What came of a call.
    Result,
    /// A card was raised.
    Question,
    /// The task's status changed.
    StatusChange,
    /// Everything else that the runtime did.
    SystemEvent,
}

/// One entry of a task's journal.
#[derive(Debug, Clone)]
pub(crate) struct JournalEntry {
    task: TaskId,
    entry: journal::JournalEntry,
}

impl JournalEntry {
    /// An entry of a visible task.
    pub(super) fn new(task: TaskId, entry: journal::JournalEntry) -> Self {
        Self { task, entry }
    }
}

/// One entry of a task's journal.
#[Object]
impl JournalEntry {
    /// Its place in the journal, from 1 on.
    async fn sequence(&self) -> i32 {
        int(self.entry.sequence)
    }

    /// What it tells.
    async fn kind(&self) -> JournalKind {
        self.entry.kind.into()
    }

    /// When.
    async fn at(&self) -> DateTime {
        DateTime(self.entry.at)
    }

    /// Who did it.
    async fn actor(&self) -> Actor {
        Actor(self.entry.actor.clone())
    }

    /// The turn it belongs to.
    async fn turn_number(&self) -> Option<i32> {
        self.entry.step.map(|step| int(step.turn.into()))
    }

    /// The step it belongs to, by its number in the turn.
    async fn step_number(&self) -> Option<i32> {
        self.entry.step.map(|step| int(step.step.into()))
    }

    /// The step it belongs to, where that is decided.
    async fn step(&self, ctx: &Context<'_>) -> Nullable<Step> {
        nullable(Step::find(ctx, self.task, self.entry.step?).await)
    }

    /// It in words.
    async fn text(&self) -> &str {
        &self.entry.text
    }

    /// It in data, by kind.
    async fn data(&self) -> Json {
        Json(self.entry.data.clone())
    }
}

connection!(
    JournalConnection,
    JournalEdge,
    JournalEntry,
    [],
    "A page of a task's journal.",
    "An entry in a page.",
    {}
);

/// The journal of a visible task, oldest first.
pub(super) async fn page_of_journal(
    scope: &Scope,
    task: TaskId,
    kinds: Option<Vec<JournalKind>>,
    first: Option<i32>,
    after: Option<&Cursor>,
) -> Result<JournalConnection> {
    let kinds = Choice::new(kinds);
    let filter = kinds.text("kinds", journal::JournalKind::name);
    let list = List::of(Kind::Journal, task.uuid()).filtered(&filter);
    let page = scope.services.cursors.page::<u64>(&list, first, after)?;
    let has_previous = page.after.is_some();
    let found = if kinds.is_nothing() {
        Page::empty()
    } else {
        scope.journal(task, kinds.values().to_vec(), page).await?
    };
    let edge = |entry: journal::JournalEntry| JournalEdge {
        cursor: scope.services.cursors.seal(&list, &entry.sequence),
        node: JournalEntry::new(task, entry),
    };
    Ok(JournalConnection {
        edges: found.rows.into_iter().map(edge).collect(),
        has_next: found.has_next,
        has_previous,
    })
}
