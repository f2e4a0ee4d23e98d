//! Writing the index: replacing things, dropping workspaces, committing, and getting rid of what was deleted.
//!
//! Invariants
//! - One writer lives as long as the index is open, with one thread and a small memory: merges need it alive.
//! - A commit carries how far each workspace has come with it.
//! - After [`Writer::purge`] the words of what was deleted before are on the disk no more.
//!
//! All of it blocks: callers are on a thread that may.

use domain::ids::WorkspaceId;
use domain::search::SearchKind;
use tantivy::index::SegmentId;
use tantivy::indexer::{IndexWriter, LogMergePolicy};
use tantivy::{Index, TantivyDocument, Term};
use uuid::Uuid;

use super::{Entry, FORMAT, Fields, Payload, Positions, place_of};
use crate::{Error, Result};

/// Memory of the writer, in bytes: a segment is written when it is full.
const MEMORY: usize = 64 << 20;
/// Share of deleted documents from which a segment is merged.
const DELETED_SHARE: f32 = 0.2;
/// Segments of one size from which they are merged.
const SEGMENTS: usize = 6;
/// Segments of fewer documents than this are of one size.
const SMALL: u32 = 5_000;

/// The writer of an index.
pub(crate) struct Writer {
    inner: IndexWriter<TantivyDocument>,
    fields: Fields,
    has_deleted: bool,
}

impl Writer {
    pub(super) fn new(index: &Index, fields: Fields) -> Result<Self> {
        let inner = index.writer_with_num_threads(1, MEMORY)?;
        let mut policy = LogMergePolicy::default();
        policy.set_del_docs_ratio_before_merge(DELETED_SHARE);
        policy.set_min_num_segments(SEGMENTS);
        policy.set_min_layer_size(SMALL);
        inner.set_merge_policy(Box::new(policy));
        Ok(Self {
            inner,
            fields,
            // A former process may have left something.
            has_deleted: true,
        })
    }

    /// Puts a thing in the place of what is there of it.
    pub(crate) fn put(&mut self, entry: Entry) -> Result<()> {
        self.remove(entry.id);
        self.inner.add_document(entry.document)?;
        Ok(())
    }

    /// Adds a thing of which nothing is there.
    pub(crate) fn add(&self, entry: Entry) -> Result<()> {
        self.inner.add_document(entry.document)?;
        Ok(())
    }

    /// Removes what is there of a thing.
    pub(crate) fn remove(&mut self, id: Uuid) {
        self.inner
            .delete_term(Term::from_field_bytes(self.fields.id, id.as_bytes()));
        self.has_deleted = true;
    }

    /// Removes all of a workspace.
    pub(crate) fn drop_workspace(&mut self, workspace: WorkspaceId) {
        for kind in SearchKind::ALL {
            let place = place_of(workspace, *kind);
            self.inner
                .delete_term(Term::from_field_bytes(self.fields.place, &place));
        }
        self.has_deleted = true;
    }

    /// Makes everything since the last commit durable, together with how far it has come.
    pub(crate) fn commit(&mut self, positions: &Positions) -> Result<()> {
        let payload = Payload {
            format: FORMAT,
            positions: positions.clone(),
        };
        let text = serde_json::to_string(&payload).map_err(|error| Error::Index(error.into()))?;
        let mut commit = self.inner.prepare_commit()?;
        commit.set_payload(&text);
        commit.commit()?;
        Ok(())
    }

    /// Removes files that nobody reads any more.
    pub(crate) fn collect(&self) -> Result<()> {
        self.inner.garbage_collect_files().wait()?;
        Ok(())
    }

    /// Rewrites every segment that holds something deleted.
    pub(crate) fn purge(&mut self) -> Result<()> {
        if !self.has_deleted {
            return Ok(());
        }
        let metas = self.inner.index().searchable_segment_metas()?;
        let touched: Vec<SegmentId> = metas
            .iter()
            .filter(|meta| meta.num_deleted_docs() > 0)
            .map(tantivy::index::SegmentMeta::id)
            .collect();
        for segment in touched {
            // One that a merge took meanwhile is gone already.
            if let Err(error) = self.inner.merge(&[segment]).wait() {
                tracing::debug!(%error, "a segment was not rewritten");
            }
        }
        let left = self.inner.index().searchable_segment_metas()?;
        self.has_deleted = left.iter().any(|meta| meta.num_deleted_docs() > 0);
        Ok(())
    }
}
