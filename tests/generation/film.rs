//! A whole short film through the public API alone, with the planner and the renderer that are built in: storyboard, reference of the
//! hero, shots side by side, one change of the hero that makes only its shots anew, and the delivery. People click on cards and say what
//! they want; nobody says "go on".

use serde_json::{Value, json};

use super::house::{answer, jobs, stands};
use crate::harness::people::text;
use crate::harness::tasks::list;
use crate::harness::{Installation, Person, Task, Work, eventually, on_both_databases};

on_both_databases![a_short_film_is_made_and_one_change_of_its_hero_makes_only_its_shots_anew];

async fn confirm(owner: &Person, task: &Task, asked: usize) -> Value {
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
    is_made(&owner, &task).await;
    let (board, characters) = its_works(&owner, &task).await;
    let before = images(&board).await;
    assert_eq!(before.len(), 4);
    assert!(
        before.iter().all(|image| image.starts_with("work_")),
        "{before:?}"
    );
    assert_shots_were_made_side_by_side(&task).await;
    the_hero_changes(&task, &characters).await;
    is_made_anew(&owner, &task, (&board, &before)).await;
    assert_nobody_said_go_on(&task).await;
    server.stop().await;
}

/// From the plan over the reference of the hero to the delivery: two questions, and five pictures.
async fn is_made(owner: &Person, task: &Task) {
    confirm(owner, task, 1).await;
    let card = confirm(owner, task, 2).await;
    assert!(
        !list(&card["works"]).is_empty(),
        "the reference is shown: {card}"
    );
    stands(task, "DELIVERED").await;
    let made = jobs(task).await;
    assert_eq!(made.len(), 5, "the hero and four frames");
    assert!(
        made.iter().all(|job| job["state"] == "SUCCEEDED"),
        "{made:?}"
    );
}

/// The board of shots, and the collection of characters.
async fn its_works(owner: &Person, task: &Task) -> (Work, Work) {
    let works = list(&task.show("works { work { id kind title } }").await["works"]);
    let of = |kind: &str| {
        let found = works.iter().find(|linked| linked["work"]["kind"] == kind);
        let id = text(&found.unwrap_or_else(|| panic!("no {kind}: {works:?}"))["work"]["id"]);
        Work {
            id,
            client: owner.client.clone(),
        }
    };
    (of("STORYBOARD"), of("COLLECTION"))
}

/// Each was ordered before any of them was there.
async fn assert_shots_were_made_side_by_side(task: &Task) {
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
}

/// Only what rests on the hero is stale then, and nothing begins by itself.
async fn the_hero_changes(task: &Task, characters: &Work) {
    characters
        .edit(json!([{"set": {"nodeId": "hero", "fields": {"description": "An old woman in a red coat."}}}]))
        .await;
    let expected = ["hero", "frame-2", "frame-3", "finish"];
    assert_eq!(stale(task).await, expected);
    assert_eq!(
        (task.status().await.as_str(), jobs(task).await.len()),
        ("DELIVERED", 5)
    );
    // Folding the plan anew out of the journal brings the same.
    task.ask_to("rebuildProjections").await.data();
    assert_eq!(stale(task).await, expected);
}

/// At a person's wish the hero and its two shots are made anew, and the rest is used again.
async fn is_made_anew(owner: &Person, task: &Task, (board, before): (&Work, &[String])) {
    task.post("I changed the hero; please update the pictures.")
        .await;
    confirm(owner, task, 3).await;
    stands(task, "DELIVERED").await;
    let all = jobs(task).await;
    assert_eq!(all.len(), 8, "the hero, and its two shots: {all:?}");
    let after = images(board).await;
    assert_eq!(
        (&after[0], &after[3]),
        (&before[0], &before[3]),
        "what still fits is used again"
    );
    assert!(
        after[1] != before[1] && after[2] != before[2],
        "{before:?} {after:?}"
    );
    let prompt = text(&all[5]["prompt"]);
    assert!(prompt.contains("red coat"), "{prompt}");
    assert_eq!(stale(task).await, [""; 0]);
}

async fn assert_nobody_said_go_on(task: &Task) {
    let said = task.journal(Some(&["INCOMING_MESSAGE"])).await;
    let spoken = said
        .iter()
        .filter(|entry| entry["data"]["message"].is_string());
    assert_eq!(
        spoken.count(),
        1,
        "one wish was written, and nothing to keep it going"
    );
    assert_eq!(task.cards().await.len(), 3, "people decided three times");
}

/// The items that are to be done anew.
async fn stale(task: &Task) -> Vec<String> {
    let items = list(&task.show("checklist { id state }").await["checklist"]);
    let stale = items.iter().filter(|item| item["state"] == "STALE");
    stale.map(|item| text(&item["id"])).collect()
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
