//! The database goes away under load and comes back: the servers recover by themselves, and nothing acknowledged is lost.
//!
//! `ATELIER_TEST_RESTARTS` says how often (4 by default); `ATELIER_TEST_SEED` repeats the moments.

use std::sync::Arc;

use serde_json::json;

use super::kill::{Ledger, assert_converged, round, settle, start_works, writers};
use crate::harness::cluster::{Cluster, Going};
use crate::harness::{Client, Installation, Random, eventually, number};

/// The restarts that one run makes unless told otherwise.
const RESTARTS: u64 = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_when_postgres_restarts_under_load() {
    let Some(cluster) = Cluster::start().await else {
        return;
    };
    let installation = Installation::new(cluster.database().await);
    Box::pin(restart_under_load(&cluster, &installation)).await;
    installation.remove().await;
}

async fn restart_under_load(cluster: &Cluster, installation: &Installation) {
    let mut random = Random::new();
    let restarts = number("ATELIER_TEST_RESTARTS").unwrap_or(RESTARTS);
    let (first, owner) = installation.open().await;
    let servers = [first, installation.start().await];
    let works = start_works(&owner).await;
    let ledger = Arc::new(Ledger::default());
    let mut clients = writers(&works).await;
    for restart in 0..restarts {
        for (place, (_, writer)) in clients.iter_mut().enumerate() {
            writer.come_back(&owner.at(&servers[place % 2])).await;
        }
        let going = *random.choose(&[Going::Fast, Going::Immediate]);
        let fault = || cluster.restart(going);
        clients = Box::pin(round(restart, clients, &ledger, &mut random, fault)).await;
        for server in &servers {
            let client = owner.at(server).client;
            eventually("the server has its database again", async || {
                answers(&client).await
            })
            .await;
            ledger.assert_kept(&works, &client).await;
        }
    }
    for (_, writer) in &mut clients {
        writer.come_back(&owner).await;
    }
    settle(&clients).await;
    for server in &servers {
        let client = owner.at(server).client;
        ledger.assert_kept(&works, &client).await;
        assert_converged(&works, &clients, &client).await;
    }
    eprintln!(
        "{} changes were acknowledged over {restarts} restarts; none was lost",
        ledger.total()
    );
    assert!(
        ledger.total() > restarts as usize,
        "the clients hardly wrote: the test shows nothing"
    );
}

async fn answers(client: &Client) -> bool {
    let answer = client.ask("{ viewer { user { id } } }", json!(null)).await;
    answer.body.get("errors").is_none()
}
