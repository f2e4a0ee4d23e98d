//! graphql-transport-ws, where the conformance checks do not look.

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::*;

/// Longer than anything here may take.
const PATIENCE: Duration = Duration::from_secs(20);

struct Peer(WebSocketStream<MaybeTlsStream<TcpStream>>);

/// What a peer hears.
#[derive(Debug, PartialEq)]
enum Heard {
    Json(Value),
    Closed(u16),
    Gone,
}

impl Peer {
    async fn say(&mut self, message: Value) {
        self.0
            .send(Message::text(message.to_string()))
            .await
            .expect("the socket is open");
    }

    async fn hear(&mut self) -> Heard {
        loop {
            let frame = tokio::time::timeout(PATIENCE, self.0.next())
                .await
                .expect("a frame in time");
            match frame {
                Some(Ok(Message::Text(text))) => {
                    return Heard::Json(serde_json::from_str(&text).expect("JSON"));
                }
                Some(Ok(Message::Close(Some(frame)))) => return Heard::Closed(frame.code.into()),
                Some(Ok(Message::Close(None)) | Err(_)) | None => return Heard::Gone,
                Some(Ok(_)) => {}
            }
        }
    }

    async fn subscribe(&mut self, id: &str, query: &str) {
        self.say(json!({"id": id, "type": "subscribe", "payload": {"query": query}}))
            .await;
    }
}

async fn listen(fixture: &Fixture) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = format!("ws://{}/graphql", listener.local_addr().expect("bound"));
    tokio::spawn(axum::serve(listener, router(fixture.endpoint.clone())).into_future());
    address
}

async fn connect(address: &str) -> Peer {
    let mut request = address.into_client_request().expect("a request");
    request.headers_mut().insert(
        "sec-websocket-protocol",
        "graphql-transport-ws".parse().expect("a header value"),
    );
    let (socket, _) = connect_async(request)
        .await
        .expect("the handshake is accepted");
    Peer(socket)
}

async fn ready(address: &str) -> Peer {
    let mut peer = connect(address).await;
    peer.say(json!({"type": "connection_init", "payload": {"authorization": "Bearer good"}}))
        .await;
    assert_eq!(
        peer.hear().await,
        Heard::Json(json!({"type": "connection_ack"}))
    );
    peer
}

fn error_code(heard: &Heard) -> Option<&str> {
    match heard {
        Heard::Json(message) if message["type"] == "error" => {
            message["payload"][0]["extensions"]["code"].as_str()
        }
        _ => None,
    }
}

#[tokio::test]
async fn a_revoked_token_closes_the_socket() {
    let fixture = fixture();
    let mut peer = ready(&listen(&fixture).await).await;
    peer.subscribe("1", "subscription { silent { seq } }").await;
    fixture.revoked.cancel();
    assert_eq!(peer.hear().await, Heard::Closed(4403));
}

#[tokio::test]
async fn a_stopping_server_closes_its_sockets_and_waits_for_them() {
    let fixture = fixture();
    let address = listen(&fixture).await;
    let (mut idle, mut busy) = (connect(&address).await, ready(&address).await);
    busy.subscribe("1", "subscription { silent { seq } }").await;
    fixture.shutdown.cancel();
    assert_eq!(idle.hear().await, Heard::Closed(1012));
    assert_eq!(busy.hear().await, Heard::Closed(1012));
    tokio::time::timeout(PATIENCE, fixture.endpoint.drained())
        .await
        .expect("all sockets end");
}

#[tokio::test]
async fn what_fails_before_an_event_is_an_error_and_the_id_is_free_again() {
    let fixture = fixture();
    let mut peer = ready(&listen(&fixture).await).await;
    for (query, code) in [
        (
            "subscription { ticks(after: \"x\") { seq } }",
            "CURSOR_INVALID",
        ),
        ("{ panics }", "INTERNAL_SERVER_ERROR"),
        ("{ nothing }", "GRAPHQL_VALIDATION_FAILED"),
    ] {
        peer.subscribe("same", query).await;
        assert_eq!(error_code(&peer.hear().await), Some(code), "{query}");
    }
    peer.subscribe("same", "{ hello }").await;
    let Heard::Json(next) = peer.hear().await else {
        panic!("no answer")
    };
    assert_eq!(
        (&next["type"], &next["payload"]["data"]),
        (&json!("next"), &json!({"hello": "hello"}))
    );
    assert_eq!(
        peer.hear().await,
        Heard::Json(json!({"type": "complete", "id": "same"}))
    );
}

#[tokio::test]
async fn a_person_has_so_many_sockets_and_one_that_ends_makes_room() {
    let settings = Settings {
        connections_per_person: 1,
        rate_limit: None,
        ..Settings::default()
    };
    let fixture = with(settings, Documents::off());
    let address = listen(&fixture).await;
    let mut first = ready(&address).await;
    let mut second = connect(&address).await;
    second
        .say(json!({"type": "connection_init", "payload": {"authorization": "Bearer good"}}))
        .await;
    assert_eq!(second.hear().await, Heard::Closed(1013));
    first.0.close(None).await.expect("closes");
    while first.hear().await != Heard::Gone {}
    ready(&address).await;
}

#[tokio::test]
async fn a_client_that_leaves_a_flood_takes_it_with_it() {
    let fixture = fixture();
    let address = listen(&fixture).await;
    for _ in 0..4 {
        let mut peer = ready(&address).await;
        peer.subscribe("1", "subscription { flood { seq } }").await;
        assert!(matches!(peer.hear().await, Heard::Json(_)));
        // Dropped without a close frame, with the socket's buffers full.
    }
    fixture.shutdown.cancel();
    tokio::time::timeout(PATIENCE, fixture.endpoint.drained())
        .await
        .expect("no operation holds its thread");
}

#[tokio::test]
async fn a_silent_peer_is_dropped_and_a_listening_one_kept() {
    let settings = Settings {
        ping_interval: Duration::from_millis(100),
        rate_limit: None,
        ..Settings::default()
    };
    let fixture = with(settings, Documents::off());
    let address = listen(&fixture).await;
    let deaf = ready(&address).await;
    let mut alive = ready(&address).await;
    alive.subscribe("1", "subscription { ticks { seq } }").await;
    for _ in 0..6 {
        assert!(matches!(alive.hear().await, Heard::Json(_)));
    }
    // The deaf one did not read, so it answered no ping; all that is left of it is what its buffers hold.
    let mut rest = deaf;
    assert_eq!(rest.hear().await, Heard::Gone);
}

#[tokio::test]
async fn a_foreign_page_gets_no_socket() {
    let address = listen(&fixture()).await;
    let mut request = address.into_client_request().expect("a request");
    request.headers_mut().insert(
        "sec-websocket-protocol",
        "graphql-transport-ws".parse().expect("a header value"),
    );
    request.headers_mut().insert(
        "origin",
        "https://evil.example".parse().expect("a header value"),
    );
    let refused = connect_async(request).await.expect_err("refused");
    assert!(refused.to_string().contains("403"), "{refused}");
}
