//! The whole router as an HTTP client sees it, over a store in memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_graphql::{EmptyMutation, EmptySubscription, Object, Schema};
use async_trait::async_trait;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use axum::http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, HeaderName, UPGRADE};
use axum::routing::get;
use domain::document::{DocumentOptions, DocumentService};
use domain::ids::{TokenId, UserId};
use domain::installation::InstallationSecret;
use domain::people::{ApiToken, TokenKind};
use domain::time::Timestamp;
use metrics_exporter_prometheus::PrometheusBuilder;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tower::ServiceExt as _;

use super::*;
use crate::assets::Addresses;
use crate::graphql::transport::{Documents, Parts, Settings};
use crate::health::Ready;
use crate::sync::access::AccessWatch;
use crate::sync::{SocketOptions, SocketServices};
use crate::testing::{HandClock, MemoryStore};
use crate::tokens::{self, Tokens};

struct Root;

#[Object]
impl Root {
    async fn words(&self) -> String {
        "word ".repeat(1_000)
    }
}

struct Switch(AtomicBool);

#[async_trait]
impl Ready for Switch {
    async fn ready(&self) -> domain::Result<()> {
        if self.0.load(Ordering::SeqCst) {
            return Ok(());
        }
        Err(Error::Unavailable("secret address of the database".into()))
    }
}

struct Scene {
    router: Router,
    ready: Arc<Switch>,
    stop: CancellationToken,
}

fn scene() -> Scene {
    let (store, _) = MemoryStore::new();
    let clock = Arc::new(HandClock::default());
    store.tokens.lock().expect("not poisoned").push(ApiToken {
        id: TokenId::new(),
        user: UserId::new(),
        label: "a token".into(),
        kind: TokenKind::Personal,
        secret_hash: tokens::hash("good"),
        created_at: Timestamp::from_micros(0),
        last_used_at: None,
        expires_at: None,
    });
    let stop = CancellationToken::new();
    let ready = Arc::new(Switch(AtomicBool::new(true)));
    let public = Url::parse("http://127.0.0.1:8787/").expect("a URL");
    let origins = Origins::new(&public, []);
    let watch = AccessWatch::start(store.clone(), clock.clone(), stop.clone());
    let authenticate = Tokens::start(store.clone(), clock.clone(), watch.clone(), stop.clone());
    let documents =
        DocumentService::start(DocumentOptions::default(), store.clone(), clock.clone());
    let endpoint = Endpoint::try_new(Parts {
        execute: Arc::new(Schema::new(Root, EmptyMutation, EmptySubscription)),
        authenticate: authenticate.clone(),
        documents: Documents::off(),
        origins: origins.clone(),
        settings: Settings::default(),
        shutdown: stop.clone(),
    });
    let services = SocketServices {
        documents: documents.clone(),
        store: store.clone(),
        clock: clock.clone(),
        authenticate: authenticate.clone(),
        watch,
        origins: origins.clone(),
    };
    let secret = InstallationSecret([2; 32]);
    let router = router(Routes {
        endpoint: endpoint.expect("a schema"),
        sockets: Sockets::new(services, SocketOptions::default(), stop.clone()),
        media: Arc::new(domain::media::NoMedia),
        assets: AssetServices {
            store,
            documents: documents.clone(),
            blobs: Arc::new(crate::assets::testing::MemoryBlobs::default()),
            addresses: Addresses::new(&secret, public.clone(), clock.clone()),
            clock,
            authenticate: authenticate.clone(),
        },
        health: Health {
            ready: ready.clone(),
            authenticate,
            documents: documents.clone(),
            metrics: Some(PrometheusBuilder::new().build_recorder().handle()),
            stop: stop.clone(),
        },
        public,
        origins,
    });
    Scene {
        router,
        ready,
        stop,
    }
}

impl Scene {
    async fn get(&self, path: &str, headers: &[(HeaderName, &str)]) -> Response {
        let mut request = Request::builder().uri(path);
        for (name, value) in headers {
            request = request.header(name, *value);
        }
        let request = request.body(Body::empty()).expect("a request");
        let router = self.router.clone();
        router.oneshot(request).await.expect("infallible")
    }
}

async fn text(response: Response) -> String {
    let bytes = to_bytes(response.into_body(), 1 << 20)
        .await
        .expect("a body");
    String::from_utf8(bytes.to_vec()).expect("text")
}

#[tokio::test]
async fn health_needs_no_token_and_metrics_do() {
    let scene = scene();
    assert_eq!(scene.get("/healthz", &[]).await.status(), StatusCode::OK);
    assert_eq!(scene.get("/readyz", &[]).await.status(), StatusCode::OK);
    let refused = scene.get("/metrics", &[]).await;
    assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(refused.headers()[WWW_AUTHENTICATE], "Bearer");
    let shown = scene
        .get("/metrics", &[(AUTHORIZATION, "Bearer good")])
        .await;
    assert_eq!(shown.status(), StatusCode::OK);
}

#[tokio::test]
async fn readiness_ends_with_the_database_and_with_the_stop_and_tells_no_secrets() {
    let scene = scene();
    scene.ready.0.store(false, Ordering::SeqCst);
    let unready = scene.get("/readyz", &[]).await;
    assert_eq!(unready.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(!text(unready).await.contains("secret"));
    scene.ready.0.store(true, Ordering::SeqCst);
    scene.stop.cancel();
    let stopping = scene.get("/readyz", &[]).await;
    assert_eq!(stopping.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(scene.get("/healthz", &[]).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn every_answer_names_its_request_and_odd_names_are_replaced() {
    let scene = scene();
    let name_of = |response: &Response| response.headers()[REQUEST_ID].clone();
    let given = scene.get("/healthz", &[(REQUEST_ID, "abc-1")]).await;
    assert_eq!(name_of(&given), "abc-1");
    for path in ["/healthz", "/", "/graphql", "/files/x", "/nowhere"] {
        let odd = scene.get(path, &[(REQUEST_ID, "<script>")]).await;
        assert_eq!(name_of(&odd).len(), 32, "{path}");
    }
}

#[tokio::test]
async fn the_studio_stands_behind_all_other_routes() {
    let scene = scene();
    let browser = [(ACCEPT, "text/html")];
    assert_eq!(
        scene.get("/anything", &browser).await.status(),
        StatusCode::OK
    );
    let missing = scene.get("/nowhere.js", &[]).await;
    assert_eq!(missing.status(), StatusCode::NOT_FOUND);
    assert!(text(missing).await.contains("\"NOT_FOUND\""));
    let graphql = scene.get("/graphql?query={words}", &browser).await;
    assert_eq!(graphql.status(), StatusCode::UNAUTHORIZED);
    let socket = scene.get("/sync/work_1", &[(UPGRADE, "h2c")]).await;
    assert!(socket.status().is_client_error(), "{}", socket.status());
}

#[tokio::test]
async fn json_is_compressed_for_those_who_can_read_it() {
    let scene = scene();
    let mut headers = vec![
        (AUTHORIZATION, "Bearer good"),
        (ACCEPT, "application/json"),
        (ACCEPT_ENCODING, "gzip"),
    ];
    let query = "/graphql?query=%7Bwords%7D";
    let packed = scene.get(query, &headers).await;
    assert_eq!(packed.headers()[CONTENT_ENCODING], "gzip");
    headers.pop();
    let plain = scene.get(query, &headers).await;
    assert!(!plain.headers().contains_key(CONTENT_ENCODING));
    assert!(text(plain).await.contains("word word"));
}

#[tokio::test]
async fn a_defect_is_an_answer_in_json_without_its_cause() {
    async fn broken() -> &'static str {
        panic!("secret cause")
    }
    let router = surround(Router::new().route("/", get(broken)), Origins::default());
    let request = Request::new(Body::empty());
    let response = router.oneshot(request).await.expect("infallible");
    assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
    assert!(response.headers().contains_key(REQUEST_ID));
    let text = text(response).await;
    assert!(
        text.contains("INTERNAL_SERVER_ERROR") && !text.contains("secret"),
        "{text}"
    );
}

#[tokio::test]
async fn what_is_under_way_when_the_server_stops_is_answered() {
    let (arrived, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (tell, wait) = (arrived.clone(), go_on.clone());
    let slow = get(move || async move {
        tell.notify_one();
        wait.notified().await;
        "done"
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let stop = CancellationToken::new();
    let router = Router::new().route("/", slow);
    let served = tokio::spawn(serve(listener, router, stop.clone()));
    let mut client = TcpStream::connect(address).await.expect("connects");
    let request = b"GET / HTTP/1.1\r\nHost: atelier\r\nConnection: close\r\n\r\n";
    client.write_all(request).await.expect("sends");
    arrived.notified().await;
    stop.cancel();
    go_on.notify_one();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.expect("reads");
    assert!(answer.ends_with("done"), "{answer}");
    served.await.expect("no panic").expect("no error");
    assert!(TcpStream::connect(address).await.is_err());
}
