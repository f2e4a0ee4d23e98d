//! What a program may not: see other workspaces, write where its person only reads, spend, or delete without a person's word.

use serde_json::{Value, json};

use super::editing::program;
use crate::harness::mcp::Mcp;
use crate::harness::model::decision;
use crate::harness::people::text;
use crate::harness::tasks::list;
use crate::harness::{Client, Installation, Person, Planner, eventually, on_both_databases};

on_both_databases![
    nothing_of_another_workspace_is_reached,
    a_viewers_program_only_reads,
    a_work_goes_to_the_bin_by_a_persons_word_alone,
    what_costs_money_is_asked_of_a_person,
];

/// A stranger beside an owner on one server.
async fn stranger_of(owner: &Person) -> Person {
    let stranger = owner.invite("Stranger", "EDITOR").await;
    let elsewhere = Person::with_workspace(stranger.client.clone(), "Elsewhere").await;
    let remove = json!({"workspaceId": owner.workspace, "userId": stranger.user});
    owner
        .client
        .change("removeMember", remove, "{ workspace { id } }")
        .await;
    elsewhere
}

/// Everything that a program could try on what lies in another workspace: a tool with its arguments.
fn tries(
    (space, own): (&str, &str),
    (work, task, message): (&str, &str, &str),
) -> Vec<(&'static str, Value)> {
    vec![
        ("list_works", json!({"workspace_id": space})),
        ("list_tasks", json!({"workspace_id": space})),
        ("read_main_thread", json!({"workspace_id": space})),
        ("search", json!({"workspace_id": space, "query": "owner"})),
        (
            "create_work",
            json!({"workspace_id": space, "kind": "text", "title": "mine"}),
        ),
        (
            "create_task",
            json!({"workspace_id": space, "goal": "mine"}),
        ),
        (
            "post_message",
            json!({"workspace_id": space, "text": "hello"}),
        ),
        (
            "post_message",
            json!({"workspace_id": own, "task_id": task, "text": "hello"}),
        ),
        (
            "create_task",
            json!({"workspace_id": own, "goal": "x", "work_ids": [work]}),
        ),
        ("read_work", json!({"work_id": work})),
        ("read_history", json!({"work_id": work})),
        (
            "edit_text",
            json!({"work_id": work, "replacements": [{"find": "own", "replace": "old"}]}),
        ),
        (
            "replace_text",
            json!({"work_id": work, "base_version": 1, "text": "gone"}),
        ),
        (
            "edit_nodes",
            json!({"work_id": work, "base_version": 1, "operations": [{"remove": "a"}]}),
        ),
        ("undo_own_edit", json!({"work_id": work, "version": 1})),
        (
            "restore_version",
            json!({"work_id": work, "version": 0, "base_version": 1}),
        ),
        ("rename_work", json!({"work_id": work, "title": "mine"})),
        ("delete_work", json!({"work_id": work})),
        ("read_task", json!({"task_id": task})),
        ("read_message", json!({"message_id": message})),
        (
            "job_status",
            json!({"job_id": format!("job_{}", uuid::Uuid::now_v7().simple())}),
        ),
    ]
}

async fn nothing_of_another_workspace_is_reached(installation: &Installation) {
    let (server, owner) = installation.open_without_agent().await;
    let work = owner.create_text("The owner's own words.").await;
    let task = owner.create_task("A secret").await;
    let message = text(&task.post("hush").await["id"]);
    let stranger = stranger_of(&owner).await;
    let mcp = Mcp::of(&stranger.client);
    let (space, work, task) = (&owner.workspace, &work.id, &task.id);
    let tries = tries((space, &stranger.workspace), (work, task, &message));
    for (tool, arguments) in tries {
        let refusal = mcp.refused(tool, arguments).await;
        assert_eq!(refusal["code"], "NOT_FOUND", "{tool}: {refusal}");
        assert!(
            !refusal.to_string().contains("own words"),
            "{tool}: {refusal}"
        );
    }
    // Ids of another kind are not mistaken for one.
    let crossed = Mcp::of(&owner.client);
    for (tool, arguments) in [
        ("read_work", json!({"work_id": task})),
        ("read_task", json!({"task_id": work})),
        ("read_message", json!({"message_id": work})),
        ("job_status", json!({"job_id": task})),
        ("read_history", json!({"work_id": message})),
    ] {
        assert_eq!(
            crossed.refused(tool, arguments).await["code"],
            "NOT_FOUND",
            "{tool}"
        );
    }
    server.stop().await;
}

async fn a_viewers_program_only_reads(installation: &Installation) {
    let (server, owner) = installation.open_without_agent().await;
    let work = owner.create_text("Readable.").await;
    let viewer = owner.invite("Viewer", "VIEWER").await;
    let mcp = Mcp::of(&viewer.client);
    let id = &work.id;
    assert_eq!(
        mcp.call("read_work", json!({"work_id": id})).await["text"],
        "Readable."
    );
    for (tool, arguments) in [
        (
            "edit_text",
            json!({"work_id": id, "replacements": [{"find": "Read", "replace": "Writ"}]}),
        ),
        (
            "replace_text",
            json!({"work_id": id, "base_version": 1, "text": "gone"}),
        ),
        ("create_work", json!({"kind": "text", "title": "mine"})),
        ("create_task", json!({"goal": "mine"})),
        ("post_message", json!({"text": "hello"})),
        ("rename_work", json!({"work_id": id, "title": "mine"})),
        ("delete_work", json!({"work_id": id})),
    ] {
        let refusal = mcp.refused(tool, arguments).await;
        assert_eq!(refusal["code"], "FORBIDDEN", "{tool}: {refusal}");
    }
    assert_eq!(work.text().await, "Readable.");
    server.stop().await;
}

async fn answer(client: &Client, card: &Value, option: &str) -> Value {
    let input = json!({"cardId": card, "optionId": option});
    let answer = client.mutate("answerCard", input, "{ __typename }").await;
    answer.body
}

async fn a_work_goes_to_the_bin_by_a_persons_word_alone(installation: &Installation) {
    let (server, owner) = installation.open_without_agent().await;
    let secret = program(&owner, "Cleaner").await;
    let mcp = Mcp::of(&secret);
    let work = owner.create_text("Old.").await;
    let ask = json!({"work_id": work.id, "reason": "Nobody reads it."});
    let asked = mcp.call("delete_work", ask.clone()).await;
    let card = &asked["waiting_for"];
    assert!(work.content().await["deletedAt"].is_null());
    assert_eq!(
        &mcp.call("delete_work", ask.clone()).await["waiting_for"],
        card,
        "one question"
    );
    let open = owner.open_cards().await;
    assert_eq!(
        (open.len(), &open[0]["id"], &open[0]["kind"]),
        (1, card, &json!("CONFIRM_IRREVERSIBLE"))
    );
    assert!(
        text(&open[0]["prompt"]).contains("Nobody reads it."),
        "{open:?}"
    );
    // The program's own yes is none, wherever it says so.
    assert_eq!(
        answer(&secret, card, "confirm").await["errors"][0]["extensions"]["code"],
        "FORBIDDEN"
    );
    let stranger = stranger_of(&owner).await;
    assert_eq!(
        answer(&stranger.client, card, "confirm").await["errors"][0]["extensions"]["code"],
        "NOT_FOUND"
    );
    answer(&owner.client, card, "decline").await;
    assert!(work.content().await["deletedAt"].is_null());
    // Asked again, a person's yes moves it.
    let card = mcp.call("delete_work", ask.clone()).await["waiting_for"].clone();
    let said = answer(&owner.client, &card, "confirm").await;
    assert_eq!(
        said["data"]["answerCard"]["__typename"],
        "AnswerCardPayload"
    );
    assert!(work.content().await["deletedAt"].is_string());
    assert_eq!(mcp.refused("delete_work", ask).await["code"], "CONFLICT");
    assert_eq!(owner.open_cards().await, Vec::<Value>::new());
    // What a person deletes meanwhile is not asked about any more.
    let other = owner.create_text("Other.").await;
    mcp.call("delete_work", json!({"work_id": other.id})).await;
    assert_eq!(owner.open_cards().await.len(), 1);
    let input = json!({"workId": other.id});
    owner
        .client
        .change("deleteWork", input, "{ work { id } }")
        .await;
    assert_eq!(owner.open_cards().await, Vec::<Value>::new());
    server.stop().await;
}

async fn what_costs_money_is_asked_of_a_person(installation: &Installation) {
    let planner = Planner::start(|turn, step, _| {
        let order =
            json!([{"tool": "generate", "arguments": {"kind": "image", "prompt": "a fox"}}]);
        let orders = turn == 1 && step == 1;
        decision(!orders, &if orders { order } else { json!([]) })
    })
    .await;
    let mut settings = planner.settings().to_vec();
    settings.push(("ATELIER_LOCAL_PRICES", "40000"));
    let (server, owner) = installation.open_with(&settings).await;
    // A person's own order of this price needs no word.
    let own = owner.create_task("A fox").await;
    eventually("the person's order is made", async || {
        own.status().await == "DELIVERED"
    })
    .await;
    assert_eq!(owner.open_cards().await, Vec::<Value>::new());
    // A program's does, whatever its token stands for elsewhere.
    let mcp = Mcp::of(&owner.client);
    let goal = json!({"workspace_id": owner.workspace, "goal": "A fox", "kind": "lightweight"});
    let task = mcp.call("create_task", goal).await["task_id"].clone();
    let read = async || mcp.call("read_task", json!({"task_id": task})).await;
    eventually("a person is asked", async || {
        read().await["status"] == "WAITING_FOR_PERSON"
    })
    .await;
    let shown = read().await;
    let (card, job) = (&list(&shown["cards"])[0], &list(&shown["jobs"])[0]);
    assert_eq!(
        (&card["kind"], &card["cost"]["micros"]),
        (&json!("APPROVE_COST"), &json!(40_000))
    );
    assert_eq!(job["state"], "AWAITING_APPROVAL");
    let status = mcp.call("job_status", json!({"job_id": job["id"]})).await;
    assert_eq!(status["state"], "AWAITING_APPROVAL");
    answer(&owner.client, &card["id"], "approve").await;
    eventually("the order is made", async || {
        let status = mcp.call("job_status", json!({"job_id": job["id"]})).await;
        status["state"] == "SUCCEEDED" && !list(&status["outputs"]).is_empty()
    })
    .await;
    server.stop().await;
}
