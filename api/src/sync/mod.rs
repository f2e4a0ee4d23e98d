//! Sockets of editors: `/sync` for y-websocket and `/collab` for Hocuspocus clients, two codecs over the one document service.
//!
//! Invariants
//! - Clients come as they are on npm, unmodified; both protocols give the same rights and the same durability.
//! - A page of a foreign origin opens no socket. Every other refusal comes after the upgrade, as a close code, because
//!   clients retry a failed upgrade for ever.
//! - Each socket is one task, counted by a tracker and ended (1012) by the token that it was given.
//!
//! Not here: documents (`domain::document`), tokens (`crate::auth`).

pub mod access;
mod close;
mod collab;
mod collab_out;
mod doorway;
mod hocuspocus;
mod limits;
mod metrics;
mod plain;
mod socket;
mod y_websocket;

use std::sync::Arc;

use axum::Router;
use axum::extract::ws::{WebSocket, WebSocketUpgrade};
use axum::extract::{RawQuery, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use domain::document::DocumentService;
use domain::store::SharedStore;
use domain::time::SharedClock;
use percent_encoding::percent_decode_str;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::auth::{Authenticate, bearer};
use crate::graphql::transport::Origins;
use access::AccessWatch;
use close::Close;
use collab::CollabContext;
use doorway::Doorway;
use limits::{PlaceLimits, Places};
use metrics::SocketMetrics;

/// Bytes that a socket reads or gathers at once: small, because most sockets are idle.
const BUFFER_BYTES: usize = 4 << 10;
/// Where y-websocket clients come in.
const SYNC_PATH: &str = "/sync";

/// Limits of sockets.
#[derive(Debug, Clone, Copy)]
pub struct SocketOptions {
    /// Largest frame, in bytes.
    pub frame_bytes: usize,
    /// Connections to documents at once of one person, in this process.
    pub connections_per_person: usize,
    /// Connections at once to one document, in this process.
    pub connections_per_document: usize,
    /// Documents at once on one Hocuspocus socket.
    pub documents_per_socket: usize,
}

impl Default for SocketOptions {
    fn default() -> Self {
        Self {
            frame_bytes: 16 << 20,
            connections_per_person: 1_000,
            connections_per_document: 1_000,
            documents_per_socket: 100,
        }
    }
}

/// What sockets are served with.
pub struct SocketServices {
    /// The documents.
    pub documents: DocumentService,
    /// Where works and members are looked up.
    pub store: SharedStore,
    /// The hour, for the expiry of tokens.
    pub clock: SharedClock,
    /// Who is behind a token.
    pub authenticate: Arc<dyn Authenticate>,
    /// Watches the rights of those who are connected.
    pub watch: AccessWatch,
    /// Whose pages may open sockets.
    pub origins: Origins,
}

/// All sockets of editors of this process. Cheap to clone.
#[derive(Clone)]
pub struct Sockets(Arc<Inner>);

struct Inner {
    doorway: Arc<Doorway>,
    clock: SharedClock,
    origins: Origins,
    options: SocketOptions,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Sockets {
    /// Ready to serve; `stop` ends every socket with 1012.
    pub fn new(services: SocketServices, options: SocketOptions, stop: CancellationToken) -> Self {
        let limits = PlaceLimits {
            per_person: options.connections_per_person,
            per_document: options.connections_per_document,
        };
        let doorway = Doorway {
            documents: services.documents,
            store: services.store,
            authenticate: services.authenticate,
            watch: services.watch,
            places: Places::new(limits),
        };
        Self(Arc::new(Inner {
            doorway: Arc::new(doorway),
            clock: services.clock,
            origins: services.origins,
            options,
            stop,
            tasks: TaskTracker::new(),
        }))
    }

    /// The routes `/sync/{work id}` and `/collab`.
    pub fn routes(&self) -> Router {
        Router::new()
            .route(SYNC_PATH, get(sync))
            .route("/sync/{*room}", get(sync))
            .route("/collab", get(collab))
            .route("/collab/", get(collab))
            .with_state(self.clone())
    }

    /// Returns when every socket has ended; call it after `stop` was cancelled.
    pub async fn stopped(&self) {
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }

    /// Opens a socket, or refuses a foreign page.
    fn upgrade<F>(
        &self,
        headers: &HeaderMap,
        upgrade: WebSocketUpgrade,
        serve: impl FnOnce(Self, WebSocket) -> F + Send + 'static,
    ) -> Response
    where
        F: Future<Output = ()> + Send + 'static,
    {
        if !self.0.origins.admit(headers) {
            return (StatusCode::FORBIDDEN, "this origin may not open sockets").into_response();
        }
        let sockets = self.clone();
        // Counted from now on, so that a stop does not miss a socket that is being upgraded.
        let task = self.0.tasks.token();
        upgrade
            .read_buffer_size(BUFFER_BYTES)
            .write_buffer_size(BUFFER_BYTES)
            .max_frame_size(self.0.options.frame_bytes)
            .max_message_size(self.0.options.frame_bytes)
            .on_upgrade(move |socket| async move {
                serve(sockets, socket).await;
                drop(task);
            })
    }
}

async fn sync(
    State(sockets): State<Sockets>,
    RawQuery(query): RawQuery,
    uri: Uri,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    let token = token_of(&headers, query.as_deref());
    let room = room_of(&uri);
    sockets.upgrade(&headers, upgrade, move |sockets, socket| async move {
        let metrics = SocketMetrics::open(plain::PROTOCOL);
        let stop = &sockets.0.stop;
        let entered = tokio::select! {
            () = stop.cancelled() => Err(socket::restart()),
            entered = enter(&sockets.0.doorway, token.as_deref(), &room) => entered,
        };
        match entered {
            Ok((incoming, outgoing)) => {
                socket::run(socket, incoming, outgoing, &metrics, stop).await;
            }
            Err(close) => socket::refuse(socket, close, &metrics).await,
        }
    })
}

async fn enter(
    doorway: &Doorway,
    token: Option<&str>,
    room: &str,
) -> Result<(plain::PlainIncoming, plain::PlainOutgoing), Close> {
    let admitted = doorway.admit(token, room).await?;
    let changed = Arc::default();
    let joined = doorway.join(&admitted, Arc::clone(&changed)).await?;
    Ok(plain::halves(joined, changed))
}

async fn collab(
    State(sockets): State<Sockets>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    let token = token_of(&headers, query.as_deref());
    sockets.upgrade(&headers, upgrade, move |sockets, socket| async move {
        let metrics = SocketMetrics::open(collab::PROTOCOL);
        let (incoming, outgoing) = collab::halves(CollabContext {
            doorway: sockets.0.doorway.clone(),
            clock: sockets.0.clock.clone(),
            token,
            document_limit: sockets.0.options.documents_per_socket,
        });
        socket::run(socket, incoming, outgoing, &metrics, &sockets.0.stop).await;
    })
}

/// The room of a `/sync` path, percent-decoded; empty where there is none.
fn room_of(uri: &Uri) -> String {
    let path = uri.path().strip_prefix(SYNC_PATH).unwrap_or_default();
    let room = path.strip_prefix('/').unwrap_or_default();
    percent_decode_str(room).decode_utf8_lossy().into_owned()
}

/// The token of a request: the header's, else the query's.
fn token_of(headers: &HeaderMap, query: Option<&str>) -> Option<String> {
    let header = headers
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(bearer);
    if let Some(token) = header {
        return Some(token.to_owned());
    }
    let query = query?.as_bytes();
    url::form_urlencoded::parse(query)
        .find(|(name, token)| name == "token" && !token.is_empty())
        .map(|(_, token)| token.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_is_percent_decoded() {
        let uri = Uri::from_static("/sync/work%5F1?token=x");
        assert_eq!(room_of(&uri), "work_1");
        assert_eq!(room_of(&Uri::from_static("/sync")), "");
    }

    #[test]
    fn the_header_decides_before_the_query() {
        let mut headers = HeaderMap::new();
        assert_eq!(
            token_of(&headers, Some("a=1&token=s%20t")),
            Some("s t".into())
        );
        assert_eq!(token_of(&headers, Some("token=")), None);
        headers.insert(AUTHORIZATION, "Bearer h".parse().expect("a header value"));
        assert_eq!(token_of(&headers, Some("token=q")), Some("h".into()));
    }
}
