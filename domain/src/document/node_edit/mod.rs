//! Structured edits of nodes and edges: wholly checked, then written.
//!
//! Invariants
//! - A refusal leaves the document as it was: planning reads only, and writing can not fail.
//! - Conflicts are judged per node and edge against what others did since the base; later operations of one edit build
//!   on earlier ones.
//! - A node never goes without its edges: both are removed in one change.

mod check;
mod plan;
mod write;

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use crate::actor::Actor;
use crate::document::attribution::Touch;
use crate::document::{Edge, Version};

pub(crate) use check::{check_fields, check_id};
pub(crate) use plan::plan_edit;
pub(crate) use write::{apply_plan, set_field, write_edge};

/// A work holds at most this many nodes.
pub(crate) const MAX_NODES: usize = 10_000;

/// Whose edit it is, and what they saw.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Standpoint<'edit> {
    /// Who edits.
    pub(crate) actor: &'edit Actor,
    /// The version that they saw.
    pub(crate) base: Version,
}

/// Why an edit was refused; nothing was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The input is wrong in a way that the editor can mend; the text says how.
    Invalid(String),
    /// Others touched what the edit touches since its base; each path once, in the order of the operations.
    Conflict(Vec<Clash>),
}

/// A node or edge on which an edit and somebody else met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Clash {
    /// `nodes/{id}` or `edges/{id}`.
    pub(crate) path: String,
    /// What somebody else did last.
    pub(crate) touch: Touch,
}

/// A checked edit, ready to be written to the state that it was planned on.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Plan {
    steps: Vec<PlanStep>,
}

#[derive(Debug, Clone, PartialEq)]
enum PlanStep {
    Add {
        id: String,
        kind: Option<String>,
        order: String,
        fields: Map<String, Value>,
    },
    Set {
        id: String,
        fields: Map<String, Value>,
    },
    Order {
        id: String,
        order: String,
    },
    Remove(String),
    Connect(Edge),
    Disconnect(String),
}
