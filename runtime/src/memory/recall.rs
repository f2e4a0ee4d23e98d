//! Recalling for a task: what is known that fits some words, in its scopes alone, within a short time.
//!
//! Invariants
//! - Scopes are named by whoever asks, and looked at again in the store: nothing of another person or task comes along.
//! - What did not answer is said beside what was found.

use std::time::Duration;

use domain::error::Result;
use domain::ids::{MemoryId, UserId};
use domain::memory::{Memory, MemoryScope, ScopeKind};
use domain::search::{SearchKind, SearchLeg, SearchRequest};
use domain::task::Task;

use crate::tools::ToolServices;

/// How long recall may take; the task goes on without it.
const TIME: Duration = Duration::from_millis(280);
/// What the search finds before scopes are looked at.
const FOUND: usize = 60;
/// Memories that are recalled.
const RECALLED: usize = 12;

/// What was recalled.
#[derive(Debug, Default)]
pub(crate) struct Recalled {
    /// Memories with what holds, best first.
    pub(crate) memories: Vec<(Memory, String)>,
    /// What could not be looked at.
    pub(crate) degraded: Vec<&'static str>,
}

/// Recalls for a task what fits these words; no scopes are all that the task may use.
pub(crate) async fn recall(
    services: &ToolServices,
    task: &Task,
    (words, scopes): (&str, &[ScopeKind]),
) -> Result<Recalled> {
    let request = SearchRequest {
        workspace: task.workspace,
        user: task.created_by,
        text: words.to_owned(),
        kinds: vec![SearchKind::Memory],
        among: Vec::new(),
        limit: FOUND,
        seen: None,
    };
    let mut recalled = Recalled::default();
    let answer = tokio::time::timeout(TIME, services.search.find(&request)).await;
    let found = if let Ok(answer) = answer {
        for leg in &answer.missing {
            recalled.degraded.push(match leg {
                SearchLeg::Keyword => "words",
                SearchLeg::Vector => "meanings",
            });
        }
        answer.found
    } else {
        recalled.degraded = vec!["words", "meanings"];
        Vec::new()
    };
    let ids: Vec<MemoryId> = found
        .iter()
        .map(|one| MemoryId::from_uuid(one.id))
        .collect();
    let mut memories = services.store.reads().list_contents(&ids).await?;
    memories.retain(|(memory, _)| is_for(memory, task, scopes));
    // In the order in which they were found.
    memories.sort_by_key(|(memory, _)| ids.iter().position(|id| *id == memory.id));
    memories.truncate(RECALLED);
    recalled.memories = memories;
    Ok(recalled)
}

/// Whether a memory may be used for a task.
fn is_for(memory: &Memory, task: &Task, scopes: &[ScopeKind]) -> bool {
    let user: UserId = task.created_by;
    let reaches = match memory.scope {
        MemoryScope::Person(owner) => owner == user,
        MemoryScope::Workspace => true,
        MemoryScope::Task(of) => of == task.id,
    };
    let is_asked = scopes.is_empty() || scopes.contains(&memory.scope.kind());
    memory.workspace == task.workspace && reaches && is_asked
}
