//! Orders at media providers. The order itself is one JSON text; what is asked for stands in columns beside it.

use async_trait::async_trait;
use domain::Result;
use domain::ids::{JobId, TaskId, WorkspaceId};
use domain::job::{Job, JobReads, JobWrites};
use domain::time::Timestamp;
use sea_orm::Value;

use super::tasks::task_ids;
use super::{Row, Session, at, id, json, lock, number, placeholders};
use crate::link::{DatabaseRow, Link};

fn job(row: &DatabaseRow) -> Result<Job> {
    Row::of("jobs", row).json("body")
}

#[async_trait]
impl<C: Link> JobReads for Session<C> {
    async fn list_jobs_by_id(&self, ids: &[JobId]) -> Result<Vec<Job>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "select * from jobs where id in ({})",
            placeholders(1, ids.len())
        );
        let values = ids.iter().map(|job| id(job.uuid())).collect();
        let rows = self.rows(&sql, values).await?;
        rows.iter().map(job).collect()
    }

    async fn list_jobs(&self, tasks: &[TaskId]) -> Result<Vec<Job>> {
        if tasks.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "select j.* from tasks t join jobs j on j.workspace_id = t.workspace_id and j.task_id = t.id where t.id in ({}) \
             order by j.created_at, j.id",
            placeholders(1, tasks.len())
        );
        let rows = self.rows(&sql, task_ids(tasks)).await?;
        rows.iter().map(job).collect()
    }

    async fn list_jobs_under_way(&self, workspace: WorkspaceId, task: TaskId) -> Result<Vec<Job>> {
        let sql = "select * from jobs where workspace_id = $1 and task_id = $2 and is_under_way order by created_at, id";
        let values = vec![id(workspace.uuid()), id(task.uuid())];
        let rows = self.rows(sql, values).await?;
        rows.iter().map(job).collect()
    }

    async fn list_due_jobs(&self, now: Timestamp, limit: u32) -> Result<Vec<(WorkspaceId, JobId)>> {
        let sql =
            "select workspace_id, id from jobs where due_at <= $1 order by due_at, id limit $2";
        let rows = self
            .rows(sql, vec![at(now), number(u64::from(limit))])
            .await?;
        rows.iter()
            .map(|row| {
                let row = Row::of("jobs", row);
                let workspace = WorkspaceId::from_uuid(row.uuid("workspace_id")?);
                Ok((workspace, JobId::from_uuid(row.uuid("id")?)))
            })
            .collect()
    }

    async fn next_due_job(&self) -> Result<Option<Timestamp>> {
        let sql = "select due_at from jobs where due_at is not null order by due_at limit 1";
        let row = self.row(sql, Vec::new()).await?;
        row.map(|row| Row::of("jobs", &row).time("due_at"))
            .transpose()
    }

    async fn find_job_by_upstream(&self, provider: &str, upstream: &str) -> Result<Option<JobId>> {
        let sql = "select id from jobs where provider = $1 and upstream_id = $2 limit 1";
        let row = self
            .row(sql, vec![provider.into(), upstream.into()])
            .await?;
        row.map(|row| Ok(JobId::from_uuid(Row::of("jobs", &row).uuid("id")?)))
            .transpose()
    }
}

/// What changes of a job, in the order of `update_job`.
fn changing_values(job: &Job) -> Result<Vec<Value>> {
    Ok(vec![
        id(job.workspace.uuid()),
        id(job.id.uuid()),
        job.upstream.clone().into(),
        job.is_under_way().into(),
        job.due_at.map(Timestamp::micros).into(),
        json(job)?,
    ])
}

#[async_trait]
impl<C: Link> JobWrites for Session<C> {
    async fn insert_job(&self, job: &Job) -> Result<()> {
        let mut values = changing_values(job)?;
        values.extend([
            id(job.task.uuid()),
            job.call.to_string().into(),
            job.provider.as_str().into(),
            at(job.created_at),
        ]);
        let columns = "jobs (workspace_id, id, upstream_id, is_under_way, due_at, body, task_id, call_id, provider, created_at)";
        self.insert(columns, 10, values).await
    }

    async fn update_job(&self, job: &Job) -> Result<()> {
        let sql = "update jobs set upstream_id = $3, is_under_way = $4, due_at = $5, body = $6 where workspace_id = $1 and id = $2";
        self.execute(sql, changing_values(job)?).await.map(drop)
    }

    async fn note_job_notice(
        &self,
        workspace: WorkspaceId,
        job: JobId,
        notice: &str,
        time: Timestamp,
    ) -> Result<bool> {
        let sql = "insert into job_notices (workspace_id, job_id, notice, at) values ($1, $2, $3, $4) on conflict do nothing";
        let values = vec![
            id(workspace.uuid()),
            id(job.uuid()),
            notice.into(),
            at(time),
        ];
        Ok(self.execute(sql, values).await? == 1)
    }

    async fn announce_jobs(&self) -> Result<()> {
        lock(&self.group).tell_jobs();
        Ok(())
    }
}
