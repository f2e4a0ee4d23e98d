//! The HTTP server: all routes, what lies around them, and how it stops.
//!
//! Invariants
//! - Every answer carries the id of its request; a panic ends one request with a JSON error, and nothing else.
//! - Only JSON and static files are compressed: streams would be held back, and files of assets are what they are.
//! - After the stop has begun nothing new is accepted; what is under way has [`DRAIN_TIME`].
//!
//! Not here: what the routes do, who implements the ports (`commands`).

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::http::header::{
    AUTHORIZATION, CONTENT_TYPE, COOKIE, HeaderValue, SET_COOKIE, WWW_AUTHENTICATE,
};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::serve::ListenerExt as _;
use axum::{Json, Router, middleware};
use domain::Error;
use domain::media::MediaDesk;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tower::ServiceBuilder;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::{CompressionLayer, Predicate};
use tower_http::request_id::{PropagateRequestIdLayer, SetRequestIdLayer};
use tower_http::sensitive_headers::SetSensitiveRequestHeadersLayer;
use tower_http::trace::TraceLayer;
use tracing::{error, warn};
use url::Url;

use crate::assets::{self, AssetServices};
use crate::graphql::transport::{self, Endpoint, Origins};
use crate::health::{self, Health};
use crate::sync::Sockets;
use crate::telemetry::{self, NameRequests, REQUEST_ID};
use crate::{callbacks, cross_origin, mcp, studio};

/// How long requests and sockets that are under way may take once the server stops.
pub const DRAIN_TIME: Duration = Duration::from_secs(6);
/// Answers below this size are sent as they are.
const SMALLEST_COMPRESSED: u64 = 1_024;

/// All that the server answers with.
pub struct Routes {
    /// GraphQL.
    pub endpoint: Endpoint,
    /// Sockets of editors.
    pub sockets: Sockets,
    /// Bytes of assets.
    pub assets: AssetServices,
    /// Media providers, which call back.
    pub media: Arc<dyn MediaDesk>,
    /// Health and metrics.
    pub health: Health,
    /// Where browsers reach the server.
    pub public: Url,
    /// Pages that may use it.
    pub origins: Origins,
}

/// The routes with all layers around them.
pub fn router(routes: Routes) -> Router {
    let compressed = transport::router(routes.endpoint.clone())
        .merge(mcp::routes(routes.endpoint))
        .merge(studio::routes(&routes.public))
        .layer(CompressionLayer::new().compress_when(Compressible));
    let all = Router::new()
        .merge(compressed)
        .merge(routes.sockets.routes())
        .merge(assets::routes(routes.assets))
        .merge(callbacks::routes(routes.media))
        .merge(health::routes(routes.health));
    surround(all, routes.origins)
}

/// What lies around every route, outermost first.
fn surround(router: Router, origins: Origins) -> Router {
    let layers = ServiceBuilder::new()
        .layer(middleware::map_request(drop_odd_request_id))
        .layer(SetSensitiveRequestHeadersLayer::new([
            AUTHORIZATION,
            COOKIE,
            SET_COOKIE,
        ]))
        .layer(SetRequestIdLayer::new(REQUEST_ID, NameRequests))
        .layer(
            TraceLayer::new_for_http()
                .make_span_with(telemetry::request_span)
                .on_request(())
                .on_response(telemetry::answered)
                .on_failure(()),
        )
        .layer(PropagateRequestIdLayer::new(REQUEST_ID))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn_with_state(origins, cross_origin::admit));
    router.layer(layers)
}

/// Serves until `stop` is cancelled, and then until everything under way has ended or [`DRAIN_TIME`] is over.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    stop: CancellationToken,
) -> std::io::Result<()> {
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            warn!(%error, "a connection stays slow");
        }
    });
    let stopping = stop.clone();
    let serving = axum::serve(listener, router)
        .with_graceful_shutdown(async move { stopping.cancelled().await });
    let mut serving = std::pin::pin!(serving.into_future());
    tokio::select! {
        ended = &mut serving => return ended,
        () = stop.cancelled() => {}
    }
    let ended = timeout(DRAIN_TIME, serving).await;
    ended.unwrap_or_else(|_| {
        warn!("requests that did not end in time are cut off");
        Ok(())
    })
}

/// An error as JSON: `{"error": {"code", "message"}}`.
pub fn failure(status: StatusCode, code: &str, message: &str) -> Response {
    let body = json!({"error": {"code": code, "message": message}});
    let mut response = (status, Json(body)).into_response();
    if status == StatusCode::UNAUTHORIZED {
        response
            .headers_mut()
            .insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

/// An error of the domain as JSON; faults are logged, and told without their cause.
pub fn domain_failure(error: &Error) -> Response {
    let (status, code) = match error {
        Error::NotFound(_) => (StatusCode::NOT_FOUND, "NOT_FOUND"),
        Error::Forbidden(_) => (StatusCode::FORBIDDEN, "FORBIDDEN"),
        Error::Unauthenticated(_) => (StatusCode::UNAUTHORIZED, "UNAUTHENTICATED"),
        Error::Invalid(_) | Error::CursorInvalid(_) | Error::CursorExpired(_) => {
            (StatusCode::BAD_REQUEST, "BAD_USER_INPUT")
        }
        Error::Conflict(_) | Error::IdempotencyKeyReused | Error::Fenced { .. } => {
            (StatusCode::CONFLICT, "CONFLICT")
        }
        Error::TooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, "TOO_LARGE"),
        Error::Unavailable(source) => {
            warn!(%source, "a request could not be served");
            (StatusCode::SERVICE_UNAVAILABLE, "UNAVAILABLE")
        }
        Error::Internal(source) => {
            error!(%source, "a request failed");
            (StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL_SERVER_ERROR")
        }
    };
    failure(status, code, &error.to_string())
}

/// Ids of requests come from outside, and go into the log and back: odd ones are replaced.
async fn drop_odd_request_id(mut request: Request) -> Request {
    let is_good = |value: &HeaderValue| {
        let bytes = value.as_bytes();
        bytes.len() <= 128
            && bytes
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(byte))
    };
    if request
        .headers()
        .get(REQUEST_ID)
        .is_some_and(|id| !is_good(id))
    {
        request.headers_mut().remove(REQUEST_ID);
    }
    request
}

#[expect(clippy::needless_pass_by_value, reason = "the signature of the layer")]
fn panicked(cause: Box<dyn Any + Send>) -> Response {
    let text = cause
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| cause.downcast_ref::<&str>().copied());
    error!(
        cause = text.unwrap_or_default(),
        "a request ended in a defect"
    );
    failure(
        StatusCode::INTERNAL_SERVER_ERROR,
        "INTERNAL_SERVER_ERROR",
        "internal error",
    )
}

/// What is compressed: texts of some size that are no streams.
#[derive(Debug, Clone, Copy)]
struct Compressible;

impl Predicate for Compressible {
    fn should_compress<B>(&self, response: &axum::http::Response<B>) -> bool
    where
        B: axum::body::HttpBody,
    {
        let is_large = response
            .body()
            .size_hint()
            .upper()
            .is_none_or(|size| size >= SMALLEST_COMPRESSED);
        is_large && is_text(response.headers())
    }
}

fn is_text(headers: &HeaderMap) -> bool {
    let media_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .unwrap_or_default();
    matches!(
        media_type,
        "application/json"
            | "application/graphql-response+json"
            | "application/javascript"
            | "application/wasm"
            | "image/svg+xml"
            | "text/css"
            | "text/html"
            | "text/javascript"
            | "text/plain"
    )
}

#[cfg(test)]
mod tests;
