//! Reading works, the journal and results, and searching.

use domain::document::Version;
use domain::people::Role;
use domain::store::StoreExt as _;
use domain::turn::CallId;
use domain::work::{DeleteWork, WorkKind};
use serde_json::{Value, json};

use super::house::House;
use super::on_both_databases;
use super::people::retitle;

fn texts(list: &Value) -> Vec<&str> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Value::as_str).collect()
}

fn ids(nodes: &Value) -> Vec<&str> {
    let nodes = nodes.as_array().map(Vec::as_slice).unwrap_or_default();
    nodes
        .iter()
        .filter_map(|node| node["id"].as_str())
        .collect()
}

async fn a_work_is_read_whole_in_part_and_as_it_was(mut house: House) {
    let work = house.board(&["a", "b", "c"]).await;
    house.person_edits(work, vec![retitle("b", "Dusk")]).await;
    let read = house.done("read_work", json!({"work_id": work})).await;
    assert_eq!(
        (&read["version"], &read["at_version"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(read["kind"], "STORYBOARD");
    assert_eq!(ids(&read["nodes"]), ["a", "b", "c"]);
    assert_eq!(read["nodes"][1]["fields"]["title"], "Dusk");
    assert_eq!(read["nodes"][1]["type"], "shot");

    let arguments = json!({"work_id": work, "node_ids": ["c", "gone"], "at_version": 1});
    let read = house.done("read_work", arguments).await;
    assert_eq!(ids(&read["nodes"]), ["c"]);
    assert_eq!(texts(&read["missing_node_ids"]), ["gone"]);
    assert_eq!(read["version"], 1);

    let arguments = json!({"work_id": work, "at_version": 7});
    let (error, _) = house.failed("read_work", arguments).await;
    assert!(error.contains("there is no version 7 yet"), "{error}");
}

async fn what_was_read_counts_as_seen(mut house: House) {
    let work = house.text("one").await;
    house.person_replaces(work, "one", "two").await;
    house.done("read_work", json!({"work_id": work})).await;
    let linked = house.reads().list_linked_works(&[house.task]).await;
    let linked = linked.expect("works").pop().expect("is linked");
    assert_eq!((linked.work, linked.seen_version), (work, Version(2)));
    assert!(linked.last_read_at.is_some() && linked.last_written_at.is_none());
}

async fn a_flow_shows_the_edges_at_the_nodes_that_were_asked_for(mut house: House) {
    let nodes = json!([{"id": "a"}, {"id": "b"}, {"id": "c"}]);
    let edges = json!([
        {"id": "ab", "source": "a", "target": "b", "sourcePort": "out"},
        {"id": "bc", "source": "b", "target": "c"},
    ]);
    let arguments = json!({"kind": "flow", "title": "Film", "nodes": nodes, "edges": edges});
    let made = house.done("create_work", arguments).await;
    let arguments = json!({"work_id": made["work_id"], "node_ids": ["a"]});
    let read = house.done("read_work", arguments).await;
    let edge = json!([{"id": "ab", "source": "a", "target": "b", "sourcePort": "out"}]);
    assert_eq!(read["edges"], edge);
}

async fn what_the_task_may_not_see_is_not_found(mut house: House) {
    let other = house.other_workspace().await;
    let content = domain::document::Content {
        text: "secret".to_owned(),
        ..Default::default()
    };
    let work = house
        .made(house.owner, other, WorkKind::Text, content)
        .await;
    let arguments = json!({"work_id": work});
    let (error, result) = house.failed("read_work", arguments).await;
    assert_eq!(error, format!("work {work} was not found"));
    assert_eq!(result, Value::Null);
    let (error, _) = house
        .failed("read_work", json!({"work_id": "work_1"}))
        .await;
    assert!(error.contains("ids look like `work_`"), "{error}");
}

async fn a_work_in_the_bin_is_told_to_lie_there(mut house: House) {
    let work = house.text("one").await;
    let command = DeleteWork {
        caller: house.owner,
        workspace: house.workspace,
        work,
        at: house.now(),
    };
    house.services.store.run(command).await.expect("is deleted");
    for (tool, arguments) in [
        ("read_work", json!({"work_id": work})),
        ("delete_work", json!({"work_id": work})),
        ("undo_own_edit", json!({"work_id": work, "version": 1})),
        (
            "replace_text",
            json!({"work_id": work, "base_version": 1, "text": "two"}),
        ),
    ] {
        let (error, _) = house.failed(tool, arguments).await;
        assert!(error.contains("lies in the bin"), "{tool}: {error}");
    }
}

async fn the_journal_is_read_from_its_end_from_a_place_and_whole(mut house: House) {
    house.done("reply", json!({"text": "First."})).await;
    house.done("reply", json!({"text": "Second."})).await;
    let newest = house
        .done("read_journal", json!({"kinds": ["RESULT"], "limit": 2}))
        .await;
    let entries = newest["entries"].as_array().expect("a list");
    assert_eq!(entries.len(), 2);
    assert!(entries[0]["sequence"].as_u64() < entries[1]["sequence"].as_u64());
    assert_eq!(entries[1]["text"], "reply: done");
    assert_eq!(entries[1]["step"], "1/2");
    assert_eq!(newest["has_more"], false);

    let first = house
        .done("read_journal", json!({"after": 0, "limit": 1}))
        .await;
    assert_eq!(first["entries"][0]["sequence"], 1);
    assert_eq!(first["has_more"], true);
    // Alone it is whole.
    assert_eq!(
        first["entries"][0]["data"]["goal"],
        "A short film about a keeper"
    );
}

async fn a_large_result_is_paged_and_searched_and_a_small_one_is_whole(mut house: House) {
    let line = "The lamp turns, and the sea answers. ";
    let text = format!("{}Then it is DARK.", line.repeat(600));
    let work = house.text(&text).await;
    let call = house.act("read_work", json!({"work_id": work})).await;
    let digest = call.result.clone().expect("a digest");
    assert!(digest["bytes"].as_u64() > Some(20_000), "{digest}");
    let handle = digest["handle"].clone();

    let found = house
        .done("read_result", json!({"call_id": handle, "find": "DARK"}))
        .await;
    assert_eq!(found["occurrences"], 1);
    let offset = found["places"][0]["offset"].clone();
    let arguments = json!({"call_id": handle, "offset": offset, "limit": 4});
    let page = house.done("read_result", arguments).await;
    assert_eq!(page["text"], "DARK");
    assert!(page["next_offset"].is_u64());

    let small = house.act("reply", json!({"text": "Short."})).await;
    let page = house
        .done("read_result", json!({"call_id": small.id}))
        .await;
    let whole = small.result.expect("a result").to_string();
    assert_eq!(page["text"], whole);
    assert_eq!(page["next_offset"], Value::Null);
}

async fn results_of_other_tasks_are_not_there(mut house: House) {
    let call = house
        .act("reply", json!({"text": "Of the first task."}))
        .await;
    house.begin_task("en").await;
    let arguments = json!({"call_id": call.id});
    let (error, _) = house.failed("read_result", arguments).await;
    assert_eq!(error, format!("call {} was not found", call.id));
    let absent = CallId { step: 9, ..call.id };
    let (error, _) = house
        .failed("read_result", json!({"call_id": absent}))
        .await;
    assert!(error.ends_with("was not found"), "{error}");
    let (error, _) = house.failed("read_result", json!({"call_id": "1"})).await;
    assert!(error.contains("is not the id of a call"), "{error}");
}

async fn words_are_found_in_works_tasks_messages_and_the_journal(mut house: House) {
    let work = house.text("one").await;
    house
        .done("reply", json!({"text": "The KEEPER lights the lamp."}))
        .await;
    let found = house.done("search", json!({"query": "keeper lamp"})).await;
    assert_eq!(found["found"], 1);
    assert_eq!(
        found["matches"][0]["excerpt"],
        "The KEEPER lights the lamp."
    );
    let found = house.done("search", json!({"query": "WORK person"})).await;
    assert_eq!(found["matches"][0]["work"], json!(work));
    let arguments = json!({"query": "keeper", "kinds": ["task"]});
    let found = house.done("search", arguments).await;
    assert_eq!(found["matches"][0]["task"], json!(house.task));
    assert_eq!(found["matches"][0]["short_line"], "Under way");
    let arguments = json!({"query": "keeper", "kinds": ["memory"]});
    let found = house.done("search", arguments).await;
    assert_eq!(found["found"], 0);
    let note = found["note"].as_str().expect("a note");
    assert!(note.contains("looked at: memories"), "{note}");
}

async fn a_search_does_not_leave_the_workspace_or_the_task(mut house: House) {
    let other = house.other_workspace().await;
    let content = domain::document::Content::default();
    house
        .made(house.owner, other, WorkKind::Text, content)
        .await;
    house.new_task(house.owner, other, "en").await;
    house
        .done("reply", json!({"text": "A word: heliotrope."}))
        .await;
    house.begin_task("en").await;
    for query in ["Work of a person", "heliotrope"] {
        let found = house.done("search", json!({"query": query})).await;
        assert_eq!(found["found"], 0, "{found}");
    }
    let arguments = json!({"query": "keeper", "kinds": ["task"]});
    let found = house.done("search", arguments).await;
    assert_eq!(
        found["found"], 2,
        "the two tasks of this workspace: {found}"
    );
}

async fn a_search_that_finds_much_shows_the_newest_that_can_be_shown(mut house: House) {
    for number in 0..30 {
        let text = format!("Message {number} about the lighthouse, the lamp and the long night.");
        house.act("reply", json!({"text": text})).await;
    }
    let found = house
        .done(
            "search",
            json!({"query": "lighthouse", "kinds": ["message"]}),
        )
        .await;
    assert!(found.to_string().chars().count() <= crate::tools::arguments::SHOWN);
    assert!(found["found"].as_u64() >= Some(30));
    let newest = found["matches"][0]["excerpt"].as_str().expect("an excerpt");
    assert!(newest.contains("Message 29"), "{newest}");
}

async fn a_task_of_somebody_who_left_sees_nothing_more(mut house: House) {
    let work = house.board(&["a"]).await;
    let member = house.member("guest", Role::Editor).await;
    let task = house.new_task(member, house.workspace, "en").await;
    house.task = task;
    house.claim(true).await;
    house.done("read_work", json!({"work_id": work})).await;
    let command = domain::people::RemoveMember {
        caller: house.owner,
        workspace: house.workspace,
        user: member.user,
        at: house.now(),
    };
    house.services.store.run(command).await.expect("is removed");
    let (error, _) = house.failed("read_work", json!({"work_id": work})).await;
    assert_eq!(error, format!("work {work} was not found"));
    let (error, _) = house.failed("search", json!({"query": "work"})).await;
    assert!(error.ends_with("was not found"), "{error}");
}

on_both_databases!(
    a_work_is_read_whole_in_part_and_as_it_was,
    what_was_read_counts_as_seen,
    a_flow_shows_the_edges_at_the_nodes_that_were_asked_for,
    what_the_task_may_not_see_is_not_found,
    a_work_in_the_bin_is_told_to_lie_there,
    the_journal_is_read_from_its_end_from_a_place_and_whole,
    a_large_result_is_paged_and_searched_and_a_small_one_is_whole,
    results_of_other_tasks_are_not_there,
    words_are_found_in_works_tasks_messages_and_the_journal,
    a_search_does_not_leave_the_workspace_or_the_task,
    a_search_that_finds_much_shows_the_newest_that_can_be_shown,
    a_task_of_somebody_who_left_sees_nothing_more,
);
