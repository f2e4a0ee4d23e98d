//! Events of a workspace, as subscriptions and pages show them.

use async_graphql::{Context, Enum, Object, Result, Union};
use domain::Error;
use domain::event::{Event, Sequence, Subject};
use domain::ids::WorkspaceId;
use domain::page::Page;

use super::actor::Actor;
use super::card::Card;
use super::job::GenerationJob;
use super::memory::Memory;
use super::message::Message;
use super::task::Task;
use super::works::{Asset, Collection, Flow, Storyboard, TextDocument};
use crate::graphql::connection::connection;
use crate::graphql::cursor::{CursorKey, Kind, List};
use crate::graphql::error::{Nullable, nullable};
use crate::graphql::loaders::WorkspaceRow;
use crate::graphql::scalars::{Cursor, DateTime, Json};
use crate::graphql::scope::Scope;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "domain::event::EventKind")]
pub(crate) enum EventKind {
    /// A message was posted.
    MessagePosted,
    /// A message got another state.
    MessageStateChanged,
    /// A task was made.
    TaskCreated,
    /// A task got another status.
    TaskStatusChanged,
    /// Something else of a task changed: its words, its checklist, its works.
    TaskUpdated,
    /// The journal of a task grew by one entry, with its `sequence` and `kind`.
    JournalAppended,
    /// A decision was stored, with `turnNumber` and `stepNumber`.
    StepDecided,
    /// A call got another state, with its `callId`.
    CallStateChanged,
    /// A card was raised.
    CardOpened,
    /// A card was answered or withdrawn.
    CardAnswered,
    /// An order got another state.
    JobStateChanged,
    /// The upstream of an order told how far it is.
    JobProgress,
    /// A work was made.
    WorkCreated,
    /// A change of a work was stored: one event for each, with its version, nodes and summary.
    WorkChanged,
    /// A work got another title.
    WorkRenamed,
    /// A work went to the bin.
    WorkDeleted,
    /// A work came back from the bin.
    WorkRestored,
    /// A member was added, changed or removed.
    MembersChanged,
    /// Limits were set, or money was set aside, spent or given back.
    BudgetChanged,
    /// A memory was made, or says, reaches or stands otherwise.
    MemoryChanged,
    /// A memory lost words, or a message may not be used any more.
    MemoryForgotten,
    /// A profile has another version.
    ProfileChanged,
}

/// What an event can be about.
#[derive(Union)]
pub(crate) enum EventSubject {
    /// A storyboard.
    Storyboard(Storyboard),
    /// A flow.
    Flow(Flow),
    /// A collection.
    Collection(Collection),
    /// A text document.
    TextDocument(TextDocument),
    /// An asset.
    Asset(Asset),
    /// A message.
    Message(Message),
    /// A task.
    Task(Task),
    /// A card.
    Card(Card),
    /// An order.
    GenerationJob(GenerationJob),
    /// A memory.
    Memory(Memory),
}

/// Something that happened in a workspace.
#[derive(Debug, Clone)]
pub(crate) struct WorkspaceEvent(pub(crate) Event);

impl WorkspaceEvent {
    /// The event's place in its log.
    pub(crate) fn cursor_with(&self, key: &CursorKey) -> Cursor {
        key.seal(&log_of(self.0.workspace), &self.0.sequence)
    }
}

/// The log of a workspace, as cursors name it.
pub(crate) fn log_of(workspace: WorkspaceId) -> List {
    List::of(Kind::Events, workspace.uuid())
}

/// Something that happened in a workspace.
#[Object]
impl WorkspaceEvent {
    /// The event's place in the log: go on after it, and nothing is lost or doubled.
    fn cursor(&self, ctx: &Context<'_>) -> Result<Cursor> {
        Ok(self.cursor_with(&Scope::of(ctx)?.services.cursors))
    }

    /// When it happened.
    async fn at(&self) -> DateTime {
        DateTime(self.0.at)
    }

    /// What happened.
    async fn kind(&self) -> EventKind {
        self.0.kind.into()
    }

    /// To what it happened, as that is now; null for members, and for what the caller may not see.
    async fn subject(&self, ctx: &Context<'_>) -> Nullable<EventSubject> {
        nullable(EventSubject::find(ctx, self.0.subject).await)
    }

    /// Who did it.
    async fn actor(&self) -> Actor {
        Actor(self.0.actor.clone())
    }

    /// Details, by kind; for WORK_CHANGED `version`, `nodeIds` and `summary`.
    async fn data(&self) -> Json {
        Json(self.0.data.clone())
    }
}

impl EventSubject {
    async fn find(ctx: &Context<'_>, subject: Subject) -> Result<Option<Self>> {
        let scope = Scope::of(ctx)?;
        Ok(match subject {
            Subject::Work(id) => scope.find_work(id).await?.map(Self::from),
            Subject::Message(id) => {
                let found = scope.find_message(id).await?;
                found.map(|message| Self::Message(Message(message)))
            }
            Subject::Task(id) => scope
                .find_task(id)
                .await?
                .map(|task| Self::Task(Task(task))),
            Subject::Card(id) => scope
                .find_card(id)
                .await?
                .map(|card| Self::Card(Card(card))),
            Subject::Job(id) => scope
                .find_job(id)
                .await?
                .map(|job| Self::GenerationJob(GenerationJob(job))),
            Subject::Memory(id) => scope
                .find_memory(id)
                .await?
                .map(|memory| Self::Memory(Memory(memory))),
            Subject::Member(_) | Subject::Workspace => None,
        })
    }
}

connection!(
    WorkspaceEventConnection,
    WorkspaceEventEdge,
    WorkspaceEvent,
    [],
    "A page of events.",
    "An event in a page.",
    {}
);

/// The log of a workspace that the caller is a member of, oldest first.
pub(crate) async fn page_of_events(
    scope: &Scope,
    row: &WorkspaceRow,
    first: Option<i32>,
    after: Option<&Cursor>,
) -> Result<WorkspaceEventConnection> {
    let (workspace, cursors) = (row.workspace.id, &scope.services.cursors);
    let page = cursors.page::<Sequence>(&log_of(workspace), first, after)?;
    let start = page.after.unwrap_or_default();
    check_kept(start, row.head)?;
    let events = scope.reads().list_events(workspace, start, page.first + 1);
    let Page { rows, has_next } = Page::from_overread(events.await?, page.first);
    let edge = |event| {
        let node = WorkspaceEvent(event);
        let cursor = node.cursor_with(cursors);
        WorkspaceEventEdge { node, cursor }
    };
    Ok(WorkspaceEventConnection {
        edges: rows.into_iter().map(edge).collect(),
        has_next,
        has_previous: page.after.is_some(),
    })
}

/// A log that ends before a sealed position was put back from a copy: what followed then is not what follows now.
pub(crate) fn check_kept(position: Sequence, head: Sequence) -> domain::Result<()> {
    if position <= head {
        return Ok(());
    }
    Err(Error::CursorExpired(
        "the event log no longer has this position; read the workspace again and go on from its `eventCursor`"
            .to_owned(),
    ))
}
