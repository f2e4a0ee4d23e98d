//! The router's part of the agent: what the model is told about a message of the main thread, and what its reply means.
//!
//! Invariants
//! - A request holds an index of a few tasks and never their histories: its size does not grow with their number (R3).
//! - A task that the model names must be one that it was shown.
//!
//! Not here: which tasks are shown, and what is checked before a message is delivered (`domain::routing`).

mod reply;
mod request;

use std::collections::HashMap;

use domain::error::Result;
use domain::ids::{TaskId, WorkId};
use domain::message::Message;
use domain::routing::{CandidateRequest, Candidates, Weighed, candidates};
use domain::search::{SearchIndex, SearchLeg};
use domain::store::Reads;
use domain::work::Work;

pub(crate) use reply::{Confirmed, read_confirmed, read_routed};
pub(crate) use request::{confirm_request, route_request};

/// Works of one task that are shown.
const WORKS: usize = 4;

/// A task as the router is shown it.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// The task, and what made it a candidate.
    pub weighed: Weighed,
    /// Its short line.
    pub short_line: String,
    /// Some of its works.
    pub works: Vec<Work>,
}

impl Shown {
    /// The task's id.
    #[must_use]
    pub fn id(&self) -> TaskId {
        self.weighed.task.id
    }
}

/// Everything stored that a request of the router is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct RouterSituation {
    /// The message; its text is a goal where a new task is compared with others.
    pub message: Message,
    /// The tasks that it may belong to, best first.
    pub shown: Vec<Shown>,
    /// The main thread before it, oldest first.
    pub thread: Vec<Message>,
    /// Legs of the search that did not answer.
    pub missing: Vec<SearchLeg>,
    /// Whether older tasks are out of sight.
    pub is_blind: bool,
}

impl RouterSituation {
    /// Looks the candidates of a message up.
    pub async fn load(
        reads: &dyn Reads,
        search: &dyn SearchIndex,
        message: &Message,
    ) -> Result<Self> {
        let request = CandidateRequest {
            workspace: message.workspace,
            user: message.person().unwrap_or_default(),
            text: &message.text,
            works: &message.attachments,
            at: message.created_at,
        };
        let found = candidates(reads, search, request).await?;
        let is_blind = found.is_blind();
        let Candidates {
            weighed,
            thread,
            missing,
            ..
        } = found;
        Ok(Self {
            message: message.clone(),
            shown: shown(reads, weighed).await?,
            thread,
            missing,
            is_blind,
        })
    }

    /// The task of this id, where it is shown.
    pub(crate) fn find(&self, id: TaskId) -> Option<&Shown> {
        self.shown.iter().find(|shown| shown.id() == id)
    }
}

/// Candidates with their short lines and works.
pub(crate) async fn shown(reads: &dyn Reads, weighed: Vec<Weighed>) -> Result<Vec<Shown>> {
    let ids: Vec<TaskId> = weighed.iter().map(|one| one.task.id).collect();
    let projections = reads.list_projections(&ids).await?;
    let mut lines: HashMap<TaskId, String> = projections
        .into_iter()
        .map(|(id, projections)| (id, projections.short_line))
        .collect();
    let linked = reads.list_linked_works(&ids).await?;
    let mut of_task: HashMap<TaskId, Vec<WorkId>> = HashMap::new();
    for one in linked {
        let works = of_task.entry(one.task).or_default();
        if works.len() < WORKS {
            works.push(one.work);
        }
    }
    let works: Vec<WorkId> = of_task.values().flatten().copied().collect();
    let works = reads.list_works_by_id(&works).await?;
    let with_all = |weighed: Weighed| {
        let id = weighed.task.id;
        let named = of_task.get(&id).map(Vec::as_slice).unwrap_or_default();
        let find = |id: &WorkId| works.iter().find(|work| work.id == *id).cloned();
        Shown {
            short_line: lines.remove(&id).unwrap_or_default(),
            works: named.iter().filter_map(find).collect(),
            weighed,
        }
    };
    Ok(weighed.into_iter().map(with_all).collect())
}
