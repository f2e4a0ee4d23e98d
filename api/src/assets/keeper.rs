//! Writing bytes whose hash is known before: they become a blob only where they are what the hash says.

use aws_lc_rs::digest::{Context, SHA256};
use bytes::Bytes;
use domain::Result;
use domain::blob::{BlobWriter, Blobs};
use domain::ids::WorkspaceId;
use domain::work::AssetFile;

use super::blob_key;
use super::receive::hexadecimal;

/// Bytes on their way into a workspace's blobs. Dropping it leaves nothing behind.
pub struct Keeper {
    workspace: WorkspaceId,
    writer: Box<dyn BlobWriter>,
    hash: Context,
    count: u64,
}

impl Keeper {
    /// Begins with no bytes.
    pub async fn begin(blobs: &dyn Blobs, workspace: WorkspaceId) -> Result<Self> {
        Ok(Self {
            workspace,
            writer: blobs.create(workspace).await?,
            hash: Context::new(&SHA256),
            count: 0,
        })
    }

    /// Adds bytes.
    pub async fn write(&mut self, bytes: Bytes) -> Result<()> {
        self.hash.update(&bytes);
        self.count += bytes.len() as u64;
        self.writer.write(bytes).await
    }

    /// Keeps the bytes, where they are those of this file; false, and nothing is kept, where they are not.
    pub async fn finish(self, file: &AssetFile) -> Result<bool> {
        let digest = self.hash.finish();
        if self.count != file.byte_size || hexadecimal(digest.as_ref()) != file.sha256 {
            return Ok(false);
        }
        let key = blob_key(self.workspace, &file.sha256);
        self.writer.finish(&key).await?;
        Ok(true)
    }
}
