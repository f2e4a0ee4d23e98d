//! Correcting a memory at a person's word, and taking a correction back.
//!
//! Invariants
//! - A correction is a version of its own that rests on what the person has just said, and on nothing that was remembered before.

use async_trait::async_trait;

use super::change::{MemoryChange, NewVersion};
use super::remember::{checked_content, statement, tell_statement};
use super::words::key_of;
use super::{EvidenceRole, Memory, MemoryBasis, MemoryScope, MemoryState, own_memory};
use crate::error::{Error, Result};
use crate::ids::{MemoryId, MessageId, TaskId, WorkspaceId};
use crate::people::Caller;
use crate::store::{Command, Scope, Transaction};
use crate::time::Timestamp;

/// Says what is so in place of what was remembered.
#[derive(Debug, Clone)]
pub struct CorrectMemory {
    /// Who asks.
    pub caller: Caller,
    /// The memory's workspace.
    pub workspace: WorkspaceId,
    /// The memory.
    pub memory: MemoryId,
    /// What is so.
    pub content: String,
    /// Id of the message.
    pub message: MessageId,
    /// The present time.
    pub at: Timestamp,
}

#[async_trait]
impl Command for CorrectMemory {
    type Output = ();
    const NAME: &'static str = "memory.correct";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        let place = (self.workspace, self.caller.user);
        let mut memory = own_memory(tx, self.memory, place).await?;
        must_hold(&memory)?;
        let content = checked_content(&self.content)?;
        if memory.words == Some(key_of(self.workspace, &content)) {
            return Ok(());
        }
        let about = (self.caller.actor(), self.at);
        let mut change = MemoryChange::new(tx, self.workspace, about);
        change
            .check_unique(memory.scope, &content, Some(memory.id))
            .await?;
        let said = (self.message, content.as_str());
        let statement = statement(
            said,
            (self.workspace, task_of(&memory)),
            (&self.caller, self.at),
        );
        tell_statement(&mut change, &statement).await?;
        let version = NewVersion {
            evidence: vec![(self.message, EvidenceRole::Refine, Some(content.clone()))],
            content,
            basis: MemoryBasis::Explicit,
            valid_from: Some(self.at),
            derived_from: Vec::new(),
        };
        change.add_version(&mut memory, version).await?;
        change.finish().await
    }
}

/// Brings back what held before the version that holds.
#[derive(Debug, Clone)]
pub struct UndoCorrection {
    /// Who asks.
    pub caller: Caller,
    /// The memory's workspace.
    pub workspace: WorkspaceId,
    /// The memory.
    pub memory: MemoryId,
    /// The present time.
    pub at: Timestamp,
}

#[async_trait]
impl Command for UndoCorrection {
    type Output = ();
    const NAME: &'static str = "memory.undo_correction";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        let place = (self.workspace, self.caller.user);
        let mut memory = own_memory(tx, self.memory, place).await?;
        must_hold(&memory)?;
        let versions = tx.list_memory_versions(&[memory.id]).await?;
        let current = memory.current.unwrap_or_default();
        let former = versions
            .iter()
            .rev()
            .find(|one| one.number < current && one.state == MemoryState::Superseded);
        let content = former.and_then(|former| former.content.clone());
        let (Some(former), Some(content)) = (former, content) else {
            return Err(Error::Conflict(format!(
                "nothing held before what {} says now",
                memory.id
            )));
        };
        let about = (self.caller.actor(), self.at);
        let mut change = MemoryChange::new(tx, self.workspace, about);
        change
            .check_unique(memory.scope, &content, Some(memory.id))
            .await?;
        let edges = tx.list_evidence(&[memory.id]).await?;
        let evidence = edges
            .into_iter()
            .filter(|edge| edge.number == former.number && edge.is_usable)
            .map(|edge| (edge.message, edge.role, edge.quote));
        let version = NewVersion {
            content,
            basis: former.basis,
            valid_from: Some(self.at),
            derived_from: former.derived_from.clone(),
            evidence: evidence.collect(),
        };
        change.add_version(&mut memory, version).await?;
        change.finish().await
    }
}

fn must_hold(memory: &Memory) -> Result<()> {
    if memory.state == MemoryState::Active {
        return Ok(());
    }
    Err(Error::Conflict(format!(
        "{} was forgotten; remember what is so as something new",
        memory.id
    )))
}

/// The task in whose thread something about a memory is said.
pub(super) const fn task_of(memory: &Memory) -> Option<TaskId> {
    match memory.scope {
        MemoryScope::Task(task) => Some(task),
        MemoryScope::Person(_) | MemoryScope::Workspace => None,
    }
}
