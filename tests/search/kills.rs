//! The index under kills: the server killed at random moments and the folder of the index deleted, while everything changes;
//! in the end the index holds what the database holds.
//!
//! `ATELIER_TEST_KILLS` says how often (6 by default; 20 for acceptance); `ATELIER_TEST_SEED` repeats the moments.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;

use super::ids;
use crate::harness::{Installation, Person, Random, eventually, number, on_both_databases};

on_both_databases![the_index_is_what_the_database_holds_after_kills_and_deletion];

/// The kills that one run makes unless told otherwise.
const KILLS: u64 = 6;
/// People who write at once.
const WRITERS: usize = 3;

/// Makes, changes and deletes things until the server is gone.
async fn write(person: Person, name: String, stop: Arc<AtomicBool>) {
    let mut count = 0;
    while !stop.load(Ordering::Relaxed) {
        count += 1;
        let words = format!("{name} {count} лес forest 森林");
        let task = json!({"workspaceId": person.workspace, "goal": words});
        let work =
            json!({"workspaceId": person.workspace, "kind": "TEXT", "title": words, "text": words});
        let client = &person.client;
        let made = client
            .try_mutate("createWork", work, "{ work { id } }")
            .await;
        let Ok(made) = made else { return };
        let id = made.body["data"]["createWork"]["work"]["id"].clone();
        let (mutation, input) = match count % 3 {
            0 => ("deleteWork", json!({"workId": id})),
            1 => (
                "renameWork",
                json!({"workId": id, "title": format!("renamed {words}")}),
            ),
            _ => ("createTask", task),
        };
        let selection = if mutation == "createTask" {
            "{ task { id } }"
        } else {
            "{ work { id } }"
        };
        if client.try_mutate(mutation, input, selection).await.is_err() {
            return;
        }
    }
}

async fn the_index_is_what_the_database_holds_after_kills_and_deletion(
    installation: &Installation,
) {
    let mut random = Random::new();
    let kills = number("ATELIER_TEST_KILLS").unwrap_or(KILLS);
    let (mut server, mut owner) = installation.open_without_agent().await;
    for kill in 0..kills {
        let stop = Arc::new(AtomicBool::new(false));
        let mut running = JoinSet::new();
        for writer in 0..WRITERS {
            let name = format!("w{kill}x{writer}");
            running.spawn(write(owner.clone(), name, stop.clone()));
        }
        // The moment is the point of the test: it comes from the seed, and nothing waits for it.
        tokio::time::sleep(Duration::from_micros(random.below(900_000) as u64)).await;
        let index = installation.folder().join("data/search");
        let is_deleted_before = kill % 3 == 1;
        if is_deleted_before && index.exists() {
            // Moved away, because a folder in which somebody still makes files can not be removed.
            std::fs::rename(&index, index.with_extension(kill.to_string()))
                .expect("the index goes");
        }
        server.kill();
        stop.store(true, Ordering::Relaxed);
        running.join_all().await;
        if kill % 3 == 2 && index.exists() {
            std::fs::remove_dir_all(&index).expect("the index goes");
        }
        server = installation.start_without_agent().await;
        owner = owner.at(&server);
        let task = owner.create_task(&format!("beacon{kill}")).await;
        assert_eq!(ids(&owner, &format!("beacon{kill}")).await, [task.id]);
    }
    eventually("the index holds what the database holds", async || {
        let output = installation.run(&["doctor"]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            !said.contains("the search index is not what is stored"),
            "{said}"
        );
        said.contains("search index:") && said.contains(" 0 workspaces were left out")
    })
    .await;
    assert!(!ids(&owner, "forest").await.is_empty());
    server.stop().await;
}
