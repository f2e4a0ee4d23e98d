//! graphql-transport-ws: the handshake.
//!
//! Invariants
//! - A foreign `Origin` and a wrong subprotocol are refused before there is a socket.
//! - Every socket is tracked, so that a stopping server can wait for its close frames to be sent.

mod connection;
mod message;
mod operation;
mod writer;

use axum::extract::FromRequestParts as _;
use axum::extract::ws::WebSocketUpgrade;
use axum::http::Method;
use axum::http::header::UPGRADE;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};

use super::accept::Media;
use super::endpoint::Endpoint;
use super::http::refusal_response;
use crate::graphql::error::{Code, Refusal};

/// The subprotocol; its forerunner `graphql-ws` is dead.
const PROTOCOL: &str = "graphql-transport-ws";
/// A message this many times over the limit still gets a clean close frame, because it is read to its end.
const READ_BEYOND: usize = 4;

/// Whether the request wants to become a websocket.
pub(super) fn is_upgrade(parts: &Parts) -> bool {
    let upgrade = parts
        .headers
        .get(UPGRADE)
        .and_then(|value| value.to_str().ok());
    parts.method == Method::GET
        && upgrade.is_some_and(|value| value.eq_ignore_ascii_case("websocket"))
}

/// Opens a socket, or refuses the handshake.
pub(super) async fn accept(endpoint: &Endpoint, parts: &mut Parts) -> Response {
    let refuse = |refusal: &Refusal| refusal_response(endpoint, Media::Modern, refusal);
    if !endpoint.origins().admit(&parts.headers) {
        return refuse(&Refusal::service(
            Code::Forbidden,
            "pages of this origin may not open sockets here",
        ));
    }
    if endpoint.shutdown().is_cancelled() {
        return refuse(&Refusal::service(
            Code::Unavailable,
            "the server is stopping; try again shortly",
        ));
    }
    let upgrade = match WebSocketUpgrade::from_request_parts(parts, &()).await {
        Ok(upgrade) => upgrade.protocols([PROTOCOL]),
        Err(rejection) => return rejection.into_response(),
    };
    if upgrade.selected_protocol().is_none() {
        return refuse(&Refusal::unreadable(format!(
            "the subprotocol must be {PROTOCOL}"
        )));
    }
    let limit = endpoint.settings().max_message.saturating_mul(READ_BEYOND);
    let (endpoint, tracked) = (endpoint.clone(), endpoint.sockets().token());
    upgrade
        .max_message_size(limit)
        .max_frame_size(limit)
        .on_upgrade(move |socket| async move {
            connection::serve(endpoint, socket).await;
            drop(tracked);
        })
}
