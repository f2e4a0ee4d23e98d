//! Memories, as far as the caller may see them.

use std::sync::Arc;

use async_graphql::Result;
use domain::Error;
use domain::ids::{MemoryId, WorkspaceId};
use domain::memory::{Evidence, Memory, MemoryVersion, Profile};

use super::Scope;

impl Scope {
    /// A memory that the caller may see.
    pub(crate) async fn find_memory(&self, id: MemoryId) -> Result<Option<Arc<Memory>>> {
        Ok(self.loaders().memories.memories.load(id).await?)
    }

    /// The same, where it must be there.
    pub(crate) async fn memory(&self, id: MemoryId) -> Result<Arc<Memory>> {
        let found = self.find_memory(id).await?;
        Ok(found.ok_or_else(|| Error::not_found("memory", id))?)
    }

    /// All versions of a visible memory, by number.
    pub(crate) async fn memory_versions(&self, id: MemoryId) -> Result<Arc<Vec<MemoryVersion>>> {
        let found = self.loaders().memories.versions.load(id).await?;
        Ok(found.unwrap_or_default())
    }

    /// The evidence of all versions of a visible memory.
    pub(crate) async fn evidence(&self, id: MemoryId) -> Result<Arc<Vec<Evidence>>> {
        let found = self.loaders().memories.evidence.load(id).await?;
        Ok(found.unwrap_or_default())
    }

    /// The caller's profile in a workspace that the caller is a member of.
    pub(crate) async fn profile(&self, workspace: WorkspaceId) -> Result<Arc<Profile>> {
        self.role(workspace).await?;
        let found = self.loaders().memories.profiles.load(workspace).await?;
        Ok(found.unwrap_or_default())
    }
}
