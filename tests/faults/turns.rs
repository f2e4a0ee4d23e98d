//! The process is killed at every named write point of a turn: after a restart the task comes to its end, with one effect each and no
//! decision asked for twice.

use std::process::Stdio;

use domain::turn::WRITE_POINTS;
use serde_json::{Value, json};

use crate::harness::model::decision;
use crate::harness::{Installation, Planner, eventually, on_both_databases};

on_both_databases![a_turn_outlives_the_death_of_its_process_at_every_write_point];

/// Two works are made in two steps, so that each write point is met twice.
fn decide(step: u32) -> Value {
    let create = |title: &str| json!([{"tool": "create_work", "arguments": {"kind": "text", "title": title, "text": title}}]);
    match step {
        1 => decision(false, &create("first")),
        2 => decision(false, &create("second")),
        _ => decision(true, &json!([])),
    }
}

async fn a_turn_outlives_the_death_of_its_process_at_every_write_point(
    installation: &Installation,
) {
    let planner = Planner::start(|_, step, _| decide(step)).await;
    // Summaries of old history are written by long tasks only; crashes there are tried by the tests of the engine.
    let points = WRITE_POINTS
        .into_iter()
        .filter(|point| *point != "segment.store");
    for (number, point) in points.enumerate() {
        for (run, place) in [(1, "before"), (1, "after"), (2, "after")] {
            if point == "turn.claim" && run > 1 {
                continue;
            }
            let fault = format!("{point} {run} {place}");
            outlives(installation, &planner, &fault, number).await;
        }
    }
}

async fn outlives(installation: &Installation, planner: &Planner, fault: &str, number: usize) {
    let asked_before = planner.asked().len();
    let (server, owner) = installation.open_without_agent().await;
    let task = owner.create_task(&format!("{number}: {fault}")).await;
    server.stop().await;
    let mut settings = planner.settings().to_vec();
    settings.push(("ATELIER_TEST_FAULT_AT", fault));
    let mut dying = installation.command(&["worker"]);
    let mut dying = dying
        .envs(settings)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let mut status = None;
    eventually(&format!("{fault}: the process dies"), async || {
        status = dying.try_wait().expect("its state can be read");
        status.is_some()
    })
    .await;
    assert!(
        !status.expect("it has ended").success(),
        "{fault}: it was killed"
    );
    let server = installation.start_with(&planner.settings()).await;
    let (task, owner) = (task.at(&server), owner.at(&server));
    eventually(&format!("{fault}: the task is delivered"), async || {
        task.status().await == "DELIVERED"
    })
    .await;
    let asked = planner.asked().len() - asked_before;
    // Only a decision that was not stored is asked for a second time.
    let expected = if fault == "step.decide 1 before" {
        4
    } else {
        3
    };
    assert_eq!(asked, expected, "{fault}");
    let results = task.journal(Some(&["RESULT"])).await;
    assert_eq!(results.len(), 2, "{fault}: {results:?}");
    for title in ["first", "second"] {
        assert_eq!(owner.count_titled(title).await, 1, "{fault}: {title}");
    }
    server.stop().await;
}
