//! What belongs to the installation, and reading across workspaces.

use async_trait::async_trait;
use domain::Result;
use domain::ids::{MessageId, TaskId, WorkId, WorkspaceId};
use domain::installation::{InstallationReads, InstallationSecret, InstallationWrites};
use domain::work::AssetFile;
use uuid::Uuid;

use super::uploads::file;
use super::{Row, Session, id, number};
use crate::link::Link;

#[async_trait]
impl<C: Link> InstallationReads for Session<C> {
    async fn list_workspace_ids(
        &self,
        after: Option<WorkspaceId>,
        limit: u32,
    ) -> Result<Vec<WorkspaceId>> {
        let after = after.map_or(uuid::Uuid::nil(), WorkspaceId::uuid);
        let rows = self
            .rows(
                "select id from workspaces where id > $1 order by id limit $2",
                vec![id(after), number(u64::from(limit))],
            )
            .await?;
        rows.iter()
            .map(|row| {
                Ok(WorkspaceId::from_uuid(
                    Row::of("workspaces", row).uuid("id")?,
                ))
            })
            .collect()
    }

    async fn list_work_ids(
        &self,
        workspace: WorkspaceId,
        after: Option<WorkId>,
        limit: u32,
    ) -> Result<Vec<WorkId>> {
        let ids = self.ids_of("works", workspace, after.map(WorkId::uuid), limit);
        Ok(ids.await?.into_iter().map(WorkId::from_uuid).collect())
    }

    async fn list_task_ids(
        &self,
        workspace: WorkspaceId,
        after: Option<TaskId>,
        limit: u32,
    ) -> Result<Vec<TaskId>> {
        let tasks = "(select * from tasks where main_of is null) tasks";
        let ids = self.ids_of(tasks, workspace, after.map(TaskId::uuid), limit);
        Ok(ids.await?.into_iter().map(TaskId::from_uuid).collect())
    }

    async fn list_message_ids(
        &self,
        workspace: WorkspaceId,
        after: Option<MessageId>,
        limit: u32,
    ) -> Result<Vec<MessageId>> {
        let ids = self.ids_of("messages", workspace, after.map(MessageId::uuid), limit);
        Ok(ids.await?.into_iter().map(MessageId::from_uuid).collect())
    }

    async fn list_files(
        &self,
        workspace: WorkspaceId,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<AssetFile>> {
        let sql =
            "select * from files where workspace_id = $1 and sha256 > $2 order by sha256 limit $3";
        let values = vec![
            id(workspace.uuid()),
            after.unwrap_or_default().into(),
            number(u64::from(limit)),
        ];
        let rows = self.rows(sql, values).await?;
        rows.iter()
            .map(|row| file(&Row::of("files", row)))
            .collect()
    }

    async fn count_quarantined(&self, workspace: WorkspaceId) -> Result<Vec<(WorkId, u64)>> {
        let sql = "select work_id, count(*) as n from quarantine where workspace_id = $1 group by work_id order by work_id";
        let rows = self.rows(sql, vec![id(workspace.uuid())]).await?;
        rows.iter()
            .map(|row| {
                let row = Row::of("quarantine", row);
                Ok((WorkId::from_uuid(row.uuid("work_id")?), row.number("n")?))
            })
            .collect()
    }
}

impl<C: Link> Session<C> {
    /// Ids of a table's rows of a workspace, in their order.
    pub(super) async fn ids_of(
        &self,
        table: &'static str,
        workspace: WorkspaceId,
        after: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<Uuid>> {
        let sql = format!(
            "select id from {table} where workspace_id = $1 and id > $2 order by id limit $3"
        );
        let after = after.unwrap_or(Uuid::nil());
        let values = vec![id(workspace.uuid()), id(after), number(u64::from(limit))];
        let rows = self.rows(&sql, values).await?;
        rows.iter()
            .map(|row| Row::of(table, row).uuid("id"))
            .collect()
    }
}

#[async_trait]
impl<C: Link> InstallationWrites for Session<C> {
    async fn ensure_secret(&self, candidate: &InstallationSecret) -> Result<InstallationSecret> {
        let sql =
            "insert into installation (name, value) values ('secret', $1) on conflict do nothing";
        self.execute(sql, vec![candidate.0.to_vec().into()]).await?;
        let row = self
            .row(
                "select value from installation where name = 'secret'",
                vec![],
            )
            .await?;
        let row =
            row.ok_or_else(|| domain::Error::internal("the installation's secret was not stored"))?;
        Ok(InstallationSecret(
            Row::of("installation", &row).hash("value")?,
        ))
    }
}
