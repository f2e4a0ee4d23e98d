//! The event log, and idempotency keys.

use async_trait::async_trait;
use domain::event::{Event, EventKind, NewEvent, Sequence, Subject};
use domain::idempotency::{IDEMPOTENCY_TTL, IdempotencyKey, IdempotencyRecord, IdempotencyStore};
use domain::ids::{CardId, JobId, MemoryId, MessageId, TaskId, UserId, WorkId, WorkspaceId};
use domain::store::{EventReads, EventWrites};
use domain::{Error, Result};
use sea_orm::Value;

use super::gathered::{Into, Rule};
use super::{Row, Session, at, id, json, lock, number, optional_id, placeholders};
use crate::link::{DatabaseRow, Link};

fn event(workspace: WorkspaceId, row: &DatabaseRow) -> Result<Event> {
    let row = Row::of("events", row);
    let task = row.optional_uuid("task_id")?.map(TaskId::from_uuid);
    Ok(Event {
        workspace,
        sequence: Sequence(row.number("sequence")?),
        kind: row.named("kind", EventKind::from_name)?,
        subject: subject(&row, task)?,
        task,
        actor: row.parsed("actor")?,
        at: row.time("at")?,
        data: row.json("data")?,
    })
}

/// What an event is about: the one thing that it names, or else its task.
fn subject(row: &Row<'_>, task: Option<TaskId>) -> Result<Subject> {
    if let Some(work) = row.optional_uuid("work_id")? {
        return Ok(Subject::Work(WorkId::from_uuid(work)));
    }
    if let Some(user) = row.optional_uuid("user_id")? {
        return Ok(Subject::Member(UserId::from_uuid(user)));
    }
    if let Some(message) = row.optional_uuid("message_id")? {
        return Ok(Subject::Message(MessageId::from_uuid(message)));
    }
    if let Some(card) = row.optional_uuid("card_id")? {
        return Ok(Subject::Card(CardId::from_uuid(card)));
    }
    if let Some(job) = row.optional_uuid("job_id")? {
        return Ok(Subject::Job(JobId::from_uuid(job)));
    }
    if let Some(memory) = row.optional_uuid("memory_id")? {
        return Ok(Subject::Memory(MemoryId::from_uuid(memory)));
    }
    // The workspace itself has no column of its own; that its budget changed may stand in the log of a task as well.
    if row.get::<String>("kind")? == EventKind::BudgetChanged.name() {
        return Ok(Subject::Workspace);
    }
    task.map(Subject::Task)
        .ok_or_else(|| row.damaged("work_id", &"no subject"))
}

/// The columns of work, user, task, message, card, job and memory.
fn subject_values(event: &NewEvent) -> [Value; 7] {
    let mut task = event.task;
    let (mut work, mut user, mut message, mut card) = (None, None, None, None);
    let (mut job, mut memory) = (None, None);
    match event.subject {
        Subject::Work(id) => work = Some(id.uuid()),
        Subject::Member(id) => user = Some(id.uuid()),
        Subject::Message(id) => message = Some(id.uuid()),
        Subject::Card(id) => card = Some(id.uuid()),
        Subject::Job(id) => job = Some(id.uuid()),
        Subject::Memory(id) => memory = Some(id.uuid()),
        Subject::Task(id) => task = Some(id),
        Subject::Workspace => {}
    }
    let task = task.map(TaskId::uuid);
    [work, user, task, message, card, job, memory].map(optional_id)
}

#[async_trait]
impl<C: Link> EventReads for Session<C> {
    async fn event_head(&self, workspace: WorkspaceId) -> Result<Sequence> {
        let heads = self.list_event_heads(&[workspace]).await?;
        heads
            .first()
            .map(|(_, head)| *head)
            .ok_or_else(|| Error::not_found("workspace", workspace))
    }

    async fn list_event_heads(
        &self,
        workspaces: &[WorkspaceId],
    ) -> Result<Vec<(WorkspaceId, Sequence)>> {
        if workspaces.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "select id, event_sequence from workspaces where id in ({})",
            placeholders(1, workspaces.len())
        );
        let rows = self
            .rows(
                &sql,
                workspaces
                    .iter()
                    .map(|workspace| id(workspace.uuid()))
                    .collect(),
            )
            .await?;
        rows.iter()
            .map(|row| {
                let row = Row::of("workspaces", row);
                Ok((
                    WorkspaceId::from_uuid(row.uuid("id")?),
                    Sequence(row.number("event_sequence")?),
                ))
            })
            .collect()
    }

    async fn list_events(
        &self,
        workspace: WorkspaceId,
        after: Sequence,
        limit: u32,
    ) -> Result<Vec<Event>> {
        let sql = "select * from events where workspace_id = $1 and sequence > $2 order by sequence limit $3";
        let rows = self
            .rows(
                sql,
                vec![
                    id(workspace.uuid()),
                    number(after.0),
                    number(u64::from(limit)),
                ],
            )
            .await?;
        rows.iter().map(|row| event(workspace, row)).collect()
    }

    async fn list_task_events(
        &self,
        workspace: WorkspaceId,
        task: TaskId,
        after: Sequence,
        limit: u32,
    ) -> Result<Vec<Event>> {
        let sql = "select * from events where workspace_id = $1 and task_id = $2 and sequence > $3 order by sequence limit $4";
        let values = vec![
            id(workspace.uuid()),
            id(task.uuid()),
            number(after.0),
            number(u64::from(limit)),
        ];
        let rows = self.rows(sql, values).await?;
        rows.iter().map(|row| event(workspace, row)).collect()
    }
}

#[async_trait]
impl<C: Link> EventWrites for Session<C> {
    async fn emit(&self, workspace: WorkspaceId, events: Vec<NewEvent>) -> Result<()> {
        if events.is_empty() {
            return Ok(());
        }
        let former = self.hold(workspace).await?;
        let former = former.ok_or_else(|| Error::not_found("workspace", workspace))?;
        let head = Sequence(former.0 + events.len() as u64);
        for (sequence, event) in (former.0 + 1..).zip(&events) {
            let values = event_values(workspace, sequence, event)?;
            self.gather(Into::Events, Rule::Insert, values).await?;
        }
        lock(&self.group).move_head(workspace, head);
        Ok(())
    }

    async fn announce_access_change(&self) -> Result<()> {
        lock(&self.group).tell_access();
        Ok(())
    }
}

/// An event in the order of its table's columns.
fn event_values(workspace: WorkspaceId, sequence: u64, event: &NewEvent) -> Result<Vec<Value>> {
    let mut values = Vec::with_capacity(12);
    values.extend([
        id(workspace.uuid()),
        number(sequence),
        event.kind.name().into(),
    ]);
    values.extend(subject_values(event));
    values.extend([
        event.actor.to_string().into(),
        at(event.at),
        json(&event.data)?,
    ]);
    Ok(values)
}

#[async_trait]
impl<C: Link> IdempotencyStore for Session<C> {
    async fn find_idempotency(&self, key: &IdempotencyKey) -> Result<Option<IdempotencyRecord>> {
        let sql =
            "select * from idempotency where actor = $1 and mutation = $2 and request_key = $3";
        let values = vec![
            key.actor.key().into(),
            key.mutation.into(),
            key.key.as_str().into(),
        ];
        // Nothing of it is ever gathered.
        let Some(row) = self.rows_beside(sql, values).await?.pop() else {
            return Ok(None);
        };
        let row = Row::of("idempotency", &row);
        Ok(Some(IdempotencyRecord {
            input_hash: row.hash("input_hash")?,
            result: row.json("result")?,
            at: row.time("at")?,
        }))
    }

    async fn remember_idempotency(
        &self,
        key: &IdempotencyKey,
        result: &serde_json::Value,
    ) -> Result<()> {
        let expired = key.at.micros() - IDEMPOTENCY_TTL.as_micros() as i64;
        self.sweep_idempotency(expired).await?;
        let sql = "insert into idempotency (actor, mutation, request_key, input_hash, result, at) values ($1, $2, $3, $4, $5, $6) \
                   on conflict (actor, mutation, request_key) do update set input_hash = excluded.input_hash, result = excluded.result, \
                   at = excluded.at where idempotency.at < $7";
        let values = vec![
            key.actor.key().into(),
            key.mutation.into(),
            key.key.as_str().into(),
            key.input_hash.to_vec().into(),
            json(result)?,
            at(key.at),
            expired.into(),
        ];
        if self.execute(sql, values).await? == 0 {
            return Err(Error::Conflict(
                "a request with this idempotency key is under way".to_owned(),
            ));
        }
        Ok(())
    }
}

impl<C: Link> Session<C> {
    /// Removes some of the keys that have expired, so that they do not pile up.
    async fn sweep_idempotency(&self, expired: i64) -> Result<()> {
        // Two transactions that sweep at once do not wait for each other.
        let lock = if self.is_postgres() {
            " for update skip locked"
        } else {
            ""
        };
        let sql = format!(
            "delete from idempotency where (actor, mutation, request_key) in (select actor, mutation, request_key \
             from idempotency where at < $1 order by at limit 100{lock})"
        );
        self.execute(&sql, vec![expired.into()]).await.map(drop)
    }
}
