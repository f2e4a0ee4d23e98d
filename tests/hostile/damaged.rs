//! Damaged updates: real ones with a few bytes changed, thousands of them, against one live document of each kind.

use serde_json::json;
use yrs::{Any, Map as _, MapPrelim};

use super::{Bystander, assert_memory};
use crate::harness::editor::replica;
use crate::harness::{Editor, Installation, Person, Protocol, Random, Work, number, on_sqlite};

on_sqlite![damaged_updates_are_refused_or_harmless];

/// Damaged updates that are sent unless told otherwise.
const MUTATIONS: u64 = 3_000;
/// Updates between two looks at the server.
const BATCH: u64 = 100;

/// A work under attack, and real changes of it, made by editors that never sent them.
struct Target {
    work: Work,
    changes: Vec<Vec<u8>>,
}

async fn targets(owner: &Person) -> Vec<Target> {
    let nodes = json!([{"id": "a", "type": "shot", "fields": {"description": "one", "duration": 1}}, {"id": "b", "fields": {}}]);
    let board = owner.create_nodes("STORYBOARD", nodes.clone()).await;
    let flow = owner.create(json!({"kind": "FLOW", "title": "f", "nodes": nodes, "edges": [{"id": "e", "source": "a", "target": "b"}]})).await;
    let text = owner.create_text("some words to change").await;
    let changes = async |work: &Work, is_text: bool| {
        let editor = Editor::open(work, Protocol::YWebsocket).await;
        if is_text {
            return vec![
                editor.edit_silently(|txn, roots| replica::append(txn, roots, " and 😀 more")),
                editor.edit_silently(|txn, roots| yrs::Text::remove_range(&roots.text, txn, 2, 5)),
                editor.read(|replica| replica.difference(&[0])),
            ];
        }
        vec![
            editor.edit_silently(|txn, roots| replica::set(txn, roots, "a", "duration", 7)),
            editor.edit_silently(|txn, roots| replica::put(txn, roots, "c", "zz", "new")),
            editor.edit_silently(|txn, roots| {
                let text = replica::prose(txn, roots, "a", "description");
                yrs::Text::insert(&text, txn, 1, "typed");
            }),
            editor.edit_silently(|txn, roots| {
                let edge =
                    MapPrelim::from([("source", Any::from("a")), ("target", Any::from("b"))]);
                roots.edges.insert(txn, "f", edge);
            }),
            editor.edit_silently(|txn, roots| drop(roots.nodes.remove(txn, "b"))),
            editor.read(|replica| replica.difference(&[0])),
        ]
    };
    let (of_board, of_flow, of_text) = (
        changes(&board, false).await,
        changes(&flow, false).await,
        changes(&text, true).await,
    );
    vec![
        Target {
            work: board,
            changes: of_board,
        },
        Target {
            work: flow,
            changes: of_flow,
        },
        Target {
            work: text,
            changes: of_text,
        },
    ]
}

async fn damaged_updates_are_refused_or_harmless(installation: &Installation) {
    let mut random = Random::new();
    let mutations = number("ATELIER_TEST_MUTATIONS").unwrap_or(MUTATIONS);
    let (server, owner) = installation.open_with(&[("ATELIER_LOG", "warn")]).await;
    let attacker = owner.invite("Mallory", "EDITOR").await;
    let targets = targets(&owner).await;
    let bystanders_work = owner.create_text("").await;
    let mut bystander = Bystander::at(&bystanders_work).await;
    let mut editors = Vec::new();
    for target in &targets {
        editors.push(Editor::open(&target.work.by(&attacker.client), Protocol::YWebsocket).await);
    }
    let mut refused = 0;
    for round in 0..mutations {
        let place = random.below(targets.len());
        let mut update = random.choose(&targets[place].changes).clone();
        for _ in 0..=random.below(3) {
            random.damage(&mut update);
        }
        editors[place].send_update(&update).await;
        editors[place].ask_what_is_lacking().await;
        let seen = editors[place].answered_or_closed().await;
        if let Some(code) = seen.closed {
            assert!(
                [Some(4400), Some(1013)].contains(&code),
                "{code:?} for {update:?}"
            );
            refused += 1;
            editors[place] = Editor::open(
                &targets[place].work.by(&attacker.client),
                Protocol::YWebsocket,
            )
            .await;
        }
        if round % BATCH == 0 {
            bystander.goes_on("damaged updates").await;
            assert_memory(&server, "damaged updates");
        }
    }
    eprintln!(
        "{refused} of {mutations} damaged updates were refused; the most memory: {} MiB",
        server.peak_resident_bytes() >> 20
    );
    assert!(
        refused > mutations / 10 && refused < mutations,
        "the test shows little"
    );
    for target in &targets {
        // Whatever got through, everybody sees the same, now and after a restart.
        let one = Editor::open(&target.work, Protocol::YWebsocket).await;
        let other = Editor::open(&target.work, Protocol::Hocuspocus).await;
        assert_eq!(one.content(), other.content());
        target.work.content().await;
    }
    assert!(!server.log().contains("panicked at"), "something broke off");
    server.stop().await;
    let doctor = installation.run(&["doctor"]);
    assert!(
        doctor.status.success(),
        "{}",
        String::from_utf8_lossy(&doctor.stdout)
    );
}
