//! PostgreSQL goes away again and again while two workers move a load of tasks on: all are delivered, and nothing is done twice.
//!
//! `ATELIER_TEST_SEED` repeats how it goes away.

use super::load::{self, Load};
use crate::harness::cluster::{Cluster, Going};
use crate::harness::{Installation, Planner, Random, Worker, eventually};

/// Tasks under way at once.
const TASKS: usize = 12;
/// How often the database is restarted, evenly over the work.
const RESTARTS: usize = 5;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_are_delivered_with_one_effect_each_though_postgres_restarts_under_them() {
    let Some(cluster) = Cluster::start().await else {
        return;
    };
    let installation = Installation::new(cluster.database().await);
    Box::pin(restart_under_tasks(&cluster, &installation)).await;
    installation.remove().await;
}

async fn restart_under_tasks(cluster: &Cluster, installation: &Installation) {
    let mut random = Random::new();
    let planner = load::planner().await;
    let (server, owner) = installation.open_without_agent().await;
    let settings = settings(&planner);
    let workers = [
        Worker::start(installation, "worker-a", &settings).await,
        Worker::start(installation, "worker-b", &settings).await,
    ];
    let load = Load::begin(&owner, TASKS).await;
    for restart in 1..=RESTARTS {
        let until = load.decisions() * restart / (RESTARTS + 1);
        let what = format!("{until} decisions were asked for");
        eventually(&what, async || planner.asked().len() >= until).await;
        let going = *random.choose(&[Going::Fast, Going::Immediate]);
        cluster.restart(going);
    }
    let asked = planner.asked().len();
    assert!(
        asked < load.decisions(),
        "the last restart met nothing: {asked} decisions"
    );
    load.end(&server).await;
    let taken_over = load.assert_done_once(&owner, &server, &planner).await;
    eprintln!(
        "{TASKS} tasks came through {RESTARTS} restarts of the database; turns were taken over {taken_over} times, decisions asked for: {}",
        planner.asked().len()
    );
    drop(workers);
    server.stop().await;
}

/// Leases outlive a restart, and end soon where the answer to a claim was lost in it.
fn settings(planner: &Planner) -> Vec<(&str, &str)> {
    let mut settings = planner.settings().to_vec();
    settings.retain(|(name, _)| *name != "ATELIER_LEASE");
    settings.push(("ATELIER_LEASE", "4s"));
    settings
}
