//! Taking in the bytes of an upload, as a stream.
//!
//! Invariants
//! - Bytes are counted, hashed and checked while they are written; memory holds one chunk and the beginning.
//! - A blob becomes visible only when every check has passed.
//!
//! Not here: who may (`upload`), the asset's document (`DocumentService::finish_upload`).

use std::time::Duration;

use aws_lc_rs::digest::{Context, SHA256};
use bytes::Bytes;
use domain::blob::Blobs;
use domain::work::{AssetFile, Upload};
use futures_util::{Stream, StreamExt as _};
use tokio::time::timeout;

use super::error::AssetError;
use super::media_type::{HEAD_BYTES, TextCheck, check_head, is_text};
use crate::assets::blob_key;
use crate::config::ByteSize;

/// How long a sender may be silent.
const SILENCE: Duration = Duration::from_secs(30);

/// Bytes that are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// What came.
    pub file: AssetFile,
}

/// Stores the bytes of an upload as a blob of its workspace, or refuses them and stores nothing.
pub async fn receive<S, E>(
    blobs: &dyn Blobs,
    upload: &Upload,
    body: S,
) -> Result<Received, AssetError>
where
    S: Stream<Item = Result<Bytes, E>> + Send,
{
    let mut body = std::pin::pin!(body);
    let mut writer = blobs.create(upload.workspace).await?;
    let mut check = Check::new(upload);
    while let Some(chunk) = timeout(SILENCE, body.next())
        .await
        .map_err(|_| AssetError::Broken)?
    {
        let chunk = chunk.map_err(|_| AssetError::Broken)?;
        check.push(&chunk)?;
        writer.write(chunk).await?;
    }
    let file = check.finish()?;
    let key = blob_key(upload.workspace, &file.sha256);
    writer.finish(&key).await?;
    Ok(Received { file })
}

/// The checks that run along.
struct Check<'a> {
    upload: &'a Upload,
    hash: Context,
    came: u64,
    head: Option<Vec<u8>>,
    text: Option<TextCheck>,
}

impl<'a> Check<'a> {
    fn new(upload: &'a Upload) -> Self {
        Self {
            upload,
            hash: Context::new(&SHA256),
            came: 0,
            head: Some(Vec::new()),
            text: is_text(&upload.media_type).then(TextCheck::default),
        }
    }

    fn push(&mut self, chunk: &[u8]) -> Result<(), AssetError> {
        self.came += chunk.len() as u64;
        if self.came > self.upload.byte_size {
            let promised = ByteSize(self.upload.byte_size);
            return Err(AssetError::TooMany { promised });
        }
        self.hash.update(chunk);
        if let Some(text) = &mut self.text
            && !text.push(chunk)
        {
            return Err(self.no_text());
        }
        if let Some(head) = &mut self.head {
            let room = HEAD_BYTES - head.len();
            head.extend_from_slice(&chunk[..room.min(chunk.len())]);
            if head.len() == HEAD_BYTES {
                self.check_head()?;
            }
        }
        Ok(())
    }

    /// Looks at the beginning, once: when it is there, or at the end of a short file.
    fn check_head(&mut self) -> Result<(), AssetError> {
        let Some(head) = self.head.take() else {
            return Ok(());
        };
        check_head(&self.upload.media_type, &head).map_err(AssetError::WrongType)
    }

    fn finish(mut self) -> Result<AssetFile, AssetError> {
        let promised = ByteSize(self.upload.byte_size);
        if self.came < promised.0 {
            let came = ByteSize(self.came);
            return Err(AssetError::TooFew { promised, came });
        }
        self.check_head()?;
        if self.text.as_ref().is_some_and(|text| !text.is_whole()) {
            return Err(self.no_text());
        }
        let digest = self.hash.finish();
        Ok(AssetFile {
            sha256: hexadecimal(digest.as_ref()),
            media_type: self.upload.media_type.clone(),
            byte_size: self.came,
        })
    }

    fn no_text(&self) -> AssetError {
        AssetError::WrongType(format!(
            "`{}` was promised, which is text in UTF-8, and the bytes are not",
            self.upload.media_type
        ))
    }
}

/// Bytes as lower-case hexadecimal digits.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(DIGITS[usize::from(digit)]));
    digits.collect()
}

#[cfg(test)]
mod tests {
    use domain::ids::{UploadId, UserId, WorkId, WorkspaceId};
    use domain::time::Timestamp;
    use futures_util::stream;

    use super::super::testing::MemoryBlobs;
    use super::*;

    fn upload(media_type: &str, byte_size: u64) -> Upload {
        Upload {
            id: UploadId::new(),
            workspace: WorkspaceId::new(),
            work: WorkId::new(),
            user: UserId::new(),
            media_type: media_type.into(),
            byte_size,
            created_at: Timestamp::from_micros(0),
            finished_at: None,
        }
    }

    async fn send(
        blobs: &MemoryBlobs,
        upload: &Upload,
        bytes: &'static [u8],
    ) -> Result<Received, AssetError> {
        let chunks = bytes
            .chunks(2)
            .map(|chunk| Ok::<_, ()>(Bytes::from_static(chunk)));
        receive(blobs, upload, stream::iter(chunks)).await
    }

    #[tokio::test]
    async fn whole_bytes_are_stored_under_their_hash() {
        let (blobs, upload) = (MemoryBlobs::default(), upload("text/plain", 3));
        let received = send(&blobs, &upload, b"abc").await.expect("stored");
        assert_eq!(
            received.file.sha256,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        let key = blob_key(upload.workspace, &received.file.sha256);
        assert_eq!(blobs.bytes(&key).as_deref(), Some(&b"abc"[..]));
    }

    #[tokio::test]
    async fn too_few_and_too_many_bytes_store_nothing() {
        let blobs = MemoryBlobs::default();
        let few = send(&blobs, &upload("text/plain", 4), b"abc").await;
        assert!(matches!(few, Err(AssetError::TooFew { .. })), "{few:?}");
        let many = send(&blobs, &upload("text/plain", 2), b"abc").await;
        assert!(matches!(many, Err(AssetError::TooMany { .. })), "{many:?}");
        assert!(blobs.is_empty());
    }

    #[tokio::test]
    async fn lying_bytes_and_a_broken_connection_store_nothing() {
        let blobs = MemoryBlobs::default();
        let lie = send(&blobs, &upload("image/png", 3), b"abc").await;
        assert!(matches!(lie, Err(AssetError::WrongType(_))), "{lie:?}");
        let cut = send(
            &blobs,
            &upload("text/plain", 3),
            "a☃".as_bytes().split_at(3).0,
        )
        .await;
        assert!(matches!(cut, Err(AssetError::WrongType(_))), "{cut:?}");
        let upload = upload("text/plain", 3);
        let broken = stream::iter([Ok(Bytes::from_static(b"ab")), Err(())]);
        let broken = receive(&blobs, &upload, broken).await;
        assert!(matches!(broken, Err(AssetError::Broken)), "{broken:?}");
        assert!(blobs.is_empty());
    }
}
