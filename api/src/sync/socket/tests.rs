//! The loop as a peer sees it: a real server on loopback, a plain WebSocket client, and a protocol that says back what it hears.

use std::time::Duration;

use axum::Router;
use axum::extract::ws::WebSocketUpgrade;
use axum::routing::get;
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};
use tokio_util::sync::CancellationToken;

use super::{Incoming, Outgoing, run};
use crate::sync::close::Close;
use crate::sync::metrics::SocketMetrics;

const FRAME_LIMIT: usize = 1 << 20;
const PATIENCE: Duration = Duration::from_secs(10);

type Client = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Says back what it hears; an empty frame is malformed, a frame `end` is the document's end.
struct EchoIn(mpsc::Sender<Bytes>);
struct EchoOut(mpsc::Receiver<Bytes>);

impl Incoming for EchoIn {
    async fn receive(&mut self, frame: Bytes) -> Result<(), Close> {
        if frame.is_empty() {
            return Err(Close::new(Close::MALFORMED, "empty"));
        }
        self.0
            .send(frame)
            .await
            .map_err(|_| Close::new(Close::FAULT, "the other half is gone"))
    }

    async fn attend(&mut self) -> Close {
        std::future::pending().await
    }
}

impl Outgoing for EchoOut {
    async fn fill(&mut self, frames: &mut Vec<Bytes>) -> Option<Close> {
        let frame = self.0.recv().await?;
        if frame == "end" {
            return Some(Close::new(Close::UNKNOWN_WORK, "the work was deleted"));
        }
        frames.push(frame);
        None
    }

    fn keep_alive(&self) -> Option<Bytes> {
        None
    }
}

async fn serve() -> (String, CancellationToken) {
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    let serve = move |upgrade: WebSocketUpgrade| async move {
        upgrade
            .max_frame_size(FRAME_LIMIT)
            .max_message_size(FRAME_LIMIT)
            .on_upgrade(move |socket| async move {
                let (sender, receiver) = mpsc::channel(4);
                let metrics = SocketMetrics::open("test");
                let (incoming, outgoing) = (EchoIn(sender), EchoOut(receiver));
                run(socket, incoming, outgoing, &metrics, &stopping).await;
            })
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("bound");
    let router = Router::new().route("/", get(serve));
    tokio::spawn(async move { axum::serve(listener, router).await });
    (format!("ws://{address}/"), stop)
}

async fn connect(url: &str) -> Client {
    connect_async(url).await.expect("connected").0
}

async fn next(client: &mut Client) -> Message {
    let message = tokio::time::timeout(PATIENCE, client.next()).await;
    message
        .expect("an answer in time")
        .expect("an open stream")
        .expect("a frame")
}

async fn close_of(client: &mut Client) -> (u16, String) {
    match next(client).await {
        Message::Close(Some(frame)) => (frame.code.into(), frame.reason.to_string()),
        other => panic!("{other:?} is no close"),
    }
}

#[tokio::test]
async fn frames_come_back_in_the_order_they_were_sent() {
    let (url, _stop) = serve().await;
    let mut client = connect(&url).await;
    let frames: Vec<_> = (1..=200_u8).map(|size| vec![size; size.into()]).collect();
    for frame in &frames {
        let message = Message::Binary(frame.clone().into());
        client.feed(message).await.expect("sent");
    }
    client.flush().await.expect("sent");
    for frame in frames {
        assert_eq!(next(&mut client).await, Message::Binary(frame.into()));
    }
}

#[tokio::test]
async fn a_frame_beyond_the_limit_closes_with_1009() {
    let (url, _stop) = serve().await;
    let mut client = connect(&url).await;
    let frame = Message::Binary(vec![1; FRAME_LIMIT + 1].into());
    // The server may have closed before it has taken everything.
    let _ = client.send(frame).await;
    assert_eq!(close_of(&mut client).await.0, 1009);
}

#[tokio::test]
async fn a_text_frame_and_a_malformed_one_close_with_4400() {
    for message in [Message::text("hello"), Message::Binary(Bytes::new())] {
        let (url, _stop) = serve().await;
        let mut client = connect(&url).await;
        client.send(message).await.expect("sent");
        assert_eq!(close_of(&mut client).await.0, 4400);
    }
}

#[tokio::test]
async fn the_end_of_a_document_is_told_after_what_came_before_it() {
    let (url, _stop) = serve().await;
    let mut client = connect(&url).await;
    for text in ["one", "end"] {
        let message = Message::Binary(Bytes::from(text));
        client.send(message).await.expect("sent");
    }
    let first = next(&mut client).await;
    assert_eq!(first, Message::Binary(Bytes::from("one")));
    let end = close_of(&mut client).await;
    assert_eq!(end, (4404, "the work was deleted".to_owned()));
}

#[tokio::test]
async fn a_stopping_server_closes_with_1012() {
    let (url, stop) = serve().await;
    let mut client = connect(&url).await;
    client
        .send(Message::Binary(Bytes::from("here")))
        .await
        .expect("sent");
    next(&mut client).await;
    stop.cancel();
    assert_eq!(close_of(&mut client).await.0, 1012);
}
