//! Writing the index: replacing things, dropping workspaces, committing, and getting rid of what was deleted.
//!
//! Invariants
//! - One writer lives as long as the index is open, with one thread and a small memory: merges need it alive.
//! - A commit carries how far each workspace has come with it.
//! - After a [`Writer::purge`] that came to its end the words of what was deleted before are on the disk no more.
//!
//! All of it blocks: callers are on a thread that may.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use domain::ids::WorkspaceId;
use domain::search::SearchKind;
use tantivy::index::SegmentId;
use tantivy::indexer::{IndexWriter, LogMergePolicy};
use tantivy::{Index, IndexReader, TantivyDocument, Term};
use uuid::Uuid;

use super::{Entry, FORMAT, Fields, Payload, Positions, place_of};
use crate::{Error, Result};

/// Memory of the writer, in bytes: a segment is written when it is full.
const MEMORY: usize = 64 << 20;
/// Share of deleted documents from which a segment is merged.
const DELETED_SHARE: f32 = 0.2;
/// Segments of one size from which they are merged.
const SEGMENTS: usize = 6;
/// How long a purge waits for those who hold something.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);
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

    /// Rewrites every segment that holds something deleted, and returns when neither it nor its files are there any more.
    ///
    /// Merges that the policy has begun may hold a segment, and searches a file, for a moment; both are waited for. False
    /// where they hold it for longer: a large merge takes minutes.
    pub(crate) fn purge(&mut self, reader: &IndexReader) -> Result<bool> {
        if !self.has_deleted {
            return Ok(true);
        }
        let began = Instant::now();
        while !self.is_purged(reader)? {
            if began.elapsed() > PATIENCE {
                return Ok(false);
            }
            std::thread::sleep(PAUSE);
        }
        self.has_deleted = false;
        Ok(true)
    }

    /// One attempt; whether nothing of what was deleted is left.
    fn is_purged(&mut self, reader: &IndexReader) -> Result<bool> {
        for segment in self.touched()? {
            // One that another merge has taken is looked at again.
            if let Err(error) = self.inner.merge(&[segment]).wait() {
                tracing::debug!(%error, "a segment is being rewritten already");
            }
        }
        // Readers let go of the old segments, so that their files can go.
        reader.reload()?;
        self.inner.garbage_collect_files().wait()?;
        Ok(self.touched()?.is_empty() && !self.has_strays()?)
    }

    /// Segments that hold something deleted.
    fn touched(&self) -> Result<Vec<SegmentId>> {
        let metas = self.inner.index().searchable_segment_metas()?;
        let touched = metas.iter().filter(|meta| meta.num_deleted_docs() > 0);
        Ok(touched.map(tantivy::index::SegmentMeta::id).collect())
    }

    /// Whether files of former segments are still there.
    fn has_strays(&self) -> Result<bool> {
        let index = self.inner.index();
        let metas = index.searchable_segment_metas()?;
        let used: HashSet<String> = metas.iter().map(|meta| meta.id().uuid_string()).collect();
        let there = index.directory().list_managed_files();
        // A file is called by its segment; the others of the folder are the lists of what there is.
        Ok(there.iter().any(|path| {
            let name = path.to_string_lossy();
            let segment = name.split('.').next().unwrap_or_default();
            path.extension().is_some_and(|end| end != "json") && !used.contains(segment)
        }))
    }
}
