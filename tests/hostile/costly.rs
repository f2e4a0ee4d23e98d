//! Updates of a few hundred kilobytes that would keep the document library busy for minutes: they are given up, and nobody
//! else notices.

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::{Bystander, assert_memory};
use crate::harness::editor::{replica, wire};
use crate::harness::works::RESULT;
use crate::harness::{Editor, Installation, Person, Protocol, Server, on_both_databases};

on_both_databases![updates_that_cost_far_more_than_they_bring_are_given_up];

/// How long it may take to give one up, on a machine that is busy with other tests.
const LONG: Duration = Duration::from_mins(4);

/// An update of one client, without deletions.
fn of_client(client: u64, blocks: u64, write: impl Fn(&mut Vec<u8>, u64)) -> Vec<u8> {
    let mut bytes = vec![1];
    wire::put_number(&mut bytes, blocks);
    wire::put_number(&mut bytes, client);
    bytes.push(0);
    (0..blocks).for_each(|block| write(&mut bytes, block));
    bytes.push(0);
    bytes
}

/// Somebody who types each character in front of the one before it: quick for one, and slow for the second at that place.
fn typed_backwards(client: u64, characters: u64) -> Vec<u8> {
    of_client(client, characters, |bytes, block| {
        match block.checked_sub(1) {
            None => {
                bytes.extend([4, 1]);
                wire::put_bytes(bytes, b"text");
            }
            Some(before) => {
                bytes.push(0x44);
                wire::put_number(bytes, client);
                wire::put_number(bytes, before);
            }
        }
        wire::put_bytes(bytes, b"x");
    })
}

/// One key of a map that is set again and again by somebody who never sees what was set before.
fn same_key(client: u64, times: u64) -> Vec<u8> {
    of_client(client, times, |bytes, _| {
        bytes.extend([0x28, 1]);
        wire::put_bytes(bytes, b"nodes");
        wire::put_bytes(bytes, b"k");
        bytes.extend([1, 126]);
    })
}

/// People on works of their own, who share the server's threads with the work under attack.
struct Neighbours(Vec<Bystander>);

impl Neighbours {
    async fn of(owner: &Person) -> Self {
        let mut neighbours = Vec::new();
        for _ in 0..4 {
            neighbours.push(Bystander::at(&owner.create_text("").await).await);
        }
        Self(neighbours)
    }

    /// Lets them work on until the attack is over; what came of it, and the longest that one of them waited.
    async fn go_on_during<T>(
        &mut self,
        what: &str,
        attack: impl Future<Output = T> + Send + 'static,
    ) -> T
    where
        T: Send + 'static,
    {
        let began = Instant::now();
        let attack = tokio::spawn(attack);
        let mut longest = Duration::ZERO;
        while !attack.is_finished() {
            for neighbour in &mut self.0 {
                let asked = Instant::now();
                neighbour.goes_on(what).await;
                longest = longest.max(asked.elapsed());
            }
        }
        let took = began.elapsed();
        eprintln!("{what}: given up after {took:?}; others waited at most {longest:?}");
        assert!(longest < took / 3, "others had to wait for {what}");
        attack.await.expect("the attack does not break off")
    }
}

async fn updates_that_cost_far_more_than_they_bring_are_given_up(installation: &Installation) {
    let (server, owner) = installation.open().await;
    let mut neighbours = Neighbours::of(&owner).await;
    a_text_is_attacked(&server, &owner, &mut neighbours).await;
    a_board_is_attacked(&server, &owner, &mut neighbours).await;
    assert!(!server.log().contains("panicked at"), "something broke off");
    server.stop().await;
    let doctor = installation.run(&["doctor"]);
    let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(doctor.status.success(), "{said}");
    assert!(said.contains("quarantine"), "{said}");
}

async fn a_text_is_attacked(server: &Server, owner: &Person, neighbours: &mut Neighbours) {
    let attacker = owner.invite("Mallory", "EDITOR").await;
    let work = owner.create_text("").await;
    let theirs = work.by(&attacker.client);
    let editor = Editor::open(&theirs, Protocol::YWebsocket).await;
    editor.send_update(&typed_backwards(4, 16_000)).await;
    assert!(editor.acknowledged().await, "the first half is harmless");
    let witness = Editor::open(&work, Protocol::Hocuspocus).await;
    let version = work.version().await;
    let hostile = typed_backwards(5, 16_000);
    let update = hostile.clone();
    let attack = async move {
        editor.send_update(&update).await;
        editor.closed_within(LONG).await
    };
    let code = neighbours.go_on_during("a costly text", attack).await;
    assert_eq!(code, Some(4400));
    let client = attacker.client.clone();
    let input = json!({"workId": work.id, "update": STANDARD.encode(&hostile)});
    let attack = async move { client.mutate("applyUpdate", input, RESULT).await };
    let answer = neighbours.go_on_during("the same by the API", attack).await;
    // On a busy machine the request may be over before the update is.
    let is_refused = ["BAD_USER_INPUT", "TIMEOUT"].contains(&answer.code());
    assert!(is_refused, "{}", answer.body);
    assert_memory(server, "costly texts");
    assert_eq!(work.version().await, version);
    assert!(witness.is_connected(), "who is on the same work stays");
    witness
        .edit(|txn, roots| replica::append(txn, roots, "kept"))
        .await;
    assert!(witness.acknowledged().await);
    assert_eq!(work.text().await.len(), 16_004);
}

async fn a_board_is_attacked(server: &Server, owner: &Person, neighbours: &mut Neighbours) {
    let work = owner
        .create_nodes("STORYBOARD", json!([{"id": "a", "fields": {}}]))
        .await;
    let editor = Editor::open(&work, Protocol::Hocuspocus).await;
    let attack = async move {
        editor.send_update(&same_key(4, 60_000)).await;
        editor.closed_within(LONG).await
    };
    let code = neighbours.go_on_during("a costly key", attack).await;
    assert_eq!(code, Some(4400));
    assert_memory(server, "a costly key");
    assert_eq!(work.version().await, 1);
    assert_eq!(work.node_ids().await, ["a"]);
}
