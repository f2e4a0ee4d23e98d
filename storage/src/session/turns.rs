//! Turns: claiming, fencing, and the way to what is done in them.
//!
//! Invariants
//! - A turn is written only over the epoch that its writer presents: the number of rows written decides.

use async_trait::async_trait;
use domain::ids::{TaskId, TurnId, WorkspaceId};
use domain::page::{End, Page, Window};
use domain::task::TaskStatus;
use domain::time::Timestamp;
use domain::turn::{
    Call, CallId, Claimable, Entered, Epoch, LargeResult, Lease, Step, StepRef, Turn, TurnReads,
    TurnState, TurnWake, TurnWrites,
};
use domain::{Error, Result};
use sea_orm::Value;
use uuid::Uuid;

use super::each::{Each, OF_TASK, at_end};
use super::gathered::{Into, Rule};
use super::tasks::task_keys;
use super::window::List;
use super::{Row, Session, among, at, id, lock, number, placeholders};
use crate::link::{DatabaseRow, Link};

/// Turns that are not over; the words are those of an index.
pub(super) const UNDER_WAY: &str = "state in ('QUEUED', 'RUNNING', 'SUSPENDED')";

fn turn(row: &DatabaseRow) -> Result<Turn> {
    turn_in(&Row::of("turns", row))
}

pub(super) fn turn_in(row: &Row<'_>) -> Result<Turn> {
    let owner: Option<String> = row.get("lease_owner")?;
    let lease = owner.map(|_| {
        Ok::<_, domain::Error>(Lease {
            owner: row.parsed("lease_owner")?,
            expires_at: row.time("lease_expires_at")?,
        })
    });
    Ok(Turn {
        id: TurnId::from_uuid(row.uuid("id")?),
        workspace: WorkspaceId::from_uuid(row.uuid("workspace_id")?),
        task: TaskId::from_uuid(row.uuid("task_id")?),
        number: row.integer("number")?,
        state: row.named("state", TurnState::from_name)?,
        epoch: Epoch(row.integer("epoch")?),
        lease: lease.transpose()?,
        queued_at: row.time("queued_at")?,
        not_before: row.optional_time("not_before")?,
        started_at: row.optional_time("started_at")?,
        ended_at: row.optional_time("ended_at")?,
        settled_steps: row.integer("settled_steps")?,
        moved_at: row.time("moved_at")?,
        idle_claims: row.integer("idle_claims")?,
        has_progress: row.get("has_progress")?,
    })
}

fn claimable(row: &DatabaseRow) -> Result<Claimable> {
    let row = Row::of("turns", row);
    Ok(Claimable {
        workspace: WorkspaceId::from_uuid(row.uuid("workspace_id")?),
        task: TaskId::from_uuid(row.uuid("task_id")?),
        turn: TurnId::from_uuid(row.uuid("id")?),
        epoch: Epoch(row.integer("epoch")?),
    })
}

/// A turn in the order of its table's columns.
fn turn_values(turn: &Turn) -> Vec<Value> {
    vec![
        id(turn.workspace.uuid()),
        id(turn.id.uuid()),
        turn.state.name().into(),
        number(turn.epoch.0.into()),
        turn.lease.map(|lease| lease.owner.to_string()).into(),
        turn.lease.map(|lease| lease.expires_at.micros()).into(),
        at(turn.queued_at),
        turn.not_before.map(Timestamp::micros).into(),
        turn.started_at.map(Timestamp::micros).into(),
        turn.ended_at.map(Timestamp::micros).into(),
        number(turn.settled_steps.into()),
        at(turn.moved_at),
        number(turn.idle_claims.into()),
        turn.has_progress.into(),
        id(turn.task.uuid()),
        number(turn.number.into()),
    ]
}

#[async_trait]
impl<C: Link> TurnReads for Session<C> {
    async fn lease_time(&self, here: Timestamp) -> Result<Timestamp> {
        if !self.is_postgres() {
            return Ok(here);
        }
        let sql = "select (extract(epoch from clock_timestamp()) * 1000000)::bigint as now";
        let row = self.rows_beside(sql, Vec::new()).await?.pop();
        let row = row.ok_or_else(|| Error::internal("the database has no time"))?;
        Row::of("clock_timestamp", &row).time("now")
    }

    async fn list_claimable(&self, now: Timestamp, limit: u32) -> Result<Vec<Claimable>> {
        let sql = format!(
            "select workspace_id, task_id, id, epoch from (select n.workspace_id, n.task_id, n.id, n.epoch, n.queued_at, \
             row_number() over (partition by n.workspace_id order by n.queued_at, n.id) as place \
             from turns n join tasks t on t.workspace_id = n.workspace_id and t.id = n.task_id \
             where n.{UNDER_WAY} and t.status not in ('STOPPED', 'ARCHIVED') and case when n.state = 'RUNNING' \
             then n.lease_expires_at is null or n.lease_expires_at <= $1 else n.not_before is null or n.not_before <= $1 end) due \
             order by place, queued_at, id limit $2"
        );
        let values = vec![at(now), number(limit.into())];
        let rows = self.rows(&sql, values).await?;
        rows.iter().map(claimable).collect()
    }

    async fn list_unmoved(
        &self,
        now: Timestamp,
        moved_before: Timestamp,
        limit: u32,
    ) -> Result<Vec<Claimable>> {
        let sql = format!(
            "select workspace_id, task_id, id, epoch from turns where {UNDER_WAY} and state = 'RUNNING' \
             and lease_expires_at > $1 and moved_at < $2 order by moved_at, id limit $3"
        );
        let values = vec![at(now), at(moved_before), number(limit.into())];
        let rows = self.rows(&sql, values).await?;
        rows.iter().map(claimable).collect()
    }

    async fn list_unwoken(&self, limit: u32) -> Result<Vec<(WorkspaceId, TaskId)>> {
        let mut values = vec![number(limit.into())];
        let statuses = TaskStatus::ALL
            .iter()
            .filter(|status| status.is_woken_by_message());
        let woken = among(
            "t.status",
            statuses.map(|status| status.name()),
            &mut values,
        );
        let sql = format!(
            "select t.workspace_id, t.id from messages m join tasks t on t.workspace_id = m.workspace_id and t.id = m.task_id \
             where m.{} and m.taken_turn is null and t.active_turn is null{woken} \
             group by t.workspace_id, t.id order by min(m.created_at), t.id limit $1",
            super::messages::IN_INBOX
        );
        let rows = self.rows(&sql, values).await?;
        rows.iter()
            .map(|row| {
                let row = Row::of("tasks", row);
                let workspace = WorkspaceId::from_uuid(row.uuid("workspace_id")?);
                Ok((workspace, TaskId::from_uuid(row.uuid("id")?)))
            })
            .collect()
    }

    async fn enter_turn(&self, turn: TurnId) -> Result<Option<Entered>> {
        self.entered(turn).await
    }

    async fn list_turns_by_id(&self, ids: &[TurnId]) -> Result<Vec<Turn>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "select * from turns where id in ({})",
            placeholders(1, ids.len())
        );
        let rows = self.rows(&sql, turn_ids(ids)).await?;
        rows.iter().map(turn).collect()
    }

    async fn list_turns(&self, task: TaskId, window: Window<u32>) -> Result<Page<Turn>> {
        let list = List {
            sql: "select * from turns where workspace_id = (select workspace_id from tasks where id = $1) and task_id = $1",
            values: vec![id(task.uuid())],
            key: &["number"],
        };
        let position = |position: u32| vec![number(position.into())];
        self.window(list, window, position, turn).await
    }

    async fn list_turns_of(&self, tasks: &[TaskId], limit: u32, end: End) -> Result<Vec<Turn>> {
        let each = Each {
            sql: format!(
                "select * from turns where {OF_TASK} {}",
                at_end(&["number"], end, 1)
            ),
            shared: vec![number(limit.into())],
            order: "task_id, number",
        };
        self.each(each, &task_keys(tasks), turn).await
    }

    async fn list_steps_by_number(&self, steps: &[(TaskId, StepRef)]) -> Result<Vec<Step>> {
        self.steps_by_number(steps).await
    }

    async fn list_steps(&self, turns: &[TurnId]) -> Result<Vec<Step>> {
        self.steps(turns).await
    }

    async fn list_calls(&self, turns: &[TurnId]) -> Result<Vec<Call>> {
        self.calls(turns).await
    }

    async fn find_step(&self, turn: TurnId, number: u32) -> Result<Option<Step>> {
        self.step(turn, number).await
    }

    async fn list_step_calls(&self, turn: TurnId, step: u32) -> Result<Vec<Call>> {
        self.step_calls(turn, step).await
    }

    async fn find_equal_call(&self, task: TaskId, key: Uuid) -> Result<Option<Call>> {
        self.equal_call(task, key).await
    }

    async fn find_large_result(&self, call: &CallId) -> Result<Option<LargeResult>> {
        self.large_result(call).await
    }
}

/// The ids of turns as they are stored.
pub(super) fn turn_ids(turns: &[TurnId]) -> Vec<Value> {
    turns.iter().map(|turn| id(turn.uuid())).collect()
}

#[async_trait]
impl<C: Link> TurnWrites for Session<C> {
    async fn insert_turn(&self, turn: &Turn) -> Result<()> {
        self.gather(Into::Turns, Rule::Insert, turn_values(turn))
            .await
    }

    async fn update_turn(&self, turn: &Turn, presented: Epoch) -> Result<()> {
        let rule = if turn.epoch == presented {
            Rule::OverSameEpoch
        } else if turn.epoch == presented.next() {
            Rule::OverFormerEpoch
        } else {
            return Err(Error::internal("an epoch was passed over"));
        };
        self.gather(Into::Turns, rule, turn_values(turn)).await
    }

    async fn put_step(&self, step: &Step) -> Result<()> {
        self.put_step_row(step).await
    }

    async fn insert_calls(&self, calls: &[Call]) -> Result<()> {
        self.insert_call_rows(calls).await
    }

    async fn update_call(&self, call: &Call) -> Result<()> {
        self.update_call_row(call).await
    }

    async fn insert_large_result(
        &self,
        workspace: WorkspaceId,
        call: &CallId,
        result: &LargeResult,
    ) -> Result<()> {
        self.insert_large_result_row(workspace, call, result).await
    }

    async fn announce_turn(&self, wake: TurnWake) -> Result<()> {
        lock(&self.group).tell_turn(wake);
        Ok(())
    }
}
