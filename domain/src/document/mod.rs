//! Documents: the Yrs document inside each work, edited by people and the agent through one service.
//!
//! Invariants
//! - [`DocumentService`] is the only way to write a document, whoever writes.
//! - Nothing is acknowledged, sent to others or shown before it is stored.
//! - Bytes from outside pass `validate` before yrs sees them.
//!
//! Not here: wire protocols of sockets (`api`), the tables of changes (`storage`).

mod actor;
mod attribution;
mod audit;
mod contain;
mod content;
mod edit;
mod effort;
mod history;
mod labels;
mod layout;
pub mod lib0;
mod node_edit;
mod order;
mod outbox;
mod presence;
mod read;
mod recorder;
mod replica;
mod restore;
mod room;
mod seed;
mod service;
mod text_edit;
mod threads;
mod touched;
mod undo;
mod validate;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use audit::{Damage, audit_document};
pub use content::{Content, Edge, Node, NodeState};
pub use edit::{
    Applied, ConflictingNode, EdgeInput, EditNodes, EditOutcome, EditText, Editor, NodeInput,
    NodeOperation, Placement, ReplaceText, RestoreVersion, TextReplacement, UndoVersion,
};
pub use layout::{PROSE_FIELDS, is_prose};
pub use room::{Access, Connection, Inbound, Join, Outbound, Presence};
pub use service::{DocumentOptions, DocumentService, DocumentStatistics};
pub use touched::{How, Touched, TouchedNode};
pub use validate::{Rejection, UpdateFacts, UpdateLimits, decode_state_vector, validate_update};

/// The number of a work's state: rises by one with each stored change; 0 is the empty document.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Version(pub u64);

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
