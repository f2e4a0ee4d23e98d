//! Memories of an archive.

use anyhow::{Context as _, Result};
use domain::ids::{UserId, WorkspaceId};
use domain::memory::{ImportMemories, Tombstone};
use domain::store::StoreExt as _;
use serde_json::Value;

use super::super::archive::MEMORIES;
use super::super::archive::rows::MemoryRow;
use super::people::People;
use super::{Importer, ROWS};

impl Importer<'_> {
    /// Brings memories in; receipts come first, so that nothing comes back that was forgotten.
    pub(super) async fn memories(&mut self) -> Result<()> {
        let Some(rows) = self.reader.lines_if_there::<Value>(MEMORIES)? else {
            return Ok(());
        };
        let workspace = self.workspace;
        let mut batch = no_memories(workspace);
        for row in rows {
            let row = serde_json::from_value(self.people.data(row?));
            match row.context("a row is of another form")? {
                MemoryRow::Memory {
                    memory,
                    versions,
                    evidence,
                } => batch.memories.push((memory, versions, evidence)),
                MemoryRow::Tombstone(tombstone) => {
                    batch.tombstones.push(here(&self.people, tombstone));
                }
                MemoryRow::Forgotten(forgotten) => batch.forgotten.push(forgotten),
            }
            if batch.memories.len() >= ROWS {
                let full = std::mem::replace(&mut batch, no_memories(workspace));
                self.installation.store.run(full).await?;
            }
        }
        self.installation.store.run(batch).await?;
        Ok(())
    }
}

fn no_memories(workspace: WorkspaceId) -> ImportMemories {
    ImportMemories {
        workspace,
        memories: Vec::new(),
        tombstones: Vec::new(),
        forgotten: Vec::new(),
    }
}

/// A receipt with the scope of the person who it is here.
fn here(people: &People, tombstone: Tombstone) -> Tombstone {
    let person = people.user(UserId::from_uuid(tombstone.scope));
    Tombstone {
        scope: person.uuid(),
        ..tombstone
    }
}
