//! Comparing an index with the store that it was made from.
//!
//! Invariants
//! - Only workspaces that the index had caught up with, and that nobody changed meanwhile, are compared.

use std::collections::HashMap;
use std::path::Path;

use domain::document::DocumentService;
use domain::event::Sequence;
use domain::ids::WorkspaceId;
use domain::store::SharedStore;
use tantivy::IndexReader;
use uuid::Uuid;

use crate::Result;
use crate::index::{self, Fields, Position, fingerprint};
use crate::source::{Scan, Source};

/// Things that are read at once.
const THINGS: u32 = 500;

/// How an index differs from the store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Differences {
    /// Things that were compared and are the same.
    pub same: u64,
    /// Workspaces that were left out, because the index was behind or something changed.
    pub skipped: u64,
    /// What differs: a sentence each, at most a hundred.
    pub differing: Vec<String>,
}

impl Differences {
    fn note(&mut self, text: String) {
        if self.differing.len() < 100 {
            self.differing.push(text);
        }
    }
}

/// Compares the index in a data folder with the store; none where there is no index. Reads beside a process that writes.
pub async fn compare(
    data: &Path,
    store: SharedStore,
    documents: DocumentService,
) -> Result<Option<Differences>> {
    let Some((fields, reader, positions)) = index::open_beside(data)? else {
        return Ok(None);
    };
    let mut comparison = Comparison {
        source: Source::new(store, documents),
        fields,
        reader,
        differences: Differences::default(),
    };
    let mut last = None;
    loop {
        let reads = comparison.source.store.reads();
        let workspaces = reads.list_workspace_ids(last, THINGS).await?;
        let Some(newest) = workspaces.last() else {
            return Ok(Some(comparison.differences));
        };
        last = Some(*newest);
        for workspace in workspaces {
            comparison
                .workspace(workspace, positions.get(&workspace))
                .await?;
        }
    }
}

struct Comparison {
    source: Source,
    fields: Fields,
    reader: IndexReader,
    differences: Differences,
}

impl Comparison {
    async fn workspace(
        &mut self,
        workspace: WorkspaceId,
        position: Option<&Position>,
    ) -> Result<()> {
        let head = self.head(workspace).await?;
        let is_current =
            |position: &&Position| position.sequence >= head && position.deferred.is_empty();
        if position.as_ref().is_none_or(|x| !is_current(x)) {
            self.differences.skipped += 1;
            return Ok(());
        }
        let mut indexed = self.indexed(workspace)?;
        let mut found = Differences::default();
        let mut scan = Scan::Start;
        while scan != Scan::End {
            let (subjects, next) = self.source.scan(workspace, scan, THINGS).await?;
            for thing in self.source.load(workspace, &subjects).await? {
                let (kind, id) = (thing.subject.kind().name(), thing.subject.uuid());
                match indexed.remove(&id) {
                    None => found.note(format!("{kind} {id} is not in the index")),
                    Some(print) if print != fingerprint(workspace, &thing) => {
                        found.note(format!("{kind} {id} stands in the index as it was once"));
                    }
                    Some(_) => found.same += 1,
                }
            }
            scan = next;
        }
        for id in indexed.keys() {
            found.note(format!("{id} is in the index and is no more"));
        }
        if self.head(workspace).await? == head {
            self.differences.same += found.same;
            found
                .differing
                .into_iter()
                .for_each(|text| self.differences.note(text));
        } else {
            self.differences.skipped += 1;
        }
        Ok(())
    }

    async fn head(&self, workspace: WorkspaceId) -> Result<Sequence> {
        Ok(self.source.store.reads().event_head(workspace).await?)
    }

    /// Ids and fingerprints of what the index holds of a workspace; an id that it holds twice differs from anything.
    fn indexed(&self, workspace: WorkspaceId) -> Result<HashMap<Uuid, u64>> {
        let mut found = HashMap::new();
        for stored in index::of_workspace(&self.fields, &self.reader.searcher(), workspace)? {
            let former = found.insert(stored.id, stored.print);
            if former.is_some() {
                found.insert(stored.id, !stored.print);
            }
        }
        Ok(found)
    }
}
