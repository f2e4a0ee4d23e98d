//! Updates that are built to do harm, sent by both sockets and by `applyUpdate`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use yrs::{ReadTxn as _, StateVector, Transact as _};

use super::{Bystander, assert_memory};
use crate::harness::editor::{replica, wire};
use crate::harness::works::RESULT;
use crate::harness::{Editor, Installation, Protocol, on_both_databases, on_sqlite};

on_both_databases![
    updates_that_are_built_to_do_harm_are_refused_and_kept_apart,
    nodes_that_no_edit_could_put_there_are_refused,
];
on_sqlite![
    a_change_that_refers_to_what_nobody_has_waits_without_harm,
    a_refused_update_takes_only_its_sender_away,
];

/// One client (7) with one block at clock 0, and no deletions.
fn with_block(block: &[u8]) -> Vec<u8> {
    let mut bytes = vec![1, 1, 7, 0];
    bytes.extend_from_slice(block);
    bytes.push(0);
    bytes
}

/// A block for the key `k` of a root.
fn entry(root: &str, content: u8, rest: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x20 | content, 1];
    wire::put_bytes(&mut bytes, root.as_bytes());
    wire::put_bytes(&mut bytes, b"k");
    bytes.extend_from_slice(rest);
    bytes
}

/// Lists in lists.
fn deep_lists(depth: usize) -> Vec<u8> {
    let mut values = vec![1];
    values.extend((0..depth).flat_map(|_| [117, 1]));
    values.push(126);
    with_block(&entry("nodes", 8, &values))
}

/// Shared maps in shared maps.
fn deep_maps(depth: u64) -> Vec<u8> {
    let mut bytes = vec![1];
    wire::put_number(&mut bytes, depth);
    bytes.extend([7, 0]);
    bytes.extend(entry("nodes", 7, &[1]));
    for clock in 0..depth - 1 {
        bytes.extend([0x27, 0, 7]);
        wire::put_number(&mut bytes, clock);
        wire::put_bytes(&mut bytes, b"k");
        bytes.push(1);
    }
    bytes.push(0);
    bytes
}

/// The state of a real document in the second encoding.
fn second_encoding() -> Vec<u8> {
    let replica = replica::Replica::new();
    replica.change(|txn, roots| replica::append(txn, roots, "v2"));
    let txn = replica.doc.transact();
    txn.encode_state_as_update_v2(&StateVector::default())
}

fn hostile_updates() -> Vec<(&'static str, Vec<u8>)> {
    let mut emoji = vec![4, 1];
    wire::put_bytes(&mut emoji, b"nodes");
    wire::put_bytes(&mut emoji, "😀".as_bytes());
    let block = entry("nodes", 8, &[1, 126]);
    let mut twice = vec![2];
    for _ in 0..2 {
        twice.extend([1, 7, 0]);
        twice.extend(&block);
    }
    twice.push(0);
    let hundred_million = [0x80, 0xc2, 0xd7, 0x2f];
    let mut huge_map = vec![1, 118];
    huge_map.extend(hundred_million);
    let maps = 2_000_000;
    let mut many = vec![1, 117];
    wire::put_number(&mut many, maps);
    many.extend((0..maps).flat_map(|_| [118, 0]));
    vec![
        ("an emoji in a root that is a map", with_block(&emoji)),
        ("10,000 lists in each other", deep_lists(10_000)),
        ("200,000 lists in each other", deep_lists(200_000)),
        ("5,000 maps in each other", deep_maps(5_000)),
        ("a count of 100 million clients", hundred_million.to_vec()),
        (
            "a count of 100 million entries",
            with_block(&entry("nodes", 8, &huge_map)),
        ),
        (
            "millions of empty maps",
            with_block(&entry("nodes", 8, &many)),
        ),
        ("the second encoding", second_encoding()),
        (
            "a root of no kind",
            with_block(&entry("junk0", 8, &[1, 126])),
        ),
        (
            "a document in a document",
            with_block(&entry("nodes", 9, &[1, b'g', 126])),
        ),
        ("a client that comes twice", twice),
        (
            "blocks in a circle",
            vec![
                2, 1, 1, 0, 0x84, 2, 0, 1, b'a', 1, 2, 0, 0x84, 1, 0, 1, b'b', 0,
            ],
        ),
        (
            "a block that stands on itself",
            with_block(&[0x84, 7, 0, 1, b'a']),
        ),
        ("a number without end", vec![0xff; 64]),
        ("nothing", Vec::new()),
    ]
}

async fn updates_that_are_built_to_do_harm_are_refused_and_kept_apart(installation: &Installation) {
    let (server, owner) = installation.open().await;
    let attacker = owner.invite("Mallory", "EDITOR").await;
    let work = owner
        .create_nodes(
            "STORYBOARD",
            json!([{"id": "a", "fields": {"description": "kept"}}]),
        )
        .await;
    let text = owner.create_text("").await;
    let mut bystander = Bystander::at(&text).await;
    let witness = Editor::open(&work, Protocol::Hocuspocus).await;
    let theirs = work.by(&attacker.client);
    for (name, update) in hostile_updates() {
        for protocol in Protocol::ALL {
            let editor = Editor::open(&theirs, protocol).await;
            editor.send_update(&update).await;
            let code = editor.closed().await;
            assert_eq!(code, Some(4400), "{name} over {protocol:?}");
        }
        let encoded = STANDARD.encode(&update);
        // Larger ones do not fit into a request at all.
        if encoded.len() < 200_000 {
            let input = json!({"workId": work.id, "update": encoded});
            let answer = attacker.client.mutate("applyUpdate", input, RESULT).await;
            assert_eq!(answer.code(), "BAD_USER_INPUT", "{name}: {}", answer.body);
        }
        bystander.goes_on(name).await;
        assert_memory(&server, name);
    }
    assert_eq!(
        (work.version().await, work.node_ids().await),
        (1, vec!["a".to_owned()])
    );
    assert!(witness.is_connected(), "who is on the same work stays");
    witness
        .edit(|txn, roots| replica::set(txn, roots, "a", "duration", 3))
        .await;
    assert!(witness.acknowledged().await);
    assert_eq!(work.node("a").await["fields"]["duration"], 3);
    let log = server.log();
    assert!(!log.contains("panicked at"), "something broke off");
    server.stop().await;
    let doctor = installation.run(&["doctor"]);
    let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(doctor.status.success(), "{said}");
    assert!(
        said.contains("quarantine") && said.contains(&work.id),
        "{said}"
    );
}

async fn a_change_that_refers_to_what_nobody_has_waits_without_harm(installation: &Installation) {
    let (server, owner) = installation.open().await;
    let work = owner.create_text("base").await;
    let offline = Editor::open(&work, Protocol::YWebsocket).await;
    let editor = Editor::open(&work, Protocol::Hocuspocus).await;
    let first = offline.edit_silently(|txn, roots| replica::append(txn, roots, " one"));
    let second = offline.edit_silently(|txn, roots| replica::append(txn, roots, " two"));
    editor.send_update(&second).await;
    editor.ask_what_is_lacking().await;
    editor.see("an answer", |seen| seen.replies >= 2).await;
    assert_eq!(work.text().await, "base");
    // The server asks for what is missing, or takes it when it comes.
    editor.send_update(&first).await;
    editor.send_update(&second).await;
    editor.ask_what_is_lacking().await;
    editor
        .sees("both", |replica| replica.text() == "base one two")
        .await;
    assert_eq!(work.text().await, "base one two");
    server.kill();
    let server = installation.start().await;
    assert_eq!(
        work.by(&owner.at(&server).client).text().await,
        "base one two"
    );
}

async fn a_refused_update_takes_only_its_sender_away(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let work = owner.create_text("").await;
    let good = Editor::open(&work, Protocol::YWebsocket).await;
    let bad = Editor::open(&work, Protocol::YWebsocket).await;
    good.edit(|txn, roots| replica::append(txn, roots, "before "))
        .await;
    bad.edit(|txn, roots| replica::append(txn, roots, "good of the bad "))
        .await;
    assert!(bad.acknowledged().await);
    bad.send_update(&deep_lists(10_000)).await;
    good.edit(|txn, roots| replica::append(txn, roots, "after"))
        .await;
    assert_eq!(bad.closed().await, Some(4400));
    assert!(good.acknowledged().await);
    let text = work.text().await;
    for part in ["before ", "good of the bad ", "after"] {
        assert!(text.contains(part), "{text}");
    }
    let metrics = owner
        .client
        .http()
        .get(format!("{}/metrics", owner.client.address()));
    let metrics = metrics
        .bearer_auth(owner.client.secret())
        .send()
        .await
        .expect("an answer");
    let metrics = metrics.text().await.expect("text");
    assert!(
        metrics
            .lines()
            .any(|line| line.contains("refused") || line.contains("quarantine")),
        "{metrics}"
    );
}

/// A node's id may come from an editor alone. `PostgreSQL` stores no U+0000: such an id once threw everybody off, again and
/// again.
async fn nodes_that_no_edit_could_put_there_are_refused(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let attacker = owner.invite("Mallory", "EDITOR").await;
    let work = owner
        .create_nodes("FLOW", json!([{"id": "a", "fields": {}}]))
        .await;
    let witness = Editor::open(&work, Protocol::Hocuspocus).await;
    let theirs = work.by(&attacker.client);
    let long = "x".repeat(201);
    for id in ["n\0l", "", long.as_str()] {
        for protocol in Protocol::ALL {
            let editor = Editor::open(&theirs, protocol).await;
            editor
                .edit(|txn, roots| replica::put(txn, roots, id, "V1", ""))
                .await;
            assert_eq!(
                editor.closed().await,
                Some(4400),
                "{id:?} over {protocol:?}"
            );
        }
    }
    let editor = Editor::open(&theirs, Protocol::YWebsocket).await;
    editor
        .edit(|txn, roots| replica::set(txn, roots, "a", "label", "n\0l"))
        .await;
    assert_eq!(editor.closed().await, Some(4400));
    let too_many = Editor::open(&theirs, Protocol::YWebsocket).await;
    too_many
        .edit(|txn, roots| {
            for node in 0..10_000 {
                replica::put(txn, roots, &format!("n{node}"), "V1", "");
            }
        })
        .await;
    assert_eq!(too_many.closed().await, Some(4400));
    assert_eq!(work.node_ids().await, ["a"]);
    assert!(witness.is_connected(), "who is on the same work stays");
    witness
        .edit(|txn, roots| replica::set(txn, roots, "a", "x", 3))
        .await;
    assert!(witness.acknowledged().await);
}
