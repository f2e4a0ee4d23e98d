//! The conflict table of structured works: an edit on version 3 while a person changes something by socket.
//!
//! The edit is that of somebody else than the person, as the agent's would be.

use serde_json::{Value, json};

use crate::harness::editor::replica;
use crate::harness::works::applied;
use crate::harness::{Editor, Installation, Person, Protocol, Server, Work, on_both_databases};

on_both_databases![
    a_change_of_the_same_node_is_a_conflict_that_shows_the_node,
    a_change_elsewhere_is_merged_and_reported,
    a_node_that_was_removed_is_a_conflict_without_content,
    a_node_that_was_moved_is_a_conflict,
    typing_into_the_same_node_is_a_conflict,
    own_changes_since_the_base_are_none,
    an_edit_with_one_conflict_leaves_everything_as_it_was,
    an_id_in_use_is_a_conflict_when_it_is_new_and_wrong_input_when_it_is_old,
    a_place_after_a_node_that_is_gone_is_the_end,
    a_base_that_was_never_there_is_wrong_input,
];

/// A storyboard at version 3 with three shots, its owner, and an editor on it at whom somebody else sits.
struct Table {
    _server: Server,
    owner: Person,
    person: Person,
    work: Work,
    editor: Editor,
}

impl Table {
    async fn set(installation: &Installation) -> Self {
        let (server, owner) = installation.open().await;
        let person = owner.invite("Ana", "EDITOR").await;
        let shots = json!([
            {"id": "a", "type": "shot", "fields": {"description": "one", "duration": 1}},
            {"id": "b", "type": "shot", "fields": {"description": "two", "duration": 2}},
        ]);
        let work = owner.create_nodes("STORYBOARD", shots).await;
        work.edit(
            json!([{"put": {"id": "c", "type": "shot", "fields": {"description": "three"}}}]),
        )
        .await;
        let version = work
            .edit(json!([{"set": {"nodeId": "a", "fields": {"lens": "50mm"}}}]))
            .await;
        assert_eq!(version, 3);
        let editor = Editor::open(&work.by(&person.client), Protocol::YWebsocket).await;
        Self {
            _server: server,
            owner,
            person,
            work,
            editor,
        }
    }

    /// Sets the duration of a shot as the other person, and waits until it is stored.
    async fn person_sets(&self, id: &str, duration: i64) {
        self.editor
            .edit(|txn, roots| replica::set(txn, roots, id, "duration", duration))
            .await;
        assert!(self.editor.acknowledged().await);
    }

    /// The only conflict of a result that was refused on base 3 at version 4.
    fn conflict(&self, result: &Value) -> Value {
        assert_eq!(result["__typename"], "NodeConflict", "{result}");
        assert_eq!(
            (&result["baseVersion"], &result["currentVersion"]),
            (&json!(3), &json!(4))
        );
        let conflicts = result["conflicts"].as_array().expect("a list");
        assert_eq!(conflicts.len(), 1, "{result}");
        assert_eq!(
            conflicts[0]["changedBy"]["user"]["id"],
            self.person.user.as_str()
        );
        assert_eq!(conflicts[0]["changedAtVersion"], 4);
        conflicts[0].clone()
    }
}

fn set_duration(id: &str, duration: i64) -> Value {
    json!([{"set": {"nodeId": id, "fields": {"duration": duration}}}])
}

async fn a_change_of_the_same_node_is_a_conflict_that_shows_the_node(installation: &Installation) {
    let table = Table::set(installation).await;
    table.person_sets("b", 20).await;
    let result = table.work.edit_on(3, set_duration("b", 9)).await;
    let conflict = table.conflict(&result);
    assert_eq!(conflict["nodeId"], "b");
    let current = &conflict["current"];
    assert_eq!(
        current["fields"],
        json!({"description": "two", "duration": 20})
    );
    assert_eq!(
        (
            &current["id"],
            &current["type"],
            &current["changedAtVersion"]
        ),
        (&json!("b"), &json!("shot"), &json!(4))
    );
    assert_eq!(table.work.node("b").await["fields"]["duration"], 20);
    // Having read it again, the edit goes through.
    assert_eq!(
        applied(&table.work.edit_on(4, set_duration("b", 9)).await),
        5
    );
    table
        .editor
        .sees("the edit", |replica| {
            replica
                .node("b")
                .is_some_and(|node| node["duration"] == json!(9.0) || node["duration"] == json!(9))
        })
        .await;
}

async fn a_change_elsewhere_is_merged_and_reported(installation: &Installation) {
    let table = Table::set(installation).await;
    table.person_sets("a", 10).await;
    let result = table.work.edit_on(3, set_duration("b", 9)).await;
    assert_eq!(applied(&result), 5);
    assert_eq!(result["nodeIds"], json!(["b"]));
    let concurrent = result["concurrent"].as_array().expect("a list");
    assert_eq!(concurrent.len(), 1, "{result}");
    assert_eq!(concurrent[0]["nodeIds"], json!(["a"]));
    assert_eq!(concurrent[0]["summary"], "shot 1: duration");
    assert_eq!(
        concurrent[0]["by"]["user"]["id"],
        table.person.user.as_str()
    );
    assert_eq!(
        (&concurrent[0]["fromVersion"], &concurrent[0]["toVersion"]),
        (&json!(4), &json!(4))
    );
    assert_eq!(table.work.node("a").await["fields"]["duration"], 10);
    assert_eq!(table.work.node("b").await["fields"]["duration"], 9);
}

async fn a_node_that_was_removed_is_a_conflict_without_content(installation: &Installation) {
    let table = Table::set(installation).await;
    table
        .editor
        .edit(|txn, roots| drop(yrs::Map::remove(&roots.nodes, txn, "b")))
        .await;
    assert!(table.editor.acknowledged().await);
    for operations in [
        set_duration("b", 9),
        json!([{"move": {"nodeId": "b", "after": ""}}]),
        json!([{"remove": "b"}]),
    ] {
        let result = table.work.edit_on(3, operations).await;
        let conflict = table.conflict(&result);
        assert_eq!(
            (&conflict["nodeId"], &conflict["current"]),
            (&json!("b"), &Value::Null)
        );
    }
    assert_eq!(table.work.node_ids().await, ["a", "c"]);
    // On the version that lacks it the same edit is wrong, and no conflict.
    let answer = table.work.ask_edit(4, set_duration("b", 9)).await;
    assert_eq!(answer.code(), "BAD_USER_INPUT");
    assert!(answer.message().contains('b'), "{}", answer.message());
}

async fn a_node_that_was_moved_is_a_conflict(installation: &Installation) {
    let table = Table::set(installation).await;
    // Behind every key that the server gives to three nodes.
    table
        .editor
        .edit(|txn, roots| replica::set(txn, roots, "a", "order", "zzzz"))
        .await;
    assert!(table.editor.acknowledged().await);
    let conflict = table.conflict(&table.work.edit_on(3, set_duration("a", 9)).await);
    assert_eq!(conflict["current"]["fields"]["duration"], 1);
    assert_eq!(table.work.node_ids().await, ["b", "c", "a"]);
    assert!(
        conflict["current"]["fields"].get("order").is_none(),
        "{conflict}"
    );
}

async fn typing_into_the_same_node_is_a_conflict(installation: &Installation) {
    let table = Table::set(installation).await;
    table
        .editor
        .edit(|txn, roots| {
            let description = replica::prose(txn, roots, "b", "description");
            yrs::Text::insert(&description, txn, 3, "-and-more");
        })
        .await;
    assert!(table.editor.acknowledged().await);
    let conflict = table.conflict(&table.work.edit_on(3, set_duration("b", 9)).await);
    assert_eq!(conflict["current"]["fields"]["description"], "two-and-more");
    // Somebody who types is never refused.
    assert!(table.editor.is_connected());
}

async fn own_changes_since_the_base_are_none(installation: &Installation) {
    let table = Table::set(installation).await;
    assert_eq!(
        applied(&table.work.edit_on(3, set_duration("b", 7)).await),
        4
    );
    let result = table.work.edit_on(3, set_duration("b", 9)).await;
    assert_eq!(applied(&result), 5);
    // The same person at an editor, with another token, is the same person.
    let input = json!({"label": "second", "kind": "PERSONAL"});
    let made = table
        .owner
        .client
        .change("createToken", input, "{ secret }")
        .await;
    let client = crate::harness::Client::new(
        table.owner.client.address(),
        made["secret"].as_str().expect("a secret"),
    );
    let own = Editor::open(&table.work.by(&client), Protocol::Hocuspocus).await;
    own.edit(|txn, roots| replica::set(txn, roots, "b", "duration", 8))
        .await;
    assert!(own.acknowledged().await);
    assert_eq!(
        applied(&table.work.edit_on(3, set_duration("b", 6)).await),
        7
    );
}

async fn an_edit_with_one_conflict_leaves_everything_as_it_was(installation: &Installation) {
    let table = Table::set(installation).await;
    table.person_sets("b", 20).await;
    let before = table.work.content().await;
    let operations = json!([
        {"put": {"id": "d", "type": "shot", "fields": {}}},
        {"set": {"nodeId": "a", "fields": {"duration": 5}}},
        {"set": {"nodeId": "b", "fields": {"duration": 9}}},
        {"remove": "c"},
    ]);
    table.conflict(&table.work.edit_on(3, operations).await);
    assert_eq!(table.work.content().await, before);
}

async fn an_id_in_use_is_a_conflict_when_it_is_new_and_wrong_input_when_it_is_old(
    installation: &Installation,
) {
    let table = Table::set(installation).await;
    let put = |id: &str| json!([{"put": {"id": id, "type": "shot", "fields": {"duration": 3}}}]);
    assert_eq!(
        table.work.ask_edit(3, put("a")).await.code(),
        "BAD_USER_INPUT"
    );
    table
        .editor
        .edit(|txn, roots| replica::put(txn, roots, "n", "zz", "theirs"))
        .await;
    assert!(table.editor.acknowledged().await);
    let conflict = table.conflict(&table.work.edit_on(3, put("n")).await);
    assert_eq!(conflict["current"]["fields"]["description"], "theirs");
    assert_eq!(
        table.work.ask_edit(4, put("n")).await.code(),
        "BAD_USER_INPUT"
    );
}

async fn a_place_after_a_node_that_is_gone_is_the_end(installation: &Installation) {
    let table = Table::set(installation).await;
    table
        .editor
        .edit(|txn, roots| drop(yrs::Map::remove(&roots.nodes, txn, "b")))
        .await;
    assert!(table.editor.acknowledged().await);
    let put = |id: &str, after: Value| json!([{"put": {"id": id, "type": "shot", "fields": {}, "after": after}}]);
    assert_eq!(
        applied(&table.work.edit_on(3, put("x", json!("b"))).await),
        5
    );
    assert_eq!(table.work.node_ids().await, ["a", "c", "x"]);
    table.work.edit(put("first", json!(""))).await;
    table
        .work
        .edit(json!([{"put": {"id": "last", "type": "shot", "fields": {}}}]))
        .await;
    table.work.edit(put("second", json!("first"))).await;
    assert_eq!(
        table.work.node_ids().await,
        ["first", "second", "a", "c", "x", "last"]
    );
    // A node that somebody else changed is no conflict as a mere place.
    table.person_sets("a", 4).await;
    let base = table.work.version().await - 1;
    applied(&table.work.edit_on(base, put("behind", json!("a"))).await);
    assert_eq!(table.work.node_ids().await[2..4], ["a", "behind"]);
}

async fn a_base_that_was_never_there_is_wrong_input(installation: &Installation) {
    let table = Table::set(installation).await;
    for base in [-1, 4, 1_000] {
        assert_eq!(
            table.work.ask_edit(base, set_duration("a", 1)).await.code(),
            "BAD_USER_INPUT"
        );
    }
    assert_eq!(table.work.version().await, 3);
}
