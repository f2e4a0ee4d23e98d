//! Two messages at once, and the same message twice: one delivery each.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::open_with_router;
use crate::harness::people::text;
use crate::harness::tasks::each;
use crate::harness::{Installation, eventually, on_both_databases};

on_both_databases![many_messages_at_once_are_each_delivered_once];

async fn many_messages_at_once_are_each_delivered_once(installation: &Installation) {
    let route = |_: &str, request: &str| {
        let line = request.lines().find(|line| line.starts_with("task_"));
        let id = line.and_then(|line| line.split(' ').next());
        json!({"outcome": "existing_task", "task_id": id, "rationale": "the only one"})
    };
    let (_server, owner, _planner) = open_with_router(installation, route).await;
    let task = owner.create_task("the only one").await;
    // Each is sent twice under its key, all of them at once.
    let sent = (0..8).flat_map(|number| {
        let input =
            json!({"text": format!("message {number}"), "idempotencyKey": format!("k{number}")});
        [owner.ask_post(input.clone()), owner.ask_post(input)]
    });
    let answers = join_all(sent).await;
    let mut ids: Vec<String> = answers
        .into_iter()
        .map(|answer| text(&answer.data()["postMessage"]["message"]["id"]))
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 8, "the same key is the same message");
    eventually("all are read", async || {
        let mut states: Vec<Value> = Vec::new();
        for id in &ids {
            states.push(owner.message(id).await["state"].clone());
        }
        states.iter().all(|state| state == "CONSUMED")
    })
    .await;
    let entries = task.journal(Some(&["INCOMING_MESSAGE"])).await;
    let mut texts = each(&entries, "text");
    texts.sort();
    let expected: Vec<String> = (0..8).map(|number| format!("message {number}")).collect();
    assert_eq!(texts, expected);
}
