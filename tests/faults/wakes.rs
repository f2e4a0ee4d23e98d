//! Wake-ups that never arrive, or arrive twice: tasks are delivered all the same, and nothing is done twice (D5).

use super::load::{self, Load};
use crate::harness::{Installation, Worker, on_both_databases, on_postgres};

on_both_databases![
    tasks_go_on_without_any_wake_up,
    doubled_wake_ups_change_nothing,
];
on_postgres![
    two_workers_go_on_without_any_wake_up,
    two_workers_that_hear_everything_twice_do_it_once,
];

/// Tasks under way at once.
const TASKS: usize = 6;

async fn tasks_go_on_without_any_wake_up(installation: &Installation) {
    in_one_process(installation, "never").await;
}

async fn doubled_wake_ups_change_nothing(installation: &Installation) {
    in_one_process(installation, "twice").await;
}

async fn two_workers_go_on_without_any_wake_up(installation: &Installation) {
    in_two_workers(installation, "never").await;
}

async fn two_workers_that_hear_everything_twice_do_it_once(installation: &Installation) {
    in_two_workers(installation, "twice").await;
}

async fn in_one_process(installation: &Installation, wakes: &str) {
    let planner = load::planner().await;
    let mut settings = planner.settings().to_vec();
    settings.push(("ATELIER_TEST_WAKES", wakes));
    let (server, owner) = installation.open_with(&settings).await;
    let load = Load::begin(&owner, TASKS).await;
    load.end(&server).await;
    let taken_over = load.assert_done_once(&owner, &server, &planner).await;
    assert_eq!(taken_over, 0, "the one worker has nobody to take from");
    server.stop().await;
}

async fn in_two_workers(installation: &Installation, wakes: &str) {
    let planner = load::planner().await;
    let mut settings = planner.settings().to_vec();
    settings.push(("ATELIER_TEST_WAKES", wakes));
    let (server, owner) = installation.open_without_agent().await;
    let workers = [
        Worker::start(installation, "worker-a", &settings).await,
        Worker::start(installation, "worker-b", &settings).await,
    ];
    let load = Load::begin(&owner, TASKS).await;
    load.end(&server).await;
    load.assert_done_once(&owner, &server, &planner).await;
    drop(workers);
    server.stop().await;
}
