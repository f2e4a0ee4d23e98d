//! Memories of a workspace that is exported: a line each, with versions and evidence, and the receipts of what was forgotten.

use anyhow::Result;

use super::super::archive::MEMORIES;
use super::super::archive::rows::MemoryRow;
use super::{Exporter, ROWS};

impl Exporter<'_> {
    pub(super) async fn memories(&mut self) -> Result<()> {
        self.begin(MEMORIES)?;
        let workspace = self.workspace;
        for tombstone in self.reads().list_tombstones(workspace).await? {
            self.line_with_people(&MemoryRow::Tombstone(tombstone))?;
        }
        for forgotten in self.reads().list_forgotten(workspace, None).await? {
            self.line_with_people(&MemoryRow::Forgotten(forgotten))?;
        }
        let mut last = None;
        loop {
            let ids = self.reads().list_memory_ids(workspace, last, ROWS).await?;
            last = ids.last().copied();
            if last.is_none() {
                return Ok(());
            }
            let memories = self.reads().list_memories_by_id(&ids).await?;
            let versions = self.reads().list_memory_versions(&ids).await?;
            let evidence = self.reads().list_evidence(&ids).await?;
            for memory in memories {
                let id = memory.id;
                self.line_with_people(&MemoryRow::Memory {
                    versions: versions
                        .iter()
                        .filter(|one| one.memory == id)
                        .cloned()
                        .collect(),
                    evidence: evidence
                        .iter()
                        .filter(|one| one.memory == id)
                        .cloned()
                        .collect(),
                    memory,
                })?;
            }
        }
    }
}
