//! Works, without their documents.

use async_trait::async_trait;
use domain::Result;
use domain::document::Version;
use domain::ids::{UploadId, WorkId, WorkspaceId};
use domain::page::{Page, PageRequest};
use domain::people::CreatedPosition;
use domain::time::Timestamp;
use domain::work::{
    AssetFile, Change, NodeVersion, PendingChange, QuarantinedUpdate, Revision, Snapshot,
    StoredDocument, Upload, Work, WorkKind, WorkReads, WorkWrites,
};
use sea_orm::Value;

use super::{Row, Session, among, at, id, number, placeholders};
use crate::link::{DatabaseRow, Link};

fn work(row: &DatabaseRow) -> Result<Work> {
    let row = Row::of("works", row);
    let sha256: Option<String> = row.get("sha256")?;
    let asset = sha256.map(|sha256| {
        Ok::<_, domain::Error>(AssetFile {
            sha256,
            media_type: row.get("media_type")?,
            byte_size: row.number("byte_size")?,
        })
    });
    Ok(Work {
        id: WorkId::from_uuid(row.uuid("id")?),
        workspace: WorkspaceId::from_uuid(row.uuid("workspace_id")?),
        kind: row.named("kind", WorkKind::from_name)?,
        title: row.get("title")?,
        version: Version(row.number("version")?),
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
        updated_by: row.parsed("updated_by")?,
        deleted_at: row.optional_time("deleted_at")?,
        asset: asset.transpose()?,
    })
}

/// The file's columns: hash, media type, size.
fn file_values(file: Option<&AssetFile>) -> [Value; 3] {
    [
        file.map(|file| file.sha256.clone()).into(),
        file.map(|file| file.media_type.clone()).into(),
        file.map(|file| i64::try_from(file.byte_size).unwrap_or(i64::MAX))
            .into(),
    ]
}

fn kinds_filter(kinds: &[WorkKind], values: &mut Vec<Value>) -> String {
    among("kind", kinds.iter().map(|kind| kind.name()), values)
}

#[async_trait]
impl<C: Link> WorkReads for Session<C> {
    async fn list_works_by_id(&self, ids: &[WorkId]) -> Result<Vec<Work>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "select * from works where id in ({})",
            placeholders(1, ids.len())
        );
        let rows = self
            .rows(&sql, ids.iter().map(|work| id(work.uuid())).collect())
            .await?;
        rows.iter().map(work).collect()
    }

    async fn list_works(
        &self,
        workspace: WorkspaceId,
        kinds: &[WorkKind],
        page: PageRequest<CreatedPosition>,
    ) -> Result<Page<Work>> {
        let mut values = vec![id(workspace.uuid()), number(u64::from(page.first) + 1)];
        let mut sql =
            "select * from works where workspace_id = $1 and deleted_at is null".to_owned();
        if let Some(after) = page.after {
            sql.push_str(" and (created_at < $3 or (created_at = $3 and id < $4))");
            values.extend([at(after.at), id(after.id)]);
        }
        sql.push_str(&kinds_filter(kinds, &mut values));
        sql.push_str(" order by created_at desc, id desc limit $2");
        let rows = self.rows(&sql, values).await?;
        Ok(Page::from_overread(
            rows.iter().map(work).collect::<Result<_>>()?,
            page.first,
        ))
    }

    async fn count_works(&self, workspace: WorkspaceId, kinds: &[WorkKind]) -> Result<u64> {
        let mut values = vec![id(workspace.uuid())];
        let filter = kinds_filter(kinds, &mut values);
        let sql = format!(
            "select count(*) as n from works where workspace_id = $1 and deleted_at is null{filter}"
        );
        self.count(&sql, values).await
    }

    async fn load_documents(
        &self,
        ids: &[WorkId],
        at: Option<Version>,
    ) -> Result<Vec<StoredDocument>> {
        self.documents(ids, at).await
    }

    async fn list_changes(&self, work: WorkId, after: Version, limit: u32) -> Result<Vec<Change>> {
        self.changes(work, after, limit).await
    }

    async fn list_node_versions(
        &self,
        works: &[WorkId],
        at: Option<Version>,
    ) -> Result<Vec<NodeVersion>> {
        self.node_versions(works, at).await
    }

    async fn list_node_actors(&self, work: WorkId, at: Version) -> Result<Vec<NodeVersion>> {
        self.node_actors(work, at).await
    }

    async fn list_revisions(
        &self,
        work: WorkId,
        page: PageRequest<Version>,
    ) -> Result<Page<Revision>> {
        self.revisions_page(work, page).await
    }

    async fn list_newest_revisions(&self, works: &[WorkId], limit: u32) -> Result<Vec<Revision>> {
        self.newest_revisions(works, limit).await
    }

    async fn list_revisions_after(&self, work: WorkId, version: Version) -> Result<Vec<Revision>> {
        self.revisions_after(work, version).await
    }

    async fn find_upload(&self, upload: UploadId) -> Result<Option<Upload>> {
        self.upload(upload).await
    }

    async fn find_file(&self, workspace: WorkspaceId, sha256: &str) -> Result<Option<AssetFile>> {
        self.file(workspace, sha256).await
    }

    async fn list_quarantine(&self, work: WorkId, limit: u32) -> Result<Vec<QuarantinedUpdate>> {
        self.quarantine(work, limit).await
    }
}

#[async_trait]
impl<C: Link> WorkWrites for Session<C> {
    async fn insert_work(&self, work: &Work) -> Result<()> {
        let columns = "works (workspace_id, id, kind, title, version, created_at, updated_at, updated_by, deleted_at, sha256, media_type, byte_size)";
        let mut values = vec![
            id(work.workspace.uuid()),
            id(work.id.uuid()),
            work.kind.name().into(),
            work.title.as_str().into(),
            number(work.version.0),
            at(work.created_at),
            at(work.updated_at),
            work.updated_by.to_string().into(),
            work.deleted_at.map(Timestamp::micros).into(),
        ];
        values.extend(file_values(work.asset.as_ref()));
        self.insert(columns, 12, values).await
    }

    async fn update_work(&self, work: &Work) -> Result<()> {
        let sql = "update works set title = $3, updated_at = $4, updated_by = $5, deleted_at = $6, sha256 = $7, media_type = $8, byte_size = $9 \
                   where workspace_id = $1 and id = $2";
        let mut values = vec![
            id(work.workspace.uuid()),
            id(work.id.uuid()),
            work.title.as_str().into(),
            at(work.updated_at),
            work.updated_by.to_string().into(),
            work.deleted_at.map(Timestamp::micros).into(),
        ];
        values.extend(file_values(work.asset.as_ref()));
        self.execute(sql, values).await.map(drop)
    }

    async fn append_changes(
        &self,
        work: WorkId,
        workspace: WorkspaceId,
        changes: &[PendingChange],
    ) -> Result<Version> {
        self.append(work, workspace, changes).await
    }

    async fn insert_snapshot(&self, workspace: WorkspaceId, snapshot: &Snapshot) -> Result<()> {
        let sql = "insert into snapshots (workspace_id, work_id, version, state) values ($1, $2, $3, $4) on conflict do nothing";
        let values = vec![
            id(workspace.uuid()),
            id(snapshot.work.uuid()),
            number(snapshot.version.0),
            snapshot.state.to_vec().into(),
        ];
        self.execute(sql, values).await.map(drop)
    }

    async fn insert_quarantined(&self, update: &QuarantinedUpdate) -> Result<()> {
        self.insert_quarantine_row(update).await
    }

    async fn insert_upload(&self, upload: &Upload) -> Result<()> {
        self.insert_upload_row(upload).await
    }

    async fn insert_file(&self, workspace: WorkspaceId, file: &AssetFile) -> Result<()> {
        self.insert_file_row(workspace, file).await
    }

    async fn finish_upload(
        &self,
        upload: UploadId,
        file: &AssetFile,
        time: Timestamp,
    ) -> Result<bool> {
        self.finish_upload_row(upload, file, time).await
    }
}
