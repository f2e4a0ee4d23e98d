//! Calls of steps, and results that were too large for them.

use domain::Result;
use domain::ids::{TaskId, TurnId, WorkspaceId};
use domain::time::Timestamp;
use domain::turn::{Call, CallId, CallState, Epoch, LargeResult, Risk};
use sea_orm::Value;
use uuid::Uuid;

use super::gathered::{Into, Rule};
use super::turns::turn_ids;
use super::{Row, Session, id, json, number, optional_json, placeholders};
use crate::link::{DatabaseRow, Link};

pub(super) fn call(row: &DatabaseRow) -> Result<Call> {
    let row = Row::of("calls", row);
    Ok(Call {
        id: CallId {
            turn: TurnId::from_uuid(row.uuid("turn_id")?),
            step: row.integer("step_number")?,
            index: row.integer("call_index")?,
        },
        workspace: WorkspaceId::from_uuid(row.uuid("workspace_id")?),
        task: TaskId::from_uuid(row.uuid("task_id")?),
        tool: row.get("tool")?,
        risk: row.named("risk", Risk::from_name)?,
        idempotent: row.get("idempotent")?,
        arguments: row.json("arguments")?,
        state: row.named("state", CallState::from_name)?,
        attempts: row.integer("attempts")?,
        epoch: Epoch(row.integer("epoch")?),
        result: row.optional_json("result")?,
        error: row.get("error")?,
        started_at: row.optional_time("started_at")?,
        ended_at: row.optional_time("ended_at")?,
    })
}

/// Workspace and id of a call.
fn key(workspace: WorkspaceId, call: &CallId) -> [Value; 4] {
    [
        id(workspace.uuid()),
        id(call.turn.uuid()),
        number(call.step.into()),
        number(call.index.into()),
    ]
}

/// A call in the order of its table's columns.
fn call_values(call: &Call) -> Result<Vec<Value>> {
    let mut values = Vec::from(key(call.workspace, &call.id));
    values.extend([
        call.state.name().into(),
        number(call.attempts.into()),
        number(call.epoch.0.into()),
        optional_json(call.result.as_ref())?,
        call.error.clone().into(),
        call.started_at.map(Timestamp::micros).into(),
        call.ended_at.map(Timestamp::micros).into(),
        id(call.task.uuid()),
        call.tool.as_str().into(),
        call.risk.name().into(),
        call.idempotent.into(),
        json(&call.arguments)?,
        id(call.equal_key()),
    ]);
    Ok(values)
}

impl<C: Link> Session<C> {
    pub(super) async fn calls(&self, turns: &[TurnId]) -> Result<Vec<Call>> {
        if turns.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "select c.* from turns n join calls c on c.workspace_id = n.workspace_id and c.turn_id = n.id \
             where n.id in ({}) order by c.turn_id, c.step_number, c.call_index",
            placeholders(1, turns.len())
        );
        let rows = self.rows(&sql, turn_ids(turns)).await?;
        rows.iter().map(call).collect()
    }

    pub(super) async fn step_calls(&self, turn: TurnId, step: u32) -> Result<Vec<Call>> {
        let sql = "select * from calls where workspace_id = (select workspace_id from turns where id = $1) and turn_id = $1 \
                   and step_number = $2 order by call_index";
        let values = vec![id(turn.uuid()), number(step.into())];
        let rows = self.rows(sql, values).await?;
        rows.iter().map(call).collect()
    }

    pub(super) async fn equal_call(&self, task: TaskId, key: Uuid) -> Result<Option<Call>> {
        let sql = "select c.* from calls c join turns n on n.workspace_id = c.workspace_id and n.id = c.turn_id \
                   where c.workspace_id = (select workspace_id from tasks where id = $1) and c.task_id = $1 and c.equal_key = $2 \
                   and c.state in ('DONE', 'OUTCOME_UNKNOWN') order by n.number desc, c.step_number desc, c.call_index desc limit 1";
        let row = self.row(sql, vec![id(task.uuid()), id(key)]).await?;
        row.as_ref().map(call).transpose()
    }

    pub(super) async fn large_result(&self, call: &CallId) -> Result<Option<LargeResult>> {
        let sql = "select * from results where workspace_id = (select workspace_id from turns where id = $1) and turn_id = $1 \
                   and step_number = $2 and call_index = $3";
        let values = vec![
            id(call.turn.uuid()),
            number(call.step.into()),
            number(call.index.into()),
        ];
        let row = self.row(sql, values).await?;
        row.map(|row| {
            let row = Row::of("results", &row);
            let body = row.get("body")?;
            Ok(LargeResult { body })
        })
        .transpose()
    }

    pub(super) async fn insert_call_rows(&self, calls: &[Call]) -> Result<()> {
        for call in calls {
            self.gather(Into::Calls, Rule::Insert, call_values(call)?)
                .await?;
        }
        Ok(())
    }

    pub(super) async fn update_call_row(&self, call: &Call) -> Result<()> {
        self.gather(Into::Calls, Rule::Put, call_values(call)?)
            .await
    }

    pub(super) async fn insert_large_result_row(
        &self,
        workspace: WorkspaceId,
        call: &CallId,
        result: &LargeResult,
    ) -> Result<()> {
        let columns = "results (workspace_id, turn_id, step_number, call_index, body)";
        let mut values = key(workspace, call).to_vec();
        values.push(result.body.as_str().into());
        self.upsert(columns, 5, values, "on conflict do nothing")
            .await
    }
}
