//! How many statements the database is asked: each is a journey, so their number must not grow with what is shown.

use serde_json::{Value, json};

use crate::harness::editor::replica;
use crate::harness::{Client, Editor, Installation, Protocol, on_both_databases};

on_both_databases![
    a_list_takes_as_many_statements_for_many_works_as_for_few,
    a_change_takes_few_statements,
];

const WORKS: &str = "query ($id: ID!) { workspace(id: $id) { name works(first: 30) { totalCount nodes {
  title version updatedBy { label user { name } } history(first: 2) { nodes { summary by { label } } }
  ... on Storyboard { nodes { id fields changedAtVersion changedBy { label } } } ... on TextDocument { text } } } } }";

/// How many statements of a kind the server has asked since it started.
async fn asked(client: &Client, of: &str) -> u64 {
    let metrics = client
        .http()
        .get(format!("{}/metrics", client.address()))
        .bearer_auth(client.secret())
        .send()
        .await
        .expect("metrics")
        .text()
        .await
        .expect("text");
    let name = format!("atelier_store_statements_total{{of=\"{of}\"}} ");
    let line = metrics.lines().find_map(|line| line.strip_prefix(&name));
    line.and_then(|count| count.parse().ok())
        .unwrap_or_else(|| panic!("no count in: {metrics}"))
}

/// The fewest statements that something takes in a few attempts: others may come in between.
async fn fewest<F: AsyncFnMut()>(client: &Client, of: &str, mut what: F) -> u64 {
    let mut fewest = u64::MAX;
    for _ in 0..6 {
        let before = asked(client, of).await;
        what().await;
        fewest = fewest.min(asked(client, of).await - before);
    }
    fewest
}

async fn a_list_takes_as_many_statements_for_many_works_as_for_few(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let shots = |count: usize| -> Value {
        let shot = |number: usize| json!({"id": format!("n{number}"), "type": "shot", "fields": {"duration": number}});
        (0..count).map(shot).collect()
    };
    let fill = async |works: usize| {
        for number in 0..works {
            owner.create_text(&format!("text {number}")).await;
            owner.create_nodes("STORYBOARD", shots(number + 1)).await;
        }
    };
    let list = async || {
        let data = owner
            .client
            .run(WORKS, json!({"id": owner.workspace}))
            .await;
        assert!(data["workspace"]["works"]["nodes"].is_array(), "{data}");
    };
    fill(1).await;
    let few = fewest(&owner.client, "reads", list).await;
    fill(12).await;
    let many = fewest(&owner.client, "reads", list).await;
    eprintln!("2 works take {few} statements, 26 take {many}");
    assert_eq!(few, many);
    assert!((1..=15).contains(&few), "{few} statements for one list");
}

async fn a_change_takes_few_statements(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let work = owner
        .create_nodes("STORYBOARD", json!([{"id": "a", "fields": {}}]))
        .await;
    let editor = Editor::open(&work, Protocol::Hocuspocus).await;
    let mut duration = 0;
    let change = fewest(&owner.client, "command", async || {
        duration += 1;
        editor
            .edit(|txn, roots| replica::set(txn, roots, "a", "duration", duration))
            .await;
        assert!(editor.acknowledged().await);
    })
    .await;
    eprintln!("a change takes {change} statements");
    // One of them looks for tasks that refer to the work and have to be told; two read and move the head of the event log,
    // for all commands that share the commit.
    assert!(
        (1..=8).contains(&change),
        "{change} statements for one change"
    );
}
