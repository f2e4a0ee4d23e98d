//! What works have in common: the interfaces over the five kinds, and pages of works.

#![expect(
    clippy::duplicated_attributes,
    reason = "an interface lists its fields as attributes, and some share a type"
)]

use async_graphql::{Context, Enum, ID, Interface, Result};
use domain::ids::{WorkId, WorkspaceId};
use domain::page::Page;
use domain::people::CreatedPosition;
use domain::work;

use super::actor::Actor;
use super::event::EventSubject;
use super::history::RevisionConnection;
use super::node::Node;
use super::presence::Presence;
use super::task::Task;
use super::work_node::WorkNode;
use super::works::{Asset, Collection, Flow, Row, Storyboard, TextDocument};
use crate::graphql::choice::Choice;
use crate::graphql::connection::connection;
use crate::graphql::cursor::{Kind, List};
use crate::graphql::scalars::{Cursor, DateTime, int};
use crate::graphql::scope::Scope;

/// What a work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "work::WorkKind")]
pub(crate) enum WorkKind {
    /// Shots in order.
    Storyboard,
    /// Nodes, and edges between them.
    Flow,
    /// A text in Markdown.
    Text,
    /// Items in order.
    Collection,
    /// A file.
    Asset,
}

/// A stable thing that people and the agent make: it has identity, versions and a history.
#[derive(Debug, Clone, Interface)]
#[graphql(
    field(name = "id", ty = "ID", desc = "The id of the work."),
    field(name = "kind", ty = "WorkKind", desc = "What it is."),
    field(name = "title", ty = "String", desc = "Its title."),
    field(
        name = "version",
        ty = "i32",
        desc = "Rises by one with every stored change; the base for optimistic concurrency."
    ),
    field(name = "created_at", ty = "DateTime", desc = "When it was made."),
    field(
        name = "updated_at",
        ty = "DateTime",
        desc = "When its title, content or place (in the bin or not) changed last."
    ),
    field(name = "updated_by", ty = "Actor", desc = "Who changed it last."),
    field(
        name = "deleted_at",
        ty = "Option<DateTime>",
        desc = "Since when it lies in the bin; null where it does not."
    ),
    field(
        name = "history",
        ty = "RevisionConnection",
        desc = "What was changed, newest first.",
        arg(name = "first", ty = "Option<i32>"),
        arg(name = "after", ty = "Option<Cursor>")
    ),
    field(
        name = "linked_tasks",
        ty = "Vec<Task>",
        desc = "The tasks that refer to it."
    ),
    field(name = "presence", ty = "Vec<Presence>", desc = "Who is at it now.")
)]
pub(crate) enum Work {
    /// Shots in order.
    Storyboard(Storyboard),
    /// Nodes, and edges between them.
    Flow(Flow),
    /// Items in order.
    Collection(Collection),
    /// A text in Markdown.
    TextDocument(TextDocument),
    /// A file.
    Asset(Asset),
}

impl Work {
    /// A work, where the caller may see it.
    pub(super) async fn find(ctx: &Context<'_>, id: WorkId) -> Result<Option<Self>> {
        Ok(Scope::of(ctx)?.find_work(id).await?.map(Self::from))
    }
}

/// Structured works: an ordered set of nodes, each a map of fields. STORYBOARD: shots. FLOW: nodes and edges. COLLECTION: items.
#[derive(Debug, Clone, Interface)]
#[graphql(
    field(name = "id", ty = "ID", desc = "The id of the work."),
    field(name = "kind", ty = "WorkKind", desc = "What it is."),
    field(name = "title", ty = "String", desc = "Its title."),
    field(
        name = "version",
        ty = "i32",
        desc = "Rises by one with every stored change; the base for optimistic concurrency."
    ),
    field(name = "created_at", ty = "DateTime", desc = "When it was made."),
    field(
        name = "updated_at",
        ty = "DateTime",
        desc = "When its title, content or place (in the bin or not) changed last."
    ),
    field(name = "updated_by", ty = "Actor", desc = "Who changed it last."),
    field(
        name = "deleted_at",
        ty = "Option<DateTime>",
        desc = "Since when it lies in the bin; null where it does not."
    ),
    field(
        name = "history",
        ty = "RevisionConnection",
        desc = "What was changed, newest first.",
        arg(name = "first", ty = "Option<i32>"),
        arg(name = "after", ty = "Option<Cursor>")
    ),
    field(
        name = "linked_tasks",
        ty = "Vec<Task>",
        desc = "The tasks that refer to it."
    ),
    field(name = "presence", ty = "Vec<Presence>", desc = "Who is at it now."),
    field(
        name = "nodes",
        ty = "Vec<WorkNode>",
        desc = "Ordered; a flow's edges are not nodes here. `ids` leaves out all others, `atVersion` shows an earlier version.",
        arg(name = "ids", ty = "Option<Vec<ID>>"),
        arg(name = "at_version", ty = "Option<i32>")
    )
)]
pub(crate) enum StructuredWork {
    /// Shots in order.
    Storyboard(Storyboard),
    /// Nodes, and edges between them.
    Flow(Flow),
    /// Items in order.
    Collection(Collection),
}

/// Puts a row into the variant of its kind, in every type that has one for each.
macro_rules! by_kind {
    ($($target:ident),*) => {$(
        impl From<Row> for $target {
            fn from(row: Row) -> Self {
                match row.kind {
                    work::WorkKind::Storyboard => Self::Storyboard(Storyboard(row)),
                    work::WorkKind::Flow => Self::Flow(Flow(row)),
                    work::WorkKind::Collection => Self::Collection(Collection(row)),
                    work::WorkKind::Text => Self::TextDocument(TextDocument(row)),
                    work::WorkKind::Asset => Self::Asset(Asset(row)),
                }
            }
        }
    )*};
}

by_kind!(Work, Node, EventSubject);

/// The list that a page of works is cut from.
struct Counted {
    workspace: WorkspaceId,
    kinds: Choice<work::WorkKind>,
}

connection!(
    WorkConnection,
    WorkEdge,
    Work,
    [counted: Counted],
    "A page of works.",
    "A work in a page.",
    {
        /// How many works the whole list has.
        async fn total_count(&self, ctx: &Context<'_>) -> Result<i32> {
            let Counted { workspace, kinds } = &self.counted;
            if kinds.is_nothing() {
                return Ok(0);
            }
            let reads = Scope::of(ctx)?.reads();
            Ok(int(reads.count_works(*workspace, kinds.values()).await?))
        }
    }
);

/// The works of a workspace that the caller is a member of, newest first.
pub(crate) async fn page_of_works(
    scope: &Scope,
    workspace: WorkspaceId,
    kinds: Option<Vec<WorkKind>>,
    first: Option<i32>,
    after: Option<&Cursor>,
) -> Result<WorkConnection> {
    let kinds = Choice::new(kinds);
    let filter = kinds.text("kinds", work::WorkKind::name);
    let list = List::of(Kind::Works, workspace.uuid()).filtered(&filter);
    let page = scope
        .services
        .cursors
        .page::<CreatedPosition>(&list, first, after)?;
    let has_previous = page.after.is_some();
    let found = if kinds.is_nothing() {
        Page::empty()
    } else {
        let reads = scope.reads();
        reads.list_works(workspace, kinds.values(), page).await?
    };
    let edge = |row: work::Work| {
        let position = CreatedPosition {
            at: row.created_at,
            id: row.id.uuid(),
        };
        WorkEdge {
            node: Row::new(row).into(),
            cursor: scope.services.cursors.seal(&list, &position),
        }
    };
    Ok(WorkConnection {
        edges: found.rows.into_iter().map(edge).collect(),
        has_next: found.has_next,
        has_previous,
        counted: Counted { workspace, kinds },
    })
}
