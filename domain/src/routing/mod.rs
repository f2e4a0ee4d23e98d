//! Routing: where a message of the main thread belongs (R1 to R7).
//!
//! A message without an address waits in the inbox of its author's Main, a hidden task whose turns route instead of planning. Rules
//! (stage 1) are tried as it is posted, the model (stage 2) in a step of Main, and what speaks against a place (stage 3) is looked
//! at in the transaction that delivers.
//!
//! Invariants
//! - A decision of the router and the delivery that it asks for are one transaction: whatever dies, a message is delivered once.
//! - Every message has a place or a question: what can not be delivered says why, and a card offers what can be done.
//! - Routing gives no authority (R7): whose message it is must still be an editor when it is delivered.
//! - What is shown to the router does not grow with the number of tasks (R3).
//!
//! Not here: what the model is told and what its reply means (`runtime::router`), the index (`search`).

mod answer;
mod candidates;
mod merge;
mod place;
mod receive;
mod reroute;
mod store_routing;

use serde::{Deserialize, Serialize};

use crate::ids::TaskId;
use crate::names::named;

pub(crate) use answer::place_by_answer;
pub use candidates::{CandidateRequest, Candidates, SHOWN, Weighed, candidates, similar_in_work};
pub use merge::MergeTasks;
pub(crate) use place::{deliver, deliver_refused, refuse};
pub(crate) use receive::receive;
pub use reroute::{Destination, RerouteMessage};
pub use store_routing::{Placement, Routed, StoreRouting};

named! {
    /// What made a task a candidate; the contract's names.
    CandidateReason {
        /// It is among those that changed last, or was just spoken of.
        RecentlyActive = "RECENTLY_ACTIVE",
        /// Words of the message stand in it.
        Keyword = "KEYWORD",
        /// It means something alike.
        Vector = "VECTOR",
        /// It works on something that came with the message, or that the message speaks of.
        LinkedWork = "LINKED_WORK",
        /// It is in work and looks like the new goal.
        SimilarInProgress = "SIMILAR_IN_PROGRESS",
    }
}

/// A task that a message may belong to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The task.
    pub task: TaskId,
    /// How well it fits beside the others, 0 to 1.
    pub score: f64,
    /// What made it one.
    pub reasons: Vec<CandidateReason>,
}
