//! The port for bytes that are too large for the database: assets and their previews.
//!
//! Invariants
//! - A blob's key starts with its workspace, so no path reaches into another one.
//! - A blob is written once and never changed; its last part is the SHA-256 of its bytes or names what was made of them.

use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::BoxStream;

use crate::error::Result;
use crate::ids::WorkspaceId;
use crate::time::Timestamp;

/// Where a blob lies: `{workspace}/{name}`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BlobKey {
    /// The workspace that owns the bytes.
    pub workspace: WorkspaceId,
    /// Lower-case letters, digits, `-`, `_` and `.` only.
    pub name: String,
}

/// A stream of a blob's bytes.
pub type BlobStream = BoxStream<'static, Result<Bytes>>;

/// A store of blobs.
#[async_trait]
pub trait Blobs: Send + Sync + 'static {
    /// Starts writing a blob whose key is not known yet; nothing is visible before [`BlobWriter::finish`].
    async fn create(&self, workspace: WorkspaceId) -> Result<Box<dyn BlobWriter>>;
    /// Size in bytes, or none where there is no such blob.
    async fn size(&self, key: &BlobKey) -> Result<Option<u64>>;
    /// Streams a range of a blob's bytes; `NotFound` where there is no such blob.
    async fn read(&self, key: &BlobKey, range: Range<u64>) -> Result<BlobStream>;
    /// Removes a blob; one that is not there is no error.
    async fn delete(&self, key: &BlobKey) -> Result<()>;
    /// Removes what a process that ended in the middle left of blobs it was writing, where that was last written to before
    /// this time; returns how many there were.
    async fn sweep(&self, before: Timestamp) -> Result<usize>;
}

/// A blob that is being written. Dropping it unfinished leaves nothing behind.
#[async_trait]
pub trait BlobWriter: Send {
    /// Appends bytes.
    async fn write(&mut self, bytes: Bytes) -> Result<()>;
    /// Makes what was written readable, and durable, under this key.
    async fn finish(self: Box<Self>, key: &BlobKey) -> Result<()>;
}
