//! The one writer of a socket: control frames first, then the operations in turn.
//!
//! Invariants
//! - An operation whose queue is always full gets its turn and no more: after each message it goes to the end of the line.
//! - Nothing of a cancelled operation is sent, even what was queued before.
//! - A client that does not read for [`SEND_TIME`] is given up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use bytes::Bytes;
use futures_util::stream::{SelectAll, SplitSink};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;

use super::message::Closing;

/// How long one frame may take to be sent.
const SEND_TIME: Duration = Duration::from_secs(10);

/// What the writer is told.
pub(super) enum Command {
    Send(String),
    Ping,
    /// An operation's messages join the line.
    Attach(ReceiverStream<Frame>),
    Close(Closing),
}

/// One message of an operation.
pub(super) struct Frame {
    pub(super) text: String,
    pub(super) operation: Arc<Running>,
    pub(super) place: Place,
}

/// Where in its operation a message stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Within,
    /// After this the id is free.
    Last,
}

/// An operation as reader, writer and its own task share it.
#[derive(Debug, Default)]
pub(super) struct Running {
    pub(super) cancelled: CancellationToken,
    has_ended: AtomicBool,
}

impl Running {
    /// Whether its last message was sent, so that its id is free.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }
}

/// Writes until told to close, or until the client is gone; then cancels `gone`.
pub(super) async fn write(
    mut sink: SplitSink<WebSocket, Message>,
    mut commands: mpsc::Receiver<Command>,
    gone: CancellationToken,
) {
    let _gone = gone.drop_guard();
    let mut operations = SelectAll::new();
    loop {
        let message = tokio::select! {
            biased;
            command = commands.recv() => match command {
                None => return,
                Some(Command::Send(text)) => Message::Text(text.into()),
                Some(Command::Ping) => Message::Ping(Bytes::new()),
                Some(Command::Attach(queue)) => {
                    operations.push(queue);
                    continue;
                }
                Some(Command::Close(closing)) => {
                    // The socket ends either way; the client learns why if it still listens.
                    let _ = send(&mut sink, Message::Close(Some(closing.frame()))).await;
                    return;
                }
            },
            Some(frame) = operations.next(), if !operations.is_empty() => {
                if frame.operation.cancelled.is_cancelled() {
                    continue;
                }
                if frame.place == Place::Last {
                    // Before it is sent: the client may use the id again as soon as it has read this.
                    frame.operation.has_ended.store(true, Ordering::Release);
                }
                Message::Text(frame.text.into())
            }
        };
        if send(&mut sink, message).await.is_err() {
            return;
        }
    }
}

async fn send(
    sink: &mut SplitSink<WebSocket, Message>,
    message: Message,
) -> Result<(), axum::Error> {
    tokio::time::timeout(SEND_TIME, sink.send(message))
        .await
        .unwrap_or_else(|elapsed| Err(axum::Error::new(elapsed)))
}
