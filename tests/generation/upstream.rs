//! A Replicate-style upstream that a test writes: it takes orders over a real socket, and misbehaves as it is told to.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_LENGTH, LOCATION};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::time::{Clock as _, SystemClock};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// With what call backs are signed.
pub(crate) const SECRET: &str = "whsec_dGVzdHMtb2YtZ2VuZXJhdGlvbg==";
/// What a picture costs.
pub(crate) const PRICE: u64 = 40_000;

/// How an order is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Taken; it runs until told otherwise.
    Take,
    /// Taken, and already made.
    Made,
    /// Taken, and the answer never comes.
    HangAfter,
    /// Taken, and the connection is cut.
    DropAfter,
    /// Taken, and half an answer comes.
    HalfAnswer,
    /// A page of HTML.
    Html,
    /// 500, and nothing is taken.
    Broken,
    /// 429, and nothing is taken.
    Busy,
    /// 422, and nothing is taken.
    Refuse,
}

/// How a file is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum File {
    /// A small picture.
    Picture,
    /// A page.
    Html,
    /// It promises 10 GB.
    Huge,
    /// It ends in the middle.
    Half,
    /// It is at another address.
    Redirect(&'static str),
    /// 404.
    Gone,
}

/// One order.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    pub(crate) id: String,
    pub(crate) input: Value,
    pub(crate) webhook: Option<String>,
    pub(crate) status: &'static str,
    pub(crate) output: Value,
    pub(crate) error: String,
}

/// How the upstream uses words of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Words {
    /// It refuses an order with them.
    Refusal,
    /// It takes an order, and it fails with them.
    Failure,
}

#[derive(Debug)]
struct Inner {
    address: String,
    manner: Manner,
    file: File,
    orders: Vec<Order>,
    submissions: u32,
    looked: u32,
    /// What it says to orders with these prompts.
    words: BTreeMap<String, (Words, String)>,
}

/// The upstream.
#[derive(Debug, Clone)]
pub(crate) struct Upstream(Arc<Mutex<Inner>>);

impl Upstream {
    /// Starts one.
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let upstream = Self(Arc::new(Mutex::new(Inner {
            address,
            manner: Manner::Take,
            file: File::Picture,
            orders: Vec::new(),
            submissions: 0,
            looked: 0,
            words: BTreeMap::new(),
        })));
        let router = Router::new()
            .route("/v1/models/{owner}/{name}/predictions", post(submit))
            .route("/v1/predictions/{id}", get(look))
            .route("/v1/predictions/{id}/cancel", post(cancel))
            .route("/files/{name}", get(file))
            .with_state(upstream.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        upstream
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().expect("a lock")
    }

    /// The settings with which a server uses it.
    pub(crate) fn settings(&self) -> Vec<(&'static str, String)> {
        let models = json!([
            {"kind": "image", "model": "fake/pictures", "priceMicros": PRICE, "currency": "USD", "parameters": {"steps": 4}},
            {"kind": "video", "model": "fake/films", "currency": "USD"},
            {"kind": "audio", "model": "fake/sounds", "priceMicros": 0},
        ]);
        vec![
            (
                "ATELIER_REPLICATE_BASE_URL",
                format!("{}/v1", self.inner().address),
            ),
            ("ATELIER_REPLICATE_TOKEN", "r8_test".to_owned()),
            ("ATELIER_REPLICATE_WEBHOOK_SECRET", SECRET.to_owned()),
            ("ATELIER_REPLICATE_MODELS", models.to_string()),
            ("ATELIER_MEDIA_PROVIDERS", "replicate,local".to_owned()),
            ("ATELIER_SUBMISSION_TIMEOUT", "2s".to_owned()),
        ]
    }

    /// How orders are answered from now on.
    pub(crate) fn answer(&self, manner: Manner) {
        self.inner().manner = manner;
    }

    /// What it says to orders with this prompt.
    pub(crate) fn say(&self, prompt: &str, words: Words, text: &str) {
        let said = (words, text.to_owned());
        self.inner().words.insert(prompt.to_owned(), said);
    }

    /// How files are served from now on.
    pub(crate) fn serve(&self, file: File) {
        self.inner().file = file;
    }

    /// The orders that it has taken.
    pub(crate) fn orders(&self) -> Vec<Order> {
        self.inner().orders.clone()
    }

    /// How often something was submitted, taken or not.
    pub(crate) fn submissions(&self) -> u32 {
        self.inner().submissions
    }

    /// How often it was asked about orders.
    pub(crate) fn looked(&self) -> u32 {
        self.inner().looked
    }

    /// Ends an order; nobody is told.
    pub(crate) fn end(&self, id: &str, status: &'static str) {
        let mut inner = self.inner();
        let output = json!([format!("{}/files/{id}.png", inner.address)]);
        let order = inner.orders.iter_mut().find(|order| order.id == id);
        let order = order.expect("it has the order");
        order.status = status;
        if status == "succeeded" {
            order.output = output;
        }
    }

    /// An order as it shows it.
    pub(crate) fn prediction(&self, id: &str) -> Value {
        let inner = self.inner();
        let order = inner.orders.iter().find(|order| order.id == id);
        shown(order.expect("it has the order"))
    }

    /// Calls back about an order as it is now.
    pub(crate) async fn call_back(&self, id: &str) -> StatusCode {
        let notice = format!("msg_{}", uuid::Uuid::new_v4().simple());
        self.call_back_as(id, &notice).await
    }

    /// The same under a notice's id.
    pub(crate) async fn call_back_as(&self, id: &str, notice: &str) -> StatusCode {
        let body = self.prediction(id).to_string();
        let order = self.orders().into_iter().find(|order| order.id == id);
        let url = order
            .and_then(|order| order.webhook)
            .expect("it was asked to call back");
        send(&url, notice, &body, SECRET, 0).await
    }
}

/// Sends a signed call back, its time off by so many seconds.
pub(crate) async fn send(
    url: &str,
    notice: &str,
    body: &str,
    secret: &str,
    off: i64,
) -> StatusCode {
    let now = SystemClock.now().micros() / 1_000_000;
    let time = (now + off).to_string();
    let signature = sign(secret, notice, &time, body);
    let request = reqwest::Client::new()
        .post(url)
        .header("webhook-id", notice)
        .header("webhook-timestamp", time)
        .header("webhook-signature", signature)
        .header("content-type", "application/json")
        .body(body.to_owned());
    let answer = request.send().await.expect("the server answers");
    StatusCode::from_u16(answer.status().as_u16()).expect("a status")
}

/// What Standard Webhooks put into the header.
fn sign(secret: &str, id: &str, time: &str, body: &str) -> String {
    use aws_lc_rs::hmac;
    let bytes = STANDARD
        .decode(secret.trim_start_matches("whsec_"))
        .expect("base64");
    let key = hmac::Key::new(hmac::HMAC_SHA256, &bytes);
    let tag = hmac::sign(&key, format!("{id}.{time}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(tag))
}

fn shown(order: &Order) -> Value {
    json!({
        "id": order.id, "status": order.status, "output": order.output, "input": order.input, "logs": "",
        "error": if order.status == "failed" { json!(order.error) } else { Value::Null },
    })
}

async fn submit(
    State(upstream): State<Upstream>,
    Path(_): Path<BTreeMap<String, String>>,
    Json(body): Json<Value>,
) -> Response {
    let (manner, words) = {
        let mut inner = upstream.inner();
        inner.submissions += 1;
        let prompt = body["input"]["prompt"].as_str().unwrap_or_default();
        (inner.manner, inner.words.get(prompt).cloned())
    };
    if let Some((Words::Refusal, text)) = &words {
        return (
            StatusCode::UNPROCESSABLE_ENTITY,
            Json(json!({"detail": text})),
        )
            .into_response();
    }
    match manner {
        Manner::Html => return "<!doctype html><h1>Maintenance</h1>".into_response(),
        Manner::Broken => return StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        Manner::Busy => return StatusCode::TOO_MANY_REQUESTS.into_response(),
        Manner::Refuse => {
            let refusal = Json(json!({"detail": "the prompt is not allowed"}));
            return (StatusCode::UNPROCESSABLE_ENTITY, refusal).into_response();
        }
        _ => {}
    }
    let id = {
        let mut inner = upstream.inner();
        let id = format!("p{}", uuid::Uuid::new_v4().simple());
        inner.orders.push(Order {
            id: id.clone(),
            input: body["input"].clone(),
            webhook: body["webhook"].as_str().map(str::to_owned),
            status: if words.is_some() {
                "failed"
            } else {
                "starting"
            },
            output: Value::Null,
            error: words.map_or_else(|| "it broke".to_owned(), |(_, text)| text),
        });
        id
    };
    if manner == Manner::Made {
        upstream.end(&id, "succeeded");
    }
    let answer = upstream.prediction(&id);
    match manner {
        Manner::HangAfter => {
            tokio::time::sleep(Duration::from_mins(10)).await;
            StatusCode::OK.into_response()
        }
        Manner::DropAfter => cut(b""),
        Manner::HalfAnswer => cut(&answer.to_string().as_bytes()[..20]),
        _ => (StatusCode::CREATED, Json(answer)).into_response(),
    }
}

/// An answer that promises more than comes.
fn cut(bytes: &[u8]) -> Response {
    let first = bytes::Bytes::copy_from_slice(bytes);
    let pieces = futures_util::stream::iter([
        Ok(first),
        Err(std::io::Error::other("the connection is cut")),
    ]);
    Response::builder()
        .header(CONTENT_LENGTH, 1_000)
        .body(Body::from_stream(pieces))
        .expect("an answer")
}

async fn look(State(upstream): State<Upstream>, Path(id): Path<String>) -> Response {
    let mut inner = upstream.inner();
    inner.looked += 1;
    match inner.orders.iter().find(|order| order.id == id) {
        Some(order) => Json(shown(order)).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn cancel(State(upstream): State<Upstream>, Path(id): Path<String>) -> Response {
    let mut inner = upstream.inner();
    match inner.orders.iter_mut().find(|order| order.id == id) {
        Some(order) => {
            order.status = "canceled";
            Json(shown(order)).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn file(State(upstream): State<Upstream>, Path(_): Path<String>) -> Response {
    let file = upstream.inner().file;
    match file {
        File::Picture => picture().into_response(),
        File::Html => "<!doctype html><h1>no picture</h1>".into_response(),
        File::Huge => Response::builder()
            .header(CONTENT_LENGTH, 10_u64 << 30)
            .body(Body::from_stream(futures_util::stream::pending::<
                Result<bytes::Bytes, std::io::Error>,
            >()))
            .expect("an answer"),
        File::Half => cut(&picture()[..40]),
        File::Redirect(to) => (StatusCode::FOUND, [(LOCATION, to)]).into_response(),
        File::Gone => StatusCode::NOT_FOUND.into_response(),
    }
}

/// A small PNG.
pub(crate) fn picture() -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    image::DynamicImage::new_rgb8(8, 8)
        .write_to(&mut bytes, image::ImageFormat::Png)
        .expect("encodes");
    bytes.into_inner()
}
