//! GraphQL over HTTP and server-sent events.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, Request};
use futures_util::StreamExt as _;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::*;

const MODERN: &str = "application/graphql-response+json";
const LEGACY: &str = "application/json";

struct Reply {
    status: u16,
    headers: HeaderMap,
    json: Value,
}

impl Reply {
    fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map(|value| value.to_str().expect("text"))
            .unwrap_or_default()
    }

    fn code(&self) -> &str {
        self.json["errors"][0]["extensions"]["code"]
            .as_str()
            .unwrap_or_default()
    }
}

fn request(method: &str, uri: &str, accept: &str, body: String) -> Request<Body> {
    Request::builder()
        .method(method)
        .uri(uri)
        .header("authorization", "Bearer good")
        .header("content-type", "application/json")
        .header("accept", accept)
        .body(Body::from(body))
        .expect("a request")
}

async fn send(fixture: &Fixture, request: Request<Body>) -> Reply {
    let response = router(fixture.endpoint.clone())
        .oneshot(request)
        .await
        .expect("infallible");
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let bytes = response
        .into_body()
        .collect()
        .await
        .expect("a whole body")
        .to_bytes();
    Reply {
        status,
        headers,
        json: serde_json::from_slice(&bytes).unwrap_or(Value::Null),
    }
}

async fn post(fixture: &Fixture, query: &str, accept: &str) -> Reply {
    send(
        fixture,
        request(
            "POST",
            "/graphql",
            accept,
            json!({ "query": query }).to_string(),
        ),
    )
    .await
}

#[tokio::test]
async fn a_query_is_answered_with_its_data_and_what_it_cost() {
    let fixture = with(Settings::default(), Documents::off());
    let reply = post(&fixture, "{ hello }", MODERN).await;
    assert_eq!(
        (reply.status, &reply.json["data"]),
        (200, &json!({"hello": "hello"}))
    );
    let cost = &reply.json["extensions"]["cost"];
    assert_eq!(
        (
            &cost["requestedQueryCost"],
            &cost["throttleStatus"]["maximumAvailable"]
        ),
        (&json!(1), &json!(2000.0))
    );
    assert_eq!(
        (reply.header("vary"), reply.header("x-ratelimit-remaining")),
        ("Accept", "1999")
    );
}

#[tokio::test]
async fn without_a_good_token_nothing_is_executed() {
    let fixture = fixture();
    for authorization in ["", "Bearer bad", "Basic good"] {
        let mut asked = request(
            "POST",
            "/graphql",
            MODERN,
            json!({"query": "mutation { count }"}).to_string(),
        );
        asked.headers_mut().insert(
            "authorization",
            authorization.parse().expect("a header value"),
        );
        let reply = send(&fixture, asked).await;
        assert_eq!(
            (reply.status, reply.code(), reply.header("www-authenticate")),
            (401, "UNAUTHENTICATED", "Bearer")
        );
    }
    assert_eq!(fixture.counts.mutations.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_mutation_needs_post() {
    let fixture = fixture();
    let reply = send(
        &fixture,
        request(
            "GET",
            "/graphql?query=mutation%7Bcount%7D",
            MODERN,
            String::new(),
        ),
    )
    .await;
    assert_eq!(
        (reply.status, reply.header("allow"), reply.code()),
        (405, "POST", "METHOD_NOT_ALLOWED")
    );
    assert_eq!(fixture.counts.mutations.load(Ordering::SeqCst), 0);
    assert_eq!(
        post(&fixture, "mutation { count }", MODERN).await.json["data"]["count"],
        1
    );
}

#[tokio::test]
async fn the_status_of_a_refused_document_follows_the_profile_and_the_media_type() {
    let edition = Settings {
        profile: Profile::September2026,
        rate_limit: None,
        ..Settings::default()
    };
    let (audit, edition) = (fixture(), with(edition, Documents::off()));
    for (query, modern, newer, code) in [
        ("{", 400, 400, "GRAPHQL_PARSE_FAILED"),
        ("{ nothing }", 400, 422, "GRAPHQL_VALIDATION_FAILED"),
        (
            "query($n: Int!) { name(number: $n) }",
            400,
            422,
            "BAD_USER_INPUT",
        ),
        ("subscription { numbers { name } }", 400, 422, "BAD_REQUEST"),
    ] {
        let reply = post(&audit, query, MODERN).await;
        assert_eq!((reply.status, reply.code()), (modern, code), "{query}");
        assert!(reply.json.get("data").is_none(), "{query}");
        let reply = post(&edition, query, LEGACY).await;
        assert_eq!((reply.status, reply.code()), (newer, code), "{query}");
        assert!(reply.header("content-type").starts_with(MODERN), "{query}");
    }
    assert_eq!(post(&audit, "{ nothing }", LEGACY).await.status, 200);
    assert_eq!(post(&audit, "{ hello missing }", MODERN).await.status, 200);
    assert_eq!(
        post(&edition, "{ hello missing }", MODERN).await.status,
        294
    );
}

#[tokio::test]
async fn a_failed_field_is_null_beside_its_siblings_and_has_its_code() {
    let reply = post(&fixture(), "{ hello missing }", MODERN).await;
    assert_eq!(
        reply.json["data"],
        json!({"hello": "hello", "missing": null})
    );
    assert_eq!(
        (reply.code(), &reply.json["errors"][0]["path"]),
        ("NOT_FOUND", &json!(["missing"]))
    );
}

#[tokio::test]
async fn a_masked_error_names_the_request_and_nothing_else() {
    let fixture = fixture();
    let mut asked = request(
        "POST",
        "/graphql",
        MODERN,
        json!({"query": "{ broken }"}).to_string(),
    );
    asked
        .headers_mut()
        .insert("x-request-id", "my-id_7".parse().expect("a header value"));
    let reply = send(&fixture, asked).await;
    assert_eq!(
        reply.json["errors"][0]["extensions"],
        json!({"code": "INTERNAL_SERVER_ERROR", "requestId": "my-id_7"})
    );
    assert_eq!(
        (
            reply.header("x-request-id"),
            reply.json["errors"][0]["message"].as_str()
        ),
        ("my-id_7", Some("Internal error"))
    );
}

#[tokio::test]
async fn a_resolver_that_breaks_off_is_answered_and_the_server_lives() {
    let fixture = fixture();
    let reply = post(&fixture, "{ panics }", MODERN).await;
    assert_eq!((reply.status, reply.code()), (500, "INTERNAL_SERVER_ERROR"));
    assert!(!reply.json.to_string().contains("on purpose"));
    assert_eq!(post(&fixture, "{ hello }", MODERN).await.status, 200);
}

#[tokio::test]
async fn an_operation_that_takes_too_long_is_ended() {
    let settings = Settings {
        time_limit: Duration::from_millis(20),
        rate_limit: None,
        ..Settings::default()
    };
    let reply = post(&with(settings, Documents::off()), "{ slow }", MODERN).await;
    assert_eq!((reply.status, reply.code()), (503, "TIMEOUT"));
}

#[tokio::test]
async fn who_spends_too_fast_is_told_when_to_come_back() {
    let rate_limit = Some(RateLimit {
        per_second: 0.25,
        burst: 2.0,
    });
    let fixture = with(
        Settings {
            rate_limit,
            ..Settings::default()
        },
        Documents::off(),
    );
    assert_eq!(post(&fixture, "{ hello }", MODERN).await.status, 200);
    assert_eq!(post(&fixture, "{ hello }", MODERN).await.status, 200);
    let reply = post(&fixture, "{ hello }", LEGACY).await;
    assert_eq!((reply.status, reply.code()), (429, "RATE_LIMITED"));
    let wait: u64 = reply.header("retry-after").parse().expect("seconds");
    assert!((1..=4).contains(&wait), "{wait}");
}

#[tokio::test]
async fn bodies_are_limited_and_of_one_type() {
    let fixture = fixture();
    let large = json!({"query": format!("{{ hello }} #{}", "x".repeat(256 * 1024))}).to_string();
    let reply = send(&fixture, request("POST", "/graphql", MODERN, large)).await;
    assert_eq!((reply.status, reply.code()), (413, "PAYLOAD_TOO_LARGE"));
    for content_type in [
        "text/plain",
        "multipart/form-data; boundary=x",
        "application/json; charset=utf-16",
    ] {
        let mut asked = request(
            "POST",
            "/graphql",
            MODERN,
            json!({"query": "{ hello }"}).to_string(),
        );
        asked.headers_mut().insert(
            "content-type",
            content_type.parse().expect("a header value"),
        );
        let reply = send(&fixture, asked).await;
        assert_eq!(
            (reply.status, reply.code()),
            (415, "UNSUPPORTED_MEDIA_TYPE"),
            "{content_type}"
        );
    }
    let reply = send(
        &fixture,
        request("GET", "/graphql", "text/html", String::new()),
    )
    .await;
    assert_eq!((reply.status, reply.code()), (406, "NOT_ACCEPTABLE"));
}

#[tokio::test]
async fn only_trusted_documents_run_where_that_is_asked_for() {
    let settings = Settings {
        rate_limit: None,
        ..Settings::default()
    };
    let documents =
        Documents::from_manifest(DocumentMode::Only, r#"{"x-app:1": "{ hello }"}"#).expect("loads");
    let fixture = with(settings, documents);
    let reply = post(&fixture, "{ hello }", MODERN).await;
    assert_eq!(
        (reply.status, reply.code()),
        (400, "PERSISTED_DOCUMENT_REQUIRED")
    );
    let by_id = |id: &str| {
        request(
            "POST",
            "/graphql",
            MODERN,
            json!({ "documentId": id }).to_string(),
        )
    };
    assert_eq!(
        send(&fixture, by_id("x-app:1")).await.json["data"]["hello"],
        "hello"
    );
    assert_eq!(
        send(&fixture, by_id("x-app:2")).await.code(),
        "PERSISTED_DOCUMENT_NOT_FOUND"
    );
}

#[tokio::test]
async fn the_schema_is_text_for_callers_and_not_introspected() {
    let fixture = fixture();
    let response = router(fixture.endpoint.clone())
        .oneshot(request(
            "GET",
            "/graphql/schema.graphql",
            "*/*",
            String::new(),
        ))
        .await
        .expect("infallible");
    let text = response
        .into_body()
        .collect()
        .await
        .expect("a whole body")
        .to_bytes();
    assert!(String::from_utf8_lossy(&text).contains("type Query"));
    let stranger = Request::get("/graphql/schema.graphql")
        .body(Body::empty())
        .expect("a request");
    assert_eq!(send(&fixture, stranger).await.status, 401);
    let reply = post(&fixture, "{ __schema { queryType { name } } }", MODERN).await;
    assert_eq!(reply.json["data"]["__schema"], Value::Null);
}

#[tokio::test]
async fn one_query_loads_once_and_knows_its_caller() {
    let fixture = fixture();
    let reply = post(
        &fixture,
        "{ person a: name(number: 1) b: name(number: 2) c: name(number: 1) }",
        MODERN,
    )
    .await;
    assert_eq!(
        (&reply.json["data"]["a"], &reply.json["data"]["b"]),
        (&json!("number 1"), &json!("number 2"))
    );
    assert!(
        reply.json["data"]["person"]
            .as_str()
            .is_some_and(|id| id.starts_with("user_"))
    );
    assert_eq!(fixture.counts.loads.load(Ordering::SeqCst), 1);
}

async fn stream(
    fixture: &Fixture,
    query: &str,
    last_event_id: &str,
) -> impl futures_util::Stream<Item = String> + Unpin {
    let mut asked = request(
        "POST",
        "/graphql",
        "text/event-stream",
        json!({ "query": query }).to_string(),
    );
    asked.headers_mut().insert(
        "last-event-id",
        last_event_id.parse().expect("a header value"),
    );
    let response = router(fixture.endpoint.clone())
        .oneshot(asked)
        .await
        .expect("infallible");
    assert_eq!(response.status(), 200);
    let chunks = response.into_body().into_data_stream();
    chunks.map(|chunk| String::from_utf8(chunk.expect("a chunk").to_vec()).expect("text"))
}

#[tokio::test]
async fn an_event_stream_goes_on_after_the_last_event_and_ends_without_complete_at_shutdown() {
    let fixture = fixture();
    let query = "subscription { ticks(after: \"tick:1\") { cursor seq } }";
    let mut events = stream(&fixture, query, "tick:41").await;
    let first = events.next().await.expect("an event");
    assert!(
        first.starts_with("event: next\nid: tick:42\ndata: {\"data\":{\"ticks\":{"),
        "{first}"
    );
    fixture.shutdown.cancel();
    assert!(!events.collect::<String>().await.contains("event: complete"));
}

#[tokio::test]
async fn a_revoked_token_ends_an_event_stream() {
    let fixture = fixture();
    let events = stream(&fixture, "subscription { silent { seq } }", "").await;
    fixture.revoked.cancel();
    let text: String = events.collect().await;
    assert!(
        text.contains("UNAUTHENTICATED") && text.ends_with("event: complete\ndata:\n\n"),
        "{text}"
    );
}

#[tokio::test]
async fn a_silent_event_stream_gets_comments() {
    let settings = Settings {
        comment_interval: Duration::from_millis(10),
        rate_limit: None,
        ..Settings::default()
    };
    let fixture = with(settings, Documents::off());
    let mut events = stream(&fixture, "subscription { silent { seq } }", "").await;
    assert_eq!(events.next().await.as_deref(), Some(":\n\n"));
}

#[tokio::test]
async fn a_bad_cursor_is_the_first_and_last_event() {
    let text: String = stream(
        &fixture(),
        "subscription { ticks(after: \"x\") { seq } }",
        "",
    )
    .await
    .collect()
    .await;
    assert!(
        text.contains("CURSOR_INVALID") && !text.contains("\"data\":null"),
        "{text}"
    );
    assert!(text.ends_with("event: complete\ndata:\n\n"), "{text}");
}

#[tokio::test]
async fn each_event_of_a_subscription_loads_afresh() {
    let fixture = fixture();
    let text: String = stream(&fixture, "subscription { numbers { a: name b: name } }", "")
        .await
        .collect()
        .await;
    assert_eq!(text.matches("number 7").count(), 6, "{text}");
    assert_eq!(fixture.counts.loads.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_person_has_so_many_event_streams_and_one_that_ends_makes_room() {
    let settings = Settings {
        connections_per_person: 1,
        rate_limit: None,
        ..Settings::default()
    };
    let fixture = with(settings, Documents::off());
    let query = "subscription { silent { seq } }";
    let open = stream(&fixture, query, "").await;
    let asked = || {
        request(
            "POST",
            "/graphql",
            "text/event-stream",
            json!({ "query": query }).to_string(),
        )
    };
    let reply = send(&fixture, asked()).await;
    assert_eq!((reply.status, reply.code()), (429, "TOO_MANY_OPERATIONS"));
    drop(open);
    drop(stream(&fixture, query, "").await);
}
