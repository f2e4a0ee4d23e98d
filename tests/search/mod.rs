//! Searching through the public API, and the index under kills.

mod finding;
mod kills;

use serde_json::{Value, json};

use crate::harness::tasks::list;
use crate::harness::{Answer, Person};

/// What is read of something that was found.
const FOUND: &str = "{ edges { cursor score snippet node { __typename
  ... on Task { id title } ... on Message { id text } ... on TextDocument { id title } ... on Storyboard { id title } } }
  pageInfo { hasNextPage endCursor } }";

/// A search with these arguments beside the workspace.
async fn ask(person: &Person, arguments: Value) -> Answer {
    let query = format!(
        "query ($w: ID!, $q: String!, $k: [SearchKind!], $f: Int, $a: Cursor) {{ search(workspaceId: $w, query: $q, kinds: $k, first: $f, after: $a) {FOUND} }}"
    );
    let mut variables = json!({"w": person.workspace});
    for (name, value) in arguments.as_object().expect("an object") {
        variables[name] = value.clone();
    }
    person.client.ask(&query, variables).await
}

/// The edges of what these words find.
async fn find(person: &Person, words: &str) -> Vec<Value> {
    let data = ask(person, json!({"q": words})).await.data();
    list(&data["search"]["edges"])
}

/// The ids of what these words find.
async fn ids(person: &Person, words: &str) -> Vec<String> {
    let found = find(person, words).await;
    let ids = found.iter().filter_map(|edge| edge["node"]["id"].as_str());
    ids.map(str::to_owned).collect()
}
