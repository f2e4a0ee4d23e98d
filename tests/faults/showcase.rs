//! The showcase: a worker that froze past its lease is refused, and its successor has finished.

use serde_json::json;

use crate::harness::model::decision;
use crate::harness::{Installation, Planner, Worker, eventually, on_postgres};

on_postgres![a_worker_that_freezes_with_a_started_call_is_overtaken_and_then_refused];

async fn a_worker_that_freezes_with_a_started_call_is_overtaken_and_then_refused(
    installation: &Installation,
) {
    let planner = Planner::start(|_, step, _| {
        let create = json!([{"tool": "create_work", "arguments": {"kind": "text", "title": "The one", "text": "once"}}]);
        let actions = if step > 1 { json!([]) } else { create };
        decision(step > 1, &actions)
    })
    .await;
    let (_server, owner) = installation.open_without_agent().await;
    let settings = planner.settings();
    let mut freezing = settings.to_vec();
    freezing.push(("ATELIER_TEST_FAULT_AT", "call.start 1 freeze"));
    let first = Worker::start(installation, "worker-a", &freezing).await;
    let task = owner.create_task("make the one text").await;
    eventually("the first worker stands still", async || first.is_frozen()).await;
    let second = Worker::start(installation, "worker-b", &settings).await;
    eventually("the successor delivers", async || {
        task.status().await == "DELIVERED"
    })
    .await;
    let turns = task
        .show("turns(first: 1) { nodes { epoch steps { calls { state attempts } } } }")
        .await;
    let turn = &turns["turns"]["nodes"][0];
    assert_eq!(turn["epoch"], 2);
    assert_eq!(
        turn["steps"][0]["calls"],
        json!([{"state": "DONE", "attempts": 2}])
    );
    assert_eq!(
        planner.asked_for(1, 1),
        1,
        "the stored decision was not asked for again"
    );
    first.thaw();
    eventually("the late worker is refused", async || {
        first.log().contains("fenced")
    })
    .await;
    assert!(!second.log().contains("fenced"));
    assert_eq!(owner.count_titled("The one").await, 1, "one effect");
    let results = task.journal(Some(&["RESULT"])).await;
    assert_eq!(results.len(), 1, "one result");
    assert_eq!(task.status().await, "DELIVERED");
}
