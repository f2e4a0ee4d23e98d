//! Works that tasks refer to, and how far each task has seen them.

use domain::Result;
use domain::document::Version;
use domain::ids::{TaskId, WorkId, WorkspaceId};
use domain::task::LinkedWork;
use domain::time::Timestamp;

use super::tasks::task_ids;
use super::{Row, Session, id, number, placeholders};
use crate::link::{DatabaseRow, Link};

/// Keeps the later of the time that is there and the one that comes; either may be missing.
const LATER_TIMES: &str = "\
     last_read_at = case when task_works.last_read_at is null or excluded.last_read_at > task_works.last_read_at \
     then excluded.last_read_at else task_works.last_read_at end, \
     last_written_at = case when task_works.last_written_at is null or excluded.last_written_at > task_works.last_written_at \
     then excluded.last_written_at else task_works.last_written_at end";

fn linked(row: &DatabaseRow) -> Result<LinkedWork> {
    let row = Row::of("task_works", row);
    Ok(LinkedWork {
        workspace: WorkspaceId::from_uuid(row.uuid("workspace_id")?),
        task: TaskId::from_uuid(row.uuid("task_id")?),
        work: WorkId::from_uuid(row.uuid("work_id")?),
        seen_version: Version(row.number("seen_version")?),
        last_read_at: row.optional_time("last_read_at")?,
        last_written_at: row.optional_time("last_written_at")?,
    })
}

impl<C: Link> Session<C> {
    pub(super) async fn linked_works(&self, tasks: &[TaskId]) -> Result<Vec<LinkedWork>> {
        if tasks.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "select l.* from tasks t join task_works l on l.workspace_id = t.workspace_id and l.task_id = t.id \
             where t.id in ({}) order by l.task_id, l.place",
            placeholders(1, tasks.len())
        );
        let rows = self.rows(&sql, task_ids(tasks)).await?;
        rows.iter().map(linked).collect()
    }

    pub(super) async fn linked_tasks(
        &self,
        workspace: WorkspaceId,
        works: &[WorkId],
    ) -> Result<Vec<LinkedWork>> {
        if works.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "select * from task_works where workspace_id = $1 and work_id in ({})",
            placeholders(2, works.len())
        );
        let values =
            std::iter::once(id(workspace.uuid())).chain(works.iter().map(|work| id(work.uuid())));
        let rows = self.rows(&sql, values.collect()).await?;
        rows.iter().map(linked).collect()
    }

    pub(super) async fn put_linked_work_row(&self, linked: &LinkedWork) -> Result<()> {
        let sql = format!(
            "insert into task_works (workspace_id, task_id, work_id, place, seen_version, last_read_at, last_written_at) \
             select $1, $2, $3, coalesce(max(place), 0) + 1, $4, $5, $6 from task_works where workspace_id = $1 and task_id = $2 \
             on conflict (workspace_id, task_id, work_id) do update set seen_version = case \
             when excluded.seen_version > task_works.seen_version then excluded.seen_version else task_works.seen_version end, \
             {LATER_TIMES}"
        );
        let values = vec![
            id(linked.workspace.uuid()),
            id(linked.task.uuid()),
            id(linked.work.uuid()),
            number(linked.seen_version.0),
            linked.last_read_at.map(Timestamp::micros).into(),
            linked.last_written_at.map(Timestamp::micros).into(),
        ];
        self.execute(&sql, values).await.map(drop)
    }
}
