//! Requests that are made to exhaust the server: each is refused with its code, at once, and the next one is served.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Client, Installation, on_sqlite};

on_sqlite![
    documents_that_multiply_are_refused_at_once,
    the_schema_is_not_told_unless_introspection_is_on,
    bodies_that_are_too_large_are_refused,
    lists_of_inputs_are_limited,
];

/// The longest that a refusal may take; a debug build on a busy machine needs some of it.
const AT_ONCE: Duration = Duration::from_secs(5);

async fn assert_alive(client: &Client) {
    assert_eq!(
        client
            .ask("{ viewer { user { id } } }", Value::Null)
            .await
            .status,
        200
    );
}

fn aliases(count: usize) -> String {
    let mut document = "{".to_owned();
    for number in 0..count {
        write!(document, " a{number}: viewer {{ user {{ id }} }}").expect("writes to a text");
    }
    document + " }"
}

/// Fragments each of which spreads the next one eight times.
fn fragment_bomb(levels: usize) -> String {
    let mut document = "{ viewer { user { ...f0 } } }".to_owned();
    for level in 0..levels {
        let spreads = format!(" ...f{}", level + 1).repeat(8);
        write!(document, " fragment f{level} on User {{{spreads} }}").expect("writes to a text");
    }
    write!(document, " fragment f{levels} on User {{ id }}").expect("writes to a text");
    document
}

fn deep_selection(levels: usize) -> String {
    let nested = "user { ".repeat(levels);
    format!("{{ viewer {{ {nested} id {} }} }}", "}".repeat(levels))
}

async fn documents_that_multiply_are_refused_at_once(installation: &Installation) {
    let (server, owner) = installation.open().await;
    let directives = format!(
        "{{ viewer {{ user {{ id {} }} }} }}",
        "@include(if: true) ".repeat(1_000)
    );
    let deep_list = format!(
        "{{ node(id: {}1{}) {{ id }} }}",
        "[".repeat(5_000),
        "]".repeat(5_000)
    );
    let pages = "{ viewer { workspaces(first: 100) { nodes { works(first: 100) { nodes { history(first: 100) { nodes { summary } } } } } } } }";
    let attempts = [
        ("aliases", aliases(10_000)),
        ("fragments", fragment_bomb(20)),
        ("depth", deep_selection(200)),
        ("depth beyond any stack", deep_selection(20_000)),
        ("directives", directives),
        ("lists in lists", deep_list),
        ("pages of pages", pages.to_owned()),
    ];
    for (name, document) in attempts {
        let began = Instant::now();
        let answer = owner.client.ask(&document, Value::Null).await;
        let taken = began.elapsed();
        let code = answer.code();
        let expected = [
            "QUERY_TOO_COMPLEX",
            "GRAPHQL_PARSE_FAILED",
            "GRAPHQL_VALIDATION_FAILED",
            "PAYLOAD_TOO_LARGE",
        ];
        assert!(expected.contains(&code), "{name}: {}", answer.body);
        assert!(taken < AT_ONCE, "{name} took {taken:?}");
        assert_alive(&owner.client).await;
    }
    let answer = owner.client.ask(&aliases(100), Value::Null).await;
    assert_eq!(answer.code(), "QUERY_TOO_COMPLEX");
    assert_eq!(
        owner
            .client
            .ask(&fragment_bomb(6), Value::Null)
            .await
            .code(),
        "QUERY_TOO_COMPLEX"
    );
    assert!(
        server.peak_resident_bytes() < 300 << 20,
        "{} bytes",
        server.peak_resident_bytes()
    );
}

async fn the_schema_is_not_told_unless_introspection_is_on(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let introspection = "{ __schema { types { fields { type { fields { name } } } } } }";
    let answer = owner.client.ask(introspection, Value::Null).await;
    assert_eq!(
        answer.code(),
        "GRAPHQL_VALIDATION_FAILED",
        "{}",
        answer.body
    );
    let through =
        "query { ...ofSchema } fragment ofSchema on Query { ... { __schema { types { name } } } }";
    let answer = owner.client.ask(through, Value::Null).await;
    assert_eq!(
        answer.code(),
        "GRAPHQL_VALIDATION_FAILED",
        "{}",
        answer.body
    );
    assert!(answer.body.to_string().contains("introspection is off"));
    let one = owner
        .client
        .ask("{ __type(name: \"Work\") { name } }", Value::Null);
    assert_eq!(one.await.body["data"], json!({"__type": null}));
}

async fn bodies_that_are_too_large_are_refused(installation: &Installation) {
    let (server, owner) = installation.open().await;
    for size in [300 << 10, 30 << 20] {
        let query = format!("{{ viewer {{ user {{ id }} }} }} #{}", "x".repeat(size));
        let request = owner
            .client
            .http()
            .post(format!("{}/graphql", server.address()))
            .bearer_auth(owner.client.secret());
        // A server may end the connection once it has read enough.
        if let Ok(response) = request.json(&json!({"query": query})).send().await {
            assert_eq!(response.status(), 413);
            let body: Value = response.json().await.expect("JSON");
            assert_eq!(body["errors"][0]["extensions"]["code"], "PAYLOAD_TOO_LARGE");
        }
        assert_alive(&owner.client).await;
    }
    assert!(
        server.peak_resident_bytes() < 300 << 20,
        "{} bytes",
        server.peak_resident_bytes()
    );
}

async fn lists_of_inputs_are_limited(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let work = owner.create_nodes("STORYBOARD", json!([])).await;
    let puts = |count: usize| vec![json!({"put": {"fields": {}}}); count];
    let answer = work.ask_edit(0, json!(puts(251))).await;
    assert!(
        ["BAD_USER_INPUT", "QUERY_TOO_COMPLEX"].contains(&answer.code()),
        "{}",
        answer.body
    );
    assert_eq!(work.edit(json!(puts(250))).await, 1);
    assert_eq!(work.node_ids().await.len(), 250);
    let ids = vec![work.id.clone(); 251];
    let answer = owner
        .client
        .ask(
            "query ($ids: [ID!]!) { nodes(ids: $ids) { id } }",
            json!({"ids": ids}),
        )
        .await;
    assert!(
        ["BAD_USER_INPUT", "QUERY_TOO_COMPLEX"].contains(&answer.code()),
        "{}",
        answer.body
    );
}
