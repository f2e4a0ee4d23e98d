//! Flows: an edge never hangs, whoever removes what it was tied to.

use serde_json::{Value, json};
use yrs::{Any, Map as _, MapPrelim};

use crate::harness::works::applied;
use crate::harness::{Editor, Installation, Person, Protocol, Work, eventually, on_both_databases};

on_both_databases![
    removing_a_node_removes_its_edges_in_the_same_change,
    an_edge_to_a_node_that_somebody_removed_is_a_conflict_without_content,
    an_edge_to_a_node_that_never_was_is_wrong_input,
    connecting_does_not_touch_the_nodes_at_the_ends,
    edges_that_an_editor_leaves_hanging_are_not_shown_and_are_removed_by_the_system,
];

async fn flow(owner: &Person) -> Work {
    owner
        .create(json!({
            "kind": "FLOW", "title": "Flow",
            "nodes": [
                {"id": "n1", "type": "image", "fields": {"position": {"x": 0, "y": 0}}},
                {"id": "n2", "type": "image", "fields": {"position": {"x": 9, "y": 0}}},
                {"id": "n3", "type": "image", "fields": {}},
            ],
            "edges": [
                {"id": "e12", "source": "n1", "target": "n2", "sourcePort": "out"},
                {"id": "e23", "source": "n2", "target": "n3"},
            ],
        }))
        .await
}

async fn edge_ids(work: &Work) -> Vec<Value> {
    let content = work.content().await;
    let edges = content["edges"].as_array().expect("edges");
    edges.iter().map(|edge| edge["id"].clone()).collect()
}

async fn removing_a_node_removes_its_edges_in_the_same_change(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let work = flow(&owner).await;
    let content = work.content().await;
    assert_eq!(
        content["edges"][0],
        json!({"id": "e12", "source": "n1", "target": "n2", "sourcePort": "out", "targetPort": null})
    );
    assert_eq!(work.edit(json!([{"remove": "n2"}])).await, 2);
    assert_eq!(edge_ids(&work).await, Vec::<Value>::new());
    assert_eq!(work.version().await, 2);
    // What was there before is still seen there.
    let before = work.content_at(Some(1)).await;
    assert_eq!(before["edges"].as_array().map(Vec::len), Some(2));
}

async fn an_edge_to_a_node_that_somebody_removed_is_a_conflict_without_content(
    installation: &Installation,
) {
    let (_server, owner) = installation.open().await;
    let person = owner.invite("Ana", "EDITOR").await;
    let work = flow(&owner).await;
    applied(
        &work
            .by(&person.client)
            .edit_on(1, json!([{"remove": "n3"}]))
            .await,
    );
    let connect = json!([{"connect": {"id": "e13", "source": "n1", "target": "n3"}}]);
    let result = work.edit_on(1, connect.clone()).await;
    assert_eq!(result["__typename"], "NodeConflict", "{result}");
    let conflict = &result["conflicts"][0];
    assert_eq!(
        (&conflict["nodeId"], &conflict["current"]),
        (&json!("n3"), &Value::Null)
    );
    assert_eq!(conflict["changedBy"]["user"]["id"], person.user.as_str());
    assert_eq!(work.ask_edit(2, connect).await.code(), "BAD_USER_INPUT");
    assert_eq!(edge_ids(&work).await, ["e12"]);
}

async fn an_edge_to_a_node_that_never_was_is_wrong_input(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let work = flow(&owner).await;
    for operations in [
        json!([{"connect": {"source": "n1", "target": "nobody"}}]),
        json!([{"disconnect": "nothing"}]),
        json!([{"connect": {"id": "e12", "source": "n1", "target": "n3"}}]),
    ] {
        assert_eq!(work.ask_edit(1, operations).await.code(), "BAD_USER_INPUT");
    }
    let board = owner
        .create_nodes("STORYBOARD", json!([{"id": "a", "fields": {}}]))
        .await;
    let connect = json!([{"connect": {"source": "a", "target": "a"}}]);
    assert_eq!(board.ask_edit(1, connect).await.code(), "BAD_USER_INPUT");
}

async fn connecting_does_not_touch_the_nodes_at_the_ends(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let person = owner.invite("Ana", "EDITOR").await;
    let work = flow(&owner).await;
    let theirs = work.by(&person.client);
    let result = theirs
        .edit_on(
            1,
            json!([{"connect": {"id": "e31", "source": "n3", "target": "n1"}}]),
        )
        .await;
    assert_eq!(applied(&result), 2);
    assert_eq!(result["nodeIds"], json!(["e31"]));
    // Nobody touched n1 since version 1.
    let result = work
        .edit_on(
            1,
            json!([{"set": {"nodeId": "n1", "fields": {"data": {"seed": 7}}}}]),
        )
        .await;
    assert_eq!(applied(&result), 3);
    assert_eq!(work.node("n1").await["fields"]["data"], json!({"seed": 7}));
    assert_eq!(work.node("n3").await["changedAtVersion"], 1);
}

async fn edges_that_an_editor_leaves_hanging_are_not_shown_and_are_removed_by_the_system(
    installation: &Installation,
) {
    let (_server, owner) = installation.open().await;
    let work = flow(&owner).await;
    let editor = Editor::open(&work, Protocol::YWebsocket).await;
    editor
        .edit(|txn, roots| drop(roots.nodes.remove(txn, "n2")))
        .await;
    assert!(editor.acknowledged().await);
    assert_eq!(edge_ids(&work).await, Vec::<Value>::new());
    editor
        .sees("the edges are removed", |replica| {
            replica.content()["edges"] == json!({})
        })
        .await;
    let kinds = async || {
        let history = work.history().await;
        history
            .iter()
            .map(|revision| revision["by"]["kind"].clone())
            .collect::<Vec<_>>()
    };
    eventually("the system's change stands in the history", async || {
        kinds().await.first() == Some(&json!("SYSTEM"))
    })
    .await;
    // An edge that points nowhere from the start goes the same way.
    editor
        .edit(|txn, roots| {
            let edge =
                MapPrelim::from([("source", Any::from("n1")), ("target", Any::from("ghost"))]);
            roots.edges.insert(txn, "late", edge);
        })
        .await;
    assert!(editor.acknowledged().await);
    assert_eq!(edge_ids(&work).await, Vec::<Value>::new());
    editor
        .sees("it is removed too", |replica| {
            replica.content()["edges"] == json!({})
        })
        .await;
}
