//! The process is killed at every write point of an order: after a restart it was ordered at most once, paid as the rules say, and its
//! task came to its end.

use std::process::Stdio;

use serde_json::json;

use super::house::{booked, jobs, money, painter, settings, stands, turns};
use super::upstream::{Manner, PRICE, Upstream};
use crate::harness::people::text;
use crate::harness::{Installation, Planner, eventually, on_both_databases};

on_both_databases![an_order_outlives_the_death_of_its_process_at_every_write_point];

/// Commands that write an order, and how often each is met on the way.
const POINTS: [(&str, u32); 6] = [
    ("job.order", 1),
    ("job.claim", 2),
    ("job.take", 2),
    ("job.outputs", 1),
    ("call.finish", 1),
    ("call.start", 1),
];

async fn an_order_outlives_the_death_of_its_process_at_every_write_point(
    installation: &Installation,
) {
    let (planner, upstream) = (painter().await, Upstream::start().await);
    upstream.answer(Manner::Made);
    let mut paid = 0;
    for (point, runs) in POINTS {
        for run in 1..=runs {
            for place in ["before", "after"] {
                let fault = format!("{point} {run} {place}");
                paid += outlives(installation, (&planner, &upstream), &fault).await;
            }
        }
    }
    assert!(paid > 0, "some of them brought a picture");
}

/// Whether the picture came.
async fn outlives(
    installation: &Installation,
    (planner, upstream): (&Planner, &Upstream),
    fault: &str,
) -> usize {
    let submissions = upstream.submissions();
    let (server, owner) = installation.open_without_agent().await;
    let task = owner.create_task(fault).await;
    server.stop().await;
    let all = settings(
        planner,
        Some(upstream),
        &[("ATELIER_SUBMISSION_TIMEOUT", "1s")],
    );
    let mut dying = installation.command(&["worker"]);
    dying.envs(all.iter().map(|(name, value)| (name, value)));
    dying.env("ATELIER_TEST_FAULT_AT", fault);
    let dying = dying.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut dying = dying.expect("the program starts");
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
    let all: Vec<_> = all
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let server = installation.start_with(&all).await;
    let (task, owner) = (task.at(&server), owner.at(&server));
    stands(&task, "DELIVERED").await;
    let jobs = jobs(&task).await;
    assert_eq!(jobs.len(), 1, "{fault}: {jobs:?}");
    let state = text(&jobs[0]["state"]);
    let sent = upstream.submissions() - submissions;
    assert!(sent <= 1, "{fault}: sent {sent} times");
    let came = usize::from(state == "SUCCEEDED");
    if came == 1 {
        assert_eq!(money(&owner).await, (PRICE, 0), "{fault}");
        assert_eq!(booked(&owner).await, ["RESERVE", "CHARGE"], "{fault}");
        assert_eq!(
            jobs[0]["outputs"].as_array().map(Vec::len),
            Some(1),
            "{fault}"
        );
        assert_eq!(
            owner.count_titled("A red fox").await,
            1,
            "{fault}: one asset"
        );
    } else {
        // Whoever was about to send it is gone, and nobody knows whether it arrived.
        assert_eq!(state, "SUBMISSION_UNKNOWN", "{fault}: {jobs:?}");
        assert_eq!(money(&owner).await, (0, 0), "{fault}");
        assert_eq!(
            booked(&owner).await,
            ["RESERVE", "CHARGE", "REFUND"],
            "{fault}"
        );
    }
    assert!(turns(&task).await <= 3, "{fault}: woken more than once");
    assert_eq!(
        task.show("changeNotices { work { id } }").await["changeNotices"],
        json!([])
    );
    server.stop().await;
    came
}
