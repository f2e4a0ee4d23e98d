//! The relay: passes every frame on to the other sockets of its path, and keeps nothing. The floor under all servers.
//!
//! Invariants
//! - A question for what somebody lacks is answered with nothing, so that editors find themselves in step.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use anyhow::Result;
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_tungstenite::accept_hdr_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};

use crate::crowd::lock;
use crate::editor::next_frame;

/// Frames that wait for one socket; whoever is slower than that holds up the others.
const FRAMES: usize = 4_096;
/// The beginning of a sync step 1.
const STEP_1: &[u8] = &[0, 0];
/// A sync step 2 with an empty update.
const NOTHING: &[u8] = &[0, 1, 2, 0, 0];

/// The sockets of each path; a list is copied when somebody comes or goes, not for each frame.
type Sockets = Arc<Mutex<HashMap<String, Arc<Vec<(u64, mpsc::Sender<Bytes>)>>>>>;

/// Serves until it is killed.
pub(crate) async fn serve(port: u16) -> Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let sockets = Sockets::default();
    for number in 0.. {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let sockets = sockets.clone();
        // A socket ends as it likes: nothing is kept for it.
        tokio::spawn(async move { relay(stream, number, &sockets).await });
    }
    Ok(())
}

#[expect(
    clippy::result_large_err,
    reason = "the signature that the WebSocket library asks for"
)]
async fn relay(stream: TcpStream, number: u64, sockets: &Sockets) -> Result<()> {
    let mut path = String::new();
    let note = |request: &Request, response: Response| -> Result<Response, ErrorResponse> {
        request.uri().path().clone_into(&mut path);
        Ok(response)
    };
    let (mut sending, mut receiving) = accept_hdr_async(stream, note).await?.split();
    let (own, mut waiting) = mpsc::channel::<Bytes>(FRAMES);
    Arc::make_mut(lock(sockets).entry(path.clone()).or_default()).push((number, own.clone()));
    tokio::spawn(async move {
        while let Some(frame) = waiting.recv().await {
            let mut next = Some(frame);
            while let Some(frame) = next {
                sending.feed(Message::Binary(frame)).await?;
                next = waiting.try_recv().ok();
            }
            sending.flush().await?;
        }
        Ok::<_, anyhow::Error>(())
    });
    while let Ok(Some(frame)) = next_frame(&mut receiving).await {
        if frame.starts_with(STEP_1) {
            own.send(Bytes::from_static(NOTHING)).await?;
            continue;
        }
        let all = lock(sockets).get(&path).cloned().unwrap_or_default();
        for (other, socket) in all.iter() {
            if *other != number {
                // One that has just gone needs nothing.
                let _ = socket.send(frame.clone()).await;
            }
        }
    }
    if let Some(all) = lock(sockets).get_mut(&path) {
        Arc::make_mut(all).retain(|(other, _)| *other != number);
    }
    Ok(())
}
