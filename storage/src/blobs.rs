//! Blobs in a folder or in S3.
//!
//! Invariants
//! - Bytes are written under a name of their own and moved to their key when they are whole.
//! - In a folder what is finished has been synced.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use async_trait::async_trait;
use bytes::Bytes;
use domain::blob::{BlobKey, BlobStream, BlobWriter, Blobs};
use domain::ids::WorkspaceId;
use domain::time::Timestamp;
use domain::{Error, Result};
use futures_util::{StreamExt, TryStreamExt};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt, WriteMultipart};
use uuid::Uuid;

/// Parts of one upload that are under way at once.
const PARTS: usize = 4;
/// How the names of unfinished blobs begin; sorted, those of finished ones come before.
const INCOMING: &str = "incoming-";

/// Opens a folder or an object store.
pub(crate) fn open(url: &str, options: &[(String, String)]) -> Result<Arc<dyn Blobs>> {
    let folder = url
        .strip_prefix("file://")
        .or_else(|| (!url.contains("://")).then_some(url));
    let (objects, prefix, folder) = if let Some(folder) = folder {
        std::fs::create_dir_all(folder)
            .map_err(|error| Error::Unavailable(format!("{folder}: {error}").into()))?;
        let files = LocalFileSystem::new_with_prefix(folder).map_err(from_object)?;
        (
            Arc::new(files.with_fsync(true)) as Arc<dyn ObjectStore>,
            Path::default(),
            Some(PathBuf::from(folder)),
        )
    } else {
        let url = url::Url::parse(url)
            .map_err(|error| Error::Invalid(format!("`{url}` is no address for blobs: {error}")))?;
        // Whoever names an address without TLS means it: a service beside the server.
        let is_plain = options
            .iter()
            .any(|(name, value)| name == "aws_endpoint_url" && value.starts_with("http://"));
        let plain = is_plain.then(|| ("aws_allow_http".to_owned(), "true".to_owned()));
        let options = options.iter().cloned().chain(plain);
        let (objects, prefix) = object_store::parse_url_opts(&url, options).map_err(from_object)?;
        (Arc::from(objects), prefix, None)
    };
    Ok(Arc::new(ObjectBlobs {
        objects,
        prefix,
        folder,
    }))
}

struct ObjectBlobs {
    objects: Arc<dyn ObjectStore>,
    prefix: Path,
    /// Where they lie in a folder.
    folder: Option<PathBuf>,
}

impl ObjectBlobs {
    async fn sweep_objects(&self, before: Timestamp) -> Result<usize> {
        let listed = self.objects.list_with_delimiter(Some(&self.prefix)).await;
        let mut count = 0;
        for workspace in listed.map_err(from_object)?.common_prefixes {
            // Lists what comes behind this name, which no finished blob does.
            let behind = workspace.clone().join(INCOMING);
            let mut objects = self.objects.list_with_offset(Some(&workspace), &behind);
            while let Some(object) = objects.try_next().await.map_err(from_object)? {
                let name = object.location.filename().unwrap_or_default();
                let is_old = object.last_modified.timestamp_micros() < before.micros();
                if name.starts_with(INCOMING) && is_old {
                    let deleted = self.objects.delete(&object.location).await;
                    deleted.map_err(from_object)?;
                    count += 1;
                }
            }
        }
        Ok(count)
    }
}

/// The files themselves: the object store shows nothing of what is being written.
fn sweep_folder(folder: &std::path::Path, before: Timestamp) -> std::io::Result<usize> {
    let before = UNIX_EPOCH + Duration::from_micros(before.micros().max(0).unsigned_abs());
    let mut count = 0;
    for workspace in std::fs::read_dir(folder)? {
        let workspace = workspace?;
        if !workspace.file_type()?.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(workspace.path())? {
            let file = file?;
            let is_incoming = file.file_name().to_string_lossy().starts_with(INCOMING);
            if is_incoming && file.metadata()?.modified()? < before {
                std::fs::remove_file(file.path())?;
                count += 1;
            }
        }
    }
    Ok(count)
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
            &format!("{INCOMING}{}", Uuid::new_v4().simple()),
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

    async fn sweep(&self, before: Timestamp) -> Result<usize> {
        let Some(folder) = self.folder.clone() else {
            return self.sweep_objects(before).await;
        };
        let swept = tokio::task::spawn_blocking(move || sweep_folder(&folder, before)).await;
        let swept = swept.map_err(|error| Error::Internal(error.into()))?;
        swept.map_err(|error| Error::Unavailable(error.into()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_what_was_left_unfinished_long_ago_is_swept_away() {
        let folder = std::env::temp_dir().join(format!("atelier-sweep-{}", Uuid::new_v4()));
        let workspace = folder.join("workspace_0");
        std::fs::create_dir_all(&workspace).expect("a folder");
        let old = UNIX_EPOCH + Duration::from_secs(1_000);
        for name in ["incoming-1#1", "incoming-2", "incoming-3", "0a0b"] {
            let file = std::fs::File::create(workspace.join(name)).expect("a file");
            let is_new = name == "incoming-3";
            if !is_new {
                file.set_modified(old).expect("a time");
            }
        }
        let blobs = open(&folder.display().to_string(), &[]).expect("opens");
        let swept = blobs.sweep(Timestamp::from_micros(2_000_000_000)).await;
        assert_eq!(swept.expect("is swept"), 2);
        let mut left: Vec<_> = std::fs::read_dir(&workspace)
            .expect("a folder")
            .map(|file| file.expect("a file").file_name())
            .collect();
        left.sort();
        assert_eq!(left, ["0a0b", "incoming-3"]);
        std::fs::remove_dir_all(&folder).expect("is removed");
    }

    #[tokio::test]
    async fn objects_are_swept_as_files_are() {
        let objects = Arc::new(object_store::memory::InMemory::new());
        for name in ["incoming-1", "0a0b", "incoming-2"] {
            let path = Path::from(format!("prefix/workspace_0/{name}"));
            objects.put(&path, "bytes".into()).await.expect("is put");
        }
        let blobs = ObjectBlobs {
            objects,
            prefix: Path::from("prefix"),
            folder: None,
        };
        let none = blobs.sweep(Timestamp::from_micros(0)).await;
        assert_eq!(none.expect("is swept"), 0);
        let all = blobs.sweep(Timestamp::from_micros(i64::MAX)).await;
        assert_eq!(all.expect("is swept"), 2);
    }
}
