//! Embeddings: what texts mean as vectors, kept beside the store's truth so that they need not be made twice.
//!
//! Invariants
//! - Embeddings are derived: all of them may be deleted, and are made anew.
//! - Vectors of different models never meet: each row, mark and reading names one model.
//! - A mark says: all that stood in the workspace at this sequence has its vector by this model.
//! - Rows of one command have one write number, and numbers rise: who has read number n has read all before it.
//!
//! Not here: making vectors and comparing them (`search`).

use async_trait::async_trait;
use bytes::Bytes;
use uuid::Uuid;

use crate::error::Result;
use crate::event::Sequence;
use crate::ids::{UserId, WorkspaceId};
use crate::search::SearchKind;
use crate::store::{Command, Scope, Transaction};
use crate::time::Timestamp;

/// What one text means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Embedding {
    /// Of what kind of thing the text is.
    pub kind: SearchKind,
    /// The thing's id, without the noun.
    pub id: Uuid,
    /// The only person who may find it; none for every member.
    pub owner: Option<UserId>,
    /// When the thing was made or changed last.
    pub at: Timestamp,
    /// SHA-256 of the text.
    pub text_hash: [u8; 32],
    /// The vector as `search` writes it; none where the thing is gone.
    pub vector: Option<Bytes>,
}

/// How far the embeddings of a workspace have come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EmbeddingMark {
    /// The number of the last write; 0 before the first.
    pub writes: u64,
    /// All that stood in the workspace at this sequence has its vector; none before the first time.
    pub sequence: Option<Sequence>,
}

/// Reading embeddings.
#[async_trait]
pub trait EmbeddingReads {
    /// How far those of a workspace by a model have come.
    async fn embedding_mark(&self, workspace: WorkspaceId, model: &str) -> Result<EmbeddingMark>;
    /// Hashes of the texts of these things that have a vector by a model.
    async fn list_embedding_hashes(
        &self,
        workspace: WorkspaceId,
        model: &str,
        ids: &[Uuid],
    ) -> Result<Vec<(Uuid, [u8; 32])>>;
    /// Embeddings with their write numbers, in the order of (number, id), after a position, at most `limit`; things that are
    /// gone included.
    async fn list_embeddings(
        &self,
        workspace: WorkspaceId,
        model: &str,
        after: (u64, Uuid),
        limit: u32,
    ) -> Result<Vec<(u64, Embedding)>>;
}

/// Writing embeddings.
#[async_trait]
pub trait EmbeddingWrites {
    /// Stores embeddings, in place of those that are there, under one write number.
    async fn put_embeddings(
        &self,
        workspace: WorkspaceId,
        model: &str,
        write: u64,
        embeddings: &[Embedding],
    ) -> Result<()>;
    /// Stores how far they have come.
    async fn put_embedding_mark(
        &self,
        workspace: WorkspaceId,
        model: &str,
        mark: EmbeddingMark,
    ) -> Result<()>;
    /// Deletes what other models made.
    async fn delete_embeddings_of_others(&self, workspace: WorkspaceId, model: &str) -> Result<()>;
}

/// Stores embeddings, and how far they have come with them.
#[derive(Debug, Clone)]
pub struct StoreEmbeddings {
    /// Where.
    pub workspace: WorkspaceId,
    /// The model that made them.
    pub model: String,
    /// The mark that whoever made them had read before anything else.
    pub expected: EmbeddingMark,
    /// The sequence that is reached with them; none in the middle of a first run.
    pub reached: Option<Sequence>,
    /// The embeddings.
    pub embeddings: Vec<Embedding>,
}

#[async_trait]
impl Command for StoreEmbeddings {
    /// The mark that holds now; none where another process has written meanwhile, and nothing was stored.
    type Output = Option<EmbeddingMark>;
    const NAME: &'static str = "embedding.store";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<Option<EmbeddingMark>> {
        let mark = tx.embedding_mark(self.workspace, &self.model).await?;
        // What was read before another process wrote may be older than what that one stored.
        if mark != self.expected {
            return Ok(None);
        }
        let next = EmbeddingMark {
            writes: mark.writes + 1,
            sequence: self.reached.or(mark.sequence),
        };
        tx.put_embeddings(self.workspace, &self.model, next.writes, &self.embeddings)
            .await?;
        tx.put_embedding_mark(self.workspace, &self.model, next)
            .await?;
        if mark.sequence.is_none() && next.sequence.is_some() {
            // This generation is whole: what another model made is of no use any more.
            tx.delete_embeddings_of_others(self.workspace, &self.model)
                .await?;
        }
        Ok(Some(next))
    }
}

/// Deletes all embeddings of a workspace: they are made anew.
#[derive(Debug, Clone, Copy)]
pub struct DropEmbeddings {
    /// Where.
    pub workspace: WorkspaceId,
}

#[async_trait]
impl Command for DropEmbeddings {
    type Output = ();
    const NAME: &'static str = "embedding.drop";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        // No model has an empty name, so all are others.
        tx.delete_embeddings_of_others(self.workspace, "").await
    }
}
