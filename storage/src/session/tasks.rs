//! Tasks and their projections.

use async_trait::async_trait;
use domain::Result;
use domain::document::Version;
use domain::ids::{MessageId, TaskId, TurnId, UserId, WorkId, WorkspaceId};
use domain::page::{Page, PageRequest};
use domain::people::CreatedPosition;
use domain::task::{
    Autonomy, ChangeNotice, LinkedWork, NoticedChange, Projections, Task, TaskFilter, TaskKind,
    TaskReads, TaskStatus, TaskWrites,
};
use domain::time::Timestamp;
use sea_orm::Value;

use super::gathered::{Into, Rule};
use super::{Row, Session, among, at, id, json, number, optional_id, placeholders};
use crate::link::{DatabaseRow, Link};

fn task(row: &DatabaseRow) -> Result<Task> {
    task_in(&Row::of("tasks", row))
}

pub(super) fn task_in(row: &Row<'_>) -> Result<Task> {
    let budget: Option<i64> = row.get("budget_micros")?;
    Ok(Task {
        id: TaskId::from_uuid(row.uuid("id")?),
        workspace: WorkspaceId::from_uuid(row.uuid("workspace_id")?),
        kind: row.named("kind", TaskKind::from_name)?,
        status: row.named("status", TaskStatus::from_name)?,
        status_reason: row.get("status_reason")?,
        title: row.get("title")?,
        goal: row.get("goal")?,
        brief: row.get("brief")?,
        language: row.get("language")?,
        created_by: UserId::from_uuid(row.uuid("created_by")?),
        origin: row.optional_uuid("origin")?.map(MessageId::from_uuid),
        main_of: row.optional_uuid("main_of")?.map(UserId::from_uuid),
        autonomy: row.named("autonomy", Autonomy::from_name)?,
        budget_micros: budget.map(|_| row.number("budget_micros")).transpose()?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
        journal_head: row.number("journal_head")?,
        news_head: row.number("news_head")?,
        active_turn: row.optional_uuid("active_turn")?.map(TurnId::from_uuid),
        course: row.json("course")?,
        usage: row.json("usage")?,
    })
}

fn projections(row: &DatabaseRow) -> Result<(TaskId, Projections)> {
    let row = Row::of("projections", row);
    let task = TaskId::from_uuid(row.uuid("task_id")?);
    Ok((task, projections_in(&row)?))
}

pub(super) fn projections_in(row: &Row<'_>) -> Result<Projections> {
    Ok(Projections {
        summary: row.get("summary")?,
        short_line: row.get("short_line")?,
        checklist: row.json("checklist")?,
        rewritten_at: row.optional_time("rewritten_at")?,
        journal_sequence: row.number("journal_sequence")?,
    })
}

/// A task in the order of its table's columns.
fn task_values(task: &Task) -> Result<Vec<Value>> {
    Ok(vec![
        id(task.workspace.uuid()),
        id(task.id.uuid()),
        task.kind.name().into(),
        task.status.name().into(),
        task.status_reason.clone().into(),
        task.title.as_str().into(),
        task.brief.as_str().into(),
        task.language.as_str().into(),
        task.autonomy.name().into(),
        task.budget_micros.map(|micros| micros as i64).into(),
        at(task.updated_at),
        number(task.journal_head),
        number(task.news_head),
        optional_id(task.active_turn.map(TurnId::uuid)),
        json(&task.course)?,
        json(&task.usage)?,
        task.goal.as_str().into(),
        id(task.created_by.uuid()),
        optional_id(task.origin.map(MessageId::uuid)),
        at(task.created_at),
        optional_id(task.main_of.map(UserId::uuid)),
    ])
}

/// Tasks that people see; Main is none of them.
const SHOWN: &str = "main_of is null";

fn filtered(filter: &TaskFilter, values: &mut Vec<Value>) -> String {
    let kinds = filter.kinds.iter().map(|kind| kind.name());
    let statuses = filter.statuses.iter().map(|status| status.name());
    among("kind", kinds, values) + &among("status", statuses, values)
}

/// The ids of tasks as they are stored.
pub(super) fn task_ids(tasks: &[TaskId]) -> Vec<Value> {
    tasks.iter().map(|task| id(task.uuid())).collect()
}

/// Tasks as keys of a query for each of them.
pub(super) fn task_keys(tasks: &[TaskId]) -> Vec<Vec<Value>> {
    tasks.iter().map(|task| vec![id(task.uuid())]).collect()
}

#[async_trait]
impl<C: Link> TaskReads for Session<C> {
    async fn list_tasks_by_id(&self, ids: &[TaskId]) -> Result<Vec<Task>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "select * from tasks where id in ({})",
            placeholders(1, ids.len())
        );
        let rows = self.rows(&sql, task_ids(ids)).await?;
        rows.iter().map(task).collect()
    }

    async fn list_tasks(
        &self,
        workspace: WorkspaceId,
        filter: &TaskFilter,
        page: PageRequest<CreatedPosition>,
    ) -> Result<Page<Task>> {
        let mut values = vec![id(workspace.uuid()), number(u64::from(page.first) + 1)];
        let mut sql = format!("select * from tasks where workspace_id = $1 and {SHOWN}");
        if let Some(after) = page.after {
            sql.push_str(" and (created_at, id) < ($3, $4)");
            values.extend([at(after.at), id(after.id)]);
        }
        sql.push_str(&filtered(filter, &mut values));
        sql.push_str(" order by created_at desc, id desc limit $2");
        let rows = self.rows(&sql, values).await?;
        let rows = rows.iter().map(task).collect::<Result<_>>()?;
        Ok(Page::from_overread(rows, page.first))
    }

    async fn count_tasks(&self, workspace: WorkspaceId, filter: &TaskFilter) -> Result<u64> {
        let mut values = vec![id(workspace.uuid())];
        let filter = filtered(filter, &mut values);
        let sql =
            format!("select count(*) as n from tasks where workspace_id = $1 and {SHOWN}{filter}");
        self.count(&sql, values).await
    }

    async fn list_active_tasks(
        &self,
        workspace: WorkspaceId,
        statuses: &[TaskStatus],
        limit: u32,
    ) -> Result<Vec<Task>> {
        let mut values = vec![id(workspace.uuid()), number(limit.into())];
        let names = statuses.iter().map(|status| status.name());
        let chosen = among("status", names, &mut values);
        let sql = format!(
            "select * from tasks where workspace_id = $1 and {SHOWN}{chosen} order by updated_at desc, id desc limit $2"
        );
        let rows = self.rows(&sql, values).await?;
        rows.iter().map(task).collect()
    }

    async fn list_projections(&self, ids: &[TaskId]) -> Result<Vec<(TaskId, Projections)>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "select p.* from tasks t join projections p on p.workspace_id = t.workspace_id and p.task_id = t.id where t.id in ({})",
            placeholders(1, ids.len())
        );
        let rows = self.rows(&sql, task_ids(ids)).await?;
        rows.iter().map(projections).collect()
    }

    async fn list_linked_works(&self, tasks: &[TaskId]) -> Result<Vec<LinkedWork>> {
        self.linked_works(tasks).await
    }

    async fn list_linked_tasks(
        &self,
        workspace: WorkspaceId,
        works: &[WorkId],
    ) -> Result<Vec<LinkedWork>> {
        self.linked_tasks(workspace, works).await
    }

    async fn list_change_notices(&self, tasks: &[TaskId]) -> Result<Vec<ChangeNotice>> {
        self.change_notices(tasks).await
    }
}

#[async_trait]
impl<C: Link> TaskWrites for Session<C> {
    async fn insert_task(&self, task: &Task) -> Result<()> {
        self.gather(Into::Tasks, Rule::Insert, task_values(task)?)
            .await
    }

    async fn update_task(&self, task: &Task) -> Result<()> {
        self.gather(Into::Tasks, Rule::Put, task_values(task)?)
            .await
    }

    async fn put_projections(
        &self,
        workspace: WorkspaceId,
        task: TaskId,
        projections: &Projections,
    ) -> Result<()> {
        let values = vec![
            id(workspace.uuid()),
            id(task.uuid()),
            projections.summary.as_str().into(),
            projections.short_line.as_str().into(),
            json(&projections.checklist)?,
            projections.rewritten_at.map(Timestamp::micros).into(),
            number(projections.journal_sequence),
        ];
        self.gather(Into::Projections, Rule::Put, values).await
    }

    async fn delete_projections(&self, workspace: WorkspaceId, task: TaskId) -> Result<()> {
        let sql = "delete from projections where workspace_id = $1 and task_id = $2";
        let values = vec![id(workspace.uuid()), id(task.uuid())];
        self.execute(sql, values).await.map(drop)
    }

    async fn move_to_task(&self, workspace: WorkspaceId, from: TaskId, into: TaskId) -> Result<()> {
        self.move_rows(workspace, from, into).await
    }

    async fn put_linked_work(&self, linked: &LinkedWork) -> Result<()> {
        self.put_linked_work_row(linked).await
    }

    async fn merge_change_notices(
        &self,
        workspace: WorkspaceId,
        tasks: &[TaskId],
        noticed: &NoticedChange,
    ) -> Result<()> {
        self.merge_notices(workspace, tasks, noticed).await
    }

    async fn read_change_notices(
        &self,
        workspace: WorkspaceId,
        task: TaskId,
        seen: &[(WorkId, Version)],
    ) -> Result<()> {
        self.read_notices(workspace, task, seen).await
    }
}
