//! Writing memories, and taking away what was made of something forgotten.

use async_trait::async_trait;
use domain::Result;
use domain::card::Card;
use domain::event::Sequence;
use domain::ids::{MessageId, TaskId, UserId, WorkspaceId};
use domain::line::{ContextSegment, Line};
use domain::memory::{
    Evidence, ExtractionGroup, ForgottenMessage, Memory, MemoryRejection, MemoryVersion,
    MemoryWrites, Tombstone, VersionRef, Waiting,
};
use domain::time::Timestamp;
use domain::turn::{Call, Step};
use sea_orm::Value;
use uuid::Uuid;

use super::memories::{MEMORY, evidence_values, memory_values, tombstone_values, version_values};
use super::memory_reads::{OF_GROUP, call_key, group_values, message_ids};
use super::{Session, at, id, json, number, optional_json, placeholders};
use crate::link::Link;

/// Rows in one statement.
const ROWS: usize = 500;

impl<C: Link> Session<C> {
    /// Raises a counter of a part of the profiles.
    async fn raise(&self, workspace: WorkspaceId, owner: Uuid, column: &str) -> Result<()> {
        let one = |name: &str| number(u64::from(name == column));
        let conflict = format!(
            "on conflict (workspace_id, owner) do update set {column} = profiles.{column} + 1"
        );
        let values = vec![
            id(workspace.uuid()),
            id(owner),
            one("version"),
            one("forgets"),
        ];
        let columns = "profiles (workspace_id, owner, version, forgets)";
        self.upsert(columns, 4, values, &conflict).await
    }

    /// Carries a statement out for ids in portions; `#` stands for their placeholders, which follow the first values.
    async fn for_ids(&self, sql: &str, first: &[Value], ids: Vec<Value>) -> Result<u64> {
        let mut touched = 0;
        for ids in ids.chunks(ROWS) {
            let mut values = first.to_vec();
            let sql = sql.replace('#', &placeholders(values.len() + 1, ids.len()));
            values.extend_from_slice(ids);
            touched += self.execute(&sql, values).await?;
        }
        Ok(touched)
    }
}

#[async_trait]
impl<C: Link> MemoryWrites for Session<C> {
    async fn put_memory(&self, memory: &Memory) -> Result<()> {
        let changing = MEMORY[2..].iter().filter(|name| **name != "created_at");
        let set: Vec<_> = changing
            .map(|name| format!("{name} = excluded.{name}"))
            .collect();
        let columns = format!("memories ({})", MEMORY.join(", "));
        let conflict = format!(
            "on conflict (workspace_id, id) do update set {}",
            set.join(", ")
        );
        self.upsert(&columns, MEMORY.len(), memory_values(memory), &conflict)
            .await
    }

    async fn put_memory_version(
        &self,
        workspace: WorkspaceId,
        version: &MemoryVersion,
    ) -> Result<()> {
        let columns = "memory_versions (workspace_id, memory_id, number, content, words, state, basis, valid_from, valid_to, created_at)";
        let conflict = "on conflict (workspace_id, memory_id, number) do update set content = excluded.content, words = excluded.words, \
             state = excluded.state, valid_from = excluded.valid_from, valid_to = excluded.valid_to";
        self.upsert(columns, 10, version_values(workspace, version), conflict)
            .await?;
        let mut values = Vec::new();
        for (memory, number_of) in &version.derived_from {
            values.extend([
                id(workspace.uuid()),
                id(version.memory.uuid()),
                number(version.number.into()),
                id(memory.uuid()),
                number((*number_of).into()),
            ]);
        }
        let columns = "derivations (workspace_id, memory_id, number, from_memory, from_number)";
        self.upsert(columns, 5, values, "on conflict do nothing")
            .await
    }

    async fn insert_evidence(&self, workspace: WorkspaceId, evidence: &[Evidence]) -> Result<()> {
        let columns = "evidence (workspace_id, memory_id, number, message_id, role, quote)";
        let values = evidence
            .iter()
            .flat_map(|edge| evidence_values(workspace, edge));
        self.upsert(columns, 6, values.collect(), "on conflict do nothing")
            .await
    }

    async fn delete_evidence(
        &self,
        workspace: WorkspaceId,
        version: VersionRef,
        messages: &[MessageId],
    ) -> Result<()> {
        let sql = "delete from evidence where workspace_id = $1 and memory_id = $2 and number = $3 and message_id in (#)";
        let first = [
            id(workspace.uuid()),
            id(version.0.uuid()),
            number(version.1.into()),
        ];
        self.for_ids(sql, &first, message_ids(messages))
            .await
            .map(drop)
    }

    async fn blank_quotes(&self, workspace: WorkspaceId, versions: &[VersionRef]) -> Result<()> {
        for versions in versions.chunks(ROWS) {
            let mut values = vec![id(workspace.uuid())];
            let mut pairs = Vec::with_capacity(versions.len());
            for (memory, version) in versions {
                pairs.push(format!("({})", placeholders(values.len() + 1, 2)));
                values.extend([id(memory.uuid()), number((*version).into())]);
            }
            let sql = format!(
                "update evidence set quote = null where workspace_id = $1 and quote is not null \
                 and (memory_id, number) in (values {})",
                pairs.join(", ")
            );
            self.execute(&sql, values).await?;
        }
        Ok(())
    }

    async fn insert_tombstones(
        &self,
        workspace: WorkspaceId,
        tombstones: &[Tombstone],
    ) -> Result<()> {
        let columns =
            "tombstones (workspace_id, id, scope_key, words, memory_id, number, user_id, at)";
        let values = tombstones
            .iter()
            .flat_map(|tombstone| tombstone_values(workspace, tombstone));
        self.upsert(columns, 8, values.collect(), "on conflict do nothing")
            .await
    }

    async fn forget_messages(
        &self,
        workspace: WorkspaceId,
        messages: &[ForgottenMessage],
    ) -> Result<()> {
        let columns = "forgotten_messages (workspace_id, message_id, user_id, at)";
        let values = messages.iter().flat_map(|one| {
            [
                id(workspace.uuid()),
                id(one.message.uuid()),
                id(one.by.uuid()),
                at(one.at),
            ]
        });
        self.upsert(columns, 4, values.collect(), "on conflict do nothing")
            .await
    }

    async fn raise_profile(&self, workspace: WorkspaceId, owner: Option<UserId>) -> Result<()> {
        let owner = owner.map_or(workspace.uuid(), UserId::uuid);
        self.raise(workspace, owner, "version").await
    }

    async fn raise_forgets(&self, workspace: WorkspaceId) -> Result<()> {
        self.raise(workspace, workspace.uuid(), "forgets").await
    }

    async fn insert_rejections(
        &self,
        workspace: WorkspaceId,
        rejections: &[MemoryRejection],
    ) -> Result<()> {
        let columns =
            "memory_rejections (workspace_id, id, user_id, content, reason, detail, messages, at)";
        let mut values = Vec::with_capacity(rejections.len() * 8);
        for rejection in rejections {
            values.extend([
                id(workspace.uuid()),
                id(rejection.id),
                id(rejection.user.uuid()),
                rejection.content.as_str().into(),
                rejection.reason.name().into(),
                rejection.detail.as_str().into(),
                json(&rejection.messages)?,
                at(rejection.at),
            ]);
        }
        self.upsert(columns, 8, values, "on conflict do nothing")
            .await
    }

    async fn blank_rejections(&self, workspace: WorkspaceId, messages: &[MessageId]) -> Result<()> {
        for message in messages {
            let sql = "update memory_rejections set content = '', detail = '' where workspace_id = $1 and messages like $2";
            let values = vec![id(workspace.uuid()), format!("%{message}%").into()];
            self.execute(sql, values).await?;
        }
        Ok(())
    }

    async fn queue_extractions(&self, group: &ExtractionGroup, waiting: &[Waiting]) -> Result<()> {
        let columns = "extractions (workspace_id, user_id, task_id, memory_id, message_id, is_stated, state, attempts, not_before, queued_at)";
        let mut values = Vec::with_capacity(waiting.len() * 10);
        for one in waiting {
            values.extend(group_values(group));
            values.extend([
                id(one.message.uuid()),
                one.is_stated.into(),
                "WAITING".into(),
                number(one.attempts.into()),
                at(one.queued_at),
                at(one.queued_at),
            ]);
        }
        let conflict = if group.memory.is_some() {
            // What was derived once may have to be derived again.
            "on conflict (workspace_id, memory_id, message_id) do update set state = 'WAITING', attempts = 0, \
             not_before = excluded.not_before, queued_at = excluded.queued_at"
        } else {
            "on conflict do nothing"
        };
        self.upsert(columns, 10, values, conflict).await
    }

    async fn hold_extractions(
        &self,
        group: &ExtractionGroup,
        messages: &[MessageId],
        (attempts, until): (u32, Timestamp),
    ) -> Result<()> {
        let sql = format!(
            "update extractions set attempts = attempts + $6, not_before = $5 where {OF_GROUP} and message_id in (#)"
        );
        let mut first = group_values(group);
        first.extend([at(until), number(attempts.into())]);
        self.for_ids(&sql, &first, message_ids(messages))
            .await
            .map(drop)
    }

    async fn end_extractions(
        &self,
        group: &ExtractionGroup,
        messages: &[MessageId],
        state: &'static str,
    ) -> Result<u64> {
        let sql =
            format!("update extractions set state = $5 where {OF_GROUP} and message_id in (#)");
        let mut first = group_values(group);
        first.push(state.into());
        self.for_ids(&sql, &first, message_ids(messages)).await
    }

    async fn drop_extractions(&self, workspace: WorkspaceId, messages: &[MessageId]) -> Result<()> {
        let sql =
            "update extractions set state = 'DONE' where workspace_id = $1 and message_id in (#)";
        let first = [id(workspace.uuid())];
        self.for_ids(sql, &first, message_ids(messages))
            .await
            .map(drop)
    }

    async fn drop_vectors(&self, workspace: WorkspaceId, ids: &[Uuid]) -> Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        // Whoever holds vectors in memory reads by write numbers: what is taken away is a write like any other.
        let sql = "update embedding_marks set writes = writes + 1 where workspace_id = $1";
        self.execute(sql, vec![id(workspace.uuid())]).await?;
        let sql = "update embeddings set vector = null, text_hash = $2, written = (select k.writes from embedding_marks k \
                   where k.workspace_id = embeddings.workspace_id and k.model = embeddings.model) \
                   where workspace_id = $1 and vector is not null and id in (#)";
        let first = [id(workspace.uuid()), vec![0_u8; 32].into()];
        let ids = ids.iter().copied().map(id).collect();
        self.for_ids(sql, &first, ids).await.map(drop)
    }

    async fn leave_out(&self, workspace: WorkspaceId, places: &[(Uuid, u64)]) -> Result<()> {
        let columns = "left_out (workspace_id, subject, number)";
        let values = places
            .iter()
            .flat_map(|(subject, place)| [id(workspace.uuid()), id(*subject), number(*place)]);
        self.upsert(columns, 3, values.collect(), "on conflict do nothing")
            .await
    }

    async fn rewrite_segment(
        &self,
        workspace: WorkspaceId,
        task: TaskId,
        segment: &ContextSegment,
    ) -> Result<()> {
        let sql = "update context_segments set summary = $4, tokens = $5 where workspace_id = $1 and task_id = $2 and number = $3";
        let values = vec![
            id(workspace.uuid()),
            id(task.uuid()),
            number(segment.number.into()),
            segment.summary.as_str().into(),
            number(segment.tokens.into()),
        ];
        self.execute(sql, values).await.map(drop)
    }

    async fn rewrite_call(&self, call: &Call, has_large: bool) -> Result<()> {
        let place = (call.id.step, call.id.index);
        let key = call_key(call.workspace, call.id.turn, place);
        let of_call = "workspace_id = $1 and turn_id = $2 and step_number = $3 and call_index = $4";
        let mut values = key.clone();
        values.extend([
            json(&call.arguments)?,
            optional_json(call.result.as_ref())?,
            call.error.clone().into(),
        ]);
        let sql =
            format!("update calls set arguments = $5, result = $6, error = $7 where {of_call}");
        self.execute(&sql, values).await?;
        if has_large {
            let sql = format!("update results set body = '{{\"forgotten\":true}}' where {of_call}");
            self.execute(&sql, key).await?;
        }
        Ok(())
    }

    async fn rewrite_rationale(&self, step: &Step) -> Result<()> {
        let sql = "update steps set rationale = $4 where workspace_id = $1 and turn_id = $2 and number = $3";
        let values = vec![
            id(step.workspace.uuid()),
            id(step.turn.uuid()),
            number(step.at.step.into()),
            step.rationale.as_str().into(),
        ];
        self.execute(sql, values).await.map(drop)
    }

    async fn rewrite_line(&self, line: &Line) -> Result<()> {
        let sql = "update lines set purpose = $3 where workspace_id = $1 and id = $2";
        let values = vec![
            id(line.workspace.uuid()),
            id(line.id.uuid()),
            line.purpose.as_str().into(),
        ];
        self.execute(sql, values).await.map(drop)
    }

    async fn rewrite_card(&self, card: &Card) -> Result<()> {
        let sql = "update cards set prompt = $3, options = $4 where workspace_id = $1 and id = $2";
        let values = vec![
            id(card.workspace.uuid()),
            id(card.id.uuid()),
            card.prompt.as_str().into(),
            json(&card.options)?,
        ];
        self.execute(sql, values).await.map(drop)
    }

    async fn blank_events(&self, workspace: WorkspaceId, events: &[Sequence]) -> Result<()> {
        let sql = "update events set data = '{}' where workspace_id = $1 and sequence in (#)";
        let first = [id(workspace.uuid())];
        let sequences = events.iter().map(|event| number(event.0)).collect();
        self.for_ids(sql, &first, sequences).await.map(drop)
    }
}
