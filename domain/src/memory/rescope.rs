//! Giving a memory another reach.
//!
//! Invariants
//! - Only whoever may see a memory gives it a wider reach; what becomes a person's own becomes the caller's.

use async_trait::async_trait;

use super::change::MemoryChange;
use super::{Memory, MemoryScope, MemoryState, ScopeKind, own_memory};
use crate::error::{Error, Result};
use crate::ids::{MemoryId, MessageId, WorkspaceId};
use crate::people::{Caller, Role, require};
use crate::store::{Command, Scope, Transaction};
use crate::time::Timestamp;

/// Gives a memory another reach.
#[derive(Debug, Clone)]
pub struct RescopeMemory {
    /// Who asks.
    pub caller: Caller,
    /// The memory's workspace.
    pub workspace: WorkspaceId,
    /// The memory.
    pub memory: MemoryId,
    /// How far it is to reach.
    pub scope: ScopeKind,
    /// The present time.
    pub at: Timestamp,
}

#[async_trait]
impl Command for RescopeMemory {
    type Output = ();
    const NAME: &'static str = "memory.rescope";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        let place = (self.workspace, self.caller.user);
        let mut memory = own_memory(tx, self.memory, place).await?;
        if memory.state != MemoryState::Active {
            let text = format!(
                "{} was forgotten; nothing of it reaches anywhere",
                memory.id
            );
            return Err(Error::Conflict(text));
        }
        if memory.scope.kind() == self.scope {
            return Ok(());
        }
        if self.scope != ScopeKind::Person {
            require(tx, self.workspace, self.caller.user, Role::Editor).await?;
        }
        let scope = self.wanted(tx, &memory).await?;
        if let Some(words) = memory.words {
            let found = tx
                .find_memory_by_words(self.workspace, scope, words)
                .await?;
            if let Some(other) = found {
                let text = format!("{} says the same there; forget one of them", other.id);
                return Err(Error::Conflict(text));
            }
        }
        let before = memory.clone();
        memory.scope = scope;
        memory.updated_at = self.at;
        let about = (self.caller.actor(), self.at);
        let mut change = MemoryChange::new(tx, self.workspace, about);
        change.save(&before, &memory).await?;
        change.finish().await
    }
}

impl RescopeMemory {
    async fn wanted(&self, tx: &dyn Transaction, memory: &Memory) -> Result<MemoryScope> {
        match self.scope {
            ScopeKind::Person => Ok(MemoryScope::Person(self.caller.user)),
            ScopeKind::Workspace => Ok(MemoryScope::Workspace),
            ScopeKind::Task => {
                let edges = tx.list_evidence(&[memory.id]).await?;
                let ids: Vec<MessageId> = edges.iter().map(|edge| edge.message).collect();
                let messages = tx.list_messages_by_id(&ids).await?;
                let tasks = messages.iter().filter(|one| !one.is_with_main());
                let task = tasks.filter_map(|message| message.task).max();
                task.map(MemoryScope::Task).ok_or_else(|| {
                    Error::Invalid(format!(
                        "nothing that {} rests on was said in a task; it can reach a person or the workspace",
                        memory.id
                    ))
                })
            }
        }
    }
}
