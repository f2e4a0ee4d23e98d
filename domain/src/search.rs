//! Search: the port of the index over tasks, memories, works and messages.
//!
//! Invariants
//! - The index is derived and may be gone at any time: what it finds are ids, and their words are read from the store.
//! - It never keeps anybody waiting beyond its time-outs: a leg that did not answer is named in the answer.
//! - Nothing of another workspace, and nothing private of another person, is found.
//!
//! Not here: the index itself (`search`), who decides on what was found (`runtime`).

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use uuid::Uuid;

use crate::event::Sequence;
use crate::ids::{UserId, WorkspaceId};
use crate::names::named;
use crate::time::Timestamp;

/// The most that one search finds.
pub const FOUND_LIMIT: usize = 200;
/// How many characters of a text are searched for; what follows is left out.
pub const QUERY_LENGTH: usize = 2_000;

named! {
    /// What can be found; the contract's names.
    SearchKind {
        /// A task.
        Task = "TASK",
        /// A memory.
        Memory = "MEMORY",
        /// A work.
        Work = "WORK",
        /// A message.
        Message = "MESSAGE",
    }
}

/// One of the two ways in which the index looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SearchLeg {
    /// By words.
    Keyword,
    /// By meaning, across languages.
    Vector,
}

/// What is looked for, where, and for whom.
#[derive(Debug, Clone)]
pub struct SearchRequest {
    /// Where.
    pub workspace: WorkspaceId,
    /// For whom: messages of another person's main thread and memories of another person are not found.
    pub user: UserId,
    /// What, in the words of a person; never a query language. Cut to [`QUERY_LENGTH`] characters.
    pub text: String,
    /// Only these kinds; empty for all.
    pub kinds: Vec<SearchKind>,
    /// Only these things, such as the latest tasks in work; empty for all.
    pub among: Vec<Uuid>,
    /// At most this many, and never more than [`FOUND_LIMIT`].
    pub limit: usize,
    /// Waits, for a bounded time, until the index holds this event of the workspace: who has just written something finds it.
    pub seen: Option<Sequence>,
    /// A leg that takes longer is missing from the answer; none for the usual time.
    pub within: Option<Duration>,
}

/// One thing that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// What it is.
    pub kind: SearchKind,
    /// Its id, without the noun.
    pub id: Uuid,
    /// How well it fits beside the others of this answer, 0 to 1; says nothing about how well the best one fits.
    pub score: f64,
    /// How much of what was looked for stands in it, 0 to 1; comparable between answers. None where words did not find it.
    pub keyword: Option<f64>,
    /// The cosine of both meanings, -1 to 1; comparable between answers of one embedder. None where meaning did not find it.
    pub vector: Option<f64>,
    /// When it was made or changed last.
    pub at: Timestamp,
}

/// What a search came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchAnswer {
    /// What was found, best first.
    pub found: Vec<Found>,
    /// Legs that did not answer in time, or can not at all. With both missing nothing is known.
    pub missing: Vec<SearchLeg>,
    /// Whether the index holds the event that the request named (true where it named none).
    pub is_current: bool,
}

/// An index that can be searched.
#[async_trait]
pub trait SearchIndex: Send + Sync + 'static {
    /// Finds the best fits. Never fails: what could not be asked is missing from the answer.
    async fn find(&self, request: &SearchRequest) -> SearchAnswer;
    /// The part of a text that shows best why it was found for this question, on one line of at most `length` characters.
    fn excerpt(&self, text: &str, question: &str, length: usize) -> String;
}

/// An index that is shared.
pub type SharedSearchIndex = Arc<dyn SearchIndex>;

/// No index: finds nothing and says so.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSearch;

#[async_trait]
impl SearchIndex for NoSearch {
    async fn find(&self, request: &SearchRequest) -> SearchAnswer {
        SearchAnswer {
            found: Vec::new(),
            missing: vec![SearchLeg::Keyword, SearchLeg::Vector],
            is_current: request.seen.is_none(),
        }
    }

    fn excerpt(&self, text: &str, _: &str, length: usize) -> String {
        text.chars().take(length).collect()
    }
}
