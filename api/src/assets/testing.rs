//! A store of blobs in memory, for tests.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use domain::blob::{BlobKey, BlobStream, BlobWriter, Blobs};
use domain::ids::WorkspaceId;
use domain::time::Timestamp;
use domain::{Error, Result};
use futures_util::{StreamExt as _, stream};

type Stored = Arc<Mutex<HashMap<BlobKey, Bytes>>>;

/// Blobs in memory.
#[derive(Clone, Default)]
pub(crate) struct MemoryBlobs(Stored);

impl MemoryBlobs {
    /// The bytes of a blob.
    pub(crate) fn bytes(&self, key: &BlobKey) -> Option<Bytes> {
        self.0.lock().expect("not poisoned").get(key).cloned()
    }

    /// Stores a blob.
    pub(crate) fn put(&self, key: BlobKey, bytes: impl Into<Bytes>) {
        let mut stored = self.0.lock().expect("not poisoned");
        stored.insert(key, bytes.into());
    }

    /// Whether nothing is stored.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().expect("not poisoned").is_empty()
    }
}

struct Writer {
    stored: Stored,
    bytes: BytesMut,
}

#[async_trait]
impl BlobWriter for Writer {
    async fn write(&mut self, bytes: Bytes) -> Result<()> {
        self.bytes.extend_from_slice(&bytes);
        Ok(())
    }

    async fn finish(self: Box<Self>, key: &BlobKey) -> Result<()> {
        let mut stored = self.stored.lock().expect("not poisoned");
        stored.insert(key.clone(), self.bytes.freeze());
        Ok(())
    }
}

#[async_trait]
impl Blobs for MemoryBlobs {
    async fn create(&self, _: WorkspaceId) -> Result<Box<dyn BlobWriter>> {
        let (stored, bytes) = (self.0.clone(), BytesMut::new());
        Ok(Box::new(Writer { stored, bytes }))
    }

    async fn size(&self, key: &BlobKey) -> Result<Option<u64>> {
        Ok(self.bytes(key).map(|bytes| bytes.len() as u64))
    }

    async fn read(&self, key: &BlobKey, range: Range<u64>) -> Result<BlobStream> {
        let bytes = self
            .bytes(key)
            .ok_or_else(|| Error::not_found("blob", &key.name))?;
        let part = bytes.slice(range.start as usize..range.end as usize);
        Ok(stream::iter([Ok(part)]).boxed())
    }

    async fn sweep(&self, _before: Timestamp) -> Result<usize> {
        Ok(0)
    }

    async fn delete(&self, key: &BlobKey) -> Result<()> {
        self.0.lock().expect("not poisoned").remove(key);
        Ok(())
    }
}
