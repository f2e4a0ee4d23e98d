//! Notices of what others changed in the works of a task.
//!
//! Invariants
//! - There is one notice for each work of a task: what comes while it is unread is merged into it.

use std::collections::HashSet;

use domain::Result;
use domain::actor::Actor;
use domain::document::{Touched, Version};
use domain::ids::{TaskId, WorkId, WorkspaceId};
use domain::task::{ChangeNotice, NoticedChange};

use super::tasks::task_ids;
use super::{Row, Session, at, id, json, number, placeholders};
use crate::link::{DatabaseRow, Link};

fn notice(row: &DatabaseRow) -> Result<ChangeNotice> {
    let row = Row::of("change_notices", row);
    Ok(ChangeNotice {
        task: TaskId::from_uuid(row.uuid("task_id")?),
        work: WorkId::from_uuid(row.uuid("work_id")?),
        from_version: Version(row.number("from_version")?),
        to_version: Version(row.number("to_version")?),
        touched: row.json("touched")?,
        changed_by: row.json("changed_by")?,
        created_at: row.time("created_at")?,
    })
}

fn new_notice(task: TaskId, noticed: &NoticedChange) -> ChangeNotice {
    ChangeNotice {
        task,
        work: noticed.work,
        from_version: noticed.from_version,
        to_version: noticed.to_version,
        touched: noticed.touched.clone(),
        changed_by: noticed.changed_by.clone(),
        created_at: noticed.at,
    }
}

fn merge(notice: &mut ChangeNotice, noticed: &NoticedChange) {
    notice.to_version = noticed.to_version;
    notice.touched.merge(noticed.touched.clone());
    add_actors(&mut notice.changed_by, &noticed.changed_by);
}

fn add_actors(known: &mut Vec<Actor>, new: &[Actor]) {
    for actor in new {
        if !known.contains(actor) {
            known.push(actor.clone());
        }
    }
}

impl<C: Link> Session<C> {
    pub(super) async fn change_notices(&self, tasks: &[TaskId]) -> Result<Vec<ChangeNotice>> {
        if tasks.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "select n.* from tasks t join change_notices n on n.workspace_id = t.workspace_id and n.task_id = t.id \
             where t.id in ({}) order by n.created_at, n.task_id, n.work_id",
            placeholders(1, tasks.len())
        );
        let rows = self.rows(&sql, task_ids(tasks)).await?;
        rows.iter().map(notice).collect()
    }

    pub(super) async fn merge_notices(
        &self,
        workspace: WorkspaceId,
        tasks: &[TaskId],
        noticed: &NoticedChange,
    ) -> Result<()> {
        if tasks.is_empty() {
            return Ok(());
        }
        let sql = format!(
            "select * from change_notices where workspace_id = $1 and work_id = $2 and task_id in ({})",
            placeholders(3, tasks.len())
        );
        let mut values = vec![id(workspace.uuid()), id(noticed.work.uuid())];
        values.extend(task_ids(tasks));
        let rows = self.rows(&sql, values).await?;
        let mut unread: Vec<_> = rows.iter().map(notice).collect::<Result<_>>()?;
        for notice in &mut unread {
            merge(notice, noticed);
        }
        let known: HashSet<TaskId> = unread.iter().map(|notice| notice.task).collect();
        let new = tasks.iter().filter(|task| !known.contains(task));
        unread.extend(new.map(|task| new_notice(*task, noticed)));
        self.put_notices(workspace, &unread).await
    }

    async fn put_notices(&self, workspace: WorkspaceId, notices: &[ChangeNotice]) -> Result<()> {
        let columns = "change_notices (workspace_id, task_id, work_id, from_version, to_version, touched, changed_by, created_at)";
        let mut values = Vec::with_capacity(notices.len() * 8);
        for notice in notices {
            values.extend([
                id(workspace.uuid()),
                id(notice.task.uuid()),
                id(notice.work.uuid()),
                number(notice.from_version.0),
                number(notice.to_version.0),
                json(&notice.touched)?,
                json(&notice.changed_by)?,
                at(notice.created_at),
            ]);
        }
        let conflict = "on conflict (workspace_id, task_id, work_id) do update set from_version = excluded.from_version, \
             to_version = excluded.to_version, touched = excluded.touched, changed_by = excluded.changed_by, \
             created_at = excluded.created_at";
        self.upsert(columns, 8, values, conflict).await
    }

    /// Removes notices that were seen whole, and leaves of the others what came since.
    pub(super) async fn read_notices(
        &self,
        workspace: WorkspaceId,
        task: TaskId,
        seen: &[(WorkId, Version)],
    ) -> Result<()> {
        if seen.is_empty() {
            return Ok(());
        }
        let mut values = vec![id(workspace.uuid()), id(task.uuid())];
        let mut read = Vec::with_capacity(seen.len());
        for (work, version) in seen {
            let first = values.len() + 1;
            read.push(format!(
                "(work_id = ${first} and to_version <= ${})",
                first + 1
            ));
            values.extend([id(work.uuid()), number(version.0)]);
        }
        let sql = format!(
            "delete from change_notices where workspace_id = $1 and task_id = $2 and ({}) returning work_id",
            read.join(" or ")
        );
        let rows = self.rows_written(&sql, values).await?;
        if rows.len() == seen.len() {
            return Ok(());
        }
        let mut left = self.change_notices(&[task]).await?;
        left.retain_mut(|notice| {
            let version = seen.iter().find(|(work, _)| *work == notice.work);
            version.is_some_and(|(_, version)| {
                let is_partly_read = notice.from_version < *version;
                notice.from_version = *version;
                is_partly_read
            })
        });
        for notice in &mut left {
            self.restate(workspace, notice).await?;
        }
        self.put_notices(workspace, &left).await
    }

    /// Says anew what a notice is about, from the changes that it still stands for.
    async fn restate(&self, workspace: WorkspaceId, notice: &mut ChangeNotice) -> Result<()> {
        let sql = "select workspace_id, work_id, version, actor, at, touched from changes \
                   where workspace_id = $1 and work_id = $2 and version > $3 and version <= $4 order by version";
        let values = vec![
            id(workspace.uuid()),
            id(notice.work.uuid()),
            number(notice.from_version.0),
            number(notice.to_version.0),
        ];
        (notice.touched, notice.changed_by) = (Touched::default(), Vec::new());
        for row in &self.rows(sql, values).await? {
            let row = Row::of("changes", row);
            let actor: Actor = row.parsed("actor")?;
            if matches!(actor, Actor::Agent { task, .. } if task == notice.task) {
                continue;
            }
            if notice.changed_by.is_empty() {
                notice.created_at = row.time("at")?;
            }
            notice.touched.merge(row.json("touched")?);
            add_actors(&mut notice.changed_by, &[actor]);
        }
        Ok(())
    }
}
