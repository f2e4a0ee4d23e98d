//! `/mcp`: programs of others join as collaborators, by the Model Context Protocol over streamable HTTP.
//!
//! Invariants
//! - A tool is a document of the public contract: permissions, limits, prices, conflicts and words of errors are those of `/graphql`.
//! - Whoever comes here is a program, whatever the token stands for elsewhere: what it does is shown as its own, conflicts with what its
//!   person did meanwhile, and grants nothing (A7).
//! - There are no sessions: each request brings its token, and any process answers it.
//!
//! Not here: the tools (`tools`), what they do (`crate::graphql`).

mod outcome;
mod server;
mod tools;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::any;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use crate::graphql::transport::Endpoint;
use server::{Collaboration, Visitor};

/// The door.
#[derive(Clone)]
struct Door {
    endpoint: Endpoint,
    service: StreamableHttpService<Collaboration, NeverSessionManager>,
}

/// The route.
pub fn routes(endpoint: Endpoint) -> Router {
    let collaboration = Collaboration::new(endpoint.clone());
    // Names of hosts say nothing behind a proxy; pages are checked by their origin, and everybody by the token.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .disable_allowed_hosts();
    let service = StreamableHttpService::new(
        move || Ok(collaboration.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    Router::new()
        .route("/mcp", any(serve))
        .with_state(Door { endpoint, service })
}

async fn serve(State(door): State<Door>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let admitted = match door.endpoint.admit(&parts.headers, body).await {
        Ok(admitted) => admitted,
        Err(refusal) => return door.endpoint.refuse(&refusal),
    };
    parts.extensions.insert(Visitor {
        caller: admitted.caller.as_program(),
        request_id: admitted.request_id,
    });
    let request = Request::from_parts(parts, Body::from(admitted.body.freeze()));
    door.service.handle(request).await.map(Body::new)
}
