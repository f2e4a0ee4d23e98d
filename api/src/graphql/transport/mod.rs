//! The GraphQL transports: HTTP, server-sent events and websockets, over any executor.
//!
//! Invariants
//! - Nothing is executed for a caller who is not authenticated; what a document says never decides that.
//! - Every operation, on whatever transport, goes through [`Endpoint::prepare`].
//! - No array batches, no multipart, no forms, no HTML.
//!
//! Not here: the schema, tokens, routes beside `/graphql`.

mod accept;
mod answer;
mod body;
mod documents;
mod endpoint;
mod http;
mod origin;
mod own;
mod request;
mod resume;
mod socket;
mod sse;
mod status;
#[cfg(all(test, feature = "test-support"))]
mod tests;

use std::time::Duration;

use axum::Router;
use axum::routing::{any, get};

pub use answer::Answer;
pub use documents::{DocumentMode, Documents, ManifestError};
pub use endpoint::{Endpoint, Execute, Parts, Prepared, RequestId};
pub use origin::Origins;
pub use request::{Parameters, Source};
pub use status::Profile;

use super::budget::{Limits, RateLimit};

/// What the transports can be told.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Which status codes request errors get.
    pub profile: Profile,
    /// What one document may ask for.
    pub limits: Limits,
    /// Cost over time for each person; `None` is off.
    pub rate_limit: Option<RateLimit>,
    /// Whether `__schema` and `__type` answer.
    pub introspection: Introspection,
    /// How long a query or mutation may take.
    pub time_limit: Duration,
    /// Bytes of an HTTP body.
    pub max_body: usize,
    /// Bytes of one websocket message.
    pub max_message: usize,
    /// How long a socket may wait before it says who it is.
    pub init_wait: Duration,
    /// How often the server pings a socket; one that is silent for two and a half times as long is dropped.
    pub ping_interval: Duration,
    /// How often a silent event stream gets a comment.
    pub comment_interval: Duration,
    /// Operations at once on one socket.
    pub operations_per_socket: usize,
    /// Sockets and event streams at once of one person.
    pub connections_per_person: usize,
}

/// Whether the schema can be asked for through GraphQL itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Introspection {
    /// `__schema` and `__type` answer null; the schema is served as text.
    Off,
    /// They answer.
    On,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            profile: Profile::Audit,
            limits: Limits::default(),
            rate_limit: Some(RateLimit::default()),
            introspection: Introspection::Off,
            time_limit: Duration::from_secs(10),
            max_body: 256 * 1024,
            max_message: 256 * 1024,
            init_wait: Duration::from_secs(3),
            ping_interval: Duration::from_secs(15),
            comment_interval: Duration::from_secs(15),
            operations_per_socket: 100,
            connections_per_person: 100,
        }
    }
}

/// `/graphql` on all transports, and the schema as text at `/graphql/schema.graphql`.
pub fn router(endpoint: Endpoint) -> Router {
    Router::new()
        .route("/graphql", any(http::serve))
        .route("/graphql/schema.graphql", get(http::schema))
        .with_state(endpoint)
}
