//! Embeddings, and how far they have come.

use async_trait::async_trait;
use bytes::Bytes;
use domain::Result;
use domain::embedding::{Embedding, EmbeddingMark, EmbeddingReads, EmbeddingWrites};
use domain::event::Sequence;
use domain::ids::{UserId, WorkspaceId};
use domain::search::SearchKind;
use uuid::Uuid;

use super::{Row, Session, at, id, number, optional_id, placeholders};
use crate::link::{DatabaseRow, Link};

fn embedding(row: &DatabaseRow) -> Result<(u64, Embedding)> {
    let row = Row::of("embeddings", row);
    let embedding = Embedding {
        kind: row.named("kind", SearchKind::from_name)?,
        id: row.uuid("id")?,
        owner: row.optional_uuid("owner")?.map(UserId::from_uuid),
        at: row.time("at")?,
        text_hash: row.hash("text_hash")?,
        vector: row.get::<Option<Vec<u8>>>("vector")?.map(Bytes::from),
    };
    Ok((row.number("written")?, embedding))
}

#[async_trait]
impl<C: Link> EmbeddingReads for Session<C> {
    async fn embedding_mark(&self, workspace: WorkspaceId, model: &str) -> Result<EmbeddingMark> {
        let sql = "select * from embedding_marks where workspace_id = $1 and model = $2";
        let values = vec![id(workspace.uuid()), model.into()];
        let Some(row) = self.row(sql, values).await? else {
            return Ok(EmbeddingMark::default());
        };
        let row = Row::of("embedding_marks", &row);
        let reached: Option<i64> = row.get("sequence")?;
        Ok(EmbeddingMark {
            writes: row.number("writes")?,
            sequence: reached
                .map(|_| row.number("sequence").map(Sequence))
                .transpose()?,
        })
    }

    async fn list_embedding_hashes(
        &self,
        workspace: WorkspaceId,
        model: &str,
        ids: &[Uuid],
    ) -> Result<Vec<(Uuid, [u8; 32])>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "select id, text_hash from embeddings where workspace_id = $1 and model = $2 and vector is not null and id in ({})",
            placeholders(3, ids.len())
        );
        let mut values = vec![id(workspace.uuid()), model.into()];
        values.extend(ids.iter().copied().map(id));
        let rows = self.rows(&sql, values).await?;
        let read = |row| {
            let row = Row::of("embeddings", row);
            Ok((row.uuid("id")?, row.hash("text_hash")?))
        };
        rows.iter().map(read).collect()
    }

    async fn list_embeddings(
        &self,
        workspace: WorkspaceId,
        model: &str,
        after: (u64, Uuid),
        limit: u32,
    ) -> Result<Vec<(u64, Embedding)>> {
        let sql = "select * from embeddings where workspace_id = $1 and model = $2 and (written, id) > ($3, $4) \
                   order by written, id limit $5";
        let values = vec![
            id(workspace.uuid()),
            model.into(),
            number(after.0),
            id(after.1),
            number(limit.into()),
        ];
        let rows = self.rows(sql, values).await?;
        rows.iter().map(embedding).collect()
    }
}

#[async_trait]
impl<C: Link> EmbeddingWrites for Session<C> {
    async fn put_embeddings(
        &self,
        workspace: WorkspaceId,
        model: &str,
        write: u64,
        embeddings: &[Embedding],
    ) -> Result<()> {
        let columns =
            "embeddings (workspace_id, model, id, kind, owner, at, text_hash, vector, written)";
        let mut values = Vec::with_capacity(embeddings.len() * 9);
        for embedding in embeddings {
            let vector = embedding.vector.as_ref().map(|vector| vector.to_vec());
            values.extend([
                id(workspace.uuid()),
                model.into(),
                id(embedding.id),
                embedding.kind.name().into(),
                optional_id(embedding.owner.map(UserId::uuid)),
                at(embedding.at),
                embedding.text_hash.to_vec().into(),
                vector.into(),
                number(write),
            ]);
        }
        let conflict = "on conflict (workspace_id, model, id) do update set kind = excluded.kind, owner = excluded.owner, \
             at = excluded.at, text_hash = excluded.text_hash, vector = excluded.vector, written = excluded.written";
        self.upsert(columns, 9, values, conflict).await
    }

    async fn put_embedding_mark(
        &self,
        workspace: WorkspaceId,
        model: &str,
        mark: EmbeddingMark,
    ) -> Result<()> {
        let columns = "embedding_marks (workspace_id, model, writes, sequence)";
        let values = vec![
            id(workspace.uuid()),
            model.into(),
            number(mark.writes),
            mark.sequence.map(|sequence| sequence.0 as i64).into(),
        ];
        let conflict = "on conflict (workspace_id, model) do update set writes = excluded.writes, sequence = excluded.sequence";
        self.upsert(columns, 4, values, conflict).await
    }

    async fn delete_embeddings_of_others(&self, workspace: WorkspaceId, model: &str) -> Result<()> {
        for table in ["embeddings", "embedding_marks"] {
            let sql = format!("delete from {table} where workspace_id = $1 and model <> $2");
            self.execute(&sql, vec![id(workspace.uuid()), model.into()])
                .await?;
        }
        Ok(())
    }
}
