//! The outbound half of a Hocuspocus socket: frames of all its documents, each to the address it was joined by.
//!
//! Invariants
//! - Orders of the reading half are carried out in order, so that what a document sends follows the `Authenticated` of it.
//! - A document that ends takes only its own address away, except where the peer has to come back as a whole.
//!
//! Not here: who may join (`collab`).

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use domain::document::{Connection, Outbound};
use futures_util::stream::{self, Stream};
use tokio::sync::mpsc;
use tokio_stream::{StreamExt, StreamMap};

use super::close::Close;
use super::hocuspocus;
use super::socket::{BATCH_BYTES, BATCH_FRAMES, Outgoing};

/// What the reading half orders.
pub(crate) enum Control {
    /// Send this.
    Frame(Bytes),
    /// Send what this document has to say.
    Attach {
        /// Which attachment it is.
        slot: u64,
        /// The address, as it was received.
        address: Arc<str>,
        /// The document.
        connection: Arc<Connection>,
        /// To be set when the document has ended the connection.
        is_over: Arc<AtomicBool>,
    },
    /// Send no more of it.
    Detach(u64),
    /// The client answers pings.
    UsePing,
}

type Frames = Pin<Box<dyn Stream<Item = Outbound> + Send>>;

/// What goes to the editors of a socket.
pub(crate) struct CollabOutgoing {
    orders: mpsc::Receiver<Control>,
    frames: StreamMap<u64, Frames>,
    documents: HashMap<u64, Document>,
    last_address: Arc<str>,
    uses_ping: bool,
}

struct Document {
    address: Arc<str>,
    connection: Arc<Connection>,
    is_over: Arc<AtomicBool>,
}

impl CollabOutgoing {
    /// Nothing is attached yet.
    pub(crate) fn new(orders: mpsc::Receiver<Control>) -> Self {
        Self {
            orders,
            frames: StreamMap::new(),
            documents: HashMap::new(),
            last_address: "".into(),
            uses_ping: false,
        }
    }

    fn carry_out(&mut self, control: Control, frames: &mut Vec<Bytes>) {
        match control {
            Control::Frame(frame) => frames.push(frame),
            Control::UsePing => self.uses_ping = true,
            Control::Detach(slot) => self.detach(slot),
            Control::Attach {
                slot,
                address,
                connection,
                is_over,
            } => {
                self.last_address = address.clone();
                self.frames.insert(slot, frames_of(connection.clone()));
                let document = Document {
                    address,
                    connection,
                    is_over,
                };
                self.documents.insert(slot, document);
            }
        }
    }

    fn detach(&mut self, slot: u64) {
        self.frames.remove(&slot);
        self.documents.remove(&slot);
    }

    /// Adds a frame of a document and those that are ready behind it.
    fn take(&mut self, slot: u64, first: Outbound, frames: &mut Vec<Bytes>) -> Option<Close> {
        let mut next = first;
        let mut bytes = 0;
        while let Some(document) = self.documents.get(&slot) {
            if let Outbound::Closed(code, reason) = next {
                return self.end(slot, Close::new(code, reason), frames);
            }
            let frame = hocuspocus::encode(&document.address, &next);
            bytes += frame.as_ref().map_or(0, Bytes::len);
            frames.extend(frame);
            if bytes > BATCH_BYTES || frames.len() >= BATCH_FRAMES {
                break;
            }
            match document.connection.try_next() {
                Some(ready) => next = ready,
                None => break,
            }
        }
        None
    }

    fn end(&mut self, slot: u64, close: Close, frames: &mut Vec<Bytes>) -> Option<Close> {
        if !close.is_about_one_document() {
            return Some(close);
        }
        if let Some(document) = self.documents.get(&slot) {
            document.is_over.store(true, Ordering::Relaxed);
            let address = &document.address;
            frames.push(hocuspocus::permission_denied(address, &close.reason));
            frames.push(hocuspocus::close(address, &close.reason));
        }
        self.detach(slot);
        None
    }
}

impl Outgoing for CollabOutgoing {
    async fn fill(&mut self, frames: &mut Vec<Bytes>) -> Option<Close> {
        while frames.is_empty() {
            tokio::select! {
                biased;
                order = self.orders.recv() => match order {
                    Some(control) => self.carry_out(control, frames),
                    // The reading half is gone, and ends the socket itself.
                    None => std::future::pending().await,
                },
                Some((slot, outbound)) = self.frames.next(), if !self.frames.is_empty() => {
                    let close = self.take(slot, outbound, frames);
                    if close.is_some() {
                        return close;
                    }
                }
            }
        }
        while let Ok(control) = self.orders.try_recv() {
            self.carry_out(control, frames);
        }
        None
    }

    fn keep_alive(&self) -> Option<Bytes> {
        if self.uses_ping {
            return Some(hocuspocus::ping());
        }
        Some(hocuspocus::keep_alive(&self.last_address))
    }
}

/// A document's frames; ends behind the frame that closes it.
fn frames_of(connection: Arc<Connection>) -> Frames {
    Box::pin(stream::unfold(connection, |connection| async move {
        let outbound = connection.next().await?;
        Some((outbound, connection))
    }))
}
