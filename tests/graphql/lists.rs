//! Lists: pages without gap or double, cursors that are good for their own list alone.

use serde_json::{Value, json};

use crate::harness::people::text;
use crate::harness::{Installation, Person, on_both_databases};

on_both_databases![
    pages_hold_everything_once,
    cursors_are_good_for_their_own_list_alone,
    pages_have_a_size,
];

const WORKS: &str =
    "query ($id: ID!, $first: Int, $after: Cursor, $kinds: [WorkKind!]) { workspace(id: $id) {
  works(first: $first, after: $after, kinds: $kinds) { totalCount edges { cursor node { id title } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }";

async fn works(owner: &Person, variables: Value) -> Value {
    let mut all = json!({"id": owner.workspace});
    for (name, value) in variables.as_object().expect("variables") {
        all[name] = value.clone();
    }
    owner.client.run(WORKS, all).await["workspace"]["works"].clone()
}

async fn pages_hold_everything_once(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    for number in 0..7 {
        let kind = if number % 2 == 0 {
            "TEXT"
        } else {
            "STORYBOARD"
        };
        owner
            .create(json!({"kind": kind, "title": format!("work {number}")}))
            .await;
    }
    let mut seen = Vec::new();
    let mut after = Value::Null;
    loop {
        let page = works(&owner, json!({"first": 3, "after": after})).await;
        assert_eq!(page["totalCount"], 7);
        let edges = page["edges"].as_array().expect("edges");
        seen.extend(edges.iter().map(|edge| text(&edge["node"]["title"])));
        assert_eq!(
            page["pageInfo"]["endCursor"],
            edges.last().expect("an edge")["cursor"]
        );
        if page["pageInfo"]["hasNextPage"] == false {
            break;
        }
        after = page["pageInfo"]["endCursor"].clone();
        // What comes in between does not shift the pages.
        if seen.len() == 3 {
            assert_eq!(edges.len(), 3);
        }
    }
    seen.sort();
    assert_eq!(
        seen,
        (0..7)
            .map(|number| format!("work {number}"))
            .collect::<Vec<_>>()
    );
    let texts = works(&owner, json!({"kinds": ["TEXT"]})).await;
    assert_eq!(texts["totalCount"], 4);
    let nothing = works(&owner, json!({"kinds": ["FLOW"]})).await;
    assert_eq!(
        (&nothing["edges"], &nothing["pageInfo"]["endCursor"]),
        (&json!([]), &Value::Null)
    );
}

async fn cursors_are_good_for_their_own_list_alone(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    owner.create_text("one").await;
    let work = owner.create_text("two").await;
    let page = works(&owner, json!({"first": 1})).await;
    let cursor = text(&page["pageInfo"]["endCursor"]);
    let flipped: String = cursor.chars().rev().collect();
    let other_filter = json!({"id": owner.workspace, "after": cursor, "kinds": ["TEXT"]});
    assert_eq!(
        owner.client.ask(WORKS, other_filter).await.code(),
        "CURSOR_INVALID"
    );
    for wrong in [
        "",
        "x",
        "AAAA",
        &flipped,
        &cursor[..cursor.len() - 2],
        &owner.event_cursor().await,
        &"A".repeat(5_000),
    ] {
        let answer = owner
            .client
            .ask(WORKS, json!({"id": owner.workspace, "after": wrong}))
            .await;
        assert_eq!(answer.code(), "CURSOR_INVALID", "{wrong}");
    }
    let history = "query ($id: ID!, $after: Cursor) { node(id: $id) { ... on Work { history(after: $after) { nodes { summary } } } } }";
    assert_eq!(
        owner
            .client
            .ask(history, json!({"id": work.id, "after": cursor}))
            .await
            .code(),
        "CURSOR_INVALID"
    );
    let other = Person::with_workspace(owner.client.clone(), "Other").await;
    assert_eq!(
        other
            .client
            .ask(WORKS, json!({"id": other.workspace, "after": cursor}))
            .await
            .code(),
        "CURSOR_INVALID"
    );
}

async fn pages_have_a_size(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    for number in 0..22 {
        owner
            .create(json!({"kind": "TEXT", "title": format!("{number}")}))
            .await;
    }
    let page = works(&owner, json!({})).await;
    assert_eq!(page["edges"].as_array().map(Vec::len), Some(20));
    assert_eq!(
        works(&owner, json!({"first": 100})).await["edges"]
            .as_array()
            .map(Vec::len),
        Some(22)
    );
    for wrong in [0, -1, 101] {
        let answer = owner
            .client
            .ask(WORKS, json!({"id": owner.workspace, "first": wrong}))
            .await;
        assert!(
            ["BAD_USER_INPUT", "QUERY_TOO_COMPLEX"].contains(&answer.code()),
            "{wrong}: {}",
            answer.body
        );
    }
}
