//! `/healthz`, `/readyz` and `/metrics`.
//!
//! Invariants
//! - `/healthz` says that the process answers, and asks nothing else; a slow database must not make it be killed.
//! - `/readyz` says whether requests can be served now: database, migrations, and no stop under way.
//! - `/metrics` wants a token, because names and numbers tell about people.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use axum::extract::State;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use domain::Result;
use domain::document::DocumentService;
use metrics_exporter_prometheus::PrometheusHandle;
use serde_json::json;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::auth::{Authenticate, bearer};
use crate::server::failure;

/// How long the database may take to say that it is there.
const READY_WAIT: Duration = Duration::from_secs(2);
/// Bytes of a page of memory, as the kernel counts them on the machines that are served.
const PAGE_BYTES: f64 = 4_096.0;

/// Whether what the server stands on can be used.
#[async_trait]
pub trait Ready: Send + Sync + 'static {
    /// Fails, with the reason for the log, where requests can not be served.
    async fn ready(&self) -> Result<()>;
}

/// What the health checks ask.
#[derive(Clone)]
pub struct Health {
    /// The database.
    pub ready: Arc<dyn Ready>,
    /// Who may see the metrics.
    pub authenticate: Arc<dyn Authenticate>,
    /// Documents, which count themselves.
    pub documents: DocumentService,
    /// The metrics; none where nothing is measured.
    pub metrics: Option<PrometheusHandle>,
    /// Cancelled when the server stops.
    pub stop: CancellationToken,
}

/// The three routes.
pub fn routes(health: Health) -> Router {
    Router::new()
        .route("/healthz", get(|| async { Json(json!({"status": "ok"})) }))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .with_state(health)
}

async fn readyz(State(health): State<Health>) -> Response {
    if health.stop.is_cancelled() {
        return failure(
            StatusCode::SERVICE_UNAVAILABLE,
            "STOPPING",
            "the server is stopping",
        );
    }
    match timeout(READY_WAIT, health.ready.ready()).await {
        Ok(Ok(())) => Json(json!({"status": "ready"})).into_response(),
        Ok(Err(error)) => {
            let source = std::error::Error::source(&error).map(ToString::to_string);
            warn!(%error, source, "not ready");
            unready()
        }
        Err(_) => {
            warn!("not ready: the database did not answer in time");
            unready()
        }
    }
}

fn unready() -> Response {
    failure(
        StatusCode::SERVICE_UNAVAILABLE,
        "UNAVAILABLE",
        "the database can not be used at the moment",
    )
}

async fn metrics(State(health): State<Health>, headers: HeaderMap) -> Response {
    let secret = headers
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(bearer);
    if let Err(error) = health.authenticate.authenticate(secret).await {
        return crate::server::domain_failure(&error);
    }
    measure_documents(&health.documents);
    if let Some(bytes) = resident_bytes().await {
        metrics::gauge!("process_resident_memory_bytes").set(bytes);
    }
    let text = health
        .metrics
        .as_ref()
        .map_or_else(String::new, PrometheusHandle::render);
    (
        [(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")],
        text,
    )
        .into_response()
}

fn measure_documents(documents: &DocumentService) {
    let statistics = documents.statistics();
    metrics::gauge!("atelier_open_documents").set(statistics.open as f64);
    metrics::gauge!("atelier_resting_documents").set(statistics.resting as f64);
    metrics::counter!("atelier_document_failures_total").absolute(statistics.failures);
    metrics::counter!("atelier_quarantined_updates_total").absolute(statistics.quarantined);
}

/// Resident memory of this process; none where the system does not tell.
async fn resident_bytes() -> Option<f64> {
    let text = tokio::fs::read_to_string("/proc/self/statm").await.ok()?;
    let pages: f64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * PAGE_BYTES)
}
