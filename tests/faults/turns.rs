//! The process is killed at every named write point of a turn: after a restart the task comes to its end, with one effect each and no
//! decision asked for twice.

use std::process::Stdio;

use domain::turn::WRITE_POINTS;
use serde_json::{Value, json};

use crate::harness::model::{decision, title_of};
use crate::harness::{Installation, Planner, eventually, on_both_databases};

on_both_databases![
    a_turn_outlives_the_death_of_its_process_at_every_write_point,
    a_summary_of_old_history_outlives_the_death_of_its_process,
];

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
    // Summaries of old history are written by long tasks only, and places of messages by Main: they have cases of their own.
    let points = WRITE_POINTS
        .into_iter()
        .filter(|point| !["segment.store", "message.route"].contains(point));
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
    die_at(installation, planner, fault).await;
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

/// Lets a worker run until it is killed at this place.
async fn die_at(installation: &Installation, planner: &Planner, fault: &str) {
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
}

async fn a_summary_of_old_history_outlives_the_death_of_its_process(installation: &Installation) {
    // The task makes one text after the other until its history is so long that a summary of it stands in the request.
    let planner = Planner::start(|_, step, text| {
        let is_summarised = text.contains("Summary of journal entries");
        let title = format!("{}, text {step}", title_of(text));
        let create = json!([{"tool": "create_work", "arguments": {"kind": "text", "title": title, "text": title}}]);
        let actions = if is_summarised { json!([]) } else { create };
        let mut decided = decision(is_summarised, &actions);
        decided["rationale"] = json!("Another text is wanted, as the plan says. ".repeat(40));
        decided
    })
    .await;
    for (place, summaries) in [("before", 2), ("after", 1)] {
        let title = format!("long, killed {place}");
        let (server, owner) = installation.open_without_agent().await;
        let task = owner.create_task(&title).await;
        server.stop().await;
        die_at(installation, &planner, &format!("segment.store 1 {place}")).await;
        let server = installation.start_with(&planner.settings()).await;
        let (task, owner) = (task.at(&server), owner.at(&server));
        eventually(&format!("{title}: the task is delivered"), async || {
            task.status().await == "DELIVERED"
        })
        .await;
        let asked = planner.take_asked();
        let summarised = asked
            .iter()
            .filter(|asked| asked.function == "summarize_segment");
        assert_eq!(
            summarised.count(),
            summaries,
            "{title}: only a summary that was not stored is asked for again"
        );
        let mut steps: Vec<_> = asked
            .iter()
            .filter(|asked| asked.function == "decide")
            .map(|asked| asked.step)
            .collect();
        let decided = steps.len();
        steps.dedup();
        assert_eq!(
            decided,
            steps.len(),
            "{title}: no decision was asked for twice"
        );
        let mut titles = owner.titles().await;
        titles.retain(|made| made.starts_with(&title));
        titles.sort();
        let made = titles.len();
        titles.dedup();
        assert_eq!(
            (made, titles.len()),
            (decided - 1, decided - 1),
            "{title}: one text for each step but the last"
        );
        server.stop().await;
    }
}
