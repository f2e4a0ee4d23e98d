//! `GET /files/{work}`, `/files/{work}/{sha256}` and their previews.
//!
//! Invariants
//! - A file is found only through a work of the workspace that it came to.
//! - Types are fixed, and everything but pictures, sound, video and plain text is a download.
//! - The address of a version never shows other bytes; the address without one shows the present version.

use std::ops::Range;

use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName, IF_NONE_MATCH, IF_RANGE, RANGE,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use domain::ids::WorkId;
use domain::people::Role;
use domain::work::{AssetFile, Work};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::error::AssetError;
use super::media_type::{has_preview, is_shown};
use super::range::{Wanted, wanted};
use super::signing::{Purpose, Signed};
use super::{Assets, blob_key};

/// What the bytes behind an address of one version never do: change. An hour is the life of the address.
const UNCHANGING: HeaderValue = HeaderValue::from_static("private, max-age=3600, immutable");
/// The present version may be another one at any time.
const CHANGING: HeaderValue = HeaderValue::from_static("private, no-cache");
/// Nothing of a file may run or load anything, wherever it is shown.
const SANDBOX: HeaderValue = HeaderValue::from_static("sandbox; default-src 'none'");

/// A request for bytes.
pub(super) struct Asked {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    signed: Signed,
}

impl<S: Send + Sync> axum::extract::FromRequestParts<S> for Asked {
    type Rejection = AssetError;

    async fn from_request_parts(
        parts: &mut axum::http::request::Parts,
        state: &S,
    ) -> Result<Self, AssetError> {
        let signed = Query::<Signed>::from_request_parts(parts, state).await;
        Ok(Self {
            method: parts.method.clone(),
            uri: parts.uri.clone(),
            headers: parts.headers.clone(),
            signed: signed.map(|Query(signed)| signed).unwrap_or_default(),
        })
    }
}

/// The bytes of a work's present version.
pub(super) async fn present(
    State(assets): State<Assets>,
    Path(work): Path<String>,
    asked: Asked,
) -> Result<Response, AssetError> {
    let work = admitted_work(&assets, &work, &asked).await?;
    let file = work.asset.clone().filter(|file| !file.sha256.is_empty());
    let file = file.ok_or(AssetError::NotFound)?;
    send(&assets, &work, &file, &asked, CHANGING).await
}

/// The bytes of one version.
pub(super) async fn version(
    State(assets): State<Assets>,
    Path((work, sha256)): Path<(String, String)>,
    asked: Asked,
) -> Result<Response, AssetError> {
    let work = admitted_work(&assets, &work, &asked).await?;
    let file = file_of(&assets, &work, &sha256).await?;
    send(&assets, &work, &file, &asked, UNCHANGING).await
}

/// A small picture of one version.
pub(super) async fn preview(
    State(assets): State<Assets>,
    Path((work, sha256)): Path<(String, String)>,
    asked: Asked,
) -> Result<Response, AssetError> {
    let work = admitted_work(&assets, &work, &asked).await?;
    let file = file_of(&assets, &work, &sha256).await?;
    if !has_preview(&file.media_type) {
        let reason = format!("`{}` has none", file.media_type);
        return Err(AssetError::NoPreview(reason));
    }
    let etag = quoted(&format!("{sha256}-preview"));
    if is_known(&asked.headers, &etag) {
        return Ok(unchanged(&etag, UNCHANGING));
    }
    let bytes = assets.previews.get(work.workspace, &file).await?;
    let headers = fixed_headers("image/png", "inline", &etag, UNCHANGING);
    Ok((headers, bytes).into_response())
}

async fn admitted_work(assets: &Assets, id: &str, asked: &Asked) -> Result<Work, AssetError> {
    let path = asked.uri.path();
    let is_signed = assets
        .services
        .addresses
        .admits(Purpose::Read, path, &asked.signed);
    let work = find_work(assets, id).await?;
    match work {
        Some(work) if is_signed => Ok(work),
        Some(work) => {
            assets
                .admit_by_token(&asked.headers, work.workspace, Role::Viewer)
                .await?;
            Ok(work)
        }
        None if is_signed => Err(AssetError::NotFound),
        None => Err(assets.refuse_unknown(&asked.headers).await),
    }
}

async fn find_work(assets: &Assets, id: &str) -> Result<Option<Work>, AssetError> {
    let Ok(id) = id.parse::<WorkId>() else {
        return Ok(None);
    };
    let works = assets
        .services
        .store
        .reads()
        .list_works_by_id(&[id])
        .await?;
    Ok(works.into_iter().next())
}

/// The file with this hash, where it came to the work's workspace.
async fn file_of(assets: &Assets, work: &Work, sha256: &str) -> Result<AssetFile, AssetError> {
    let present = work.asset.as_ref().filter(|file| file.sha256 == sha256);
    if let Some(file) = present.filter(|file| !file.sha256.is_empty()) {
        return Ok(file.clone());
    }
    let is_hash = sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hash || work.asset.is_none() {
        return Err(AssetError::NotFound);
    }
    let reads = assets.services.store.reads();
    let found = reads.find_file(work.workspace, sha256).await?;
    found.ok_or(AssetError::NotFound)
}

async fn send(
    assets: &Assets,
    work: &Work,
    file: &AssetFile,
    asked: &Asked,
    cache: HeaderValue,
) -> Result<Response, AssetError> {
    let etag = quoted(&file.sha256);
    if is_known(&asked.headers, &etag) {
        return Ok(unchanged(&etag, cache));
    }
    let range = match wanted(range_header(&asked.headers, &etag), file.byte_size) {
        Wanted::Whole => None,
        Wanted::Part(range) => Some(range),
        Wanted::Nothing => return Err(AssetError::OutOfRange(file.byte_size)),
    };
    let headers = file_headers(work, file, &etag, cache);
    let (status, lengths) = length_headers(file.byte_size, range.as_ref());
    let body = if asked.method == Method::HEAD {
        Body::empty()
    } else {
        let key = blob_key(work.workspace, &file.sha256);
        let whole = 0..file.byte_size;
        Body::from_stream(
            assets
                .services
                .blobs
                .read(&key, range.unwrap_or(whole))
                .await?,
        )
    };
    Ok((status, lengths, headers, body).into_response())
}

/// The `Range` header, unless `If-Range` names other bytes than these.
fn range_header<'a>(headers: &'a HeaderMap, etag: &str) -> Option<&'a str> {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let condition = headers.get(IF_RANGE);
    let holds = condition.is_none_or(|condition| condition.as_bytes() == etag.as_bytes());
    text(RANGE).filter(|_| holds)
}

fn length_headers(
    size: u64,
    range: Option<&Range<u64>>,
) -> (StatusCode, [(HeaderName, String); 2]) {
    match range {
        Some(part) => {
            let content_range = format!("bytes {}-{}/{size}", part.start, part.end - 1);
            let length = (part.end - part.start).to_string();
            (
                StatusCode::PARTIAL_CONTENT,
                [(CONTENT_RANGE, content_range), (CONTENT_LENGTH, length)],
            )
        }
        None => (
            StatusCode::OK,
            [
                (ACCEPT_RANGES, "bytes".to_owned()),
                (CONTENT_LENGTH, size.to_string()),
            ],
        ),
    }
}

fn file_headers(work: &Work, file: &AssetFile, etag: &str, cache: HeaderValue) -> HeaderMap {
    let media_type = if file.media_type.starts_with("text/") {
        format!("{}; charset=utf-8", file.media_type)
    } else {
        file.media_type.clone()
    };
    let kind = if is_shown(&file.media_type) {
        "inline"
    } else {
        "attachment"
    };
    let name = utf8_percent_encode(&work.title, NON_ALPHANUMERIC);
    let disposition = format!("{kind}; filename*=UTF-8''{name}");
    fixed_headers(&media_type, &disposition, etag, cache)
}

fn fixed_headers(media_type: &str, disposition: &str, etag: &str, cache: HeaderValue) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CACHE_CONTROL, cache);
    headers.insert(CONTENT_SECURITY_POLICY, SANDBOX);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    for (name, value) in [
        (CONTENT_TYPE, media_type),
        (CONTENT_DISPOSITION, disposition),
        (ETAG, etag),
    ] {
        let unknown = HeaderValue::from_static("application/octet-stream");
        headers.insert(name, HeaderValue::try_from(value).unwrap_or(unknown));
    }
    headers
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

/// Whether the asker has these bytes already.
fn is_known(headers: &HeaderMap, etag: &str) -> bool {
    let Some(known) = headers
        .get(IF_NONE_MATCH)
        .and_then(|value| value.to_str().ok())
    else {
        return false;
    };
    known
        .split(',')
        .map(|known| known.trim().trim_start_matches("W/"))
        .any(|known| known == "*" || known == etag)
}

fn unchanged(etag: &str, cache: HeaderValue) -> Response {
    let headers = [
        (CACHE_CONTROL, cache),
        (
            ETAG,
            HeaderValue::try_from(etag).unwrap_or(HeaderValue::from_static("\"\"")),
        ),
    ];
    (StatusCode::NOT_MODIFIED, headers).into_response()
}
