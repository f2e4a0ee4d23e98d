//! A connection to a live document, held by whoever speaks with an editor.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tokio::sync::mpsc;

use crate::document::actor::Message;
use crate::document::outbox::Outbox;
use crate::document::{Inbound, Outbound};
use crate::ids::ConnectionId;

/// A connection to a live document. Dropping it leaves.
pub struct Connection {
    id: ConnectionId,
    mailbox: mpsc::Sender<Message>,
    pub(super) outbox: Arc<Outbox>,
    pub(super) may_write: Arc<AtomicBool>,
}

impl Connection {
    pub(super) fn new(
        id: ConnectionId,
        mailbox: mpsc::Sender<Message>,
        outbox: Arc<Outbox>,
        may_write: Arc<AtomicBool>,
    ) -> Self {
        Self {
            id,
            mailbox,
            outbox,
            may_write,
        }
    }

    /// Hands a frame to the document; waits while the document is busy. A document that has ended takes nothing more,
    /// and says so through [`Connection::next`].
    pub async fn send(&self, frame: Inbound) {
        if self
            .mailbox
            .send(Message::Frame(self.id, frame))
            .await
            .is_err()
        {
            self.outbox
                .close(1013, "the document was closed; reconnect");
        }
    }

    /// The next frame for the editor; none after `Closed` was taken.
    pub async fn next(&self) -> Option<Outbound> {
        self.outbox.next().await
    }

    /// A frame that is ready now.
    pub fn try_next(&self) -> Option<Outbound> {
        self.outbox.pop()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // A full mailbox is no loss: the actor looks after dropped connections by itself.
        let _ = self.mailbox.try_send(Message::Leave(self.id));
    }
}
