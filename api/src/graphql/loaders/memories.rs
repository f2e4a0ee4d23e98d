//! Loaders of memories, and of what hangs on them.
//!
//! Invariants
//! - Memories are those the caller may see; versions and evidence are asked for only after their memory was found.

use std::collections::HashMap;
use std::sync::Arc;

use domain::ids::{MemoryId, WorkspaceId};
use domain::memory::{Evidence, Memory, MemoryVersion, Profile};
use domain::people::Caller;

use super::{by_id, grouped, keep_visible, loader};
use crate::graphql::loader::{Loaded, Loader};
use crate::graphql::services::Services;

/// Rows that belong together.
type Rows<T> = Arc<Vec<T>>;

/// The loaders of memories.
pub(in crate::graphql) struct MemoryLoaders {
    pub(in crate::graphql) memories: Loader<MemoryId, Arc<Memory>>,
    pub(in crate::graphql) versions: Loader<MemoryId, Rows<MemoryVersion>>,
    pub(in crate::graphql) evidence: Loader<MemoryId, Rows<Evidence>>,
    /// The caller's profile in a workspace.
    pub(in crate::graphql) profiles: Loader<WorkspaceId, Arc<Profile>>,
}

impl MemoryLoaders {
    /// Loaders in which nothing is loaded yet.
    pub(super) fn new(services: &Arc<Services>, caller: Caller) -> Self {
        Self {
            memories: loader(services, move |services, ids| {
                memories(services, caller, ids)
            }),
            versions: loader(services, versions),
            evidence: loader(services, evidence),
            profiles: loader(services, move |services, ids| {
                profiles(services, caller, ids)
            }),
        }
    }
}

async fn memories(
    services: Arc<Services>,
    caller: Caller,
    ids: Vec<MemoryId>,
) -> Loaded<MemoryId, Arc<Memory>> {
    let mut rows = services.store.reads().list_memories_by_id(&ids).await?;
    rows.retain(|memory| memory.is_visible_to(caller.user));
    keep_visible(&services, caller, &mut rows, |memory| memory.workspace).await?;
    Ok(by_id(rows, |memory| memory.id))
}

async fn versions(
    services: Arc<Services>,
    ids: Vec<MemoryId>,
) -> Loaded<MemoryId, Rows<MemoryVersion>> {
    let rows = services.store.reads().list_memory_versions(&ids).await?;
    Ok(grouped(rows, |version| version.memory))
}

async fn evidence(services: Arc<Services>, ids: Vec<MemoryId>) -> Loaded<MemoryId, Rows<Evidence>> {
    let rows = services.store.reads().list_evidence(&ids).await?;
    Ok(grouped(rows, |edge| edge.memory))
}

async fn profiles(
    services: Arc<Services>,
    caller: Caller,
    ids: Vec<WorkspaceId>,
) -> Loaded<WorkspaceId, Arc<Profile>> {
    let mut found = HashMap::new();
    // One request asks for the profile of one workspace, or of few.
    for id in ids {
        let profile = Profile::read(services.store.reads(), id, caller.user).await?;
        found.insert(id, Arc::new(profile));
    }
    Ok(found)
}
