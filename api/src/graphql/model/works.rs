//! Works of the five kinds, their nodes, history and presence.

#![expect(
    clippy::duplicated_attributes,
    reason = "an interface lists its fields as attributes, and some share a type"
)]

use async_graphql::{Context, Enum, ID, Interface, Object, Result, SimpleObject};
use domain::Error;
use domain::document::{NodeState, Presence, Version};
use domain::page::PageRequest;
use domain::work::{Revision, Work, WorkKind};

use super::super::cursor::{Kind, List};
use super::super::scalars::{Cursor, DateTime, Json, int, version};
use super::super::scope::{Scope, scope};
use super::pages::connection;
use super::people::ActorObject;

/// What a work is.
#[derive(Enum, Clone, Copy, PartialEq, Eq, Debug)]
#[graphql(name = "WorkKind", remote = "domain::work::WorkKind")]
pub(crate) enum WorkKindName {
    /// Shots in order.
    Storyboard,
    /// Nodes and edges.
    Flow,
    /// Markdown.
    Text,
    /// Items in order.
    Collection,
    /// A file.
    Asset,
}

/// A versioned work of any kind; it outlives messages and tasks.
#[derive(Interface, Clone)]
#[graphql(
    name = "Work",
    field(name = "id", ty = "ID", desc = "Its global id."),
    field(name = "kind", ty = "WorkKindName", desc = "What it is."),
    field(name = "title", ty = "String", desc = "Its title."),
    field(
        name = "version",
        ty = "i32",
        desc = "Rises by one with every stored change; the base for optimistic concurrency."
    ),
    field(name = "created_at", ty = "DateTime", desc = "When it was made."),
    field(name = "updated_at", ty = "DateTime", desc = "When it changed last."),
    field(name = "updated_by", ty = "ActorObject", desc = "Who changed it last."),
    field(
        name = "deleted_at",
        ty = "Option<DateTime>",
        desc = "Since when it lies in the bin."
    ),
    field(
        name = "history",
        ty = "RevisionConnection",
        desc = "Its revisions, newest first.",
        arg(name = "first", ty = "Option<i32>"),
        arg(name = "after", ty = "Option<Cursor>")
    ),
    field(
        name = "presence",
        ty = "Vec<PresenceObject>",
        desc = "Who is at it now."
    )
)]
pub(crate) enum WorkObject {
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

/// Structured works: an ordered set of nodes, each a map of fields. STORYBOARD: shots. FLOW: nodes and edges. COLLECTION:
/// items.
#[derive(Interface, Clone)]
#[graphql(
    field(name = "id", ty = "ID", desc = "Its global id."),
    field(name = "kind", ty = "WorkKindName", desc = "What it is."),
    field(name = "title", ty = "String", desc = "Its title."),
    field(
        name = "version",
        ty = "i32",
        desc = "Rises by one with every stored change."
    ),
    field(name = "created_at", ty = "DateTime", desc = "When it was made."),
    field(name = "updated_at", ty = "DateTime", desc = "When it changed last."),
    field(name = "updated_by", ty = "ActorObject", desc = "Who changed it last."),
    field(
        name = "deleted_at",
        ty = "Option<DateTime>",
        desc = "Since when it lies in the bin."
    ),
    field(
        name = "history",
        ty = "RevisionConnection",
        desc = "Its revisions, newest first.",
        arg(name = "first", ty = "Option<i32>"),
        arg(name = "after", ty = "Option<Cursor>")
    ),
    field(
        name = "presence",
        ty = "Vec<PresenceObject>",
        desc = "Who is at it now."
    ),
    field(
        name = "nodes",
        ty = "Vec<WorkNode>",
        desc = "Ordered; a flow's edges are not nodes here.",
        arg(name = "ids", ty = "Option<Vec<ID>>"),
        arg(name = "at_version", ty = "Option<i32>")
    )
)]
pub(crate) enum StructuredWork {
    /// A storyboard.
    Storyboard(Storyboard),
    /// A flow.
    Flow(Flow),
    /// A collection.
    Collection(Collection),
}

impl From<Work> for WorkObject {
    fn from(work: Work) -> Self {
        match work.kind {
            WorkKind::Storyboard => Self::Storyboard(Storyboard(work)),
            WorkKind::Flow => Self::Flow(Flow(work)),
            WorkKind::Collection => Self::Collection(Collection(work)),
            WorkKind::Text => Self::TextDocument(TextDocument(work)),
            WorkKind::Asset => Self::Asset(Asset(work)),
        }
    }
}

connection!("works", WorkConnection, WorkEdge, WorkObject, total_count);
connection!(
    "revisions",
    RevisionConnection,
    RevisionEdge,
    RevisionObject
);

/// A node of a structured work.
#[derive(SimpleObject, Clone)]
pub(crate) struct WorkNode {
    /// Its id, unique in the work.
    id: ID,
    /// Its type.
    #[graphql(name = "type")]
    kind: String,
    /// All fields but type and order; prose as strings.
    fields: Json,
    /// The last version whose change touched the node or anything inside it.
    changed_at_version: i32,
    /// Who made that change.
    changed_by: ActorObject,
}

impl From<&NodeState> for WorkNode {
    fn from(state: &NodeState) -> Self {
        Self {
            id: state.node.id.clone().into(),
            kind: state.node.kind.clone(),
            fields: Json(serde_json::Value::Object(state.node.fields.clone())),
            changed_at_version: int(state.changed_at.0),
            changed_by: ActorObject(state.changed_by.clone()),
        }
    }
}

/// A connection between two nodes of a flow.
#[derive(SimpleObject, Clone)]
pub(crate) struct FlowEdge {
    /// Its id, unique among the edges of the work.
    id: ID,
    /// The node it starts at.
    source: ID,
    /// The node it ends at.
    target: ID,
    /// The port it starts at.
    source_port: Option<String>,
    /// The port it ends at.
    target_port: Option<String>,
}

/// A run of versions by one actor without a long pause.
#[derive(SimpleObject, Clone)]
#[graphql(name = "Revision")]
pub(crate) struct RevisionObject {
    /// First version of the run.
    from_version: i32,
    /// Last version of the run.
    to_version: i32,
    /// When the last version was made.
    at: DateTime,
    /// Who made it.
    by: ActorObject,
    /// What changed, in words.
    summary: String,
    /// Nodes and edges that it touched.
    node_ids: Vec<ID>,
}

impl From<Revision> for RevisionObject {
    fn from(revision: Revision) -> Self {
        Self {
            from_version: int(revision.from_version.0),
            to_version: int(revision.to_version.0),
            at: DateTime(revision.at),
            by: ActorObject(revision.actor),
            summary: revision.touched.summary(),
            node_ids: revision
                .touched
                .node_ids()
                .into_iter()
                .map(ID::from)
                .collect(),
        }
    }
}

/// Somebody at a work.
#[derive(SimpleObject, Clone)]
#[graphql(name = "Presence")]
pub(crate) struct PresenceObject {
    /// Who.
    actor: ActorObject,
    /// The node that is being looked at or edited.
    node_id: Option<ID>,
    /// The name that others see.
    label: String,
    /// Since when.
    since: DateTime,
}

/// Everybody at a work, as clients see them.
pub(crate) fn presence_objects(presence: &[Presence]) -> Vec<PresenceObject> {
    let object = |presence: &Presence| PresenceObject {
        actor: ActorObject(presence.actor.clone()),
        node_id: presence.node_id.clone().map(ID::from),
        label: presence.label.clone(),
        since: DateTime(presence.since),
    };
    presence.iter().map(object).collect()
}

async fn history(
    scope: &Scope,
    work: &Work,
    first: Option<i32>,
    after: Option<Cursor>,
) -> Result<RevisionConnection> {
    let list = List::of(Kind::Revisions, work.id.uuid());
    let page: PageRequest<Version> = scope.services.cursors.page(&list, first, after.as_ref())?;
    let found = scope
        .services
        .store
        .reads()
        .list_revisions(work.id, page)
        .await?;
    let seal = |revision: &Revision| scope.services.cursors.seal(&list, &revision.from_version);
    let rows = found
        .rows
        .into_iter()
        .map(|revision| (seal(&revision), revision.into()))
        .collect();
    Ok(RevisionConnection::new(
        rows,
        found.has_next,
        after.is_some(),
    ))
}

fn wanted(at_version: Option<i32>) -> Result<Option<Version>> {
    Ok(at_version
        .map(|given| version("atVersion", given))
        .transpose()?)
}

async fn nodes(
    scope: &Scope,
    work: &Work,
    ids: Option<Vec<ID>>,
    at_version: Option<i32>,
) -> Result<Vec<WorkNode>> {
    let states = scope
        .node_states
        .load((work.id, wanted(at_version)?))
        .await?;
    let states = states.ok_or_else(|| Error::not_found("work", work.id))?;
    let is_wanted = |state: &&NodeState| {
        ids.as_ref()
            .is_none_or(|ids| ids.iter().any(|id| id.as_str() == state.node.id))
    };
    Ok(states
        .iter()
        .filter(is_wanted)
        .map(WorkNode::from)
        .collect())
}

macro_rules! work_object {
    ($(#[$doc:meta])* $name:ident { $($own:tt)* }) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub(crate) struct $name(pub(crate) Work);

        #[Object]
        impl $name {
            /// Its global id.
            pub(crate) async fn id(&self) -> ID {
                self.0.id.to_string().into()
            }

            /// What it is.
            async fn kind(&self) -> WorkKindName {
                self.0.kind.into()
            }

            /// Its title.
            async fn title(&self) -> String {
                self.0.title.clone()
            }

            /// Rises by one with every stored change; the base for optimistic concurrency.
            async fn version(&self) -> i32 {
                int(self.0.version.0)
            }

            /// When it was made.
            async fn created_at(&self) -> DateTime {
                DateTime(self.0.created_at)
            }

            /// When it changed last.
            async fn updated_at(&self) -> DateTime {
                DateTime(self.0.updated_at)
            }

            /// Who changed it last.
            async fn updated_by(&self) -> ActorObject {
                ActorObject(self.0.updated_by.clone())
            }

            /// Since when it lies in the bin.
            async fn deleted_at(&self) -> Option<DateTime> {
                self.0.deleted_at.map(DateTime)
            }

            /// Its revisions, newest first.
            async fn history(&self, ctx: &Context<'_>, first: Option<i32>, after: Option<Cursor>) -> Result<RevisionConnection> {
                history(scope(ctx)?, &self.0, first, after).await
            }

            /// Who is at it now.
            async fn presence(&self, ctx: &Context<'_>) -> Result<Vec<PresenceObject>> {
                let presence = scope(ctx)?.services.documents.presence(self.0.id).await?;
                Ok(presence_objects(&presence))
            }

            $($own)*
        }
    };
}

work_object! {
    /// Shots in order.
    Storyboard {
        /// Its shots, in order.
        async fn nodes(&self, ctx: &Context<'_>, ids: Option<Vec<ID>>, at_version: Option<i32>) -> Result<Vec<WorkNode>> {
            nodes(scope(ctx)?, &self.0, ids, at_version).await
        }
    }
}

work_object! {
    /// Nodes and edges.
    Flow {
        /// Its nodes, in order.
        async fn nodes(&self, ctx: &Context<'_>, ids: Option<Vec<ID>>, at_version: Option<i32>) -> Result<Vec<WorkNode>> {
            nodes(scope(ctx)?, &self.0, ids, at_version).await
        }

        /// Its edges; edges that lack an end are not shown.
        async fn edges(&self, ctx: &Context<'_>, at_version: Option<i32>) -> Result<Vec<FlowEdge>> {
            let content = scope(ctx)?.contents.load((self.0.id, wanted(at_version)?)).await?;
            let content = content.ok_or_else(|| Error::not_found("work", self.0.id))?;
            let edge = |edge: &domain::document::Edge| FlowEdge {
                id: edge.id.clone().into(),
                source: edge.source.clone().into(),
                target: edge.target.clone().into(),
                source_port: edge.source_port.clone(),
                target_port: edge.target_port.clone(),
            };
            Ok(content.edges.iter().map(edge).collect())
        }
    }
}

work_object! {
    /// Items in order.
    Collection {
        /// Its items, in order.
        async fn nodes(&self, ctx: &Context<'_>, ids: Option<Vec<ID>>, at_version: Option<i32>) -> Result<Vec<WorkNode>> {
            nodes(scope(ctx)?, &self.0, ids, at_version).await
        }
    }
}

work_object! {
    /// Markdown.
    TextDocument {
        /// Its text.
        async fn text(&self, ctx: &Context<'_>, at_version: Option<i32>) -> Result<String> {
            let content = scope(ctx)?.contents.load((self.0.id, wanted(at_version)?)).await?;
            Ok(content.ok_or_else(|| Error::not_found("work", self.0.id))?.text.clone())
        }
    }
}

work_object! {
    /// A file.
    Asset {
        /// Its media type.
        async fn media_type(&self) -> String {
            self.0.asset.as_ref().map(|file| file.media_type.clone()).unwrap_or_default()
        }

        /// Its size in bytes.
        async fn byte_size(&self) -> i32 {
            int(self.0.asset.as_ref().map_or(0, |file| file.byte_size))
        }

        /// SHA-256 of its bytes; empty before they came.
        async fn sha256(&self) -> String {
            self.0.asset.as_ref().map(|file| file.sha256.clone()).unwrap_or_default()
        }

        /// Path below the server's address; needs the same authorisation as the API, or the signature it carries.
        fn url(&self, ctx: &Context<'_>) -> Result<String> {
            Ok(scope(ctx)?.services.asset_urls.asset_url(&self.0))
        }

        /// Where a small picture of it is.
        fn preview_url(&self, ctx: &Context<'_>) -> Result<Option<String>> {
            Ok(scope(ctx)?.services.asset_urls.preview_url(&self.0))
        }
    }
}
