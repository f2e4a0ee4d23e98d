//! The addresses of assets, as the API hands them out.
//!
//! Invariants
//! - An address for reading is a path, stays the same for half an hour, so that browsers can keep what they have read,
//!   and works for at least an hour.
//! - An address for writing is absolute, below the public URL, and works for an hour after the upload was registered.

use std::sync::Arc;

use domain::installation::InstallationSecret;
use domain::time::{SharedClock, Timestamp};
use domain::work::{Upload, Work};
use url::Url;

use super::has_preview;
use super::signing::{Purpose, Signed, SigningKey};

/// Seconds that an address works at least.
const LIFE: i64 = 3_600;
/// Seconds that an address for reading stays the same.
const WINDOW: i64 = 1_800;

/// Makes and checks addresses. Cheap to clone.
#[derive(Clone)]
pub struct Addresses(Arc<Inner>);

struct Inner {
    key: SigningKey,
    public: Url,
    clock: SharedClock,
}

impl Addresses {
    /// Addresses of an installation that is reached at `public`.
    pub fn new(secret: &InstallationSecret, public: Url, clock: SharedClock) -> Self {
        let key = SigningKey::new(secret);
        Self(Arc::new(Inner { key, public, clock }))
    }

    /// Where the bytes of an asset's present version are read.
    pub fn asset_url(&self, work: &Work) -> String {
        let sha256 = work.asset.as_ref().map_or("", |file| &file.sha256);
        if sha256.is_empty() {
            self.readable(&format!("/files/{}", work.id))
        } else {
            self.readable(&format!("/files/{}/{sha256}", work.id))
        }
    }

    /// Where a small picture of it is read; none before its bytes came, and where its media type has none.
    pub fn preview_url(&self, work: &Work) -> Option<String> {
        let file = work.asset.as_ref()?;
        if file.sha256.is_empty() || !has_preview(&file.media_type) {
            return None;
        }
        let path = format!("/files/{}/{}/preview", work.id, file.sha256);
        Some(self.readable(&path))
    }

    /// Where the bytes of an upload are put.
    pub fn upload_url(&self, upload: &Upload) -> String {
        let path = format!("/uploads/{}", upload.id);
        let expires = seconds(upload.created_at) + LIFE;
        let signed = self.0.key.sign(Purpose::Write, &path, expires);
        let public = self.0.public.as_str().trim_end_matches('/');
        format!("{public}{signed}")
    }

    pub(super) fn admits(&self, purpose: Purpose, path: &str, signed: &Signed) -> bool {
        let now = self.0.clock.now();
        self.0.key.admits(purpose, path, signed, now)
    }

    fn readable(&self, path: &str) -> String {
        let window = seconds(self.0.clock.now()) / WINDOW;
        let expires = (window + 1) * WINDOW + LIFE;
        self.0.key.sign(Purpose::Read, path, expires)
    }
}

fn seconds(at: Timestamp) -> i64 {
    at.micros() / 1_000_000
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use domain::actor::Actor;
    use domain::document::Version;
    use domain::ids::{UploadId, UserId, WorkId, WorkspaceId};
    use domain::work::{AssetFile, WorkKind};

    use super::*;
    use crate::testing::HandClock;

    fn asset(sha256: &str, media_type: &str) -> Work {
        let at = Timestamp::from_micros(0);
        Work {
            id: WorkId::new(),
            workspace: WorkspaceId::new(),
            kind: WorkKind::Asset,
            title: "a picture".into(),
            version: Version(1),
            created_at: at,
            updated_at: at,
            updated_by: Actor::System,
            deleted_at: None,
            asset: Some(AssetFile {
                sha256: sha256.into(),
                media_type: media_type.into(),
                byte_size: 3,
            }),
        }
    }

    fn addresses() -> (Addresses, Arc<HandClock>) {
        let clock = Arc::new(HandClock::default());
        clock.0.store(18_000 * 1_000_000, Ordering::SeqCst);
        let public = Url::parse("https://atelier.example/here/").expect("a URL");
        let secret = InstallationSecret([7; 32]);
        (Addresses::new(&secret, public, clock.clone()), clock)
    }

    #[test]
    fn an_address_for_reading_stays_the_same_for_half_an_hour() {
        let (addresses, clock) = addresses();
        let work = asset(&"a".repeat(64), "image/png");
        let first = addresses.asset_url(&work);
        clock
            .0
            .store((18_000 + 1_799) * 1_000_000, Ordering::SeqCst);
        assert_eq!(addresses.asset_url(&work), first);
        clock
            .0
            .store((18_000 + 1_800) * 1_000_000, Ordering::SeqCst);
        assert_ne!(addresses.asset_url(&work), first);
        assert!(first.starts_with("/files/work_"), "{first}");
    }

    #[test]
    fn only_pictures_whose_bytes_are_there_have_a_preview() {
        let (addresses, _) = addresses();
        let sha256 = "b".repeat(64);
        assert!(
            addresses
                .preview_url(&asset(&sha256, "image/webp"))
                .is_some()
        );
        assert_eq!(
            addresses.preview_url(&asset(&sha256, "image/svg+xml")),
            None
        );
        assert_eq!(addresses.preview_url(&asset("", "image/png")), None);
    }

    #[test]
    fn an_address_for_writing_is_absolute_and_below_the_public_url() {
        let (addresses, _) = addresses();
        let upload = Upload {
            id: UploadId::new(),
            workspace: WorkspaceId::new(),
            work: WorkId::new(),
            user: UserId::new(),
            media_type: "image/png".into(),
            byte_size: 3,
            created_at: Timestamp::from_micros(18_000_000_000),
            finished_at: None,
        };
        let url = addresses.upload_url(&upload);
        let expected = format!("https://atelier.example/here/uploads/{}?", upload.id);
        assert!(url.starts_with(&expected), "{url}");
    }
}
