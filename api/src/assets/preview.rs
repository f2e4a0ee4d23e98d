//! Small pictures of images.
//!
//! Invariants
//! - An image is decoded on a thread of its own, within limits of pixels and memory; a broken one harms nothing but its
//!   own preview.
//! - All images that are decoded at one time have together at most [`PIXELS`] pixels, and are at most two.
//! - A preview is made once and kept as a blob.

use std::io::Cursor;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use domain::blob::{BlobKey, Blobs};
use domain::ids::WorkspaceId;
use domain::work::AssetFile;
use futures_util::TryStreamExt as _;
use image::{DynamicImage, ImageDecoder as _, ImageFormat, ImageReader, Limits};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::blob_key;
use super::error::AssetError;

/// Longest side of a preview, in pixels.
const SIDE: u32 = 512;
/// Pixels of an image at most.
const PIXELS: u64 = 100_000_000;
/// Bytes that decoding one image may take.
const DECODER_BYTES: u64 = 512 << 20;
/// Bytes of a file at most.
const FILE_BYTES: u64 = 128 << 20;
/// Images that are decoded at once.
const AT_ONCE: usize = 2;
/// Pixels are counted in portions of this size.
const PORTION: u64 = 1_000_000;

/// Makes and keeps previews.
pub(super) struct Previews {
    blobs: Arc<dyn Blobs>,
    places: Semaphore,
    portions: Semaphore,
}

impl Previews {
    pub(super) fn new(blobs: Arc<dyn Blobs>) -> Self {
        Self {
            blobs,
            places: Semaphore::new(AT_ONCE),
            portions: Semaphore::new((PIXELS / PORTION) as usize),
        }
    }

    /// The preview of a file, as PNG.
    pub(super) async fn get(
        &self,
        workspace: WorkspaceId,
        file: &AssetFile,
    ) -> Result<Bytes, AssetError> {
        let key = BlobKey {
            workspace,
            name: format!("{}.preview-{SIDE}.png", file.sha256),
        };
        if let Some(bytes) = self.kept(&key).await? {
            return Ok(bytes);
        }
        let _place = self.places.acquire().await.expect("never closed");
        // Somebody else may have made it while this one waited.
        if let Some(bytes) = self.kept(&key).await? {
            return Ok(bytes);
        }
        let bytes = self.make(workspace, file).await?;
        let mut writer = self.blobs.create(workspace).await?;
        writer.write(bytes.clone()).await?;
        writer.finish(&key).await?;
        Ok(bytes)
    }

    async fn kept(&self, key: &BlobKey) -> Result<Option<Bytes>, AssetError> {
        match self.blobs.size(key).await? {
            Some(size) => Ok(Some(self.read(key, size).await?)),
            None => Ok(None),
        }
    }

    async fn make(&self, workspace: WorkspaceId, file: &AssetFile) -> Result<Bytes, AssetError> {
        let Some(format) = ImageFormat::from_mime_type(&file.media_type) else {
            return Err(no_preview("its type is unknown"));
        };
        if file.byte_size > FILE_BYTES {
            return Err(no_preview("the file is too large"));
        }
        let key = blob_key(workspace, &file.sha256);
        let bytes = self.read(&key, file.byte_size).await?;
        let pixels = pixels(&bytes, format)?;
        let portions = pixels.div_ceil(PORTION).max(1) as u32;
        let _portions = self
            .portions
            .acquire_many(portions)
            .await
            .expect("never closed");
        let made = spawn_blocking(move || shrink(&bytes, format)).await;
        made.unwrap_or_else(|_| Err(no_preview("the image is broken")))
    }

    async fn read(&self, key: &BlobKey, size: u64) -> Result<Bytes, AssetError> {
        let stream = self.blobs.read(key, 0..size).await?;
        let room = BytesMut::with_capacity(size as usize);
        let bytes = stream
            .try_fold(room, |mut bytes, chunk| async move {
                bytes.extend_from_slice(&chunk);
                Ok(bytes)
            })
            .await?;
        Ok(bytes.freeze())
    }
}

fn no_preview(reason: impl Into<String>) -> AssetError {
    AssetError::NoPreview(reason.into())
}

/// How many pixels the image says it has; refuses too many before anything is decoded.
fn pixels(bytes: &[u8], format: ImageFormat) -> Result<u64, AssetError> {
    let (width, height) = ImageReader::with_format(Cursor::new(bytes), format)
        .into_dimensions()
        .map_err(|_| no_preview("the image is broken"))?;
    let pixels = u64::from(width) * u64::from(height);
    if pixels > PIXELS {
        return Err(no_preview(format!(
            "the image has {pixels} pixels, and at most {PIXELS} are decoded"
        )));
    }
    Ok(pixels)
}

fn shrink(bytes: &[u8], format: ImageFormat) -> Result<Bytes, AssetError> {
    let image = decode(bytes, format).map_err(|_| no_preview("the image is broken"))?;
    let image = if image.width() > SIDE || image.height() > SIDE {
        image.thumbnail(SIDE, SIDE)
    } else {
        image
    };
    // What is left of wide or deep colours is not seen at this size, and not every browser shows it.
    let image = if image.color().has_alpha() {
        DynamicImage::from(image.into_rgba8())
    } else {
        DynamicImage::from(image.into_rgb8())
    };
    let mut png = Cursor::new(Vec::new());
    image
        .write_to(&mut png, ImageFormat::Png)
        .map_err(|error| domain::Error::Internal(error.into()))?;
    Ok(png.into_inner().into())
}

/// The first frame, turned as its camera was held.
fn decode(bytes: &[u8], format: ImageFormat) -> image::ImageResult<DynamicImage> {
    let mut limits = Limits::default();
    limits.max_alloc = Some(DECODER_BYTES);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits);
    let mut decoder = reader.into_decoder()?;
    let orientation = decoder.orientation()?;
    let mut image = DynamicImage::from_decoder(decoder)?;
    image.apply_orientation(orientation);
    Ok(image)
}

#[cfg(test)]
mod tests {
    use super::super::testing::MemoryBlobs;
    use super::*;

    fn file(bytes: &[u8], media_type: &str) -> AssetFile {
        AssetFile {
            sha256: "c".repeat(64),
            media_type: media_type.into(),
            byte_size: bytes.len() as u64,
        }
    }

    async fn preview_of(bytes: Vec<u8>, media_type: &str) -> Result<Bytes, AssetError> {
        let (blobs, workspace) = (MemoryBlobs::default(), WorkspaceId::new());
        let file = file(&bytes, media_type);
        blobs.put(blob_key(workspace, &file.sha256), bytes);
        Previews::new(Arc::new(blobs)).get(workspace, &file).await
    }

    fn encoded(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        DynamicImage::new_rgb8(width, height)
            .write_to(&mut bytes, format)
            .expect("encodes");
        bytes.into_inner()
    }

    #[tokio::test]
    async fn every_kind_of_picture_gets_a_small_one_with_its_proportions() {
        for (format, media_type) in [
            (ImageFormat::Png, "image/png"),
            (ImageFormat::Jpeg, "image/jpeg"),
            (ImageFormat::WebP, "image/webp"),
            (ImageFormat::Gif, "image/gif"),
        ] {
            let preview = preview_of(encoded(2_048, 1_024, format), media_type).await;
            let preview = image::load_from_memory(&preview.expect(media_type)).expect("a picture");
            assert_eq!(
                (preview.width(), preview.height()),
                (512, 256),
                "{media_type}"
            );
        }
    }

    #[tokio::test]
    async fn a_picture_that_is_small_already_keeps_its_size() {
        let preview = preview_of(encoded(30, 20, ImageFormat::Png), "image/png").await;
        let preview = image::load_from_memory(&preview.expect("made")).expect("a picture");
        assert_eq!((preview.width(), preview.height()), (30, 20));
    }

    #[tokio::test]
    async fn a_broken_or_boundless_picture_has_none() {
        let mut broken = encoded(64, 64, ImageFormat::Png);
        broken.truncate(60);
        let refused = preview_of(broken, "image/png").await;
        assert!(
            matches!(refused, Err(AssetError::NoPreview(_))),
            "{refused:?}"
        );
        // A GIF that claims 65,535 by 65,535 pixels.
        let bomb = b"GIF89a\xff\xff\xff\xff\x00\x00\x00,\x00\x00\x00\x00\xff\xff\xff\xff\x00\x02\x02\x4c\x01\x00;".to_vec();
        let refused = preview_of(bomb, "image/gif").await.expect_err("too large");
        assert!(refused.to_string().contains("pixels"), "{refused}");
    }

    #[tokio::test]
    async fn a_preview_is_kept() {
        let (blobs, workspace) = (MemoryBlobs::default(), WorkspaceId::new());
        let bytes = encoded(600, 600, ImageFormat::Png);
        let file = file(&bytes, "image/png");
        let original = blob_key(workspace, &file.sha256);
        blobs.put(original.clone(), bytes);
        let previews = Previews::new(Arc::new(blobs.clone()));
        let first = previews.get(workspace, &file).await.expect("made");
        blobs.delete(&original).await.expect("deleted");
        let second = previews.get(workspace, &file).await.expect("kept");
        assert_eq!(first, second);
    }
}
