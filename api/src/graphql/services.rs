//! What resolvers work with: the services of the server, and the port that builds addresses of assets.
//!
//! Not here: who asks, and what was loaded for one request (`scope`).

use std::sync::Arc;

use domain::document::DocumentService;
use domain::media::MediaDesk;
use domain::search::SharedSearchIndex;
use domain::store::SharedStore;
use domain::time::SharedClock;
use domain::work::{Upload, Work};

use super::cursor::CursorKey;
use crate::assets::Addresses;

/// Builds the signed, short-lived addresses at which the bytes of assets are written and read.
pub trait AssetUrls: Send + Sync + 'static {
    /// Where the bytes of an asset's present version are read: a path below the server's address.
    fn asset_url(&self, work: &Work) -> String;
    /// Where a small picture of it is read; none where its media type has none.
    fn preview_url(&self, work: &Work) -> Option<String>;
    /// Where the bytes of an upload are put: an absolute address below the public URL.
    fn upload_url(&self, upload: &Upload) -> String;
}

impl AssetUrls for Addresses {
    fn asset_url(&self, work: &Work) -> String {
        Addresses::asset_url(self, work)
    }

    fn preview_url(&self, work: &Work) -> Option<String> {
        Addresses::preview_url(self, work)
    }

    fn upload_url(&self, upload: &Upload) -> String {
        Addresses::upload_url(self, upload)
    }
}

/// The services behind the schema; one for the whole process.
#[derive(Clone)]
pub struct Services {
    /// Runs commands and reads.
    pub store: SharedStore,
    /// Reads and writes documents.
    pub documents: DocumentService,
    /// Gives commands their time.
    pub clock: SharedClock,
    /// Seals cursors.
    pub cursors: CursorKey,
    /// Finds things by words and meaning.
    pub search: SharedSearchIndex,
    /// Builds addresses of assets.
    pub asset_urls: Arc<dyn AssetUrls>,
    /// What can be made, and how.
    pub media: Arc<dyn MediaDesk>,
    /// The largest upload, in bytes.
    pub upload_limit: u64,
}
