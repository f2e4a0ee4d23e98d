//! The loop of one socket, for every protocol: frames in, frames out, keep-alive, and the way it ends.
//!
//! Invariants
//! - Reading and writing go on side by side in one task; a document that is busy holds up reading alone.
//! - Frames that are ready together leave with one flush.
//! - Every client hears something of the protocol itself at least every 20 s: editors can not see WebSocket pings, and
//!   believe a silent server dead after 30 s. A peer that is silent for a minute is dropped.
//!
//! Not here: what frames mean (`plain`, `collab`).

use std::future::Future;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{FutureExt, SinkExt, StreamExt};
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_tungstenite::tungstenite::error::{CapacityError, Error as SocketError};
use tokio_util::sync::CancellationToken;

use super::close::Close;
use super::metrics::SocketMetrics;

/// Half of the longest silence towards a client.
const KEEP_ALIVE_TICK: Duration = Duration::from_secs(10);
/// A quarter of the silence after which a peer is dropped.
const SILENCE_TICK: Duration = Duration::from_secs(15);
/// Silent ticks that are forgiven.
const SILENT_TICKS: u32 = 4;
/// How long a peer that takes nothing is waited for.
const WRITE_LIMIT: Duration = Duration::from_mins(2);
/// How long the closing handshake may take.
const CLOSE_LIMIT: Duration = Duration::from_secs(2);
/// Frames that leave with one flush.
pub(crate) const BATCH_FRAMES: usize = 64;
/// Bytes after which a batch is flushed.
pub(crate) const BATCH_BYTES: usize = 256 << 10;

/// The inbound half of a protocol.
pub(crate) trait Incoming: Send {
    /// Takes one binary frame; waits while the document is busy.
    fn receive(&mut self, frame: Bytes) -> impl Future<Output = Result<(), Close>> + Send;
    /// Looks after what does not come from the peer (rights, deadlines) until the socket has to end. Cancel-safe.
    fn attend(&mut self) -> impl Future<Output = Close> + Send;
}

/// The outbound half of a protocol.
pub(crate) trait Outgoing: Send {
    /// Waits for frames and adds those that are ready; the close that follows them, if it is the end. Cancel-safe.
    fn fill(&mut self, frames: &mut Vec<Bytes>) -> impl Future<Output = Option<Close>> + Send;
    /// A frame that says nothing.
    fn keep_alive(&self) -> Option<Bytes>;
}

/// How a socket ends.
enum Ending {
    /// The peer closed it.
    ClosedByPeer,
    /// The server closes it.
    Refused(Close),
    /// The server closes it in the middle of a frame that it will not read.
    TooLarge,
    /// It is gone: nothing more can be said.
    Broken,
}

/// Runs a socket to its end.
pub(crate) async fn run(
    socket: WebSocket,
    mut incoming: impl Incoming,
    mut outgoing: impl Outgoing,
    metrics: &SocketMetrics,
    stop: &CancellationToken,
) {
    let (mut sink, mut stream) = socket.split();
    let ending = tokio::select! {
        biased;
        () = stop.cancelled() => Ending::Refused(restart()),
        ending = read(&mut stream, &mut incoming, metrics) => ending,
        ending = write(&mut sink, &mut outgoing, metrics) => ending,
    };
    // The document is left before the peer is waited for.
    drop((incoming, outgoing));
    finish(sink, stream, ending, metrics).await;
}

/// Refuses a socket that was just opened.
pub(crate) async fn refuse(socket: WebSocket, close: Close, metrics: &SocketMetrics) {
    let (sink, stream) = socket.split();
    finish(sink, stream, Ending::Refused(close), metrics).await;
}

/// What is said to everybody when the server stops.
pub(crate) fn restart() -> Close {
    Close::new(Close::RESTART, "the server restarts; reconnect")
}

async fn read(
    stream: &mut SplitStream<WebSocket>,
    incoming: &mut impl Incoming,
    metrics: &SocketMetrics,
) -> Ending {
    let mut silence = interval_at(Instant::now() + SILENCE_TICK, SILENCE_TICK);
    silence.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut silent_ticks = 0;
    loop {
        let message = tokio::select! {
            biased;
            close = incoming.attend() => return Ending::Refused(close),
            message = stream.next() => message,
            _ = silence.tick() => {
                silent_ticks += 1;
                if silent_ticks > SILENT_TICKS {
                    return Ending::Broken;
                }
                continue;
            }
        };
        silent_ticks = 0;
        match message {
            Some(Ok(Message::Binary(frame))) => {
                metrics.received.increment(1);
                if let Err(close) = incoming.receive(frame).await {
                    return Ending::Refused(close);
                }
            }
            Some(Ok(Message::Text(_))) => {
                let reason = "text frames are no part of the protocol";
                return Ending::Refused(Close::new(Close::MALFORMED, reason));
            }
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            Some(Ok(Message::Close(_))) | None => return Ending::ClosedByPeer,
            Some(Err(error)) => return ending_of(&error),
        }
    }
}

fn ending_of(error: &axum::Error) -> Ending {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref());
    match source {
        Some(SocketError::Capacity(CapacityError::MessageTooLong { .. })) => Ending::TooLarge,
        Some(SocketError::Utf8(_) | SocketError::Protocol(_)) => {
            Ending::Refused(Close::new(Close::MALFORMED, "no WebSocket frame"))
        }
        _ => Ending::Broken,
    }
}

async fn write(
    sink: &mut SplitSink<WebSocket, Message>,
    outgoing: &mut impl Outgoing,
    metrics: &SocketMetrics,
) -> Ending {
    let mut tick = interval_at(Instant::now() + KEEP_ALIVE_TICK, KEEP_ALIVE_TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut frames = Vec::new();
    let mut is_quiet = true;
    let mut is_ping_due = false;
    loop {
        let mut close = None;
        let mut ping = None;
        tokio::select! {
            biased;
            end = outgoing.fill(&mut frames) => {
                close = end;
                is_quiet &= frames.is_empty();
            }
            _ = tick.tick() => {
                frames.extend(is_quiet.then(|| outgoing.keep_alive()).flatten());
                ping = is_ping_due.then_some(Message::Ping(Bytes::new()));
                is_quiet = true;
                is_ping_due = !is_ping_due;
            }
        }
        metrics.sent.increment(frames.len() as u64);
        let messages = frames.drain(..).map(Message::Binary).chain(ping);
        if !deliver(sink, messages).await {
            return Ending::Broken;
        }
        if let Some(close) = close {
            return Ending::Refused(close);
        }
    }
}

/// Sends with one flush; false when the peer is gone or takes nothing.
async fn deliver(
    sink: &mut SplitSink<WebSocket, Message>,
    messages: impl Iterator<Item = Message>,
) -> bool {
    let mut sending = std::pin::pin!(async {
        for message in messages {
            sink.feed(message).await?;
        }
        sink.flush().await
    });
    // Nearly always the peer takes everything at once, and no timer is needed.
    let result = match sending.as_mut().now_or_never() {
        Some(result) => Ok(result),
        None => timeout(WRITE_LIMIT, sending).await,
    };
    matches!(result, Ok(Ok(())))
}

async fn finish(
    mut sink: SplitSink<WebSocket, Message>,
    mut stream: SplitStream<WebSocket>,
    ending: Ending,
    metrics: &SocketMetrics,
) {
    let close = match &ending {
        Ending::Broken => return,
        Ending::ClosedByPeer => None,
        Ending::Refused(close) => Some(close.clone()),
        Ending::TooLarge => Some(Close::new(Close::TOO_LARGE, "the frame is too large")),
    };
    // Whether the peer still listens shows in the end of the stream.
    let closing = async {
        if let Some(Close { code, reason }) = close {
            metrics.closed(code);
            let frame = CloseFrame {
                code,
                reason: reason.into(),
            };
            let _ = sink.send(Message::Close(Some(frame))).await;
        }
        if matches!(ending, Ending::TooLarge) {
            // The rest of the frame can not be read away; the peer needs a moment to see the reason before the reset.
            tokio::time::sleep(CLOSE_LIMIT).await;
        }
        while let Some(Ok(_)) = stream.next().await {}
    };
    let _ = timeout(2 * CLOSE_LIMIT, closing).await;
}

#[cfg(test)]
mod tests;
