//! What a program reads: works part by part, their history, tasks with their plan and cards, messages, and what a search finds.

use serde_json::{Value, json};

use crate::harness::mcp::Mcp;
use crate::harness::model::decision;
use crate::harness::people::text;
use crate::harness::tasks::{each, list};
use crate::harness::{Installation, Person, Planner, eventually, on_both_databases};

on_both_databases![
    works_are_found_and_read_part_by_part,
    a_task_is_begun_talked_to_and_read,
    the_main_thread_is_written_to_and_read,
    words_are_found_where_they_stand,
];

/// Lists go page by page, and by kinds.
async fn assert_lists(mcp: &Mcp, owner: &Person, id: &Value) {
    owner.create_text("A text.").await;
    let listed = |arguments: Value| {
        let mut arguments = arguments;
        arguments["workspace_id"] = json!(owner.workspace);
        async move { mcp.call("list_works", arguments).await }
    };
    let flows = listed(json!({"kinds": ["flow"]})).await;
    assert_eq!(
        (&flows["totalCount"], &list(&flows["nodes"])[0]["id"]),
        (&json!(1), id)
    );
    let page = listed(json!({"first": 1})).await;
    assert_eq!(page["pageInfo"]["hasNextPage"], true);
    let next = listed(json!({"first": 1, "after": page["pageInfo"]["endCursor"]})).await;
    assert_eq!(&list(&next["nodes"])[0]["id"], id);
}

async fn works_are_found_and_read_part_by_part(installation: &Installation) {
    let (server, owner) = installation.open_without_agent().await;
    let mcp = Mcp::of(&owner.client);
    let workspaces = mcp.call("list_workspaces", json!({})).await;
    assert_eq!(workspaces["you_act_for"]["id"], owner.user);
    let ids = each(&list(&workspaces["workspaces"]), "id");
    assert!(ids.contains(&owner.workspace), "{ids:?}");
    let nodes: Vec<Value> = (0..120)
        .map(|number| json!({"id": format!("n{number:03}"), "type": "step", "fields": {"title": format!("Step {number}"), "notes": "long"}}))
        .collect();
    let made = mcp
        .call(
            "create_work",
            json!({
                "workspace_id": owner.workspace, "kind": "flow", "title": "Pipeline", "nodes": nodes,
                "edges": [{"id": "e", "source": "n000", "target": "n110", "sourcePort": "out"}],
            }),
        )
        .await;
    assert_eq!(
        (&made["version"], list(&made["nodeIds"]).len()),
        (&json!(1), 120)
    );
    let id = &made["work_id"];
    let first = mcp.call("read_work", json!({"work_id": id})).await;
    assert_eq!(
        (list(&first["nodes"]).len(), &first["next_offset"]),
        (100, &json!(100))
    );
    let rest = mcp
        .call("read_work", json!({"work_id": id, "offset": 100}))
        .await;
    assert_eq!(
        (list(&rest["nodes"]).len(), &rest["next_offset"]),
        (20, &Value::Null)
    );
    assert_eq!(list(&rest["edges"])[0]["sourcePort"], "out");
    let some = json!({"work_id": id, "node_ids": ["n007", "gone"]});
    let some = mcp.call("read_work", some).await;
    assert_eq!(
        (list(&some["nodes"]).len(), &some["missing_node_ids"]),
        (1, &json!(["gone"]))
    );
    let outline = mcp
        .call(
            "read_work",
            json!({"work_id": id, "outline": true, "limit": 120}),
        )
        .await;
    assert_eq!(list(&outline["nodes"])[7]["title"], "Step 7");
    assert!(list(&outline["nodes"])[7].get("fields").is_none());
    assert_lists(&mcp, &owner, id).await;
    // And history.
    let set = json!([{"set": {"nodeId": "n007", "fields": {"title": "Seventh"}}}]);
    let edit = json!({"work_id": id, "base_version": 1, "operations": set, "summary": "named it"});
    mcp.call("edit_nodes", edit).await;
    let history = mcp.call("read_history", json!({"work_id": id})).await;
    let newest = &list(&history["history"]["nodes"])[0];
    assert_eq!(
        (&newest["toVersion"], &newest["summary"]),
        (&json!(2), &json!("named it"))
    );
    assert!(newest["by"]["program"].is_string(), "{newest}");
    server.stop().await;
}

/// A planner that works, says so, and is done.
async fn planner() -> Planner {
    Planner::start_with_router(
        |_, step, _| {
            let reply = json!([{"tool": "reply", "arguments": {"text": "It is under way."}}]);
            decision(step > 1, &if step == 1 { reply } else { json!([]) })
        },
        |_, _| json!({"outcome": "answer", "rationale": "a question", "answer": "There are two boards."}),
    )
    .await
}

async fn a_task_is_begun_talked_to_and_read(installation: &Installation) {
    let planner = planner().await;
    let (server, owner) = installation.open_with(&planner.settings()).await;
    let mcp = Mcp::of(&owner.client);
    let board = owner.create_nodes("STORYBOARD", json!([])).await;
    let made = mcp
        .call("create_task", json!({"workspace_id": owner.workspace, "goal": "Eine Geschichte", "work_ids": [board.id], "idempotency_key": "once"}))
        .await;
    let task = text(&made["task_id"]);
    let read = async || mcp.call("read_task", json!({"task_id": task})).await;
    eventually("the task is delivered", async || {
        read().await["status"] == "DELIVERED"
    })
    .await;
    let shown = read().await;
    assert_eq!(shown["shortLine"]["text"], "under way");
    assert_eq!(list(&shown["checklist"])[0]["state"], "DONE");
    assert_eq!(list(&shown["works"])[0]["work"]["id"], board.id);
    let said = list(&shown["thread"]["nodes"]);
    assert!(
        each(&said, "text").contains(&"It is under way.".to_owned()),
        "{said:?}"
    );
    let posted = mcp
        .call(
            "post_message",
            json!({"workspace_id": owner.workspace, "task_id": task, "text": "Make it shorter."}),
        )
        .await;
    let id = &posted["message_id"];
    eventually("a step has read the message", async || {
        mcp.call("read_message", json!({"message_id": id})).await["state"] == "CONSUMED"
    })
    .await;
    let message = mcp.call("read_message", json!({"message_id": id})).await;
    assert_eq!(
        (&message["byProgram"], &message["task"]["id"]),
        (&json!(true), &json!(task))
    );
    let filter =
        json!({"workspace_id": owner.workspace, "statuses": ["delivered", "running", "queued"]});
    let listed = mcp.call("list_tasks", filter).await;
    assert_eq!(each(&list(&listed["nodes"]), "id"), [task]);
    server.stop().await;
}

async fn the_main_thread_is_written_to_and_read(installation: &Installation) {
    let planner = planner().await;
    let (server, owner) = installation.open_with(&planner.settings()).await;
    let mcp = Mcp::of(&owner.client);
    let place = json!({"workspace_id": owner.workspace});
    let mut question = place.clone();
    question["text"] = json!("How many boards are there?");
    mcp.call("post_message", question).await;
    eventually("the answer is read", async || {
        let thread = mcp.call("read_main_thread", place.clone()).await;
        each(&list(&thread["nodes"]), "text").contains(&"There are two boards.".to_owned())
    })
    .await;
    server.stop().await;
}

async fn words_are_found_where_they_stand(installation: &Installation) {
    let (server, owner) = installation.open_without_agent().await;
    let mcp = Mcp::of(&owner.client);
    let work = owner.create_text("A lighthouse keeper.").await;
    owner.create_text("Something else.").await;
    let asked =
        json!({"workspace_id": owner.workspace, "query": "lighthouse", "kinds": ["work", "task"]});
    let mut found = Vec::new();
    eventually("the text is found", async || {
        found = list(&mcp.call("search", asked.clone()).await["edges"]);
        !found.is_empty()
    })
    .await;
    assert_eq!((found.len(), &found[0]["node"]["id"]), (1, &json!(work.id)));
    assert!(text(&found[0]["snippet"]).contains("lighthouse"));
    server.stop().await;
}
