//! `PUT /uploads/{upload}`: the bytes of a registered upload.
//!
//! Invariants
//! - The answer 201 follows the commit that makes the bytes the present version of their asset.
//! - An upload is finished once; two at once end with one 201 and one 409.

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, Query, Request, State};
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use domain::actor::Actor;
use domain::document::{Editor, Version};
use domain::ids::UploadId;
use domain::people::Role;
use domain::work::{AssetFile, FinishedUpload, Upload};
use serde_json::json;

use super::Assets;
use super::error::AssetError;
use super::receive::receive;
use super::signing::{Purpose, Signed};
use crate::config::ByteSize;

pub(super) async fn put(
    State(assets): State<Assets>,
    Path(id): Path<String>,
    Query(signed): Query<Signed>,
    request: Request,
) -> Result<Response, AssetError> {
    let (parts, body) = request.into_parts();
    let upload = find(&assets, &id).await;
    let is_signed = assets
        .services
        .addresses
        .admits(Purpose::Write, parts.uri.path(), &signed);
    let upload = match upload {
        Err(AssetError::NotFound) if !is_signed => {
            return Err(assets.refuse_unknown(&parts.headers).await);
        }
        found => found?,
    };
    let actor = if is_signed {
        Actor::Person(upload.user)
    } else {
        let least = Role::Editor;
        let user = assets
            .admit_by_token(&parts.headers, upload.workspace, least)
            .await?;
        Actor::Person(user)
    };
    if upload.finished_at.is_some() {
        return Err(AssetError::Finished);
    }
    check_length(&parts.headers, &upload)?;
    let (file, version) = take(&assets, &upload, actor, body).await?;
    Ok(answer(&upload, &file, version))
}

async fn find(assets: &Assets, id: &str) -> Result<Upload, AssetError> {
    let id: UploadId = id.parse().map_err(|_| AssetError::NotFound)?;
    let found = assets.services.store.reads().find_upload(id).await?;
    found.ok_or(AssetError::NotFound)
}

/// Refuses a body whose announced length is not the promised one, before any of it is read.
fn check_length(headers: &HeaderMap, upload: &Upload) -> Result<(), AssetError> {
    let length: Option<u64> = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok())
        .and_then(|text| text.parse().ok());
    let promised = ByteSize(upload.byte_size);
    match length {
        Some(length) if length > promised.0 => Err(AssetError::TooMany { promised }),
        Some(length) if length < promised.0 => Err(AssetError::TooFew {
            promised,
            came: ByteSize(length),
        }),
        _ => Ok(()),
    }
}

async fn take(
    assets: &Assets,
    upload: &Upload,
    actor: Actor,
    body: Body,
) -> Result<(AssetFile, Version), AssetError> {
    let services = &assets.services;
    let received = receive(&*services.blobs, upload, body.into_data_stream()).await?;
    let editor = Editor {
        actor,
        idempotency: None,
        fence: None,
    };
    let finished = FinishedUpload {
        upload: upload.id,
        file: received.file.clone(),
        at: services.clock.now(),
    };
    // Where another PUT came first, this is the conflict that the loser hears of.
    let version = services
        .documents
        .finish_upload(upload.work, editor, finished)
        .await?;
    Ok((received.file, version))
}

fn answer(upload: &Upload, file: &AssetFile, version: Version) -> Response {
    let body = json!({
        "workId": upload.work,
        "version": version,
        "sha256": file.sha256,
        "mediaType": file.media_type,
        "byteSize": file.byte_size,
    });
    (StatusCode::CREATED, Json(body)).into_response()
}
