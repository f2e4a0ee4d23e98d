//! Events of a workspace's log, and changes of a work.

use async_graphql::{Context, Enum, ID, Object, Result, SimpleObject, Union};
use domain::event::{Event, EventKind, Sequence, Subject};
use domain::ids::WorkspaceId;
use domain::page::{Page, PageRequest};
use domain::work::Change;

use super::super::cursor::{Kind, List};
use super::super::scalars::{Bytes, Cursor, DateTime, Json, int};
use super::super::scope::scope;
use super::super::services::Services;
use super::pages::connection;
use super::people::ActorObject;
use super::works::{Asset, Collection, Flow, Storyboard, TextDocument, WorkObject};

/// What kind of thing happened.
#[derive(Enum, Clone, Copy, PartialEq, Eq, Debug)]
#[graphql(name = "EventKind", remote = "domain::event::EventKind")]
pub(crate) enum EventKindName {
    /// A work was made.
    WorkCreated,
    /// A change of a work was stored: one event per change.
    WorkChanged,
    /// A work got another title.
    WorkRenamed,
    /// A work went to the bin.
    WorkDeleted,
    /// A work came back from the bin.
    WorkRestored,
    /// A member was added, changed or removed.
    MembersChanged,
}

/// What an event is about.
#[derive(Union, Clone)]
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
}

impl From<WorkObject> for EventSubject {
    fn from(work: WorkObject) -> Self {
        match work {
            WorkObject::Storyboard(work) => Self::Storyboard(work),
            WorkObject::Flow(work) => Self::Flow(work),
            WorkObject::Collection(work) => Self::Collection(work),
            WorkObject::TextDocument(work) => Self::TextDocument(work),
            WorkObject::Asset(work) => Self::Asset(work),
        }
    }
}

/// Something that happened, at its place in the log.
#[derive(Clone)]
pub(crate) struct WorkspaceEvent {
    cursor: Cursor,
    event: Event,
}

impl WorkspaceEvent {
    pub(crate) fn new(services: &Services, event: Event) -> Self {
        let list = List::of(Kind::Events, event.workspace.uuid());
        Self {
            cursor: services.cursors.seal(&list, &event.sequence),
            event,
        }
    }
}

#[Object]
impl WorkspaceEvent {
    /// Its place: subscribe after it and miss nothing.
    async fn cursor(&self) -> Cursor {
        self.cursor.clone()
    }

    /// When it happened.
    async fn at(&self) -> DateTime {
        DateTime(self.event.at)
    }

    /// What happened.
    async fn kind(&self) -> EventKindName {
        EventKind::into(self.event.kind)
    }

    /// To what; null where that is gone or no longer to be seen.
    async fn subject(&self, ctx: &Context<'_>) -> Result<Option<EventSubject>> {
        let Subject::Work(work) = self.event.subject else {
            return Ok(None);
        };
        Ok(scope(ctx)?
            .works
            .load(work)
            .await?
            .map(|work| WorkObject::from(work).into()))
    }

    /// By whom.
    async fn actor(&self) -> ActorObject {
        ActorObject(self.event.actor.clone())
    }

    /// Details, by kind; for WORK_CHANGED {version, nodeIds, summary}.
    async fn data(&self) -> Json {
        Json(self.event.data.clone())
    }
}

connection!(
    "events",
    WorkspaceEventConnection,
    WorkspaceEventEdge,
    WorkspaceEvent
);

/// A page of a workspace's log.
pub(crate) async fn event_connection(
    services: &Services,
    workspace: WorkspaceId,
    first: Option<i32>,
    after: Option<&Cursor>,
) -> Result<WorkspaceEventConnection> {
    let list = List::of(Kind::Events, workspace.uuid());
    let page: PageRequest<Sequence> = services.cursors.page(&list, first, after)?;
    let start = page.after.unwrap_or_default();
    let events = services
        .store
        .reads()
        .list_events(workspace, start, page.first + 1)
        .await?;
    let found = Page::from_overread(events, page.first);
    let rows = found.rows.into_iter().map(|event| {
        let event = WorkspaceEvent::new(services, event);
        (event.cursor.clone(), event)
    });
    Ok(WorkspaceEventConnection::new(
        rows.collect(),
        found.has_next,
        after.is_some(),
    ))
}

/// A stored change of a work.
#[derive(SimpleObject, Clone)]
pub(crate) struct WorkChange {
    /// The version it made.
    version: i32,
    /// Who made it.
    by: ActorObject,
    /// When.
    at: DateTime,
    /// Nodes and edges that it touched.
    node_ids: Vec<ID>,
    /// What changed, in words.
    summary: String,
    /// The Yjs update, encoding v1.
    update: Bytes,
}

impl From<Change> for WorkChange {
    fn from(change: Change) -> Self {
        Self {
            version: int(change.version.0),
            node_ids: change
                .touched
                .node_ids()
                .into_iter()
                .map(ID::from)
                .collect(),
            summary: change.touched.summary(),
            by: ActorObject(change.actor),
            at: DateTime(change.at),
            update: Bytes(change.update),
        }
    }
}
