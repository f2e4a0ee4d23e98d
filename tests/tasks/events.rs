//! Events of a task: those of its workspace's log that are its own, none lost and none twice.

use serde_json::{Value, json};

use crate::harness::people::text;
use crate::harness::subscription::Subscription;
use crate::harness::{Installation, Task, on_both_databases};

on_both_databases![
    events_of_a_task_resume_over_a_kill,
    the_log_tells_of_tasks_messages_and_cards,
];

const EVENTS: &str = "subscription ($id: ID!, $after: Cursor) { taskEvents(taskId: $id, after: $after) { cursor kind data
  actor { user { id } } subject { __typename ... on Task { id } ... on Message { id text state } ... on Card { id } } } }";

async fn follow(task: &Task, after: &str) -> Subscription {
    let variables = json!({"id": task.id, "after": after});
    Subscription::open(&task.client, EVENTS, variables).await
}

/// The next event; its kind, and all of it.
async fn next(events: &mut Subscription) -> (String, Value) {
    let event = events.event().await["taskEvents"].clone();
    (text(&event["kind"]), event)
}

/// What posting a message to a queued task tells.
async fn hears_a_message(events: &mut Subscription, words: &str) -> String {
    let mut told = Vec::new();
    loop {
        let (kind, event) = next(events).await;
        told.push(kind.clone());
        if kind == "MESSAGE_POSTED" {
            assert_eq!(event["subject"]["text"], words);
            assert_eq!(told, ["JOURNAL_APPENDED", "MESSAGE_POSTED"]);
            return text(&event["cursor"]);
        }
    }
}

async fn events_of_a_task_resume_over_a_kill(installation: &Installation) {
    let (server, owner) = installation.open_without_agent().await;
    let (task, other) = (
        owner.create_task("mine").await,
        owner.create_task("other").await,
    );
    let mut events = follow(&task, &owner.event_cursor().await).await;
    task.post("one").await;
    other.post("not mine").await;
    task.post("two").await;
    let cursor = hears_a_message(&mut events, "one").await;
    server.kill();
    let server = installation.start_without_agent().await;
    let owner = owner.at(&server);
    let (task, other) = (task.by(&owner), other.by(&owner));
    other.post("nor this").await;
    let mut events = follow(&task, &cursor).await;
    hears_a_message(&mut events, "two").await;
    task.post("three").await;
    let cursor = hears_a_message(&mut events, "three").await;
    // Its cursors are those of the workspace's log.
    assert_eq!(owner.event_cursor().await, cursor);
    let log = "query ($id: ID!, $after: Cursor) { workspace(id: $id) { events(after: $after) { nodes { kind } } } }";
    let variables = json!({"id": owner.workspace, "after": cursor});
    let data = owner.client.run(log, variables).await;
    assert_eq!(data["workspace"]["events"]["nodes"], json!([]));
}

async fn the_log_tells_of_tasks_messages_and_cards(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let start = owner.event_cursor().await;
    let task = owner.create_task("goal").await;
    let mut events = follow(&task, &start).await;
    let (kind, made) = next(&mut events).await;
    assert_eq!(
        (kind.as_str(), &made["subject"]["id"]),
        ("TASK_CREATED", &json!(task.id))
    );
    assert_eq!(made["actor"]["user"]["id"], owner.user.as_str());
    task.act("stopTask").await;
    let message = task.post("hello").await;
    let mut kinds = Vec::new();
    let card = loop {
        let (kind, event) = next(&mut events).await;
        kinds.push(kind);
        if event["kind"] == "CARD_OPENED" {
            break event["subject"].clone();
        }
    };
    assert_eq!(card["__typename"], "Card");
    assert!(
        kinds.contains(&"TASK_STATUS_CHANGED".to_owned()),
        "{kinds:?}"
    );
    let input = json!({"cardId": card["id"], "optionId": "resume"});
    owner
        .client
        .change("answerCard", input, "{ __typename }")
        .await;
    kinds.clear();
    loop {
        let (kind, event) = next(&mut events).await;
        kinds.push(kind);
        if event["kind"] == "MESSAGE_STATE_CHANGED" {
            assert_eq!(event["data"]["state"], "DELIVERED");
            assert_eq!(event["subject"]["id"], message["id"]);
            break;
        }
    }
    assert!(kinds.contains(&"CARD_ANSWERED".to_owned()), "{kinds:?}");
    assert!(
        kinds.contains(&"TASK_STATUS_CHANGED".to_owned()),
        "{kinds:?}"
    );
    let variables = json!({"id": task.id, "after": "AAAA"});
    let mut refused = Subscription::open(&owner.client, EVENTS, variables).await;
    let crate::harness::subscription::Heard::Errors(errors) = refused.next().await else {
        panic!("a made-up cursor is refused");
    };
    assert_eq!(
        errors[0]["extensions"]["code"], "CURSOR_INVALID",
        "{errors}"
    );
}
