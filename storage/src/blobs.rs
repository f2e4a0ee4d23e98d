//! Blobs in a folder or in S3.
//!
//! Invariants
//! - Bytes are written under a name of their own and moved to their key when they are whole.
//! - In a folder what is finished has been synced.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use domain::blob::{BlobKey, BlobStream, BlobWriter, Blobs};
use domain::ids::WorkspaceId;
use domain::{Error, Result};
use futures_util::StreamExt;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt, WriteMultipart};
use uuid::Uuid;

/// Parts of one upload that are under way at once.
const PARTS: usize = 4;

/// Opens a folder or an object store.
pub(crate) fn open(url: &str, options: &[(String, String)]) -> Result<Arc<dyn Blobs>> {
    let folder = url
        .strip_prefix("file://")
        .or_else(|| (!url.contains("://")).then_some(url));
    let (objects, prefix) = if let Some(folder) = folder {
        std::fs::create_dir_all(folder)
            .map_err(|error| Error::Unavailable(format!("{folder}: {error}").into()))?;
        let files = LocalFileSystem::new_with_prefix(folder).map_err(from_object)?;
        (
            Arc::new(files.with_fsync(true)) as Arc<dyn ObjectStore>,
            Path::default(),
        )
    } else {
        let url = url::Url::parse(url)
            .map_err(|error| Error::Invalid(format!("`{url}` is no address for blobs: {error}")))?;
        let options = options
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()));
        let (objects, prefix) = object_store::parse_url_opts(&url, options).map_err(from_object)?;
        (Arc::from(objects), prefix)
    };
    Ok(Arc::new(ObjectBlobs { objects, prefix }))
}

struct ObjectBlobs {
    objects: Arc<dyn ObjectStore>,
    prefix: Path,
}

struct ObjectWriter {
    objects: Arc<dyn ObjectStore>,
    prefix: Path,
    temporary: Path,
    upload: Option<WriteMultipart>,
}

fn location(prefix: &Path, workspace: WorkspaceId, name: &str) -> Path {
    prefix.clone().join(workspace.to_string()).join(name)
}

fn from_object(error: object_store::Error) -> Error {
    Error::Unavailable(error.into())
}

#[async_trait]
impl Blobs for ObjectBlobs {
    async fn create(&self, workspace: WorkspaceId) -> Result<Box<dyn BlobWriter>> {
        let temporary = location(
            &self.prefix,
            workspace,
            &format!("incoming-{}", Uuid::new_v4().simple()),
        );
        let upload = self
            .objects
            .put_multipart(&temporary)
            .await
            .map_err(from_object)?;
        Ok(Box::new(ObjectWriter {
            objects: self.objects.clone(),
            prefix: self.prefix.clone(),
            temporary,
            upload: Some(WriteMultipart::new(upload)),
        }))
    }

    async fn size(&self, key: &BlobKey) -> Result<Option<u64>> {
        match self
            .objects
            .head(&location(&self.prefix, key.workspace, &key.name))
            .await
        {
            Ok(meta) => Ok(Some(meta.size)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(from_object(error)),
        }
    }

    async fn read(&self, key: &BlobKey, range: Range<u64>) -> Result<BlobStream> {
        if range.is_empty() {
            return Ok(futures_util::stream::empty().boxed());
        }
        let options = GetOptions {
            range: Some(GetRange::Bounded(range)),
            ..GetOptions::default()
        };
        let location = location(&self.prefix, key.workspace, &key.name);
        match self.objects.get_opts(&location, options).await {
            Ok(found) => Ok(found
                .into_stream()
                .map(|part| part.map_err(from_object))
                .boxed()),
            Err(object_store::Error::NotFound { .. }) => Err(Error::not_found("blob", &key.name)),
            Err(error) => Err(from_object(error)),
        }
    }

    async fn delete(&self, key: &BlobKey) -> Result<()> {
        match self
            .objects
            .delete(&location(&self.prefix, key.workspace, &key.name))
            .await
        {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(from_object(error)),
        }
    }
}

#[async_trait]
impl BlobWriter for ObjectWriter {
    async fn write(&mut self, bytes: Bytes) -> Result<()> {
        let upload = self
            .upload
            .as_mut()
            .ok_or_else(|| Error::internal("the blob was finished"))?;
        // Waits while too much is on its way, so that memory stays bounded.
        upload.wait_for_capacity(PARTS).await.map_err(from_object)?;
        upload.put(bytes);
        Ok(())
    }

    async fn finish(mut self: Box<Self>, key: &BlobKey) -> Result<()> {
        let upload = self
            .upload
            .take()
            .ok_or_else(|| Error::internal("the blob was finished"))?;
        upload.finish().await.map_err(from_object)?;
        let target = location(&self.prefix, key.workspace, &key.name);
        self.objects
            .rename(&self.temporary, &target)
            .await
            .map_err(from_object)
    }
}

impl Drop for ObjectWriter {
    fn drop(&mut self) {
        let Some(upload) = self.upload.take() else {
            return;
        };
        // Outside a runtime the server is ending; what is left lies under a name that nobody reads.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if let Err(error) = upload.abort().await {
                    tracing::warn!(%error, "an unfinished blob was not removed");
                }
            });
        }
    }
}
