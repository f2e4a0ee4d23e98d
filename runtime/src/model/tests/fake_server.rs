//! A provider on a loopback socket that answers what a test wants and remembers what it was asked.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, Response, Uri};
use futures_util::stream;
use reqwest::Url;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// What arrived.
#[derive(Debug, Clone)]
pub(super) struct Received {
    pub(super) path: String,
    pub(super) headers: HeaderMap,
    pub(super) raw: Bytes,
}

impl Received {
    pub(super) fn body(&self) -> Value {
        serde_json::from_slice(&self.raw).expect("a request is JSON")
    }
}

/// What is answered.
#[derive(Debug)]
pub(super) enum Answer {
    /// A status, headers and a body.
    Plain(u16, Vec<(&'static str, String)>, String),
    /// Nothing, for ever.
    Silence,
    /// The beginning of an answer, and then the connection is closed.
    Broken,
    /// So many bytes in pieces, with no word of how many there will be.
    Flood(usize),
}

impl Answer {
    pub(super) fn json(body: &Value) -> Self {
        Self::status(200, body.to_string())
    }

    pub(super) fn status(status: u16, body: impl Into<String>) -> Self {
        Self::Plain(status, Vec::new(), body.into())
    }

    fn into_response(self) -> Response<Body> {
        match self {
            Self::Plain(status, headers, body) => {
                let mut response = Response::builder().status(status);
                for (name, value) in headers {
                    response = response.header(name, value);
                }
                response.body(body.into()).expect("a good response")
            }
            Self::Broken => {
                let parts = [Ok("{\"id\":"), Err(io::Error::other("the end"))];
                Response::new(Body::from_stream(stream::iter(parts)))
            }
            Self::Flood(size) => {
                let piece = Bytes::from(vec![b' '; 1 << 16]);
                let pieces = vec![piece; size >> 16].into_iter().map(Ok::<_, io::Error>);
                Response::new(Body::from_stream(stream::iter(pieces)))
            }
            Self::Silence => unreachable!("silence is no response"),
        }
    }
}

#[derive(Debug, Default)]
struct Story {
    answers: Mutex<VecDeque<Answer>>,
    received: Mutex<Vec<Received>>,
}

/// The server; it ends with the value.
#[derive(Debug)]
pub(super) struct FakeServer {
    url: Url,
    story: Arc<Story>,
    serving: JoinHandle<()>,
}

impl FakeServer {
    /// Answers these, in order.
    pub(super) async fn answering(answers: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let story = Arc::new(Story {
            answers: Mutex::new(answers.into_iter().collect()),
            received: Mutex::default(),
        });
        let routes = Router::new()
            .fallback(answer)
            .layer(DefaultBodyLimit::disable())
            .with_state(story.clone());
        let serving = tokio::spawn(async move {
            axum::serve(listener, routes).await.expect("it serves");
        });
        Self {
            url: Url::parse(&format!("http://{address}/v1")).expect("a URL"),
            story,
            serving,
        }
    }

    /// A server that answers one request with this body.
    pub(super) async fn replying(body: &Value) -> Self {
        Self::answering([Answer::json(body)]).await
    }

    pub(super) fn url(&self) -> Url {
        self.url.clone()
    }

    pub(super) fn received(&self) -> Vec<Received> {
        self.story.received.lock().expect("not poisoned").clone()
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn answer(
    State(story): State<Arc<Story>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    story.received.lock().expect("not poisoned").push(Received {
        path: uri.path().to_owned(),
        headers,
        raw: body,
    });
    let answer = story.answers.lock().expect("not poisoned").pop_front();
    match answer.expect("the test expects no more requests") {
        Answer::Silence => std::future::pending().await,
        answer => answer.into_response(),
    }
}
