//! Lines of executors with their exchanges, and summaries of old history.

use async_trait::async_trait;
use domain::Result;
use domain::ids::{LineId, TaskId, WorkspaceId};
use domain::line::{ContextSegment, Line, LineExchange, LineReads, LineWrites};
use domain::turn::StepRef;

use super::tasks::task_ids;
use super::{Row, Session, at, id, number, placeholders};
use crate::link::{DatabaseRow, Link};

fn line(row: &DatabaseRow) -> Result<Line> {
    let row = Row::of("lines", row);
    Ok(Line {
        id: LineId::from_uuid(row.uuid("id")?),
        workspace: WorkspaceId::from_uuid(row.uuid("workspace_id")?),
        task: TaskId::from_uuid(row.uuid("task_id")?),
        executor: row.get("executor")?,
        purpose: row.get("purpose")?,
        opened_at: row.time("opened_at")?,
    })
}

fn exchange(row: &DatabaseRow) -> Result<LineExchange> {
    let row = Row::of("line_exchanges", row);
    Ok(LineExchange {
        line: LineId::from_uuid(row.uuid("line_id")?),
        number: row.integer("number")?,
        prompt: row.get("prompt")?,
        answer: row.get("answer")?,
        at: row.time("at")?,
        step: StepRef {
            turn: row.integer("turn_number")?,
            step: row.integer("step_number")?,
        },
    })
}

fn segment(row: &DatabaseRow) -> Result<ContextSegment> {
    let row = Row::of("context_segments", row);
    Ok(ContextSegment {
        number: row.integer("number")?,
        from_sequence: row.number("from_sequence")?,
        to_sequence: row.number("to_sequence")?,
        summary: row.get("summary")?,
        tokens: row.integer("tokens")?,
    })
}

#[async_trait]
impl<C: Link> LineReads for Session<C> {
    async fn list_lines(&self, tasks: &[TaskId]) -> Result<Vec<Line>> {
        if tasks.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "select l.* from tasks t join lines l on l.workspace_id = t.workspace_id and l.task_id = t.id \
             where t.id in ({}) order by l.opened_at, l.id",
            placeholders(1, tasks.len())
        );
        let rows = self.rows(&sql, task_ids(tasks)).await?;
        rows.iter().map(line).collect()
    }

    async fn find_line(&self, line_id: LineId) -> Result<Option<Line>> {
        let sql = "select * from lines where id = $1";
        let row = self.row(sql, vec![id(line_id.uuid())]).await?;
        row.as_ref().map(line).transpose()
    }

    async fn list_exchanges(&self, lines: &[LineId]) -> Result<Vec<LineExchange>> {
        if lines.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "select x.* from lines l join line_exchanges x on x.workspace_id = l.workspace_id and x.line_id = l.id \
             where l.id in ({}) order by x.line_id, x.number",
            placeholders(1, lines.len())
        );
        let values = lines.iter().map(|line| id(line.uuid())).collect();
        let rows = self.rows(&sql, values).await?;
        rows.iter().map(exchange).collect()
    }

    async fn list_segments(&self, task: TaskId, limit: u32) -> Result<Vec<ContextSegment>> {
        let sql = "select * from context_segments where workspace_id = (select workspace_id from tasks where id = $1) \
                   and task_id = $1 order by number desc limit $2";
        let values = vec![id(task.uuid()), number(limit.into())];
        let rows = self.rows(sql, values).await?;
        rows.iter().rev().map(segment).collect()
    }
}

#[async_trait]
impl<C: Link> LineWrites for Session<C> {
    async fn insert_line(&self, line: &Line) -> Result<()> {
        let columns = "lines (workspace_id, id, task_id, executor, purpose, opened_at)";
        let values = vec![
            id(line.workspace.uuid()),
            id(line.id.uuid()),
            id(line.task.uuid()),
            line.executor.as_str().into(),
            line.purpose.as_str().into(),
            at(line.opened_at),
        ];
        self.upsert(columns, 6, values, "on conflict do nothing")
            .await
    }

    async fn insert_exchange(&self, workspace: WorkspaceId, exchange: &LineExchange) -> Result<()> {
        let columns = "line_exchanges (workspace_id, line_id, number, prompt, answer, at, turn_number, step_number)";
        let values = vec![
            id(workspace.uuid()),
            id(exchange.line.uuid()),
            number(exchange.number.into()),
            exchange.prompt.as_str().into(),
            exchange.answer.as_str().into(),
            at(exchange.at),
            number(exchange.step.turn.into()),
            number(exchange.step.step.into()),
        ];
        self.insert(columns, 8, values).await
    }

    async fn insert_segment(
        &self,
        workspace: WorkspaceId,
        task: TaskId,
        segment: &ContextSegment,
    ) -> Result<()> {
        let columns = "context_segments (workspace_id, task_id, number, from_sequence, to_sequence, summary, tokens)";
        let values = vec![
            id(workspace.uuid()),
            id(task.uuid()),
            number(segment.number.into()),
            number(segment.from_sequence),
            number(segment.to_sequence),
            segment.summary.as_str().into(),
            number(segment.tokens.into()),
        ];
        self.insert(columns, 7, values).await
    }
}
