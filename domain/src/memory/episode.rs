//! Episodes: what has come of a task at its milestones, one chain of versions for each task (M1).
//!
//! Invariants
//! - An episode rests on what people wrote to the task since its last milestone, and is forgotten with that like everything else;
//!   without such a message there is none.
//! - It is written from stored state alone: the same state is the same words, and no model is asked.
//!
//! Not here: when a milestone is reached (`turn::settle`).

use serde_json::json;
use uuid::Uuid;

use super::change::{MemoryChange, NewVersion};
use super::dependents::Scrub;
use super::words::key_of;
use super::{
    CONTENT_LENGTH, EvidenceRole, Memory, MemoryBasis, MemoryKind, MemoryScope, MemoryState,
};
use crate::actor::Actor;
use crate::error::Result;
use crate::event::{EventKind, Subject};
use crate::ids::{MemoryId, MessageId, TaskId};
use crate::message::{Message, MessageState};
use crate::page::{End, Window};
use crate::store::Transaction;
use crate::task::{ChecklistState, Projections, Task, TaskKind};
use crate::time::Timestamp;

/// Messages of a thread that are looked at.
const THREAD: u32 = 200;

/// The memory that the episodes of a task are versions of.
pub fn episode_of(task: TaskId) -> MemoryId {
    MemoryId::from_uuid(Uuid::new_v5(&task.uuid(), b"episode"))
}

/// A task has reached a milestone.
pub(crate) async fn note_milestone(
    tx: &dyn Transaction,
    task: &Task,
    projections: Option<&Projections>,
    at: Timestamp,
) -> Result<()> {
    if task.is_main() || task.kind != TaskKind::Persistent {
        return Ok(());
    }
    let mut change = MemoryChange::new(tx, task.workspace, (Actor::System, at));
    write(&mut change, task, projections).await?;
    change.finish().await
}

/// Writes what has come of the task until now, where that is anything new.
async fn write(
    change: &mut MemoryChange<'_>,
    task: &Task,
    projections: Option<&Projections>,
) -> Result<()> {
    let tx = change.tx;
    let said = said_to(tx, task).await?;
    if said.is_empty() {
        return Ok(());
    }
    let content = content_of(task, projections);
    let words = key_of(task.workspace, &content);
    let scope = MemoryScope::Workspace;
    let other = tx
        .find_memory_by_words(task.workspace, scope, words)
        .await?;
    if other.is_some() {
        return Ok(());
    }
    let id = episode_of(task.id);
    let known = tx.list_memories_by_id(&[id]).await?.pop();
    let mut memory = known.unwrap_or_else(|| new_episode(task, change.at));
    if memory.scope != scope {
        // A person has given it another reach, and so has made it their own.
        return Ok(());
    }
    let since = memory.current.map(|_| memory.updated_at);
    let is_new = |message: &&Message| since.is_none_or(|since| message.created_at > since);
    let mut evidence: Vec<MessageId> = said
        .iter()
        .filter(is_new)
        .map(|message| message.id)
        .collect();
    if evidence.is_empty() {
        // Nobody has said anything since: it rests on the last word.
        evidence.extend(said.last().map(|message| message.id));
    }
    let role = match memory.current {
        Some(_) => EvidenceRole::Refine,
        None => EvidenceRole::Origin,
    };
    let former = memory.current.map(|number| (id, number));
    let version = NewVersion {
        content,
        basis: MemoryBasis::Inferred,
        valid_from: Some(change.at),
        derived_from: former.into_iter().collect(),
        evidence: evidence
            .into_iter()
            .map(|message| (message, role, None))
            .collect(),
    };
    change.add_version(&mut memory, version).await.map(drop)
}

fn new_episode(task: &Task, at: Timestamp) -> Memory {
    Memory {
        id: episode_of(task.id),
        workspace: task.workspace,
        kind: MemoryKind::Episode,
        scope: MemoryScope::Workspace,
        basis: MemoryBasis::Inferred,
        state: MemoryState::Active,
        current: None,
        versions: 0,
        words: None,
        confirmations: 0,
        for_profile: false,
        created_at: at,
        updated_at: at,
    }
}

/// What people wrote to the task, was read, and may be used, oldest first.
async fn said_to(tx: &dyn Transaction, task: &Task) -> Result<Vec<Message>> {
    let window = Window {
        limit: THREAD,
        end: End::Last,
        after: None,
        before: None,
    };
    let mut said = tx.list_thread(task.id, window).await?.rows;
    said.retain(|message| message.person().is_some() && message.state == MessageState::Consumed);
    if said.is_empty() {
        return Ok(said);
    }
    let ids: Vec<MessageId> = said.iter().map(|message| message.id).collect();
    let forgotten = tx.list_forgotten(task.workspace, Some(&ids)).await?;
    said.retain(|message| forgotten.iter().all(|one| one.message != message.id));
    Ok(said)
}

/// What the task is, where it stands, and what of its plan is done: in its own words, whatever its language.
fn content_of(task: &Task, projections: Option<&Projections>) -> String {
    let mut content = task.title.trim().to_owned();
    let Some(projections) = projections else {
        return content;
    };
    let line = projections.short_line.trim();
    if !line.is_empty() {
        content = format!("{content}: {line}");
    }
    let done = projections
        .checklist
        .iter()
        .filter(|item| item.state == ChecklistState::Done);
    for item in done {
        content = format!("{content}\n✓ {}", item.title.trim());
    }
    content.chars().take(CONTENT_LENGTH).collect()
}

impl Scrub<'_> {
    /// What is remembered of the task says nothing of it any more, and is written anew from what is left.
    pub(super) async fn episode(&self, change: &mut MemoryChange<'_>) -> Result<()> {
        let tx = change.tx;
        let id = episode_of(self.task.id);
        let Some(mut memory) = tx.list_memories_by_id(&[id]).await?.pop() else {
            return Ok(());
        };
        let mut is_scrubbed = false;
        for mut version in tx.list_memory_versions(&[id]).await? {
            let is_echo = version
                .content
                .as_deref()
                .is_some_and(|content| self.echo.is_in(content));
            if is_echo {
                version.content = None;
                version.words = None;
                version.state = MemoryState::Forgotten;
                tx.put_memory_version(change.workspace, &version).await?;
                is_scrubbed |= memory.current == Some(version.number);
            }
        }
        if is_scrubbed {
            memory.current = None;
            memory.words = None;
            memory.confirmations = 0;
            memory.state = MemoryState::Forgotten;
            memory.updated_at = change.at;
            tx.put_memory(&memory).await?;
            tx.drop_vectors(change.workspace, &[id.uuid()]).await?;
            let data = json!({"version": null, "state": memory.state});
            change.tell(EventKind::MemoryForgotten, Subject::Memory(id), data);
        }
        if memory.current.is_some() {
            return Ok(());
        }
        let Some(task) = tx.list_tasks_by_id(&[self.task.id]).await?.pop() else {
            return Ok(());
        };
        let projections = tx.list_projections(&[task.id]).await?.pop();
        let projections = projections.as_ref().map(|(_, projections)| projections);
        write(change, &task, projections).await
    }
}
