//! Tasks, messages and cards of others: not there for strangers, for reading alone for viewers.

use serde_json::{Value, json};

use crate::harness::people::text;
use crate::harness::subscription::{Heard, Subscription};
use crate::harness::{Installation, Person, Task, on_both_databases};

on_both_databases![
    to_a_stranger_nothing_of_a_task_is_there,
    a_viewer_reads_and_does_nothing,
];

/// Every mutation of tasks, on things of somebody else.
fn attempts(owner: &Person, task: &Task, message: &str, card: &str) -> Vec<(&'static str, Value)> {
    let mut attempts: Vec<_> = [
        "pauseTask",
        "resumeTask",
        "stopTask",
        "archiveTask",
        "promoteTask",
        "rebuildProjections",
    ]
    .map(|action| (action, json!({"taskId": task.id})))
    .into();
    attempts.extend([
        ("updateTask", json!({"taskId": task.id, "title": "mine"})),
        (
            "createTask",
            json!({"workspaceId": owner.workspace, "goal": "mine"}),
        ),
        (
            "postMessage",
            json!({"workspaceId": owner.workspace, "taskId": task.id, "text": "mine"}),
        ),
        ("withdrawMessage", json!({"messageId": message})),
        (
            "replaceMessage",
            json!({"messageId": message, "text": "mine"}),
        ),
        ("answerCard", json!({"cardId": card, "optionId": "resume"})),
    ]);
    attempts
}

/// A stopped task with a message that could not be delivered, and the card about it.
async fn stopped(owner: &Person) -> (Task, String, String) {
    let task = owner.create_task("secret plan").await;
    task.act("stopTask").await;
    let message = text(&task.post("secret word").await["id"]);
    let card = text(&task.cards().await[0]["id"]);
    (task, message, card)
}

async fn to_a_stranger_nothing_of_a_task_is_there(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let (task, message, card) = stopped(&owner).await;
    let other = Person::with_workspace(owner.client.clone(), "Elsewhere").await;
    let guest = other.invite("Stranger", "OWNER").await;
    let stranger = Person::with_workspace(guest.client.clone(), "Own").await;
    let turn = text(&task.show("turns { nodes { id } }").await["turns"]["nodes"][0]["id"]);
    let query =
        "query ($ids: [ID!]!, $call: ID!) { nodes(ids: $ids) { id } call(id: $call) { tool } }";
    let ids = json!({"ids": [task.id, message, card], "call": format!("{turn}/1/0")});
    let seen = stranger.client.run(query, ids).await;
    assert_eq!(seen, json!({"nodes": [null, null, null], "call": null}));
    for (field, input) in attempts(&owner, &task, &message, &card) {
        let answer = stranger.client.mutate(field, input, "{ __typename }").await;
        assert_eq!(answer.code(), "NOT_FOUND", "{field}: {}", answer.body);
        assert!(!answer.body.to_string().contains("secret"), "{field}");
    }
    // Naming one's own workspace does not open the other's task.
    let own = json!({"taskId": task.id, "text": "mine"});
    assert_eq!(stranger.ask_post(own).await.code(), "NOT_FOUND");
    let document = "subscription ($id: ID!) { taskEvents(taskId: $id) { kind } }";
    let mut events = Subscription::open(&stranger.client, document, json!({"id": task.id})).await;
    let Heard::Errors(errors) = events.next().await else {
        panic!("a stranger hears nothing");
    };
    assert_eq!(errors[0]["extensions"]["code"], "NOT_FOUND", "{errors}");
    assert_eq!(task.status().await, "STOPPED");
}

async fn a_viewer_reads_and_does_nothing(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let viewer = owner.invite("Vera", "VIEWER").await;
    let (task, message, card) = stopped(&owner).await;
    let seen = task.by(&viewer);
    let shown = seen
        .show("goal thread { nodes { id } } journal { nodes { text } }")
        .await;
    assert_eq!(shown["goal"], "secret plan");
    assert_eq!(shown["thread"]["nodes"], json!([{"id": message}]));
    assert_eq!(viewer.open_cards().await.len(), 1);
    for (field, input) in attempts(&owner, &task, &message, &card) {
        let answer = viewer.client.mutate(field, input, "{ __typename }").await;
        assert_eq!(answer.code(), "FORBIDDEN", "{field}: {}", answer.body);
    }
    assert_eq!(task.status().await, "STOPPED");
    assert_eq!(task.show("title").await["title"], "secret plan");
}
