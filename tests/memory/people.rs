//! What people do with their memories: say, see why, correct, take back, give another reach, search.

use serde_json::{Value, json};

use super::MEMORY;
use crate::harness::people::text;
use crate::harness::{Installation, Person, on_both_databases};

on_both_databases![
    what_is_remembered_is_shown_with_why_and_since_when,
    what_is_a_persons_own_is_nobody_elses,
];

async fn what_is_remembered_is_shown_with_why_and_since_when(installation: &Installation) {
    let (server, owner) = installation.open_without_agent().await;
    let cursor = owner.event_cursor().await;
    let made = owner
        .remember(json!({"content": "Our brand is kingfisher", "scope": "WORKSPACE", "kind": "PREFERENCE"}))
        .await;
    assert_eq!(made["kind"], "PREFERENCE");
    assert_eq!(
        (&made["basis"], &made["state"]),
        (&json!("EXPLICIT"), &json!("ACTIVE"))
    );
    assert_eq!(made["inProfile"], true);
    let evidence = &made["current"]["evidence"][0];
    assert_eq!(evidence["role"], "ORIGIN");
    assert_eq!(evidence["usable"], true);
    assert_eq!(evidence["message"]["text"], "Our brand is kingfisher");
    assert_eq!(
        owner.profile().await,
        (1, "- Our brand is kingfisher\n".to_owned())
    );
    // It is corrected, and the correction is taken back: all versions stay in the chain.
    let correct = json!({"memoryId": made["id"], "content": "Our brand is heron"});
    let selection = format!("{{ memory {{ {MEMORY} }} }}");
    let corrected = owner
        .client
        .change("correctMemory", correct, &selection)
        .await;
    let versions = &corrected["memory"]["versions"];
    assert_eq!(versions[0]["state"], "SUPERSEDED");
    assert_eq!(versions[0]["validTo"], versions[1]["validFrom"]);
    assert_eq!(
        corrected["memory"]["current"]["content"],
        "Our brand is heron"
    );
    let undo = json!({"memoryId": made["id"]});
    let undone = owner
        .client
        .change("undoMemoryCorrection", undo, &selection)
        .await;
    assert_eq!(
        undone["memory"]["current"]["content"],
        "Our brand is kingfisher"
    );
    assert_eq!(
        undone["memory"]["versions"].as_array().map(Vec::len),
        Some(3)
    );
    // Found by words, and by its id.
    let query = "query ($w: ID!, $q: String!) { search(workspaceId: $w, query: $q, kinds: [MEMORY]) { edges { snippet node { __typename
      ... on Memory { id } } } } }";
    let asked = json!({"w": owner.workspace, "q": "kingfisher"});
    let found = owner.client.run(query, asked).await;
    let edge = &found["search"]["edges"][0];
    assert_eq!(edge["node"]["id"], made["id"]);
    assert_eq!(edge["snippet"], "Our brand is kingfisher");
    let node = "query ($id: ID!) { node(id: $id) { __typename } }";
    let node = owner.client.run(node, json!({"id": made["id"]})).await;
    assert_eq!(node["node"]["__typename"], "Memory");
    told_of(&owner, &made, &cursor).await;
    refused(&owner).await;
    server.stop().await;
}

/// What happened to a memory since then is told.
async fn told_of(owner: &Person, made: &Value, cursor: &str) {
    let query = "query ($id: ID!, $after: Cursor) { workspace(id: $id) { events(first: 50, after: $after) { nodes { kind
      subject { __typename ... on Memory { id } } } } } }";
    let told = owner
        .client
        .run(query, json!({"id": owner.workspace, "after": cursor}))
        .await;
    let nodes = told["workspace"]["events"]["nodes"]
        .as_array()
        .expect("a list");
    let is_told = |kind: &str| {
        nodes
            .iter()
            .any(|event| event["kind"] == kind && event["subject"]["id"] == made["id"])
    };
    assert!(
        is_told("MEMORY_CHANGED") && is_told("PROFILE_CHANGED"),
        "{told}"
    );
}

/// What can not be remembered.
async fn refused(owner: &Person) {
    for (wrong, code) in [
        (json!({"content": "  "}), "BAD_USER_INPUT"),
        (json!({"content": "x".repeat(1_001)}), "BAD_USER_INPUT"),
        (
            json!({"content": "The key is sk-live424242424242"}),
            "BAD_USER_INPUT",
        ),
        (
            json!({"content": "Here", "scope": "TASK"}),
            "BAD_USER_INPUT",
        ),
    ] {
        let mut input: Value = wrong;
        input["workspaceId"] = json!(owner.workspace);
        let answer = owner
            .client
            .mutate("remember", input, "{ memory { id } }")
            .await;
        assert_eq!(answer.code(), code, "{}", answer.body);
    }
}

async fn what_is_a_persons_own_is_nobody_elses(installation: &Installation) {
    let (server, owner) = installation.open_without_agent().await;
    let other = owner.invite("Bob", "EDITOR").await;
    let own = owner
        .remember(json!({"content": "I am colour-blind"}))
        .await;
    assert_eq!(own["scope"], "PERSON");
    assert!(other.memories().await.is_empty());
    assert_eq!(other.profile().await, (0, String::new()));
    let node = "query ($id: ID!) { node(id: $id) { __typename } }";
    let seen = other.client.run(node, json!({"id": own["id"]})).await;
    assert_eq!(seen["node"], Value::Null);
    let query = "query ($w: ID!, $q: String!) { search(workspaceId: $w, query: $q) { edges { node { __typename } } } }";
    let found = other
        .client
        .run(query, json!({"w": owner.workspace, "q": "colour-blind"}))
        .await;
    assert_eq!(found["search"]["edges"], json!([]));
    let events = "query ($id: ID!) { workspace(id: $id) { events(first: 50) { nodes { kind data subject { __typename } } } } }";
    let told = other
        .client
        .run(events, json!({"id": owner.workspace}))
        .await;
    assert!(!told.to_string().contains("Memory\""), "{told}");
    for (field, input) in [
        (
            "correctMemory",
            json!({"memoryId": own["id"], "content": "no"}),
        ),
        (
            "rescopeMemory",
            json!({"memoryId": own["id"], "scope": "WORKSPACE"}),
        ),
        ("forget", json!({"memoryId": own["id"]})),
    ] {
        let selection = "{ __typename }";
        let answer = other.client.mutate(field, input, selection).await;
        assert_eq!(answer.code(), "NOT_FOUND", "{field}");
    }
    // Its owner lets everybody see it; what it rests on stays in the owner's own thread.
    let wider = json!({"memoryId": own["id"], "scope": "WORKSPACE"});
    owner
        .client
        .change("rescopeMemory", wider, "{ memory { id } }")
        .await;
    let seen = other.memories().await;
    assert_eq!(text(&seen[0]["current"]["content"]), "I am colour-blind");
    assert_eq!(seen[0]["current"]["evidence"], json!([]));
    let viewer = owner.invite("Vera", "VIEWER").await;
    let refused = viewer.ask_to_forget(json!({"memoryId": own["id"]})).await;
    assert_eq!(refused.code(), "FORBIDDEN");
    server.stop().await;
}
