//! Files as an HTTP client gets them; uploads end to end are seen from outside (`tests/`).

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::header::{
    AUTHORIZATION, CONTENT_DISPOSITION, CONTENT_RANGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    HeaderName, IF_NONE_MATCH, IF_RANGE, RANGE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{Method, Request, Response, StatusCode};
use domain::document::{DocumentOptions, DocumentService, Version};
use domain::ids::{TokenId, UploadId, UserId, WorkId, WorkspaceId};
use domain::installation::InstallationSecret;
use domain::people::{ApiToken, Member, Role, TokenKind};
use domain::time::Timestamp;
use domain::work::{AssetFile, Upload, Work, WorkKind};
use tokio_util::sync::{CancellationToken, DropGuard};
use tower::ServiceExt as _;
use url::Url;

use super::testing::MemoryBlobs;
use super::{Addresses, AssetServices, blob_key, routes};
use crate::sync::access::AccessWatch;
use crate::testing::{HandClock, MemoryStore};
use crate::tokens::{self, Tokens};

const START: Timestamp = Timestamp::from_micros(0);
const BYTES: &[u8] = b"0123456789";

struct Scene {
    router: Router,
    store: Arc<MemoryStore>,
    addresses: Addresses,
    work: Work,
    _stop: DropGuard,
}

/// An asset with ten bytes of a media type; `member` is the token of a viewer, `stranger` of somebody else.
fn scene(media_type: &str) -> Scene {
    let (store, _) = MemoryStore::new();
    let (clock, blobs) = (Arc::new(HandClock::default()), MemoryBlobs::default());
    let work = asset(media_type);
    let file = work.asset.clone().expect("an asset");
    blobs.put(blob_key(work.workspace, &file.sha256), BYTES);
    let member = add_token(&store, "member");
    add_token(&store, "stranger");
    store.members.lock().expect("not poisoned").push(Member {
        workspace: work.workspace,
        user: member,
        role: Role::Viewer,
        joined_at: START,
    });
    store.works.lock().expect("not poisoned").push(work.clone());
    let stop = CancellationToken::new();
    let watch = AccessWatch::start(store.clone(), clock.clone(), stop.clone());
    let public = Url::parse("http://127.0.0.1:8787/").expect("a URL");
    let addresses = Addresses::new(&InstallationSecret([1; 32]), public, clock.clone());
    let services = AssetServices {
        documents: DocumentService::start(DocumentOptions::default(), store.clone(), clock.clone()),
        blobs: Arc::new(blobs),
        authenticate: Tokens::start(store.clone(), clock.clone(), watch, stop.clone()),
        addresses: addresses.clone(),
        store: store.clone(),
        clock,
    };
    Scene {
        router: routes(services),
        store,
        addresses,
        work,
        _stop: stop.drop_guard(),
    }
}

fn asset(media_type: &str) -> Work {
    Work {
        id: WorkId::new(),
        workspace: WorkspaceId::new(),
        kind: WorkKind::Asset,
        title: "a <file>\"".into(),
        version: Version(1),
        created_at: START,
        updated_at: START,
        updated_by: domain::actor::Actor::System,
        deleted_at: None,
        asset: Some(AssetFile {
            sha256: "d".repeat(64),
            media_type: media_type.into(),
            byte_size: BYTES.len() as u64,
        }),
    }
}

fn add_token(store: &MemoryStore, secret: &str) -> UserId {
    let user = UserId::new();
    store.tokens.lock().expect("not poisoned").push(ApiToken {
        id: TokenId::new(),
        user,
        label: secret.into(),
        kind: TokenKind::Personal,
        secret_hash: tokens::hash(secret),
        created_at: START,
        last_used_at: None,
        expires_at: None,
    });
    user
}

impl Scene {
    fn url(&self) -> String {
        self.addresses.asset_url(&self.work)
    }

    fn unsigned(&self) -> String {
        let url = self.url();
        url.split('?').next().expect("a path").to_owned()
    }

    async fn ask(
        &self,
        method: Method,
        address: &str,
        headers: &[(HeaderName, &str)],
    ) -> Response<Body> {
        let mut request = Request::builder().method(method).uri(address);
        for (name, value) in headers {
            request = request.header(name, *value);
        }
        let request = request.body(Body::empty()).expect("a request");
        let router = self.router.clone();
        router.oneshot(request).await.expect("infallible")
    }

    async fn get(&self, address: &str, headers: &[(HeaderName, &str)]) -> Response<Body> {
        self.ask(Method::GET, address, headers).await
    }

    async fn status_for(&self, address: &str, secret: Option<&str>) -> StatusCode {
        let header = secret.map(|secret| format!("Bearer {secret}"));
        let headers: Vec<_> = header
            .iter()
            .map(|value| (AUTHORIZATION, value.as_str()))
            .collect();
        self.get(address, &headers).await.status()
    }
}

async fn body(response: Response<Body>) -> Vec<u8> {
    let bytes = to_bytes(response.into_body(), 1 << 20).await;
    bytes.expect("a body").to_vec()
}

fn header(response: &Response<Body>, name: &HeaderName) -> String {
    let value = response.headers().get(name);
    let value = value.unwrap_or_else(|| panic!("the header {name} is missing"));
    value.to_str().expect("text").to_owned()
}

#[tokio::test]
async fn a_signed_address_gives_the_bytes_and_nothing_that_could_run() {
    let scene = scene("image/png");
    let response = scene.get(&scene.url(), &[]).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(header(&response, &CONTENT_TYPE), "image/png");
    assert_eq!(header(&response, &X_CONTENT_TYPE_OPTIONS), "nosniff");
    assert!(header(&response, &CONTENT_SECURITY_POLICY).contains("sandbox"));
    assert!(
        header(&response, &CONTENT_DISPOSITION).starts_with("inline; filename*=UTF-8''a%20%3C")
    );
    assert_eq!(body(response).await, BYTES);
}

#[tokio::test]
async fn what_could_run_is_only_downloaded() {
    for media_type in ["image/svg+xml", "text/html", "application/pdf"] {
        let scene = scene(media_type);
        let response = scene.get(&scene.url(), &[]).await;
        let disposition = header(&response, &CONTENT_DISPOSITION);
        assert!(disposition.starts_with("attachment;"), "{media_type}");
    }
}

#[tokio::test]
async fn a_token_opens_a_file_to_members_alone() {
    let scene = scene("image/png");
    let address = scene.unsigned();
    assert_eq!(
        scene.status_for(&address, Some("member")).await,
        StatusCode::OK
    );
    assert_eq!(
        scene.status_for(&address, Some("stranger")).await,
        StatusCode::NOT_FOUND
    );
    assert_eq!(
        scene.status_for(&address, Some("forged")).await,
        StatusCode::UNAUTHORIZED
    );
    assert_eq!(
        scene.status_for(&address, None).await,
        StatusCode::UNAUTHORIZED
    );
}

#[tokio::test]
async fn a_file_that_is_not_there_looks_like_one_that_may_not_be_seen() {
    let scene = scene("image/png");
    let missing = format!("/files/{}", WorkId::new());
    for secret in [None, Some("forged"), Some("stranger")] {
        let seen = scene.status_for(&scene.unsigned(), secret).await;
        assert_eq!(scene.status_for(&missing, secret).await, seen, "{secret:?}");
    }
}

#[tokio::test]
async fn a_signature_does_not_serve_for_another_work() {
    let scene = scene("image/png");
    let other = asset("image/png");
    scene
        .store
        .works
        .lock()
        .expect("not poisoned")
        .push(other.clone());
    let forged = scene
        .url()
        .replace(&scene.work.id.to_string(), &other.id.to_string());
    assert_eq!(
        scene.status_for(&forged, None).await,
        StatusCode::UNAUTHORIZED
    );
}

#[tokio::test]
async fn a_file_of_another_workspace_is_not_found_by_its_hash() {
    let scene = scene("image/png");
    let foreign = AssetFile {
        sha256: "e".repeat(64),
        ..scene.work.asset.clone().expect("an asset")
    };
    let mine = WorkspaceId::new();
    scene
        .store
        .files
        .lock()
        .expect("not poisoned")
        .push((mine, foreign));
    let address = format!("/files/{}/{}", scene.work.id, "e".repeat(64));
    assert_eq!(
        scene.status_for(&address, Some("member")).await,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn ranges_can_be_resumed_and_end_where_the_file_ends() {
    let scene = scene("video/mp4");
    let url = scene.url();
    let whole = scene.get(&url, &[]).await;
    let etag = header(&whole, &ETAG);
    let part = scene
        .get(&url, &[(RANGE, "bytes=7-"), (IF_RANGE, &etag)])
        .await;
    assert_eq!(part.status(), StatusCode::PARTIAL_CONTENT);
    assert_eq!(header(&part, &CONTENT_RANGE), "bytes 7-9/10");
    assert_eq!(body(part).await, b"789");
    let changed = scene
        .get(&url, &[(RANGE, "bytes=7-"), (IF_RANGE, "\"other\"")])
        .await;
    assert_eq!(changed.status(), StatusCode::OK);
    let outside = scene.get(&url, &[(RANGE, "bytes=10-")]).await;
    assert_eq!(outside.status(), StatusCode::RANGE_NOT_SATISFIABLE);
    assert_eq!(header(&outside, &CONTENT_RANGE), "bytes */10");
}

#[tokio::test]
async fn known_bytes_are_not_sent_again_and_head_sends_none() {
    let scene = scene("image/png");
    let url = scene.url();
    let etag = header(&scene.get(&url, &[]).await, &ETAG);
    let known = scene.get(&url, &[(IF_NONE_MATCH, &etag)]).await;
    assert_eq!(known.status(), StatusCode::NOT_MODIFIED);
    let head = scene.ask(Method::HEAD, &url, &[]).await;
    assert_eq!(head.status(), StatusCode::OK);
    assert_eq!(head.headers()["content-length"], "10");
    assert!(body(head).await.is_empty());
}

#[tokio::test]
async fn before_its_bytes_a_file_is_not_found() {
    let scene = scene("image/png");
    let mut empty = asset("image/png");
    empty.asset.as_mut().expect("an asset").sha256.clear();
    scene
        .store
        .works
        .lock()
        .expect("not poisoned")
        .push(empty.clone());
    let url = scene.addresses.asset_url(&empty);
    assert_eq!(scene.status_for(&url, None).await, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_broken_picture_has_no_preview_and_says_so() {
    let scene = scene("image/png");
    let url = scene.addresses.preview_url(&scene.work).expect("a preview");
    let response = scene.get(&url, &[]).await;
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
    let text = String::from_utf8(body(response).await).expect("text");
    assert!(
        text.contains("NO_PREVIEW") && text.contains("broken"),
        "{text}"
    );
}

#[tokio::test]
async fn an_upload_is_refused_before_its_bytes_are_read() {
    let scene = scene("image/png");
    let mut upload = Upload {
        id: UploadId::new(),
        workspace: scene.work.workspace,
        work: scene.work.id,
        user: UserId::new(),
        media_type: "image/png".into(),
        byte_size: 10,
        created_at: START,
        finished_at: None,
    };
    let uploads = &scene.store.uploads;
    uploads.lock().expect("not poisoned").push(upload.clone());
    let url = Url::parse(&scene.addresses.upload_url(&upload)).expect("a URL");
    let signed = format!("{}?{}", url.path(), url.query().expect("signed"));
    let length = |text| [(axum::http::header::CONTENT_LENGTH, text)];
    let put = async |address: &str, headers: &[(HeaderName, &str)]| {
        scene.ask(Method::PUT, address, headers).await.status()
    };
    assert_eq!(
        put(&signed, &length("11")).await,
        StatusCode::PAYLOAD_TOO_LARGE
    );
    assert_eq!(put(&signed, &length("9")).await, StatusCode::BAD_REQUEST);
    assert_eq!(put(url.path(), &[]).await, StatusCode::UNAUTHORIZED);
    // A viewer may not write.
    let viewer = [(AUTHORIZATION, "Bearer member")];
    assert_eq!(put(url.path(), &viewer).await, StatusCode::FORBIDDEN);
    upload.finished_at = Some(START);
    uploads.lock().expect("not poisoned")[0] = upload;
    assert_eq!(put(&signed, &length("10")).await, StatusCode::CONFLICT);
}
