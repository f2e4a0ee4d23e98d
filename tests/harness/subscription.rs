//! A GraphQL subscription over graphql-transport-ws.

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

use super::socket::{Socket, connect};
use super::{Client, SOON};

/// A running subscription, alone on its socket.
#[derive(Debug)]
pub(crate) struct Subscription {
    socket: Socket,
}

/// What comes from a subscription.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Heard {
    /// An event: the `data` of its result.
    Event(Value),
    /// Its end with errors.
    Errors(Value),
    /// Its end without.
    Complete,
    /// The socket's end, with its close code.
    Closed(Option<u16>),
}

impl Subscription {
    /// Subscribes. The server has the operation when this returns.
    pub(crate) async fn open(client: &Client, document: &str, variables: Value) -> Self {
        let url = format!("{}/graphql", client.socket_address());
        let headers = [("sec-websocket-protocol", "graphql-transport-ws")];
        let socket = connect(&url, &headers).await.expect("the socket opens");
        let mut subscription = Self { socket };
        let authorization = format!("Bearer {}", client.secret());
        let init = json!({"type": "connection_init", "payload": {"authorization": authorization}});
        subscription.send(init).await;
        // Whoever subscribes before the acknowledgement is nobody yet.
        let acknowledged = timeout(SOON, subscription.socket.next()).await;
        let acknowledged = acknowledged
            .expect("an acknowledgement")
            .expect("a message");
        let acknowledged = acknowledged.expect("a message").to_string();
        assert!(acknowledged.contains("connection_ack"), "{acknowledged}");
        let payload = json!({"query": document, "variables": variables});
        subscription
            .send(json!({"type": "subscribe", "id": "1", "payload": payload}))
            .await;
        subscription
    }

    /// What comes next.
    pub(crate) async fn next(&mut self) -> Heard {
        let heard = timeout(SOON, self.next_message()).await;
        heard.expect("the subscription says something")
    }

    /// The next event; fails for everything else.
    pub(crate) async fn event(&mut self) -> Value {
        match self.next().await {
            Heard::Event(data) => data,
            other => panic!("no event but {other:?}"),
        }
    }

    async fn send(&mut self, message: Value) {
        let text = Message::text(message.to_string());
        self.socket.send(text).await.expect("the server reads");
    }

    async fn next_message(&mut self) -> Heard {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => {
                    let message: Value = serde_json::from_str(&text).expect("JSON");
                    if let Some(heard) = read(&message) {
                        return heard;
                    }
                }
                Some(Ok(Message::Close(frame))) => {
                    return Heard::Closed(frame.map(|frame| frame.code.into()));
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Heard::Closed(None),
            }
        }
    }
}

fn read(message: &Value) -> Option<Heard> {
    match message["type"].as_str() {
        Some("next") if message["payload"].get("errors").is_some() => {
            Some(Heard::Errors(message["payload"]["errors"].clone()))
        }
        Some("next") => Some(Heard::Event(message["payload"]["data"].clone())),
        Some("error") => Some(Heard::Errors(message["payload"].clone())),
        Some("complete") => Some(Heard::Complete),
        _ => None,
    }
}
