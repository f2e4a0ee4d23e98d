//! Uploads, the files they brought, and refused updates.

use bytes::Bytes;
use domain::Result;
use domain::ids::{UploadId, UserId, WorkId, WorkspaceId};
use domain::time::Timestamp;
use domain::work::{AssetFile, KEPT_QUARANTINED, QuarantinedUpdate, Upload};
use uuid::Uuid;

use super::{Row, Session, at, id, number};
use crate::link::Link;

impl<C: Link> Session<C> {
    pub(super) async fn upload(&self, upload: UploadId) -> Result<Option<Upload>> {
        let Some(row) = self
            .row(
                "select * from uploads where id = $1",
                vec![id(upload.uuid())],
            )
            .await?
        else {
            return Ok(None);
        };
        let row = Row::of("uploads", &row);
        Ok(Some(Upload {
            id: upload,
            workspace: WorkspaceId::from_uuid(row.uuid("workspace_id")?),
            work: WorkId::from_uuid(row.uuid("work_id")?),
            user: UserId::from_uuid(row.uuid("user_id")?),
            media_type: row.get("media_type")?,
            byte_size: row.number("byte_size")?,
            created_at: row.time("created_at")?,
            finished_at: row.optional_time("finished_at")?,
        }))
    }

    pub(super) async fn insert_upload_row(&self, upload: &Upload) -> Result<()> {
        let values = vec![
            id(upload.workspace.uuid()),
            id(upload.id.uuid()),
            id(upload.work.uuid()),
            id(upload.user.uuid()),
            upload.media_type.as_str().into(),
            number(upload.byte_size),
            at(upload.created_at),
            upload.finished_at.map(Timestamp::micros).into(),
        ];
        self.insert("uploads (workspace_id, id, work_id, user_id, media_type, byte_size, created_at, finished_at)", 8, values).await
    }

    pub(super) async fn finish_upload_row(
        &self,
        upload: UploadId,
        file: &AssetFile,
        time: Timestamp,
    ) -> Result<bool> {
        let sql = "update uploads set finished_at = $2 where id = $1 and finished_at is null returning workspace_id";
        let values = vec![id(upload.uuid()), at(time)];
        let Some(row) = self.rows_written(sql, values).await?.pop() else {
            return Ok(false);
        };
        let workspace = WorkspaceId::from_uuid(Row::of("uploads", &row).uuid("workspace_id")?);
        self.insert_file_row(workspace, file).await?;
        Ok(true)
    }

    pub(super) async fn insert_file_row(
        &self,
        workspace: WorkspaceId,
        file: &AssetFile,
    ) -> Result<()> {
        let sql = "insert into files (workspace_id, sha256, media_type, byte_size) values ($1, $2, $3, $4) on conflict do nothing";
        let values = vec![
            id(workspace.uuid()),
            file.sha256.as_str().into(),
            file.media_type.as_str().into(),
            number(file.byte_size),
        ];
        self.execute(sql, values).await.map(drop)
    }

    pub(super) async fn file(
        &self,
        workspace: WorkspaceId,
        sha256: &str,
    ) -> Result<Option<AssetFile>> {
        let sql = "select * from files where workspace_id = $1 and sha256 = $2";
        let row = self
            .row(sql, vec![id(workspace.uuid()), sha256.into()])
            .await?;
        row.as_ref()
            .map(|row| file(&Row::of("files", row)))
            .transpose()
    }

    pub(super) async fn insert_quarantine_row(&self, update: &QuarantinedUpdate) -> Result<()> {
        // The id only tells rows apart; the bytes and the time decide it, so that a second run stores the same row.
        let name = [
            update.at.micros().to_be_bytes().as_slice(),
            update.work.uuid().as_bytes(),
            &update.bytes,
        ]
        .concat();
        let values = vec![
            id(update.workspace.uuid()),
            id(fingerprint(&name)),
            id(update.work.uuid()),
            update.actor.to_string().into(),
            update.reason.as_str().into(),
            update.bytes.to_vec().into(),
            at(update.at),
        ];
        let sql = "insert into quarantine (workspace_id, id, work_id, actor, reason, body, at) values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing";
        self.execute(sql, values).await?;
        let sql = "delete from quarantine where work_id = $1 and at < \
                   (select at from quarantine where work_id = $1 order by at desc limit 1 offset $2)";
        let values = vec![
            id(update.work.uuid()),
            number(u64::from(KEPT_QUARANTINED) - 1),
        ];
        self.execute(sql, values).await.map(drop)
    }

    pub(super) async fn quarantine(
        &self,
        work: WorkId,
        limit: u32,
    ) -> Result<Vec<QuarantinedUpdate>> {
        let sql = "select * from quarantine where work_id = $1 order by at desc, id limit $2";
        let rows = self
            .rows(sql, vec![id(work.uuid()), number(u64::from(limit))])
            .await?;
        rows.iter()
            .map(|row| {
                let row = Row::of("quarantine", row);
                Ok(QuarantinedUpdate {
                    work,
                    workspace: WorkspaceId::from_uuid(row.uuid("workspace_id")?),
                    actor: row.parsed("actor")?,
                    reason: row.get("reason")?,
                    bytes: Bytes::from(row.get::<Vec<u8>>("body")?),
                    at: row.time("at")?,
                })
            })
            .collect()
    }
}

pub(super) fn file(row: &Row<'_>) -> Result<AssetFile> {
    Ok(AssetFile {
        sha256: row.get("sha256")?,
        media_type: row.get("media_type")?,
        byte_size: row.number("byte_size")?,
    })
}

/// Sixteen bytes that differ where the content differs (FNV-1a, 128 bit).
fn fingerprint(bytes: &[u8]) -> Uuid {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    Uuid::from_u128(bytes.iter().fold(OFFSET, |hash, byte| {
        (hash ^ u128::from(*byte)).wrapping_mul(PRIME)
    }))
}
