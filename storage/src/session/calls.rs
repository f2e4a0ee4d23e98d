//! Calls of steps, and results that were too large for them.

use domain::Result;
use domain::ids::{TaskId, TurnId, WorkspaceId};
use domain::time::Timestamp;
use domain::turn::{Call, CallId, CallState, Epoch, LargeResult, Risk};
use sea_orm::Value;
use uuid::Uuid;

use super::turns::turn_ids;
use super::{Row, Session, id, json, number, optional_json, placeholders};
use crate::link::{DatabaseRow, Link};

fn call(row: &DatabaseRow) -> Result<Call> {
    let row = Row {
        table: "calls",
        row,
    };
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

/// State, attempts, epoch, result, error, and the times of a call.
fn changing_values(call: &Call) -> Result<[Value; 7]> {
    Ok([
        call.state.name().into(),
        number(call.attempts.into()),
        number(call.epoch.0.into()),
        optional_json(call.result.as_ref())?,
        call.error.clone().into(),
        call.started_at.map(Timestamp::micros).into(),
        call.ended_at.map(Timestamp::micros).into(),
    ])
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
            let row = Row {
                table: "results",
                row: &row,
            };
            let body = row.get("body")?;
            Ok(LargeResult { body })
        })
        .transpose()
    }

    pub(super) async fn insert_call_rows(&self, calls: &[Call]) -> Result<()> {
        let columns = "calls (workspace_id, turn_id, step_number, call_index, task_id, tool, risk, idempotent, arguments, equal_key, \
                       state, attempts, epoch, result, error, started_at, ended_at)";
        let mut values = Vec::with_capacity(calls.len() * 17);
        for call in calls {
            values.extend(key(call.workspace, &call.id));
            values.extend([
                id(call.task.uuid()),
                call.tool.as_str().into(),
                call.risk.name().into(),
                call.idempotent.into(),
                json(&call.arguments)?,
                id(call.equal_key()),
            ]);
            values.extend(changing_values(call)?);
        }
        self.insert(columns, 17, values).await
    }

    pub(super) async fn update_call_row(&self, call: &Call) -> Result<()> {
        let sql = "update calls set state = $5, attempts = $6, epoch = $7, result = $8, error = $9, started_at = $10, ended_at = $11 \
                   where workspace_id = $1 and turn_id = $2 and step_number = $3 and call_index = $4";
        let key = key(call.workspace, &call.id).into_iter();
        let values = key.chain(changing_values(call)?).collect();
        self.execute(sql, values).await.map(drop)
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
