//! The bytes of assets: `PUT /uploads/{upload}` and `GET /files/{work}/{sha256}`, with small pictures of images.
//!
//! Invariants
//! - Bytes are readable only once they are stored, counted, hashed and checked against their media type.
//! - An address works by the signature it carries, or for a member of the workspace by a token.
//! - Nothing that is served here can run in a page of the server: fixed types, no sniffing, a sandbox, attachments.
//!
//! Not here: registering an upload (`work::CreateUpload`), where blobs lie (`storage`).

mod addresses;
mod download;
mod error;
mod keeper;
mod media_type;
mod preview;
mod range;
mod receive;
mod signing;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod upload;

use std::sync::Arc;

use axum::Router;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::routing::{get, put};
use domain::blob::{BlobKey, Blobs};
use domain::document::DocumentService;
use domain::ids::{UserId, WorkspaceId};
use domain::people::Role;
use domain::store::SharedStore;
use domain::time::SharedClock;

pub use addresses::Addresses;
pub use error::AssetError;
pub use keeper::Keeper;
pub use media_type::has_preview;
pub use receive::{Received, receive};

use crate::auth::{Authenticate, Caller, bearer};
use preview::Previews;

/// What assets are served with.
#[derive(Clone)]
pub struct AssetServices {
    /// Works, uploads and members.
    pub store: SharedStore,
    /// Makes a finished upload the present version of its asset.
    pub documents: DocumentService,
    /// The bytes.
    pub blobs: Arc<dyn Blobs>,
    /// The hour, for signatures.
    pub clock: SharedClock,
    /// Who is behind a token.
    pub authenticate: Arc<dyn Authenticate>,
    /// Signs addresses, and checks them.
    pub addresses: Addresses,
}

#[derive(Clone)]
struct Assets {
    services: AssetServices,
    previews: Arc<Previews>,
}

/// The routes of assets.
pub fn routes(services: AssetServices) -> Router {
    let previews = Arc::new(Previews::new(services.blobs.clone()));
    let assets = Assets { services, previews };
    Router::new()
        .route("/uploads/{upload}", put(upload::put))
        .route("/files/{work}", get(download::present))
        .route("/files/{work}/{sha256}", get(download::version))
        .route("/files/{work}/{sha256}/preview", get(download::preview))
        .with_state(assets)
}

/// Where the bytes of a file lie.
fn blob_key(workspace: WorkspaceId, sha256: &str) -> BlobKey {
    let name = sha256.to_owned();
    BlobKey { workspace, name }
}

impl Assets {
    /// Lets a request pass by its token, where the person has this role in the workspace.
    async fn admit_by_token(
        &self,
        headers: &HeaderMap,
        workspace: WorkspaceId,
        least: Role,
    ) -> Result<UserId, AssetError> {
        let caller = self.caller(headers).await?;
        let reads = self.services.store.reads();
        match domain::people::require(reads, workspace, caller.user, least).await {
            Ok(_) => Ok(caller.user),
            Err(domain::Error::NotFound(_)) => Err(AssetError::NotFound),
            Err(error) => Err(error.into()),
        }
    }

    /// What somebody without a signature is told about a thing that is not there: the same as about one that is, unless
    /// a token says that it is somebody who may ask.
    async fn refuse_unknown(&self, headers: &HeaderMap) -> AssetError {
        match self.caller(headers).await {
            Ok(_) => AssetError::NotFound,
            Err(error) => error,
        }
    }

    async fn caller(&self, headers: &HeaderMap) -> Result<Caller, AssetError> {
        let header = headers
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok());
        let secret = header.and_then(bearer).ok_or(AssetError::Unsigned)?;
        Ok(self
            .services
            .authenticate
            .authenticate(Some(secret))
            .await?)
    }
}
