//! What becomes of an edit: applied, or one of the refusals that an editor handles.

use async_graphql::{ID, SimpleObject, Union};
use domain::document::{self, EditOutcome};

use crate::graphql::model::actor::Actor;
use crate::graphql::model::history::Revision;
use crate::graphql::model::work::Work;
use crate::graphql::model::work_node::WorkNode;
use crate::graphql::model::works::Row;
use crate::graphql::scalars::int;

/// What became of an edit.
#[derive(Union)]
pub(super) enum EditResult {
    /// It is stored.
    Applied(EditApplied),
    /// The work moved on.
    VersionConflict(VersionConflict),
    /// Somebody else was at the same nodes.
    NodeConflict(NodeConflict),
    /// A fragment does not name one place.
    TextNotUnique(TextNotUnique),
}

/// An edit that is stored. `concurrent`: what others changed elsewhere in the work since `baseVersion`.
#[derive(SimpleObject)]
pub(super) struct EditApplied {
    /// The work after the edit.
    work: Work,
    /// The version that the edit made; the present one where it changed nothing.
    version: i32,
    /// The nodes it touched, and edges it connected or disconnected.
    node_ids: Vec<ID>,
    /// What others changed elsewhere in the work since `baseVersion`.
    concurrent: Vec<Revision>,
    /// As it was given.
    client_mutation_id: Option<String>,
}

/// The work moved on since `baseVersion`; read again, then edit.
#[derive(SimpleObject)]
pub(super) struct VersionConflict {
    /// The work as it is now.
    work: Work,
    /// The version that the editor saw.
    base_version: i32,
    /// The present version.
    current_version: i32,
    /// What happened since.
    changes: Vec<Revision>,
}

/// Nodes of this edit that somebody changed or removed since `baseVersion`, as they are now (null: removed).
#[derive(SimpleObject)]
pub(super) struct NodeConflict {
    /// The work as it is now.
    work: Work,
    /// The version that the editor saw.
    base_version: i32,
    /// The present version.
    current_version: i32,
    /// Each such node.
    conflicts: Vec<ConflictingNode>,
}

/// A node on which an edit and somebody else met.
#[derive(SimpleObject)]
struct ConflictingNode {
    /// The node, or the edge.
    node_id: ID,
    /// As it is now; null where it was removed.
    current: Option<WorkNode>,
    /// Who changed it last.
    changed_by: Actor,
    /// The version that did.
    changed_at_version: i32,
}

/// A fragment that occurs nowhere or more than once; nothing was replaced.
#[derive(SimpleObject)]
pub(super) struct TextNotUnique {
    /// The work as it is now.
    work: Work,
    /// The fragment.
    find: String,
    /// How often it occurs, overlapping places counted.
    occurrences: i32,
    /// The present version.
    current_version: i32,
}

impl EditResult {
    /// The outcome beside the work as it is after it.
    pub(super) fn new(work: Row, outcome: EditOutcome, client_mutation_id: Option<String>) -> Self {
        let work = Work::from(work);
        match outcome {
            EditOutcome::Applied(applied) => Self::Applied(EditApplied {
                work,
                version: int(applied.version.0),
                node_ids: applied.node_ids.into_iter().map(ID).collect(),
                concurrent: applied.concurrent.into_iter().map(Revision).collect(),
                client_mutation_id,
            }),
            EditOutcome::VersionConflict {
                base,
                current,
                changes,
            } => Self::VersionConflict(VersionConflict {
                work,
                base_version: int(base.0),
                current_version: int(current.0),
                changes: changes.into_iter().map(Revision).collect(),
            }),
            EditOutcome::NodeConflict {
                base,
                current,
                conflicts,
            } => Self::NodeConflict(NodeConflict {
                work,
                base_version: int(base.0),
                current_version: int(current.0),
                conflicts: conflicts.into_iter().map(ConflictingNode::from).collect(),
            }),
            EditOutcome::TextNotUnique {
                find,
                occurrences,
                current,
            } => Self::TextNotUnique(TextNotUnique {
                work,
                find,
                occurrences: int(occurrences),
                current_version: int(current.0),
            }),
        }
    }
}

impl From<document::ConflictingNode> for ConflictingNode {
    fn from(conflict: document::ConflictingNode) -> Self {
        Self {
            node_id: ID(conflict.id),
            current: conflict.current.map(WorkNode),
            changed_by: Actor(conflict.changed_by),
            changed_at_version: int(conflict.changed_at.0),
        }
    }
}
