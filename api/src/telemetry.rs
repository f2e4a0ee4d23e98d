//! What the server tells those who look after it: the log, metrics, and a name for every request.
//!
//! Invariants
//! - The log holds paths and routes, never queries of addresses, headers or bodies: those hold tokens and people's words.
//! - Metrics are measured without a listener of their own; `/metrics` shows them (`health`).

use std::io::IsTerminal as _;
use std::time::Duration;

use axum::extract::{MatchedPath, Request};
use axum::http::header::HeaderName;
use axum::http::{HeaderValue, Response};
use metrics_exporter_prometheus::{BuildError, PrometheusBuilder, PrometheusHandle};
use tower_http::request_id::{MakeRequestId, RequestId};
use tracing::{Level, Span, event};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::config::{LogFormat, LogSettings};

/// The header that names a request.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Starts the log of this process, on standard error.
///
/// A second start in one process changes nothing.
pub fn start_log(settings: &LogSettings) {
    // The library of the Model Context Protocol tells of every request, and shows what clients say.
    let filter = format!("rmcp=warn,{}", settings.filter);
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("info"));
    let log = fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        // A log that can not be written, its disk being full, would be told of on the same standard error, and that panics.
        .log_internal_errors(false)
        .with_ansi(std::io::stderr().is_terminal());
    let started = match settings.format {
        LogFormat::Pretty => log.finish().try_init(),
        LogFormat::Json => log.json().flatten_event(true).finish().try_init(),
    };
    if started.is_err() {
        tracing::debug!("the log was started before");
    }
}

/// Starts to measure; what is measured afterwards is seen through the handle.
pub fn start_metrics() -> Result<PrometheusHandle, BuildError> {
    PrometheusBuilder::new()
        .set_buckets(&[
            0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0,
        ])?
        .install_recorder()
}

/// Names requests that come without a name.
#[derive(Debug, Clone, Copy, Default)]
pub struct NameRequests;

impl MakeRequestId for NameRequests {
    fn make_request_id<B>(&mut self, _: &axum::http::Request<B>) -> Option<RequestId> {
        let name = uuid::Uuid::now_v7().simple().to_string();
        HeaderValue::try_from(name).ok().map(RequestId::new)
    }
}

/// The span of one request.
pub fn request_span(request: &Request) -> Span {
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or("", MatchedPath::as_str);
    let request_id = request
        .headers()
        .get(REQUEST_ID)
        .and_then(|name| name.to_str().ok())
        .unwrap_or_default();
    tracing::info_span!(
        "http.request",
        method = %request.method(),
        route,
        path = request.uri().path(),
        request_id,
    )
}

/// Logs and counts an answer.
pub fn answered<B>(response: &Response<B>, took: Duration, _: &Span) {
    let status = response.status().as_u16();
    event!(Level::DEBUG, status, took = ?took, "answered");
    metrics::histogram!("atelier_http_request_seconds").record(took);
    metrics::counter!("atelier_http_requests_total", "status" => status.to_string()).increment(1);
}
