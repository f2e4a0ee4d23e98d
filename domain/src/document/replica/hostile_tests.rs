//! Updates that are built to cost far more than they bring are given up; honest ones of any size are not.

use yrs::{Map, MapPrelim, Text};

use super::*;
use crate::document::lib0::{write_var, write_var_string};

fn replica(kind: WorkKind) -> Replica {
    let stored = StoredDocument {
        work: crate::ids::WorkId::new(),
        snapshot: None,
        changes: Vec::new(),
    };
    Replica::build(kind, UpdateLimits::default(), &stored).expect("is empty")
}

fn apply(replica: &mut Replica, update: Vec<u8>) -> Result<Applied, Failure> {
    match replica.begin(&Bytes::from(update), false)? {
        Begun::Over(applied) => Ok(applied),
        Begun::Application(mut application) => loop {
            if let Some(applied) = application.advance(replica)? {
                return Ok(applied);
            }
        },
    }
}

/// An update of one client, without deletions.
fn of_client(client: u64, clock: u64, blocks: u64, write: impl Fn(&mut Vec<u8>, u64)) -> Vec<u8> {
    let mut bytes = vec![1];
    write_var(&mut bytes, blocks);
    write_var(&mut bytes, client);
    write_var(&mut bytes, clock);
    for block in 0..blocks {
        write(&mut bytes, block);
    }
    bytes.push(0);
    bytes
}

/// Somebody who types each character in front of the one before it.
fn typed_backwards(client: u64, characters: u64) -> Vec<u8> {
    of_client(client, 0, characters, |bytes, block| {
        match block.checked_sub(1) {
            None => {
                bytes.extend([4, 1]);
                write_var_string(bytes, "text");
            }
            Some(before) => {
                bytes.push(0x44);
                write_var(bytes, client);
                write_var(bytes, before);
            }
        }
        write_var_string(bytes, "x");
    })
}

fn same_key(client: u64, times: u64) -> Vec<u8> {
    of_client(client, 0, times, |bytes, _| {
        bytes.extend([0x28, 1]);
        write_var_string(bytes, "nodes");
        write_var_string(bytes, "k");
        bytes.extend([1, 126]);
    })
}

#[test]
fn probe() {
    let run = |name: &str, replica: &mut Replica, update: Vec<u8>| {
        let began = std::time::Instant::now();
        let bytes = update.len();
        let result = match apply(replica, update) {
            Ok(Applied::Changed(..)) => "changed".to_owned(),
            Ok(Applied::Nothing) => "nothing".to_owned(),
            Ok(Applied::Missing) => "missing".to_owned(),
            Err(failure) => failure.to_string(),
        };
        eprintln!("{name}: {bytes} bytes {:?} {result}", began.elapsed());
    };
    let nodes = replica(WorkKind::Storyboard);
    {
        let mut txn = nodes.doc.transact_mut();
        let map = nodes.roots.nodes.clone().expect("nodes");
        for node in 0..60_000_u64 {
            let id = format!("{:x}", node.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let node = map.insert(&mut txn, id.as_str(), MapPrelim::default());
            node.insert(&mut txn, "order", id.as_str());
            node.insert(&mut txn, "title", yrs::TextPrelim::new("some title of it"));
        }
    }
    let state = nodes.state().expect("state").to_vec();
    let mut board = replica(WorkKind::Storyboard);
    run("60000 nodes", &mut board, state);
    let texts = replica(WorkKind::Text);
    {
        let text = texts.roots.text.clone().expect("text");
        for at in 0..8_000_u32 {
            let mut txn = texts.doc.transact_mut();
            let len = text.len(&txn);
            text.insert(&mut txn, at.wrapping_mul(2_654_435_761) % (len + 1), "some words ");
        }
    }
    let state = texts.state().expect("state").to_vec();
    let mut text = replica(WorkKind::Text);
    run("100000 insertions", &mut text, state);
    let mut text = replica(WorkKind::Text);
    run("10 MB", &mut text, of_client(3, 0, 1, |bytes, _| { bytes.extend([4, 1]); write_var_string(bytes, "text"); write_var_string(bytes, &"x".repeat(10_000_000)); }));
    run("5000 replacements", &mut text, of_client(4, 0, 5_000, |bytes, block| {
        bytes.push(0xc4);
        write_var(bytes, 3);
        write_var(bytes, block * 2_000);
        write_var(bytes, 3);
        write_var(bytes, block * 2_000 + 1);
        write_var_string(bytes, "y");
    }));
}
