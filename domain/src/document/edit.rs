//! Structured edits: what may be asked for, and what becomes of it (spec W3).
//!
//! Invariants
//! - An edit is applied whole or not at all.
//! - Conflicts are judged against what *others* did since the base: see [`Actor::is_other_than`].
//! - A conflict is an outcome, not an error: it carries what the editor needs to try again.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::actor::Actor;
use crate::document::{NodeState, Version};
use crate::idempotency::IdempotencyKey;
use crate::ids::WorkId;
use crate::turn::Fence;
use crate::work::Revision;

/// Who edits, and under which key.
#[derive(Debug, Clone, PartialEq)]
pub struct Editor {
    /// Who: a person needs the role editor.
    pub actor: Actor,
    /// The key of the request.
    pub idempotency: Option<IdempotencyKey>,
    /// Where the agent edits: the fence of its turn.
    pub fence: Option<Fence>,
}

/// Where a node goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placement {
    /// Behind all others.
    End,
    /// Before all others.
    First,
    /// Behind this node; a node that is gone means the end.
    After(String),
}

/// A node to add.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeInput {
    /// Its id; the service makes one where none is given.
    pub id: Option<String>,
    /// Its type.
    pub kind: Option<String>,
    /// Its fields; `type` and `order` are not among them.
    pub fields: Map<String, Value>,
    /// Where it goes.
    pub placement: Placement,
}

/// An edge to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeInput {
    /// Its id; the service makes one where none is given.
    pub id: Option<String>,
    /// The node it starts at.
    pub source: String,
    /// The node it ends at.
    pub target: String,
    /// The port it starts at.
    pub source_port: Option<String>,
    /// The port it ends at.
    pub target_port: Option<String>,
}

/// One operation on a structured work.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeOperation {
    /// Adds a node.
    Put(NodeInput),
    /// Merges fields into a node; null deletes a field.
    Set {
        /// Which node.
        node: String,
        /// The fields.
        fields: Map<String, Value>,
    },
    /// Removes a node, and the edges at it.
    Remove(String),
    /// Moves a node.
    Move {
        /// Which node.
        node: String,
        /// Where it goes.
        placement: Placement,
    },
    /// Adds an edge.
    Connect(EdgeInput),
    /// Removes an edge.
    Disconnect(String),
}

impl NodeOperation {
    /// The node that it is about, for whoever looks on; none where it names none.
    pub fn node(&self) -> Option<&str> {
        match self {
            Self::Put(node) => node.id.as_deref(),
            Self::Set { node, .. } | Self::Move { node, .. } | Self::Remove(node) => Some(node),
            Self::Connect(edge) => Some(&edge.source),
            Self::Disconnect(_) => None,
        }
    }
}

/// All operations or none, judged per node against `base`.
#[derive(Debug, Clone, PartialEq)]
pub struct EditNodes {
    /// The work.
    pub work: WorkId,
    /// Who edits.
    pub editor: Editor,
    /// The version that the editor saw.
    pub base: Version,
    /// What to do, in order.
    pub operations: Vec<NodeOperation>,
    /// The editor's own words for the history.
    pub summary: Option<String>,
}

/// All replacements or none, each at a place that its `find` names exactly.
#[derive(Debug, Clone, PartialEq)]
pub struct EditText {
    /// The work.
    pub work: WorkId,
    /// Who edits.
    pub editor: Editor,
    /// What to replace; each `find` is looked up in the text as it is before any of them.
    pub replacements: Vec<TextReplacement>,
    /// The editor's own words for the history.
    pub summary: Option<String>,
}

/// One replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextReplacement {
    /// Must occur exactly once.
    pub find: String,
    /// What stands there afterwards.
    pub replace: String,
}

/// A whole replacement: refused if the work moved on since `base`.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplaceText {
    /// The work.
    pub work: WorkId,
    /// Who edits.
    pub editor: Editor,
    /// The version that the editor saw.
    pub base: Version,
    /// The new text.
    pub text: String,
    /// The editor's own words for the history.
    pub summary: Option<String>,
}

/// Makes the content of an earlier version the present one, as a forward change.
#[derive(Debug, Clone, PartialEq)]
pub struct RestoreVersion {
    /// The work.
    pub work: WorkId,
    /// Who restores.
    pub editor: Editor,
    /// Which version comes back.
    pub version: Version,
    /// The present version that the person saw.
    pub base: Version,
}

/// Takes back what one change of the editor's own did, as a forward change; what others did since stays (W4).
#[derive(Debug, Clone, PartialEq)]
pub struct UndoVersion {
    /// The work.
    pub work: WorkId,
    /// Who takes back, and made the change.
    pub editor: Editor,
    /// The version that the change made.
    pub version: Version,
}

/// What became of an edit.
#[derive(Debug, Clone, PartialEq)]
pub enum EditOutcome {
    /// Done, and stored.
    Applied(Applied),
    /// The work moved on since the base; nothing was changed.
    VersionConflict {
        /// The base of the edit.
        base: Version,
        /// The present version.
        current: Version,
        /// What happened since.
        changes: Vec<Revision>,
    },
    /// Nodes of the edit were changed or removed by others since the base; nothing was changed.
    NodeConflict {
        /// The base of the edit.
        base: Version,
        /// The present version.
        current: Version,
        /// Each such node.
        conflicts: Vec<ConflictingNode>,
    },
    /// A fragment does not name one place; nothing was changed.
    TextNotUnique {
        /// The fragment.
        find: String,
        /// How often it occurs, overlapping places counted.
        occurrences: u64,
        /// The present version.
        current: Version,
    },
}

/// An edit that is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Applied {
    /// The version it made; the present one where it changed nothing.
    pub version: Version,
    /// Nodes it touched, and edges it connected or disconnected.
    pub node_ids: Vec<String>,
    /// What others changed elsewhere in the work since the base.
    pub concurrent: Vec<Revision>,
}

/// A node on which an edit and somebody else met.
#[derive(Debug, Clone, PartialEq)]
pub struct ConflictingNode {
    /// The node or edge.
    pub id: String,
    /// As it is now; none where it was removed (and for edges).
    pub current: Option<NodeState>,
    /// Who changed it last.
    pub changed_by: Actor,
    /// At which version.
    pub changed_at: Version,
}
