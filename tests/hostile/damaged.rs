//! Damaged updates: real ones with a few bytes changed, thousands of them, against one live document of each kind.

use std::sync::Arc;

use serde_json::json;
use tokio::task::JoinSet;
use yrs::{Any, Map as _, MapPrelim};

use super::{Bystander, assert_memory};
use crate::harness::editor::replica;
use crate::harness::{
    Client, Editor, Installation, Person, Protocol, Random, Work, number, on_sqlite,
};

on_sqlite![damaged_updates_are_refused_or_harmless];

/// Damaged updates that are sent unless told otherwise.
const MUTATIONS: u64 = 3_000;
/// Those who send at the same time.
const ATTACKERS: u64 = 12;

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
    let targets = Arc::new(targets(&owner).await);
    let bystanders_work = owner.create_text("").await;
    let mut bystander = Bystander::at(&bystanders_work).await;
    let mut attackers = JoinSet::new();
    for _ in 0..ATTACKERS {
        let attack = Attack {
            targets: targets.clone(),
            client: attacker.client.clone(),
            random: random.fork(),
        };
        attackers.spawn(attack.run(mutations / ATTACKERS));
    }
    let mut refused = 0;
    while !attackers.is_empty() {
        bystander.goes_on("damaged updates").await;
        assert_memory(&server, "damaged updates");
        while let Some(ended) = attackers.try_join_next() {
            refused += ended.expect("an attacker does not break off");
        }
    }
    let peak = server.peak_resident_bytes() >> 20;
    eprintln!("{refused} of {mutations} damaged updates were refused; the most memory: {peak} MiB");
    let is_telling = refused > mutations / 10 && refused < mutations;
    assert!(is_telling, "the test shows little");
    for target in targets.iter() {
        // Whatever got through, everybody sees the same.
        let one = Editor::open(&target.work, Protocol::YWebsocket).await;
        let other = Editor::open(&target.work, Protocol::Hocuspocus).await;
        assert_eq!(one.content(), other.content());
        target.work.content().await;
    }
    assert!(!server.log().contains("panicked at"), "something broke off");
    server.stop().await;
    let doctor = installation.run(&["doctor"]);
    let said = String::from_utf8_lossy(&doctor.stdout);
    assert!(doctor.status.success(), "{said}");
}

/// Somebody who sends damaged updates, one after the other, and comes back after each refusal.
struct Attack {
    targets: Arc<Vec<Target>>,
    client: Client,
    random: Random,
}

impl Attack {
    /// How many were refused.
    async fn run(mut self, rounds: u64) -> u64 {
        let mut editors = Vec::new();
        for target in self.targets.iter() {
            editors.push(self.open(&target.work).await);
        }
        let mut refused = 0;
        for _ in 0..rounds {
            let place = self.random.below(editors.len());
            let update = self.damaged(place);
            let editor = &editors[place];
            editor.send_update(&update).await;
            editor.ask_what_is_lacking().await;
            let seen = editor.answered_or_closed().await;
            if !seen.is_closed {
                continue;
            }
            let is_known = [Some(4400), Some(1013)].contains(&seen.close_code);
            assert!(is_known, "{:?} for {update:?}", seen.close_code);
            refused += 1;
            editors[place] = self.open(&self.targets[place].work).await;
        }
        refused
    }

    async fn open(&self, work: &Work) -> Editor {
        Editor::open(&work.by(&self.client), Protocol::YWebsocket).await
    }

    fn damaged(&mut self, place: usize) -> Vec<u8> {
        let mut update = self.random.choose(&self.targets[place].changes).clone();
        for _ in 0..=self.random.below(3) {
            self.random.damage(&mut update);
        }
        update
    }
}
