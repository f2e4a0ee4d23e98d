//! A GraphQL subscription over server-sent events.

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{Client, SOON};

/// One event of a stream.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct StreamEvent {
    /// `next` or `complete`.
    pub(crate) event: String,
    /// Its id, where it has one.
    pub(crate) id: Option<String>,
    /// Its data.
    pub(crate) data: String,
}

/// A running stream.
pub(crate) struct EventStream {
    bytes: BoxStream<'static, reqwest::Result<bytes::Bytes>>,
    unread: String,
}

impl EventStream {
    /// Subscribes; `last_event_id` resumes after an event.
    pub(crate) async fn open(
        client: &Client,
        document: &str,
        variables: Value,
        last_event_id: Option<&str>,
    ) -> Self {
        let mut request = client
            .http()
            .post(format!("{}/graphql", client.address()))
            .bearer_auth(client.secret())
            .header("accept", "text/event-stream")
            .json(&json!({"query": document, "variables": variables}));
        if let Some(id) = last_event_id {
            request = request.header("last-event-id", id);
        }
        let response = request.send().await.expect("the server answers");
        assert_eq!(response.status(), 200);
        assert_eq!(
            response.headers()["content-type"].as_bytes().get(..17),
            Some(&b"text/event-stream"[..])
        );
        Self {
            bytes: response.bytes_stream().boxed(),
            unread: String::new(),
        }
    }

    /// The next event; comments are passed over.
    pub(crate) async fn next(&mut self) -> StreamEvent {
        let next = timeout(SOON, self.read_event()).await;
        next.expect("the stream says something")
    }

    async fn read_event(&mut self) -> StreamEvent {
        loop {
            if let Some((event, rest)) = self.unread.split_once("\n\n") {
                let (event, end) = (parse(event), self.unread.len() - rest.len());
                self.unread.drain(..end);
                if !event.event.is_empty() {
                    return event;
                }
                continue;
            }
            let bytes = self
                .bytes
                .next()
                .await
                .expect("the stream goes on")
                .expect("bytes");
            self.unread += std::str::from_utf8(&bytes).expect("the tests' events are ASCII");
        }
    }
}

fn parse(text: &str) -> StreamEvent {
    let mut event = StreamEvent::default();
    for line in text.lines() {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "event" => value.clone_into(&mut event.event),
            "data" => event.data += value,
            "id" => event.id = Some(value.to_owned()),
            _ => {}
        }
    }
    event
}
