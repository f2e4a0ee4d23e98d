//! Taking back one's own edits, beside what others do (W4).

use domain::document::Version;
use domain::turn::CallOutcome;
use serde_json::{Value, json};

use super::house::House;
use super::on_both_databases;
use super::people::retitle;

async fn a_node_that_a_person_was_at_since_is_not_taken_back(mut house: House) {
    let work = house.board(&["a", "b", "c"]).await;
    let operations = json!([
        {"set": {"nodeId": "a", "fields": {"title": "Dawn", "duration": 4}}},
        {"put": {"id": "new", "fields": {"title": "New"}, "after": "a"}},
        {"remove": "c"},
        {"move": {"nodeId": "b", "after": ""}},
    ]);
    let arguments = json!({"work_id": work, "base_version": 1, "operations": operations});
    house.done("edit_nodes", arguments).await;
    house
        .person_edits(work, vec![retitle("new", "Newer")])
        .await;
    // The person was at the node that the agent made.
    let undo = json!({"work_id": work, "version": 2});
    let (_, result) = house.failed("undo_own_edit", undo).await;
    assert_eq!(result["__typename"], "NodeConflict");
    assert_eq!(result["conflicts"][0]["nodeId"], "new");
    assert_eq!(
        result["conflicts"][0]["current"]["fields"]["title"],
        "Newer"
    );
}

async fn an_own_edit_is_taken_back_and_the_persons_stays(mut house: House) {
    let work = house.board(&["a", "b", "c", "d"]).await;
    let operations = json!([
        {"set": {"nodeId": "a", "fields": {"title": "Dawn", "duration": 4}}},
        {"put": {"id": "new", "fields": {"title": "New"}, "after": "a"}},
        {"remove": "c"},
        {"move": {"nodeId": "b", "after": ""}},
    ]);
    let arguments = json!({"work_id": work, "base_version": 1, "operations": operations});
    house.done("edit_nodes", arguments).await;
    house.person_edits(work, vec![retitle("d", "Dusk")]).await;
    let result = house
        .done("undo_own_edit", json!({"work_id": work, "version": 2}))
        .await;
    assert_eq!(result["version"], 4);
    let content = house.content(work).await;
    assert_eq!(house.shots(work).await, ["a", "b", "c", "d"]);
    let fields: Vec<_> = content
        .nodes
        .iter()
        .map(|node| Value::Object(node.fields.clone()))
        .collect();
    assert_eq!(
        fields,
        [
            json!({"title": "a"}),
            json!({"title": "b"}),
            json!({"title": "c"}),
            json!({"title": "Dusk"}),
        ]
    );
    let summary = house.reads().list_revisions_after(work, Version(3)).await;
    let summary = summary.expect("revisions")[0].touched.summary();
    assert_eq!(summary, "took version 2 back");
}

async fn edges_go_and_come_back(mut house: House) {
    let nodes = json!([{"id": "a"}, {"id": "b"}, {"id": "c"}]);
    let edges = json!([{"id": "ab", "source": "a", "target": "b"}]);
    let arguments = json!({"kind": "flow", "title": "Film", "nodes": nodes, "edges": edges});
    let made = house.done("create_work", arguments).await;
    let work: domain::ids::WorkId = made["work_id"]
        .as_str()
        .expect("an id")
        .parse()
        .expect("an id");
    let operations =
        json!([{"remove": "b"}, {"connect": {"id": "ac", "source": "a", "target": "c"}}]);
    let arguments = json!({"work_id": work, "base_version": 1, "operations": operations});
    house.done("edit_nodes", arguments).await;
    house
        .done("undo_own_edit", json!({"work_id": work, "version": 2}))
        .await;
    let content = house.content(work).await;
    assert_eq!(house.shots(work).await, ["a", "b", "c"]);
    let ids: Vec<_> = content.edges.iter().map(|edge| edge.id.as_str()).collect();
    assert_eq!(ids, ["ab"]);
}

async fn a_text_goes_back_beside_what_a_person_wrote(mut house: House) {
    let work = house
        .text("The sea is calm. The lamp is lit. Nobody sleeps.")
        .await;
    let replacements = json!([{"find": "calm", "replace": "loud and grey"}]);
    let arguments = json!({"work_id": work, "replacements": replacements});
    house.done("edit_text", arguments).await;
    house
        .person_replaces(work, "Nobody sleeps", "Somebody sings")
        .await;
    house
        .done("undo_own_edit", json!({"work_id": work, "version": 2}))
        .await;
    let text = house.content(work).await.text.clone();
    assert_eq!(text, "The sea is calm. The lamp is lit. Somebody sings.");
}

async fn a_text_that_a_person_has_changed_since_is_not_taken_back(mut house: House) {
    let work = house.text("The sea is calm. The lamp is lit.").await;
    let replacements = json!([{"find": "calm", "replace": "loud and grey"}]);
    let arguments = json!({"work_id": work, "replacements": replacements});
    house.done("edit_text", arguments).await;
    house.person_replaces(work, "loud and grey", "wild").await;
    let undo = json!({"work_id": work, "version": 2});
    let (_, result) = house.failed("undo_own_edit", undo).await;
    assert_eq!(result["__typename"], "TextNotUnique");
    assert_eq!(result["occurrences"], 0);
    let text = house.content(work).await.text.clone();
    assert_eq!(text, "The sea is wild. The lamp is lit.");
}

async fn a_whole_text_that_was_replaced_comes_back(mut house: House) {
    let work = house.text("One sentence, and another.").await;
    let arguments = json!({"work_id": work, "base_version": 1, "text": ""});
    house.done("replace_text", arguments).await;
    house
        .done("undo_own_edit", json!({"work_id": work, "version": 2}))
        .await;
    let text = house.content(work).await.text.clone();
    assert_eq!(text, "One sentence, and another.");
}

async fn only_changes_of_the_task_itself_are_taken_back(mut house: House) {
    let work = house.board(&["a"]).await;
    let undo = |version: u64| json!({"work_id": work, "version": version});
    let (error, _) = house.failed("undo_own_edit", undo(1)).await;
    assert!(error.contains("not your own"), "{error}");
    let (error, _) = house.failed("undo_own_edit", undo(2)).await;
    assert!(error.contains("versions 1 to 1"), "{error}");
    let operations = json!([{"set": {"nodeId": "a", "fields": {"title": "Dawn"}}}]);
    let arguments = json!({"work_id": work, "base_version": 1, "operations": operations});
    house.done("edit_nodes", arguments).await;
    house.begin_task("en").await;
    let (error, _) = house.failed("undo_own_edit", undo(2)).await;
    assert!(error.contains("not your own"), "{error}");
}

async fn what_was_taken_back_is_not_taken_back_again_when_the_call_is_repeated(mut house: House) {
    let work = house.text("The sea is calm.").await;
    let replacements = json!([{"find": "calm", "replace": "loud and grey"}]);
    let arguments = json!({"work_id": work, "replacements": replacements});
    house.done("edit_text", arguments).await;
    let undo = json!({"work_id": work, "version": 2});
    let (step, calls) = house.decide(&[("undo_own_edit", undo)]).await;
    let started = house.start(&step, &calls[0]).await;
    let first = house.run(&step, &started).await.expect("runs").outcome;
    let second = house.run(&step, &started).await.expect("runs").outcome;
    assert!(matches!(first, CallOutcome::Done(_)), "{first:?}");
    assert_eq!(first, second);
    assert_eq!(house.content(work).await.version, Version(3));
}

on_both_databases!(
    a_node_that_a_person_was_at_since_is_not_taken_back,
    an_own_edit_is_taken_back_and_the_persons_stays,
    edges_go_and_come_back,
    a_text_goes_back_beside_what_a_person_wrote,
    a_text_that_a_person_has_changed_since_is_not_taken_back,
    a_whole_text_that_was_replaced_comes_back,
    only_changes_of_the_task_itself_are_taken_back,
    what_was_taken_back_is_not_taken_back_again_when_the_call_is_repeated,
);
