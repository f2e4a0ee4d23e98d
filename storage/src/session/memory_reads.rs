//! Reading memories.

use async_trait::async_trait;
use domain::Result;
use domain::event::Sequence;
use domain::ids::{LineId, MemoryId, MessageId, TaskId, TurnId, UserId, WorkspaceId};
use domain::memory::{
    Evidence, ExtractionGroup, ForgottenMessage, Memory, MemoryFilter, MemoryMark, MemoryReads,
    MemoryRejection, MemoryScope, MemoryVersion, Tombstone, VersionRef, Waiting,
};
use domain::message::Message;
use domain::page::{Page, PageRequest};
use domain::people::CreatedPosition;
use domain::time::Timestamp;
use domain::turn::{Call, LargeResult, Step};
use sea_orm::Value;
use uuid::Uuid;

use super::memories::{
    evidence, forgotten, memory, memory_with_content, rejection, tombstone, version,
};
use super::{Row, Session, among, at, id, number, placeholders};
use crate::link::{DatabaseRow, Link};

/// Ids in one statement.
const IDS: usize = 500;
/// What this person may see; `$2` is the person.
const VISIBLE: &str = "workspace_id = $1 and (scope <> 'PERSON' or scope_key = $2)";
/// Evidence beside whether its message may be used.
const EVIDENCE: &str = "select e.*, case when f.message_id is null and (m.state is null or m.state not in ('WITHDRAWN', 'REPLACED')) \
     then cast(1 as bigint) else cast(0 as bigint) end as usable from evidence e \
     left join forgotten_messages f on f.workspace_id = e.workspace_id and f.message_id = e.message_id \
     left join messages m on m.workspace_id = e.workspace_id and m.id = e.message_id";
/// Memories beside what holds of them.
const HOLDING: &str = "select m.*, v.content from memories m join memory_versions v \
     on v.workspace_id = m.workspace_id and v.memory_id = m.id and v.number = m.head and v.content is not null";

/// The ids of memories as they are stored.
fn memory_ids(ids: &[MemoryId]) -> Vec<Value> {
    ids.iter().map(|memory| id(memory.uuid())).collect()
}

pub(super) fn message_ids(messages: &[MessageId]) -> Vec<Value> {
    messages.iter().map(|message| id(message.uuid())).collect()
}

/// The group that rows of waiting messages are of; nothing stands for no task and no memory.
pub(super) fn group_values(group: &ExtractionGroup) -> Vec<Value> {
    vec![
        id(group.workspace.uuid()),
        id(group.user.uuid()),
        id(group.task.map(TaskId::uuid).unwrap_or_default()),
        id(group.memory.map(MemoryId::uuid).unwrap_or_default()),
    ]
}

/// What chooses them.
pub(super) const OF_GROUP: &str =
    "workspace_id = $1 and user_id = $2 and task_id = $3 and memory_id = $4 and state = 'WAITING'";

fn group(row: &DatabaseRow) -> Result<ExtractionGroup> {
    let row = Row::of("extractions", row);
    let named = |uuid: Uuid| (!uuid.is_nil()).then_some(uuid);
    Ok(ExtractionGroup {
        workspace: WorkspaceId::from_uuid(row.uuid("workspace_id")?),
        user: UserId::from_uuid(row.uuid("user_id")?),
        task: named(row.uuid("task_id")?).map(TaskId::from_uuid),
        memory: named(row.uuid("memory_id")?).map(MemoryId::from_uuid),
    })
}

fn waiting(row: &DatabaseRow) -> Result<Waiting> {
    let row = Row::of("extractions", row);
    Ok(Waiting {
        message: MessageId::from_uuid(row.uuid("message_id")?),
        is_stated: row.get("is_stated")?,
        attempts: row.integer("attempts")?,
        queued_at: row.time("queued_at")?,
    })
}

fn version_ref(row: &DatabaseRow) -> Result<VersionRef> {
    let row = Row::of("derivations", row);
    Ok((
        MemoryId::from_uuid(row.uuid("memory_id")?),
        row.integer("number")?,
    ))
}

fn filtered(filter: &MemoryFilter, values: &mut Vec<Value>) -> String {
    let states = filter.states.iter().map(|state| state.name());
    let scopes = filter.scopes.iter().map(|scope| scope.name());
    among("state", states, values) + &among("scope", scopes, values)
}

impl<C: Link> Session<C> {
    /// The rows of ids, in portions; `#` in the text stands for their placeholders, which follow the first values.
    async fn of_ids<T>(
        &self,
        sql: &str,
        first: &[Value],
        ids: Vec<Value>,
        read: fn(&DatabaseRow) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut found = Vec::new();
        for ids in ids.chunks(IDS) {
            let mut values = first.to_vec();
            let sql = sql.replace('#', &placeholders(values.len() + 1, ids.len()));
            values.extend_from_slice(ids);
            for row in self.rows(&sql, values).await? {
                found.push(read(&row)?);
            }
        }
        Ok(found)
    }
}

#[async_trait]
impl<C: Link> MemoryReads for Session<C> {
    async fn list_memories_by_id(&self, ids: &[MemoryId]) -> Result<Vec<Memory>> {
        let sql = "select * from memories where id in (#)";
        self.of_ids(sql, &[], memory_ids(ids), memory).await
    }

    async fn list_memories(
        &self,
        workspace: WorkspaceId,
        reader: UserId,
        filter: &MemoryFilter,
        page: PageRequest<CreatedPosition>,
    ) -> Result<Page<Memory>> {
        let mut values = vec![
            id(workspace.uuid()),
            id(reader.uuid()),
            number(u64::from(page.first) + 1),
        ];
        let mut sql = format!("select * from memories where {VISIBLE}");
        if let Some(after) = page.after {
            sql.push_str(" and (created_at, id) < ($4, $5)");
            values.extend([at(after.at), id(after.id)]);
        }
        sql.push_str(&filtered(filter, &mut values));
        sql.push_str(" order by created_at desc, id desc limit $3");
        let rows = self.rows(&sql, values).await?;
        let rows = rows.iter().map(memory).collect::<Result<_>>()?;
        Ok(Page::from_overread(rows, page.first))
    }

    async fn count_memories(
        &self,
        workspace: WorkspaceId,
        reader: UserId,
        filter: &MemoryFilter,
    ) -> Result<u64> {
        let mut values = vec![id(workspace.uuid()), id(reader.uuid())];
        let filter = filtered(filter, &mut values);
        let sql = format!("select count(*) as n from memories where {VISIBLE}{filter}");
        self.count(&sql, values).await
    }

    async fn list_memory_ids(
        &self,
        workspace: WorkspaceId,
        after: Option<MemoryId>,
        limit: u32,
    ) -> Result<Vec<MemoryId>> {
        let ids = self.ids_of("memories", workspace, after.map(MemoryId::uuid), limit);
        Ok(ids.await?.into_iter().map(MemoryId::from_uuid).collect())
    }

    async fn list_memory_versions(&self, ids: &[MemoryId]) -> Result<Vec<MemoryVersion>> {
        let of_memories = "workspace_id in (select workspace_id from memories where id in (#)) and memory_id in (#)";
        let sql =
            format!("select * from memory_versions where {of_memories} order by memory_id, number");
        let mut versions = self.of_ids(&sql, &[], memory_ids(ids), version).await?;
        let sql =
            format!("select * from derivations where {of_memories} order by memory_id, number");
        let read = |row: &DatabaseRow| {
            let of = version_ref(row)?;
            let row = Row::of("derivations", row);
            let memory = MemoryId::from_uuid(row.uuid("from_memory")?);
            Ok((of, (memory, row.integer("from_number")?)))
        };
        for (of, from) in self.of_ids(&sql, &[], memory_ids(ids), read).await? {
            let found = versions
                .iter_mut()
                .find(|version| (version.memory, version.number) == of);
            if let Some(version) = found {
                version.derived_from.push(from);
            }
        }
        Ok(versions)
    }

    async fn list_contents(&self, ids: &[MemoryId]) -> Result<Vec<(Memory, String)>> {
        let sql = format!("{HOLDING} where m.id in (#) and m.state = 'ACTIVE'");
        self.of_ids(&sql, &[], memory_ids(ids), memory_with_content)
            .await
    }

    async fn list_evidence(&self, ids: &[MemoryId]) -> Result<Vec<Evidence>> {
        let sql = format!(
            "{EVIDENCE} where e.workspace_id in (select workspace_id from memories where id in (#)) and e.memory_id in (#) \
             order by e.memory_id, e.number, e.message_id"
        );
        self.of_ids(&sql, &[], memory_ids(ids), evidence).await
    }

    async fn list_evidence_of(
        &self,
        workspace: WorkspaceId,
        messages: &[MessageId],
    ) -> Result<Vec<Evidence>> {
        let sql = format!("{EVIDENCE} where e.workspace_id = $1 and e.message_id in (#)");
        let first = [id(workspace.uuid())];
        self.of_ids(&sql, &first, message_ids(messages), evidence)
            .await
    }

    async fn list_derived(
        &self,
        workspace: WorkspaceId,
        from: &[VersionRef],
    ) -> Result<Vec<VersionRef>> {
        let mut found = Vec::new();
        for from in from.chunks(IDS) {
            let mut values = vec![id(workspace.uuid())];
            let mut pairs = Vec::with_capacity(from.len());
            for (memory, version) in from {
                pairs.push(format!("({})", placeholders(values.len() + 1, 2)));
                values.extend([id(memory.uuid()), number((*version).into())]);
            }
            let sql = format!(
                "select distinct memory_id, number from derivations where workspace_id = $1 \
                 and (from_memory, from_number) in (values {})",
                pairs.join(", ")
            );
            for row in self.rows(&sql, values).await? {
                found.push(version_ref(&row)?);
            }
        }
        Ok(found)
    }

    async fn find_memory_by_words(
        &self,
        workspace: WorkspaceId,
        scope: MemoryScope,
        words: Uuid,
    ) -> Result<Option<Memory>> {
        let sql = "select * from memories where workspace_id = $1 and scope_key = $2 and words = $3 and state = 'ACTIVE'";
        let values = vec![id(workspace.uuid()), id(scope.key(workspace)), id(words)];
        let row = self.row(sql, values).await?;
        row.as_ref().map(memory).transpose()
    }

    async fn list_newest_memories(
        &self,
        workspace: WorkspaceId,
        scopes: &[MemoryScope],
        limit: u32,
    ) -> Result<Vec<(Memory, String)>> {
        let sql = format!(
            "{HOLDING} where m.workspace_id = $1 and m.scope_key in (#) and m.state = 'ACTIVE' \
             order by m.updated_at desc, m.id desc limit $2"
        );
        let first = [id(workspace.uuid()), number(limit.into())];
        let keys = scopes.iter().map(|scope| id(scope.key(workspace)));
        self.of_ids(&sql, &first, keys.collect(), memory_with_content)
            .await
    }

    async fn list_profile(
        &self,
        workspace: WorkspaceId,
        user: UserId,
        limit: u32,
    ) -> Result<Vec<(Memory, String)>> {
        let sql = format!(
            "{HOLDING} where m.workspace_id = $1 and m.scope_key in ($1, $2) and m.in_profile and m.state = 'ACTIVE' \
             order by m.created_at desc, m.id desc limit $3"
        );
        let values = vec![id(workspace.uuid()), id(user.uuid()), number(limit.into())];
        let rows = self.rows(&sql, values).await?;
        rows.iter().rev().map(memory_with_content).collect()
    }

    async fn memory_mark(&self, workspace: WorkspaceId, user: UserId) -> Result<MemoryMark> {
        let sql = "select coalesce(cast(sum(version) as bigint), 0) as version, coalesce(cast(sum(forgets) as bigint), 0) as forgets \
                   from profiles where workspace_id = $1 and owner in ($1, $2)";
        let values = vec![id(workspace.uuid()), id(user.uuid())];
        let Some(row) = self.row(sql, values).await? else {
            return Ok(MemoryMark::default());
        };
        let row = Row::of("profiles", &row);
        Ok(MemoryMark {
            profile: row.number("version")?,
            forgets: row.number("forgets")?,
        })
    }

    async fn find_tombstone(
        &self,
        workspace: WorkspaceId,
        scopes: &[Uuid],
        words: &[Uuid],
    ) -> Result<Option<Timestamp>> {
        if scopes.is_empty() || words.is_empty() {
            return Ok(None);
        }
        let sql = format!(
            "select max(at) as newest from tombstones where workspace_id = $1 and scope_key in ({}) and words in ({})",
            placeholders(2, scopes.len()),
            placeholders(2 + scopes.len(), words.len())
        );
        let keys = scopes.iter().chain(words).copied().map(id);
        let values = std::iter::once(id(workspace.uuid())).chain(keys);
        let row = self.row(&sql, values.collect()).await?;
        let newest = row.map(|row| Row::of("tombstones", &row).optional_time("newest"));
        Ok(newest.transpose()?.flatten())
    }

    async fn list_tombstones(&self, workspace: WorkspaceId) -> Result<Vec<Tombstone>> {
        let sql = "select * from tombstones where workspace_id = $1 order by at, id";
        let rows = self.rows(sql, vec![id(workspace.uuid())]).await?;
        rows.iter().map(tombstone).collect()
    }

    async fn list_forgotten(
        &self,
        workspace: WorkspaceId,
        messages: Option<&[MessageId]>,
    ) -> Result<Vec<ForgottenMessage>> {
        let all = "select * from forgotten_messages where workspace_id = $1";
        let first = [id(workspace.uuid())];
        if let Some(messages) = messages {
            let sql = format!("{all} and message_id in (#)");
            return self
                .of_ids(&sql, &first, message_ids(messages), forgotten)
                .await;
        }
        let rows = self.rows(all, first.to_vec()).await?;
        rows.iter().map(forgotten).collect()
    }

    async fn list_rejections(
        &self,
        workspace: WorkspaceId,
        user: UserId,
        page: PageRequest<CreatedPosition>,
    ) -> Result<Page<MemoryRejection>> {
        let mut values = vec![
            id(workspace.uuid()),
            id(user.uuid()),
            number(u64::from(page.first) + 1),
        ];
        let mut sql =
            "select * from memory_rejections where workspace_id = $1 and user_id = $2".to_owned();
        if let Some(after) = page.after {
            sql.push_str(" and (at, id) < ($4, $5)");
            values.extend([at(after.at), id(after.id)]);
        }
        sql.push_str(" order by at desc, id desc limit $3");
        let rows = self.rows(&sql, values).await?;
        let rows = rows.iter().map(rejection).collect::<Result<_>>()?;
        Ok(Page::from_overread(rows, page.first))
    }

    async fn list_due_extractions(
        &self,
        quiet_since: Timestamp,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<ExtractionGroup>> {
        // What is derived anew waits for no quiet: nobody is speaking of it.
        let sql = "select workspace_id, user_id, task_id, memory_id from extractions where state = 'WAITING' \
                   group by workspace_id, user_id, task_id, memory_id \
                   having (max(queued_at) <= $1 or memory_id <> $4) and max(not_before) <= $2 order by min(queued_at) limit $3";
        let values = vec![
            at(quiet_since),
            at(now),
            number(limit.into()),
            id(Uuid::nil()),
        ];
        let rows = self.rows(sql, values).await?;
        rows.iter().map(group).collect()
    }

    async fn list_waiting(
        &self,
        group: &ExtractionGroup,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Waiting>> {
        let mut values = group_values(group);
        values.extend([at(now), number(limit.into())]);
        let sql = format!(
            "select * from extractions where {OF_GROUP} and not_before <= $5 order by queued_at, message_id limit $6"
        );
        let rows = self.rows(&sql, values).await?;
        rows.iter().map(waiting).collect()
    }

    async fn list_left_out(&self, task: TaskId) -> Result<Vec<u64>> {
        let sql = "select number from left_out where workspace_id = (select workspace_id from tasks where id = $1) \
                   and subject = $1 order by number";
        let rows = self.rows(sql, vec![id(task.uuid())]).await?;
        rows.iter()
            .map(|row| Row::of("left_out", row).number("number"))
            .collect()
    }

    async fn list_left_out_exchanges(&self, lines: &[LineId]) -> Result<Vec<(LineId, u32)>> {
        let sql = "select subject, number from left_out where workspace_id in (select workspace_id from lines where id in (#)) \
                   and subject in (#)";
        let lines = lines.iter().map(|line| id(line.uuid())).collect();
        let read = |row: &DatabaseRow| {
            let row = Row::of("left_out", row);
            Ok((
                LineId::from_uuid(row.uuid("subject")?),
                row.integer("number")?,
            ))
        };
        self.of_ids(sql, &[], lines, read).await
    }

    async fn list_memory_faults(&self, workspace: WorkspaceId) -> Result<Vec<MemoryId>> {
        let sql = "select distinct v.memory_id from memory_versions v where v.workspace_id = $1 and ( \
                   (v.state = 'FORGOTTEN' and v.content is not null) or (v.state = 'ACTIVE' and exists ( \
                   select 1 from evidence e join forgotten_messages f on f.workspace_id = e.workspace_id and f.message_id = e.message_id \
                   where e.workspace_id = v.workspace_id and e.memory_id = v.memory_id and e.number = v.number and e.role <> 'CONFIRM')))";
        let rows = self.rows(sql, vec![id(workspace.uuid())]).await?;
        rows.iter()
            .map(|row| {
                let row = Row::of("memory_versions", row);
                Ok(MemoryId::from_uuid(row.uuid("memory_id")?))
            })
            .collect()
    }

    async fn list_tasks_since(
        &self,
        workspace: WorkspaceId,
        since: Timestamp,
    ) -> Result<Vec<TaskId>> {
        let sql = "select id from tasks where workspace_id = $1 and updated_at >= $2 order by id";
        let rows = self
            .rows(sql, vec![id(workspace.uuid()), at(since)])
            .await?;
        rows.iter()
            .map(|row| Ok(TaskId::from_uuid(Row::of("tasks", row).uuid("id")?)))
            .collect()
    }

    async fn list_agent_messages(&self, task: TaskId, since: Timestamp) -> Result<Vec<Message>> {
        self.agent_messages(task, since).await
    }

    async fn journal_before(&self, task: TaskId, since: Timestamp) -> Result<u64> {
        self.entry_before(task, since).await
    }

    async fn list_steps_since(&self, task: TaskId, since: Timestamp) -> Result<Vec<Step>> {
        self.steps_since(task, since).await
    }

    async fn list_calls_since(
        &self,
        task: TaskId,
        since: Timestamp,
    ) -> Result<Vec<(Call, Option<LargeResult>)>> {
        self.calls_since(task, since).await
    }

    async fn list_told_lines(
        &self,
        workspace: WorkspaceId,
        task: TaskId,
        since: Timestamp,
    ) -> Result<Vec<(Sequence, String)>> {
        self.told_lines(workspace, task, since).await
    }
}

/// The key of a call in statements.
pub(super) fn call_key(
    workspace: WorkspaceId,
    turn: TurnId,
    (step, index): (u32, u32),
) -> Vec<Value> {
    vec![
        id(workspace.uuid()),
        id(turn.uuid()),
        number(step.into()),
        number(index.into()),
    ]
}
