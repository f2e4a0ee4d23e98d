//! `POST /callbacks/{provider}/{job}`: providers call back here about orders.
//!
//! Invariants
//! - Nothing is read beyond a limit, and nothing is believed before its signature was checked.
//! - What was seen before, or changes nothing any more, is answered as if it were new: senders repeat when an answer was lost.
//!
//! Not here: signatures and what a provider says (`runtime::media`), what becomes of it (`domain::job`).

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use domain::Error;
use domain::ids::JobId;
use domain::media::{Callback, MediaDesk};

use crate::server::domain_failure;

/// The largest call back.
const LARGEST: usize = 1 << 20;

/// The route.
pub fn routes(desk: Arc<dyn MediaDesk>) -> Router {
    Router::new()
        .route("/callbacks/{provider}/{job}", post(receive))
        .layer(DefaultBodyLimit::max(LARGEST))
        .with_state(desk)
}

async fn receive(
    State(desk): State<Arc<dyn MediaDesk>>,
    Path((provider, job)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let header = |name: &str| {
        let value = headers.get(name)?.to_str().ok()?;
        Some(value.to_owned())
    };
    let callback = Callback {
        id: header("webhook-id"),
        timestamp: header("webhook-timestamp"),
        signature: header("webhook-signature"),
        body: body.to_vec(),
    };
    // An id of another form is no job's; the signature is asked for all the same.
    let id = job
        .parse()
        .unwrap_or_else(|_| JobId::from_uuid(uuid::Uuid::nil()));
    match desk.receive(&provider, id, callback).await {
        Ok(()) => StatusCode::OK.into_response(),
        Err(Error::NotFound(_)) => domain_failure(&Error::NotFound(format!("job {}", short(&job)))),
        Err(error) => domain_failure(&error),
    }
}

fn short(text: &str) -> String {
    text.chars().take(64).collect()
}
