//! A person and the agent on one work at once: what is a conflict, and what the agent learns of it (W2, W3).

use domain::document::{EdgeInput, NodeInput, NodeOperation, Placement, Version};
use domain::work::WorkKind;
use serde_json::{Map, Value, json};

use super::house::House;
use super::on_both_databases;
use super::people::retitle;

fn put(id: &str) -> NodeOperation {
    NodeOperation::Put(NodeInput {
        id: Some(id.to_owned()),
        kind: None,
        fields: Map::new(),
        placement: Placement::End,
    })
}

fn edit(work: domain::ids::WorkId, base: u64, operations: &Value) -> Value {
    json!({"work_id": work, "base_version": base, "operations": operations})
}

async fn changes_of_others_elsewhere_do_not_matter_and_are_reported(mut house: House) {
    let work = house.board(&["a", "b"]).await;
    house.person_edits(work, vec![retitle("b", "Dusk")]).await;
    let operations = json!([{"set": {"nodeId": "a", "fields": {"title": "Dawn"}}}]);
    let result = house.done("edit_nodes", edit(work, 1, &operations)).await;
    assert_eq!(result["version"], 3);
    assert_eq!(result["nodeIds"], json!(["a"]));
    let concurrent = &result["concurrent"][0];
    // The person's run of changes began with the board itself.
    let run = (&concurrent["fromVersion"], &concurrent["toVersion"]);
    assert_eq!(run, (&json!(1), &json!(2)));
    assert_eq!(concurrent["nodeIds"], json!(["a", "b"]));
    assert_eq!(concurrent["by"], json!(house.owner.actor()));
}

async fn a_node_that_others_changed_since_is_shown_as_it_is_now(mut house: House) {
    let work = house.board(&["a", "b"]).await;
    house.person_edits(work, vec![retitle("a", "Dusk")]).await;
    for operations in [
        json!([{"set": {"nodeId": "a", "fields": {"title": "Dawn"}}}]),
        json!([{"remove": "a"}]),
        json!([{"move": {"nodeId": "a", "after": "b"}}]),
        json!([{"set": {"nodeId": "b", "fields": {"title": "Noon"}}}, {"remove": "a"}]),
    ] {
        let (error, result) = house.failed("edit_nodes", edit(work, 1, &operations)).await;
        assert!(error.contains("version 2"), "{error}");
        assert_eq!(result["__typename"], "NodeConflict");
        let versions = (&result["baseVersion"], &result["currentVersion"]);
        assert_eq!(versions, (&json!(1), &json!(2)));
        let conflict = &result["conflicts"][0];
        assert_eq!(conflict["nodeId"], "a");
        assert_eq!(conflict["current"]["fields"]["title"], "Dusk");
        assert_eq!(conflict["changedBy"], json!(house.owner.actor()));
        assert_eq!(conflict["changedAtVersion"], 2);
    }
    let content = house.content(work).await;
    assert_eq!(content.version, Version(2));
    // On the version that it has read now, the agent may.
    let operations = json!([{"set": {"nodeId": "a", "fields": {"title": "Dawn"}}}]);
    house.done("edit_nodes", edit(work, 2, &operations)).await;
}

async fn a_node_that_others_removed_is_shown_as_gone(mut house: House) {
    let work = house.board(&["a", "b"]).await;
    house
        .person_edits(work, vec![NodeOperation::Remove("a".to_owned())])
        .await;
    let operations = json!([{"set": {"nodeId": "a", "fields": {"title": "Dawn"}}}]);
    let (_, result) = house.failed("edit_nodes", edit(work, 1, &operations)).await;
    assert_eq!(result["conflicts"][0]["nodeId"], "a");
    assert_eq!(result["conflicts"][0]["current"], Value::Null);
}

async fn an_id_that_others_have_taken_since_is_a_conflict(mut house: House) {
    let work = house.board(&["a"]).await;
    house.person_edits(work, vec![put("new")]).await;
    let operations = json!([{"put": {"id": "new", "fields": {}}}]);
    let (_, result) = house.failed("edit_nodes", edit(work, 1, &operations)).await;
    assert_eq!(result["__typename"], "NodeConflict");
    // One that was there before is a mistake.
    let (error, result) = house.failed("edit_nodes", edit(work, 2, &operations)).await;
    assert!(error.contains("is in use"), "{error}");
    assert_eq!(result, Value::Null);
}

async fn a_node_to_stand_behind_is_only_a_hint(mut house: House) {
    let work = house.board(&["a", "b"]).await;
    house
        .person_edits(work, vec![NodeOperation::Remove("a".to_owned())])
        .await;
    let operations = json!([{"put": {"id": "c", "after": "a"}}]);
    house.done("edit_nodes", edit(work, 1, &operations)).await;
    assert_eq!(house.shots(work).await, ["b", "c"]);
}

async fn an_end_of_an_edge_that_others_removed_is_a_conflict(mut house: House) {
    let nodes = ["a", "b"].map(|id| domain::document::Node {
        id: id.to_owned(),
        ..Default::default()
    });
    let content = domain::document::Content {
        nodes: nodes.into(),
        ..Default::default()
    };
    let work = house
        .made(house.owner, house.workspace, WorkKind::Flow, content)
        .await;
    let edge = NodeOperation::Connect(EdgeInput {
        id: Some("theirs".to_owned()),
        source: "a".to_owned(),
        target: "b".to_owned(),
        source_port: None,
        target_port: None,
    });
    // Connecting does not touch the ends.
    house.person_edits(work, vec![edge]).await;
    let operations = json!([{"set": {"nodeId": "a", "fields": {"title": "Start"}}}]);
    house.done("edit_nodes", edit(work, 1, &operations)).await;
    house
        .person_edits(work, vec![NodeOperation::Remove("b".to_owned())])
        .await;
    let operations = json!([{"connect": {"source": "a", "target": "b"}}]);
    let (_, result) = house.failed("edit_nodes", edit(work, 3, &operations)).await;
    assert_eq!(result["conflicts"][0]["nodeId"], "b");
    assert_eq!(result["conflicts"][0]["current"], Value::Null);
}

async fn a_whole_replacement_is_refused_once_the_text_moved_on(mut house: House) {
    let work = house.text("The sea is calm.").await;
    house.person_replaces(work, "calm", "loud").await;
    let arguments = json!({"work_id": work, "base_version": 1, "text": "All new."});
    let (error, result) = house.failed("replace_text", arguments).await;
    assert!(error.contains("based on version 1"), "{error}");
    assert_eq!(result["__typename"], "VersionConflict");
    assert_eq!(result["currentVersion"], 2);
    assert_eq!(result["changes"][0]["by"], json!(house.owner.actor()));
    assert_eq!(house.content(work).await.text, "The sea is loud.");
}

async fn a_fragment_must_name_one_place(mut house: House) {
    let work = house.text("The sea, the sea.").await;
    for (find, occurrences) in [("sea", 2), ("lamp", 0)] {
        let replacements = json!([
            {"find": "The sea, ", "replace": ""},
            {"find": find, "replace": "lake"},
        ]);
        let arguments = json!({"work_id": work, "replacements": replacements});
        let (error, result) = house.failed("edit_text", arguments).await;
        assert!(error.contains("exactly one"), "{error}");
        assert_eq!(result["__typename"], "TextNotUnique");
        assert_eq!(result["occurrences"], occurrences);
        assert_eq!(result["find"], find);
    }
    // All or none.
    assert_eq!(house.content(work).await.text, "The sea, the sea.");
}

async fn what_others_change_in_a_linked_work_is_noticed_and_own_edits_are_not(mut house: House) {
    let arguments = json!({"kind": "storyboard", "title": "Film", "nodes": [{"id": "a", "fields": {"title": "Dawn"}}]});
    let made = house.done("create_work", arguments).await;
    let work = made["work_id"]
        .as_str()
        .expect("an id")
        .parse()
        .expect("an id");
    let operations = json!([{"set": {"nodeId": "a", "fields": {"duration": 4}}}]);
    house.done("edit_nodes", edit(work, 1, &operations)).await;
    let notices = |house: &House| {
        let (store, task) = (house.services.store.clone(), house.task);
        async move {
            let notices = store.reads().list_change_notices(&[task]).await;
            notices.expect("notices")
        }
    };
    assert_eq!(notices(&house).await, []);
    house.person_edits(work, vec![retitle("a", "Dusk")]).await;
    let unread = notices(&house).await;
    assert_eq!(unread.len(), 1);
    assert_eq!(unread[0].touched.summary(), "shot 1: title");
    assert_eq!(
        (unread[0].from_version, unread[0].to_version),
        (Version(2), Version(3))
    );
}

on_both_databases!(
    changes_of_others_elsewhere_do_not_matter_and_are_reported,
    a_node_that_others_changed_since_is_shown_as_it_is_now,
    a_node_that_others_removed_is_shown_as_gone,
    an_id_that_others_have_taken_since_is_a_conflict,
    a_node_to_stand_behind_is_only_a_hint,
    an_end_of_an_edge_that_others_removed_is_a_conflict,
    a_whole_replacement_is_refused_once_the_text_moved_on,
    a_fragment_must_name_one_place,
    what_others_change_in_a_linked_work_is_noticed_and_own_edits_are_not,
);
