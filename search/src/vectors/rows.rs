//! What is stored of things that were touched: new vectors, and that some are gone.
//!
//! Invariants
//! - A text is turned into a vector once: its hash stands beside the vector, whoever made it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use aws_lc_rs::digest;
use bytes::Bytes;
use domain::embedding::Embedding;
use domain::ids::WorkspaceId;
use uuid::Uuid;

use super::to_bytes;
use crate::embed::{Embedder, TEXTS};
use crate::source::{Searchable, Source, Subject};
use crate::{Error, Result};

/// Stored vectors that are looked at for their length.
const THERE: u32 = 32;

/// Makes them.
pub(super) struct Rows {
    pub(super) source: Source,
    pub(super) embedder: Arc<dyn Embedder>,
}

impl Rows {
    /// What is to be stored of these things: new vectors, and that some are gone.
    pub(super) async fn make(
        &self,
        workspace: WorkspaceId,
        subjects: &[Subject],
    ) -> Result<Vec<Embedding>> {
        if subjects.is_empty() {
            return Ok(Vec::new());
        }
        let mut things = self.source.load(workspace, subjects).await?;
        things.retain(|thing| !thing.meaning.trim().is_empty());
        let ids: Vec<Uuid> = subjects.iter().map(|subject| subject.uuid()).collect();
        let reads = self.source.store.reads();
        let model = self.embedder.model();
        let hashes = reads.list_embedding_hashes(workspace, model, &ids).await?;
        let hashes: HashMap<Uuid, [u8; 32]> = hashes.into_iter().collect();
        let there: HashSet<Uuid> = things.iter().map(|thing| thing.subject.uuid()).collect();
        let gone = subjects.iter().filter(|subject| {
            let id = subject.uuid();
            hashes.contains_key(&id) && !there.contains(&id)
        });
        let mut rows: Vec<Embedding> = gone.map(|subject| row_without_vector(*subject)).collect();
        things.retain(|thing| hashes.get(&thing.subject.uuid()) != Some(&hash_of(thing)));
        for some in things.chunks(TEXTS) {
            let texts = some.iter().map(|thing| thing.meaning.clone()).collect();
            let vectors = self.embedder.embed(texts).await?;
            if vectors.len() != some.len() {
                return Err(Error::Embedder("a text has no vector".to_owned()));
            }
            rows.extend(some.iter().zip(&vectors).map(|(thing, vector)| Embedding {
                kind: thing.subject.kind(),
                id: thing.subject.uuid(),
                owner: thing.owner,
                at: thing.at,
                text_hash: hash_of(thing),
                vector: Some(Bytes::from(to_bytes(vector))),
            }));
        }
        self.check_lengths(workspace, &rows).await?;
        Ok(rows)
    }

    /// Refuses vectors of another length than those that are there: one model has one length, so its answer is none of its own.
    async fn check_lengths(&self, workspace: WorkspaceId, rows: &[Embedding]) -> Result<()> {
        let length = |row: &Embedding| row.vector.as_ref().map(Bytes::len);
        let Some(new) = rows.iter().find_map(length) else {
            return Ok(());
        };
        let reads = self.source.store.reads();
        let model = self.embedder.model();
        let from = (0, Uuid::nil());
        let there = reads.list_embeddings(workspace, model, from, THERE).await?;
        let known = there.iter().find_map(|(_, row)| length(row));
        if known.is_none_or(|known| known == new)
            && rows.iter().filter_map(length).all(|one| one == new)
        {
            return Ok(());
        }
        Err(Error::Embedder(
            "the vectors are of another length than those that are stored".to_owned(),
        ))
    }
}

fn row_without_vector(subject: Subject) -> Embedding {
    Embedding {
        kind: subject.kind(),
        id: subject.uuid(),
        owner: None,
        at: domain::time::Timestamp::from_micros(0),
        text_hash: [0; 32],
        vector: None,
    }
}

/// The hash of what a vector stands for: the text, and whose eyes alone it is for.
fn hash_of(thing: &Searchable) -> [u8; 32] {
    let owner = thing
        .owner
        .map(domain::ids::UserId::uuid)
        .unwrap_or_default();
    let text = [owner.as_bytes(), thing.meaning.as_bytes()].concat();
    let mut hash = [0; 32];
    hash.copy_from_slice(digest::digest(&digest::SHA256, &text).as_ref());
    hash
}
