//! A whole short film through the public API alone, with the planner and the renderer that are built in: storyboard, reference of the
//! hero, shots side by side, one change of the hero that makes only its shots anew, and the delivery. People click on cards and say what
//! they want; nobody says "go on".

use serde_json::{Value, json};

use super::house::{answer, jobs, stands};
use crate::harness::people::text;
use crate::harness::tasks::list;
use crate::harness::{Installation, Task, Work, eventually, on_both_databases};

on_both_databases![a_short_film_is_made_and_one_change_of_its_hero_makes_only_its_shots_anew];

async fn confirm(owner: &crate::harness::Person, task: &Task, asked: usize) -> Value {
    let open = async || {
        let cards = task.cards().await;
        let open: Vec<_> = cards
            .iter()
            .filter(|card| card["state"] == "OPEN")
            .cloned()
            .collect();
        (cards.len(), open)
    };
    eventually(&format!("question {asked} is open"), async || {
        let (all, open) = open().await;
        all == asked && open.len() == 1
    })
    .await;
    let card = open().await.1.remove(0);
    assert_eq!(card["kind"], "CHECKPOINT");
    answer(owner, &card, "confirm").await.data();
    card
}

#[expect(
    clippy::too_many_lines,
    reason = "one film from its goal to its delivery"
)]
async fn a_short_film_is_made_and_one_change_of_its_hero_makes_only_its_shots_anew(
    installation: &Installation,
) {
    let more = [
        ("ATELIER_LOCAL_DELAY", "300ms"),
        ("ATELIER_LOCAL_PRICES", "image=10000"),
        ("ATELIER_WATCHDOG_INTERVAL", "200ms"),
    ];
    let (server, owner) = installation.open_with(&more).await;
    let task = owner
        .create_task(
            "A storyboard for a short film about a lighthouse keeper, 4 shots, with pictures",
        )
        .await;
    confirm(&owner, &task, 1).await;
    let card = confirm(&owner, &task, 2).await;
    assert!(
        !list(&card["works"]).is_empty(),
        "the reference is shown: {card}"
    );
    stands(&task, "DELIVERED").await;
    let first = jobs(&task).await;
    assert_eq!(first.len(), 5, "the hero and four frames");
    assert!(
        first.iter().all(|job| job["state"] == "SUCCEEDED"),
        "{first:?}"
    );
    let works = list(&task.show("works { work { id kind title } }").await["works"]);
    let of = |kind: &str| {
        let found = works.iter().find(|linked| linked["work"]["kind"] == kind);
        let id = text(&found.unwrap_or_else(|| panic!("no {kind}: {works:?}"))["work"]["id"]);
        Work {
            id,
            client: owner.client.clone(),
        }
    };
    let (board, characters) = (of("STORYBOARD"), of("COLLECTION"));
    let before = images(&board).await;
    assert_eq!(before.len(), 4);
    assert!(
        before.iter().all(|image| image.starts_with("work_")),
        "{before:?}"
    );
    // Shots were made side by side: each was ordered before any of them was there.
    let journal = task.journal(Some(&["PLAN"])).await;
    let ordered = |entry: &Value| {
        list(&entry["data"]["actions"])
            .iter()
            .filter(|action| action["tool"] == "generate")
            .count()
    };
    assert!(
        journal.iter().any(|entry| ordered(entry) == 4),
        "four orders in one decision"
    );
    // The hero changes; only what rests on it is stale, and nothing begins by itself.
    characters
        .edit(json!([{"set": {"nodeId": "hero", "fields": {"description": "An old woman in a red coat."}}}]))
        .await;
    let stale = async || {
        let items = list(&task.show("checklist { id state }").await["checklist"]);
        let stale = items.iter().filter(|item| item["state"] == "STALE");
        stale.map(|item| text(&item["id"])).collect::<Vec<_>>()
    };
    assert_eq!(stale().await, ["hero", "frame-2", "frame-3", "finish"]);
    assert_eq!(
        (task.status().await.as_str(), jobs(&task).await.len()),
        ("DELIVERED", 5)
    );
    // Folding the plan anew out of the journal brings the same.
    task.ask_to("rebuildProjections").await.data();
    assert_eq!(stale().await, ["hero", "frame-2", "frame-3", "finish"]);
    task.post("I changed the hero; please update the pictures.")
        .await;
    confirm(&owner, &task, 3).await;
    stands(&task, "DELIVERED").await;
    let all = jobs(&task).await;
    assert_eq!(all.len(), 8, "the hero, and its two shots: {all:?}");
    let after = images(&board).await;
    assert_eq!(
        (&after[0], &after[3]),
        (&before[0], &before[3]),
        "what still fits is used again"
    );
    assert!(
        after[1] != before[1] && after[2] != before[2],
        "{before:?} {after:?}"
    );
    assert!(
        all[5]["prompt"]
            .as_str()
            .is_some_and(|prompt| prompt.contains("red coat")),
        "{}",
        all[5]
    );
    assert_eq!(stale().await, [""; 0]);
    let said = task.journal(Some(&["INCOMING_MESSAGE"])).await;
    let spoken = said
        .iter()
        .filter(|entry| entry["data"]["message"].is_string());
    assert_eq!(
        spoken.count(),
        1,
        "one wish was written, and nothing to keep it going"
    );
    server.stop().await;
}

/// The pictures of the shots, in order.
async fn images(board: &Work) -> Vec<String> {
    let content = board.content().await;
    let nodes = list(&content["nodes"]);
    nodes
        .iter()
        .map(|node| {
            node["fields"]["image"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        })
        .collect()
}
