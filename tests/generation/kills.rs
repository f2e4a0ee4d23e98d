//! The process is killed at every write point of an order: after a restart it was ordered at most once, paid as the rules say, and its
//! task came to its end. A write point without a case fails.

use std::process::Stdio;

use domain::{job, turn};
use serde_json::json;

use super::house::{
    becomes, booked, jobs, money, one_picture, painter, settings, stands, the_job, turns,
};
use super::upstream::{Manner, PRICE, Upstream};
use crate::harness::tasks::list;
use crate::harness::{Installation, Person, Planner, Task, Work, eventually, on_both_databases};

on_both_databases![
    an_order_outlives_the_death_of_its_process_at_every_write_point,
    a_persons_cancel_outlives_the_death_of_its_process,
    every_command_that_an_order_is_moved_on_with_is_a_named_write_point,
];

/// The shelf life of orders in these tests.
pub(super) const SOON: (&str, &str) = ("ATELIER_SUBMISSION_TIMEOUT", "1s");
/// Commands of a working process that move no order and no turn on.
const APART: [&str; 17] = [
    "document.save_snapshot",
    "embedding.drop",
    "embedding.store",
    "extraction.claim",
    "extraction.fail",
    "extraction.store",
    "installation.bootstrap",
    "installation.ensure_secret",
    "people.bootstrap",
    "step.fail",
    "task.create",
    "task.wake",
    "token.touch",
    "turn.release",
    "turn.renew",
    "work.create",
    "workspace.create",
];

/// Every write point on the way of an order, with the runs of it in which a process dies.
pub(super) fn points() -> Vec<(&'static str, u32)> {
    let named = job::WRITE_POINTS.into_iter().chain(turn::WRITE_POINTS);
    let runs = |point: &'static str| match point {
        // It is sent, and it is fetched; it is decided on, and its task goes on.
        "job.claim" | "job.take" | "step.decide" => (point, 2),
        "job.order"
        | "job.outputs"
        | "job.placed"
        | "document.append_changes"
        | "turn.claim"
        | "call.start"
        | "call.finish" => (point, 1),
        // A person's, with a case of its own; and what no order meets: see the tests of faults, of routing and of Main.
        "job.cancel" | "segment.store" | "message.route" => (point, 0),
        other => panic!("{other} is a new write point: give it a case"),
    };
    named.map(runs).collect()
}

/// A planner that orders one picture for the first shot of the board that the goal names.
pub(super) async fn illustrator() -> Planner {
    Planner::start(|_, _, said| {
        let goal = said.rsplit_once("\ngoal: ").expect("a goal").1;
        let board = goal.lines().next().expect("a line");
        let place = json!({"work_id": board, "node_id": "shot-1", "field": "image"});
        one_picture(said, &json!({"place": place}))
    })
    .await
}

/// A board with one shot, and a task that wants a picture for it.
pub(super) async fn wanted(owner: &Person) -> (Work, Task) {
    let shot = json!([{"id": "shot-1", "fields": {"title": "One"}}]);
    let board = owner.create_nodes("STORYBOARD", shot).await;
    let task = owner.create_task(&board.id).await;
    (board, task)
}

async fn an_order_outlives_the_death_of_its_process_at_every_write_point(
    installation: &Installation,
) {
    let (planner, upstream) = (illustrator().await, Upstream::start().await);
    upstream.answer(Manner::Made);
    for (point, runs) in points() {
        for run in 1..=runs {
            for place in ["before", "after"] {
                let fault = format!("{point} {run} {place}");
                outlives(installation, (&planner, &upstream), &fault).await;
            }
        }
    }
}

async fn outlives(
    installation: &Installation,
    (planner, upstream): (&Planner, &Upstream),
    fault: &str,
) {
    let before = upstream.submissions();
    let (server, owner) = installation.open_without_agent().await;
    let (board, task) = wanted(&owner).await;
    server.stop().await;
    let all = settings(planner, Some(upstream), &[SOON]);
    die_at(installation, &all, fault).await;
    let server = installation.start_with(&borrowed(&all)).await;
    let (owner, task, board) = (
        owner.at(&server),
        task.at(&server),
        board.by(&owner.at(&server).client),
    );
    stands(&task, "DELIVERED").await;
    // Whoever was about to send it is gone, and nobody knows whether it arrived. A process lives for some milliseconds until it is
    // killed, in which another of its workers may have begun to send: what is stored says whether one had.
    let must_be_lost = ["job.claim 1 after", "job.take 1 before"].contains(&fault);
    let is_lost = the_job(&task).await["state"] == "SUBMISSION_UNKNOWN";
    assert!(is_lost || !must_be_lost, "{fault}: nobody can know");
    let sent = upstream.submissions() - before;
    if is_lost {
        assert!(sent <= 1, "{fault}: sent {sent} times");
        assert_lost(&owner, (&task, &board), fault).await;
    } else {
        assert_eq!(sent, 1, "{fault}: sent once");
        assert_brought(&owner, (&task, &board), fault).await;
    }
    assert!(turns(&task).await <= 2, "{fault}: woken once at most");
    assert_eq!(
        task.show("changeNotices { work { id } }").await["changeNotices"],
        json!([]),
        "{fault}: its own placing is no news to it"
    );
    server.stop().await;
}

/// Lets a worker run until it is killed at this place.
async fn die_at(installation: &Installation, settings: &[(String, String)], fault: &str) {
    let mut dying = installation.command(&["worker"]);
    dying.envs(settings.iter().map(|(name, value)| (name, value)));
    dying.env("ATELIER_TEST_FAULT_AT", fault);
    let dying = dying.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut dying = dying.expect("the program starts");
    let mut status = None;
    eventually(&format!("{fault}: the process dies"), async || {
        status = dying.try_wait().expect("its state can be read");
        status.is_some()
    })
    .await;
    let status = status.expect("it has ended");
    assert!(!status.success(), "{fault}: it was killed");
}

pub(super) fn borrowed(settings: &[(String, String)]) -> Vec<(&str, &str)> {
    settings
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect()
}

/// The picture was made once, paid once, stored once and placed once.
pub(super) async fn assert_brought(owner: &Person, (task, board): (&Task, &Work), fault: &str) {
    let jobs = jobs(task).await;
    assert_eq!(jobs.len(), 1, "{fault}: {jobs:?}");
    assert_eq!(jobs[0]["state"], "SUCCEEDED", "{fault}: {jobs:?}");
    assert_eq!(money(owner).await, (PRICE, 0), "{fault}");
    assert_eq!(booked(owner).await, ["RESERVE", "CHARGE"], "{fault}");
    let outputs = list(&jobs[0]["outputs"]);
    assert_eq!(outputs.len(), 1, "{fault}");
    assert_eq!(
        owner.count_titled("A red fox").await,
        1,
        "{fault}: one asset"
    );
    let shot = board.node("shot-1").await;
    assert_eq!(shot["fields"]["image"], outputs[0]["id"], "{fault}");
    assert_eq!(board.version().await, 2, "{fault}: placed once");
}

/// Nobody knows what became of it, so it was given up and its money came back.
pub(super) async fn assert_lost(owner: &Person, (task, board): (&Task, &Work), fault: &str) {
    let jobs = jobs(task).await;
    assert_eq!(jobs.len(), 1, "{fault}: {jobs:?}");
    assert_eq!(jobs[0]["state"], "SUBMISSION_UNKNOWN", "{fault}: {jobs:?}");
    assert_eq!(money(owner).await, (0, 0), "{fault}");
    let all = ["RESERVE", "CHARGE", "REFUND"];
    assert_eq!(booked(owner).await, all, "{fault}");
    assert_eq!(board.version().await, 1, "{fault}: nothing is placed");
}

async fn a_persons_cancel_outlives_the_death_of_its_process(installation: &Installation) {
    let (planner, upstream) = (painter().await, Upstream::start().await);
    for place in ["before", "after"] {
        let fault = format!("job.cancel 1 {place}");
        let taken = upstream.orders().len();
        let more = [SOON, ("ATELIER_TEST_FAULT_AT", &fault)];
        let dying = settings(&planner, Some(&upstream), &more);
        let (server, owner) = installation.open_with(&borrowed(&dying)).await;
        let task = owner.create_task(&fault).await;
        stands(&task, "WAITING_EXTERNAL").await;
        let job = becomes(&task, "RUNNING").await;
        let input = json!({"jobId": job["id"]});
        let selection = "{ job { state } }";
        let lost = owner
            .client
            .try_mutate("cancelJob", input.clone(), selection)
            .await;
        assert!(lost.is_err(), "{fault}: its answer is lost");
        drop(server);
        let living = settings(&planner, Some(&upstream), &[SOON]);
        let server = installation.start_with(&borrowed(&living)).await;
        let (owner, task) = (owner.at(&server), task.at(&server));
        if place == "before" {
            assert_eq!(the_job(&task).await["state"], "RUNNING", "{fault}");
            owner.client.change("cancelJob", input, selection).await;
        }
        becomes(&task, "CANCELLED").await;
        assert_eq!(upstream.orders()[taken].status, "canceled", "{fault}");
        stands(&task, "DELIVERED").await;
        assert_eq!(booked(&owner).await, ["RESERVE", "RELEASE"], "{fault}");
        assert_eq!(turns(&task).await, 2, "{fault}: woken once");
        server.stop().await;
    }
}

async fn every_command_that_an_order_is_moved_on_with_is_a_named_write_point(
    installation: &Installation,
) {
    let (planner, upstream) = (illustrator().await, Upstream::start().await);
    let file = installation.folder().join("commands");
    let path = file.to_str().expect("a plain path");
    let all = settings(&planner, Some(&upstream), &[("ATELIER_TEST_SEEN_IN", path)]);
    let (server, owner) = installation.open_with(&borrowed(&all)).await;
    let (_, given_up) = wanted(&owner).await;
    let job = becomes(&given_up, "RUNNING").await;
    let input = json!({"jobId": job["id"]});
    owner
        .client
        .change("cancelJob", input, "{ job { state } }")
        .await;
    stands(&given_up, "DELIVERED").await;
    upstream.answer(Manner::Made);
    let (_, task) = wanted(&owner).await;
    stands(&task, "DELIVERED").await;
    becomes(&task, "SUCCEEDED").await;
    server.stop().await;
    let seen = std::fs::read_to_string(&file).expect("commands were noted");
    let named: Vec<_> = points().into_iter().map(|(point, _)| point).collect();
    for command in seen.lines() {
        assert!(
            named.contains(&command) || APART.contains(&command),
            "{command} is no named write point: give it a case"
        );
    }
    for point in job::WRITE_POINTS {
        assert!(
            seen.lines().any(|command| command == point),
            "no order meets {point} any more"
        );
    }
}
