//! What tasks have made since a time: read by whoever forgets.

use domain::Result;
use domain::event::Sequence;
use domain::ids::{TaskId, WorkspaceId};
use domain::message::Message;
use domain::time::Timestamp;
use domain::turn::{Call, LargeResult, Step};

use super::calls::call;
use super::messages::message;
use super::steps::step_in;
use super::{Row, Session, at, id};
use crate::link::Link;

impl<C: Link> Session<C> {
    pub(super) async fn agent_messages(
        &self,
        task: TaskId,
        since: Timestamp,
    ) -> Result<Vec<Message>> {
        let sql = "select * from messages where workspace_id = (select workspace_id from tasks where id = $1) and task_id = $1 \
                   and created_at >= $2 and author not like 'person:%'";
        let rows = self.rows(sql, vec![id(task.uuid()), at(since)]).await?;
        rows.iter().map(message).collect()
    }

    pub(super) async fn entry_before(&self, task: TaskId, since: Timestamp) -> Result<u64> {
        let sql = "select coalesce(min(sequence) - 1, 9223372036854775807) as n from journal \
                   where workspace_id = (select workspace_id from tasks where id = $1) and task_id = $1 and at >= $2";
        self.count(sql, vec![id(task.uuid()), at(since)]).await
    }

    pub(super) async fn steps_since(&self, task: TaskId, since: Timestamp) -> Result<Vec<Step>> {
        let sql = "select s.* from turns n join steps s on s.workspace_id = n.workspace_id and s.turn_id = n.id \
                   where n.workspace_id = (select workspace_id from tasks where id = $1) and n.task_id = $1 and s.opened_at >= $2";
        let rows = self.rows(sql, vec![id(task.uuid()), at(since)]).await?;
        rows.iter()
            .map(|row| step_in(&Row::of("steps", row)))
            .collect()
    }

    pub(super) async fn calls_since(
        &self,
        task: TaskId,
        since: Timestamp,
    ) -> Result<Vec<(Call, Option<LargeResult>)>> {
        let sql = "select c.*, r.body as large_body from turns n join steps s on s.workspace_id = n.workspace_id and s.turn_id = n.id \
                   join calls c on c.workspace_id = s.workspace_id and c.turn_id = s.turn_id and c.step_number = s.number \
                   left join results r on r.workspace_id = c.workspace_id and r.turn_id = c.turn_id \
                   and r.step_number = c.step_number and r.call_index = c.call_index \
                   where n.workspace_id = (select workspace_id from tasks where id = $1) and n.task_id = $1 and s.opened_at >= $2";
        let rows = self.rows(sql, vec![id(task.uuid()), at(since)]).await?;
        rows.iter()
            .map(|row| {
                let body: Option<String> = Row::of("results", row).get("large_body")?;
                Ok((call(row)?, body.map(|body| LargeResult { body })))
            })
            .collect()
    }

    pub(super) async fn told_lines(
        &self,
        workspace: WorkspaceId,
        task: TaskId,
        since: Timestamp,
    ) -> Result<Vec<(Sequence, String)>> {
        let sql = "select sequence, data from events where workspace_id = $1 and task_id = $2 and at >= $3 and kind = 'TASK_UPDATED'";
        let values = vec![id(workspace.uuid()), id(task.uuid()), at(since)];
        let mut told = Vec::new();
        for row in self.rows(sql, values).await? {
            let row = Row::of("events", &row);
            let data: serde_json::Value = row.json("data")?;
            if let Some(line) = data["shortLine"].as_str() {
                told.push((Sequence(row.number("sequence")?), line.to_owned()));
            }
        }
        Ok(told)
    }
}
