//! One document on one socket, by the y-websocket protocol.
//!
//! Invariants
//! - What the token or the membership no longer allows ends the socket; a change between reading and writing does not.
//!
//! Not here: bytes (`y_websocket`), keep-alive and closing (`socket`).

use std::sync::Arc;

use bytes::Bytes;
use domain::document::{Access, Connection, Inbound, Outbound};
use tokio::sync::Notify;

use super::close::Close;
use super::doorway::{Joined, judge};
use super::metrics::refused;
use super::socket::{BATCH_BYTES, BATCH_FRAMES, Incoming, Outgoing};
use super::y_websocket::{self, Messages};

/// The name of the protocol in metrics.
pub(crate) const PROTOCOL: &str = "y-websocket";

/// What comes from the editor.
pub(crate) struct PlainIncoming {
    joined: Joined,
    changed: Arc<Notify>,
    is_resync_due: bool,
}

/// What goes to the editor.
pub(crate) struct PlainOutgoing {
    connection: Arc<Connection>,
}

/// The two halves for somebody who has joined; `changed` is what the rights were registered with.
pub(crate) fn halves(joined: Joined, changed: Arc<Notify>) -> (PlainIncoming, PlainOutgoing) {
    let connection = joined.connection.clone();
    let incoming = PlainIncoming {
        joined,
        changed,
        is_resync_due: false,
    };
    (incoming, PlainOutgoing { connection })
}

impl Incoming for PlainIncoming {
    async fn receive(&mut self, frame: Bytes) -> Result<(), Close> {
        let mut messages = Messages::new(&frame);
        loop {
            match messages.next_message() {
                Ok(Some(message)) => self.joined.connection.send(message).await,
                Ok(None) => return Ok(()),
                Err(_) => {
                    refused(PROTOCOL, "malformed");
                    return Err(Close::new(Close::MALFORMED, "no y-websocket message"));
                }
            }
        }
    }

    async fn attend(&mut self) -> Close {
        loop {
            if self.is_resync_due {
                self.joined.connection.send(ask_back()).await;
                self.is_resync_due = false;
            }
            self.changed.notified().await;
            let Some(standing) = self.joined.rights.take_change() else {
                continue;
            };
            match judge(standing) {
                Ok(access) => {
                    self.joined.connection.set_access(access);
                    self.is_resync_due = access == Access::Write;
                }
                Err(close) => return close,
            }
        }
    }
}

/// What is handed to a document for an editor that may write again: a question as if nothing were known. The document
/// answers it, and asks back for what it lacks, so that what was refused meanwhile arrives.
pub(crate) fn ask_back() -> Inbound {
    Inbound::SyncStep1(Bytes::from_static(&[0]))
}

impl Outgoing for PlainOutgoing {
    async fn fill(&mut self, frames: &mut Vec<Bytes>) -> Option<Close> {
        let mut next = self.connection.next().await;
        let mut bytes = 0;
        loop {
            match next {
                Some(Outbound::Closed(code, reason)) => return Some(Close::new(code, reason)),
                Some(outbound) => {
                    let frame = y_websocket::encode(&outbound);
                    bytes += frame.as_ref().map_or(0, Bytes::len);
                    frames.extend(frame);
                }
                None => return Some(Close::new(Close::LATER, "the document was closed")),
            }
            if bytes > BATCH_BYTES || frames.len() >= BATCH_FRAMES {
                return None;
            }
            next = Some(self.connection.try_next()?);
        }
    }

    fn keep_alive(&self) -> Option<Bytes> {
        Some(y_websocket::keep_alive())
    }
}
