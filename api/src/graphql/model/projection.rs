//! What lives over a task's journal and is rewritten with each decision: summary, short line, checklist.

use std::sync::Arc;

use async_graphql::{Context, Enum, ID, Object, Result, SimpleObject};
use domain::task::{self, Projections};

use super::work::Work;
use crate::graphql::scalars::{DateTime, int};
use crate::graphql::scope::Scope;

/// A text over a task's journal. `stale` is true while the journal holds entries that the projection does not reflect.
#[derive(Debug, Clone, SimpleObject)]
pub(crate) struct Projection {
    /// The text; empty before the first decision.
    text: String,
    /// When it was rewritten; null before the first decision.
    rewritten_at: Option<DateTime>,
    /// The newest entry of the journal that its writer had seen; 0 before the first decision.
    journal_sequence: i32,
    /// Whether the journal holds entries that it does not reflect, other than status changes and system events.
    stale: bool,
}

impl Projection {
    /// One of the projections of a task, by the text it shows.
    pub(super) fn new(task: &task::Task, projections: &Projections, text: &str) -> Self {
        Self {
            text: text.to_owned(),
            rewritten_at: projections.rewritten_at.map(DateTime),
            journal_sequence: int(projections.journal_sequence),
            stale: task.news_head > projections.journal_sequence,
        }
    }
}

/// Where an item of a checklist stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "task::ChecklistState")]
pub(crate) enum ChecklistState {
    /// Not begun.
    Todo,
    /// Begun.
    InProgress,
    /// Done.
    Done,
    /// Left out.
    Skipped,
    /// Done, and something it rests on changed since.
    Stale,
}

/// An item of a task's plan.
#[derive(Debug, Clone)]
pub(crate) struct ChecklistItem(task::ChecklistItem);

impl ChecklistItem {
    /// The items of a plan, in its order.
    pub(super) fn list(projections: &Arc<Projections>) -> Vec<Self> {
        projections.checklist.iter().cloned().map(Self).collect()
    }
}

/// An item of a task's plan.
#[Object]
impl ChecklistItem {
    /// The id of the item; unique in its task.
    async fn id(&self) -> ID {
        ID(self.0.id.clone())
    }

    /// What is to be done.
    async fn title(&self) -> &str {
        &self.0.title
    }

    /// Where it stands.
    async fn state(&self) -> ChecklistState {
        self.0.state.into()
    }

    /// Whether a person confirms it once it is done: a checkpoint.
    async fn needs_confirmation(&self) -> bool {
        self.0.needs_confirmation
    }

    /// Whether a person has confirmed it.
    async fn is_confirmed(&self) -> bool {
        self.0.is_confirmed
    }

    /// Items that come first.
    async fn depends_on(&self) -> Vec<ID> {
        self.0.depends_on.iter().map(ID::from).collect()
    }

    /// Works that came of it.
    async fn outputs(&self, ctx: &Context<'_>) -> Result<Vec<Work>> {
        let works = Scope::of(ctx)?.works(&self.0.outputs).await?;
        Ok(works.into_iter().map(Work::from).collect())
    }

    /// How one sees that it is done.
    async fn evidence(&self) -> Option<&str> {
        self.0.evidence.as_deref()
    }
}
