//! Updates that are built to cost far more than they bring are given up; honest ones of any size are not, and leave the
//! same document whether they are taken in at once or in portions.

use std::time::Duration;

use yrs::{GetString, Map, MapPrelim, Text, TextPrelim};

use super::*;
use crate::document::lib0::{write_var, write_var_string};

/// The limits of a server, with less time, so that nobody has to wait for the end.
fn limits() -> UpdateLimits {
    UpdateLimits {
        effort: Duration::from_millis(400),
        strain: Duration::from_millis(400),
        ..UpdateLimits::default()
    }
}

fn replica(kind: WorkKind, changes: &[Vec<u8>]) -> Replica {
    let changes = changes.iter().map(|change| Bytes::from(change.clone()));
    let stored = StoredDocument {
        work: crate::ids::WorkId::new(),
        snapshot: None,
        changes: (1..).map(Version).zip(changes).collect(),
    };
    Replica::build(kind, limits(), &stored).expect("can be built")
}

fn apply(replica: &mut Replica, update: &[u8]) -> Result<Applied, Failure> {
    apply_as(replica, update, false)
}

fn apply_as(replica: &mut Replica, update: &[u8], is_reply: bool) -> Result<Applied, Failure> {
    match replica.begin(&Bytes::copy_from_slice(update), is_reply)? {
        Begun::Over(applied) => Ok(applied),
        Begun::Application(mut application) => loop {
            if let Some(applied) = application.advance(replica)? {
                return Ok(applied);
            }
        },
    }
}

fn assert_changes(replica: &mut Replica, update: &[u8], what: &str) {
    match apply(replica, update) {
        Ok(Applied::Changed(..)) => {}
        Ok(_) => panic!("{what} changes nothing"),
        Err(failure) => panic!("{what}: {failure}"),
    }
}

#[track_caller]
fn assert_given_up(replica: &mut Replica, update: &[u8]) {
    let failure = apply(replica, update).err().expect("is given up");
    assert!(failure.to_string().contains("far more work"), "{failure}");
}

/// An update of one client, without deletions.
fn of_client(client: u64, blocks: u64, write: impl Fn(&mut Vec<u8>, u64)) -> Vec<u8> {
    let mut bytes = vec![1];
    write_var(&mut bytes, blocks);
    write_var(&mut bytes, client);
    bytes.push(0);
    (0..blocks).for_each(|block| write(&mut bytes, block));
    bytes.push(0);
    bytes
}

fn put_root(bytes: &mut Vec<u8>, info: u8, root: &str) {
    bytes.extend([info, 1]);
    write_var_string(bytes, root);
}

fn put_id(bytes: &mut Vec<u8>, client: u64, clock: u64) {
    write_var(bytes, client);
    write_var(bytes, clock);
}

/// Somebody who types each character in front of the one before it.
fn typed_backwards(client: u64, characters: u64) -> Vec<u8> {
    of_client(client, characters, |bytes, block| {
        match block.checked_sub(1) {
            None => put_root(bytes, 4, "text"),
            Some(before) => {
                bytes.push(0x44);
                put_id(bytes, client, before);
            }
        }
        write_var_string(bytes, "x");
    })
}

/// One key of a map that is set again and again by somebody who never sees what was set before.
fn same_key(client: u64, times: u64) -> Vec<u8> {
    of_client(client, times, |bytes, _| {
        put_root(bytes, 0x28, "nodes");
        write_var_string(bytes, "k");
        bytes.extend([1, 126]);
    })
}

fn long_text(client: u64, characters: usize) -> Vec<u8> {
    of_client(client, 1, |bytes, _| {
        put_root(bytes, 4, "text");
        write_var_string(bytes, &"x".repeat(characters));
    })
}

/// A character after each of so many of another's.
fn sprinkled(client: u64, among: u64, characters: u64, place: impl Fn(u64) -> u64) -> Vec<u8> {
    of_client(client, characters, |bytes, block| {
        bytes.push(0xc4);
        put_id(bytes, among, place(block));
        put_id(bytes, among, place(block) + 1);
        write_var_string(bytes, "y");
    })
}

#[test]
fn characters_that_were_all_typed_at_one_place_at_once_are_given_up() {
    let mut text = replica(WorkKind::Text, &[typed_backwards(4, 16_000)]);
    assert_given_up(&mut text, &typed_backwards(5, 16_000));
    // In halves, or against what is stored, it is the same.
    let mut text = replica(WorkKind::Text, &[typed_backwards(4, 16_000)]);
    assert_given_up(&mut text, &typed_backwards(5, 8_000));
}

#[test]
fn a_key_that_was_set_thousands_of_times_at_once_is_given_up() {
    assert_given_up(
        &mut replica(WorkKind::Storyboard, &[]),
        &same_key(4, 60_000),
    );
}

#[test]
fn splitting_a_long_text_from_its_end_thousands_of_times_is_given_up() {
    let mut text = replica(WorkKind::Text, &[long_text(4, 4_000_000)]);
    let hostile = sprinkled(5, 4, 100_000, |block| 3_999_990 - 30 * block);
    assert_given_up(&mut text, &hostile);
}

#[test]
fn costs_that_add_up_strain_the_document() {
    let mut text = replica(WorkKind::Text, &[]);
    text.limits.effort = Duration::MAX;
    text.limits.strain = Duration::from_millis(500);
    let updates: Vec<_> = (4..12)
        .map(|client| typed_backwards(client, 4_000))
        .collect();
    let mut taken = 0;
    while taken < updates.len() && !text.is_strained() {
        assert_changes(&mut text, &updates[taken], "a small part");
        taken += 1;
    }
    assert!(text.is_strained(), "{taken} parts were taken");
}

#[test]
fn what_cost_much_once_and_costs_nothing_to_open_is_no_strain() {
    let mut text = replica(WorkKind::Text, &[long_text(4, 1_000_000)]);
    text.limits.effort = Duration::MAX;
    let mut client = 5;
    while !text.is_strained() {
        let place = |block| 999_990 - client - 40 * block;
        let update = sprinkled(client, 4, 300, place);
        assert_changes(&mut text, &update, "an edit from the end to the beginning");
        client += 1;
        assert!(client < 40, "the test shows nothing");
    }
    let built = replica(WorkKind::Text, &[text.state().expect("a state").to_vec()]);
    text.measure(&built);
    assert!(!text.is_strained());
}

#[test]
fn what_somebody_did_offline_for_days_is_taken() {
    // Twenty people typed at one place, others all over it, and somebody wrote thousands of words at its end.
    let mut text = replica(WorkKind::Text, &[long_text(4, 200_000)]);
    for client in 10..30 {
        let update = sprinkled(client, 4, 1, |_| 100_000);
        assert_changes(&mut text, &update, "a character at the same place");
    }
    let scattered = sprinkled(31, 4, 5_000, |block| (block * 7_919) % 199_990);
    assert_changes(&mut text, &scattered, "5,000 scattered characters");
    let appended = of_client(32, 5_000, |bytes, block| {
        bytes.push(0x84);
        match block.checked_sub(1) {
            None => put_id(bytes, 4, 199_999),
            Some(before) => put_id(bytes, 32, 5 * before + 4),
        }
        write_var_string(bytes, "word ");
    });
    assert_changes(&mut text, &appended, "5,000 words");
    assert!(!text.is_strained());
    let read = text.read(|txn, roots| roots.text.as_ref().map(|text| text.get_string(txn)));
    let read = read.expect("can be read").expect("is a text");
    assert_eq!(read.len(), 200_000 + 20 + 5_000 + 25_000);
}

/// A board of so many shots, whose ids and places are in no order.
fn board(shots: u64) -> Vec<u8> {
    let board = replica(WorkKind::Storyboard, &[]);
    let mut txn = board.doc.transact_mut();
    let nodes = board.roots.nodes.clone().expect("nodes");
    for shot in 0..shots {
        let id = format!("{:016x}", shot.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let node = nodes.insert(&mut txn, id.as_str(), MapPrelim::default());
        node.insert(&mut txn, "order", id.as_str());
        node.insert(&mut txn, "title", TextPrelim::new("some title of a shot"));
    }
    drop(txn);
    board.state().expect("a state").to_vec()
}

#[test]
fn a_large_board_is_taken_in_portions_and_is_the_same_as_at_once() {
    let state = board(10_000);
    let at_once = replica(WorkKind::Storyboard, std::slice::from_ref(&state));
    let mut portioned = replica(WorkKind::Storyboard, &[]);
    let Ok(Applied::Changed(_, recorded)) = apply(&mut portioned, &state) else {
        panic!("the board is taken");
    };
    assert_eq!(recorded.touched.nodes.len(), 10_000);
    let content = |replica: &Replica| replica.content(Version(1)).expect("can be read");
    assert_eq!(content(&portioned), content(&at_once));
    assert!(!portioned.is_strained());
}

#[test]
fn of_a_long_reply_only_what_is_new_is_stored() {
    let editor = replica(WorkKind::Text, &[long_text(4, 50_000)]);
    let mut server = replica(WorkKind::Text, &[long_text(4, 50_000)]);
    let text = editor.roots.text.clone().expect("a text");
    for at in 0..200 {
        let mut txn = editor.doc.transact_mut();
        text.remove_range(&mut txn, at * 30, 3);
        text.insert(&mut txn, at * 31, "new");
    }
    let reply = editor.state().expect("a state").to_vec();
    let Ok(Applied::Changed(stored, _)) = apply_as(&mut server, &reply, true) else {
        panic!("the reply brings something");
    };
    assert!(stored.len() < 10_000, "{} bytes are stored", stored.len());
    // What was stored is enough for a server that has to read it again, and what was sent brings nothing any more.
    let stored = stored.to_vec();
    let mut again = replica(WorkKind::Text, &[long_text(4, 50_000), stored]);
    let content = |replica: &Replica| replica.content(Version(1)).expect("can be read");
    assert_eq!(content(&again), content(&editor));
    assert_eq!(content(&server), content(&editor));
    let repeated = apply_as(&mut again, &reply, true);
    assert!(matches!(repeated, Ok(Applied::Nothing)));
    // Long deletions alone are taken as well, and nothing of them twice.
    let before = editor.state_vector();
    for at in 0..300 {
        text.remove_range(&mut editor.doc.transact_mut(), at * 20, 2);
    }
    let known = crate::document::validate::decode_state_vector(&before).expect("is one");
    let deletions = editor.difference(&known).expect("a difference");
    assert_changes(&mut server, &deletions, "deletions");
    assert_eq!(content(&server), content(&editor));
    assert!(matches!(
        apply(&mut server, &deletions),
        Ok(Applied::Nothing)
    ));
}

#[test]
fn a_document_takes_no_more_memory_than_it_may() {
    let mut text = replica(WorkKind::Text, &[]);
    text.limits.decoded_bytes = 4 << 20;
    text.limits.effort = Duration::MAX;
    let mut count = 0;
    let failure = loop {
        // Who comes later has the smaller number and is put in front, where nobody is in the way.
        match apply(&mut text, &typed_backwards(1_000 - count, 200)) {
            Ok(_) => count += 1,
            Err(failure) => break failure,
        }
    };
    assert!(matches!(failure, Failure::TooLarge(_)), "{failure}");
    assert!((80..95).contains(&count), "{count} updates were taken");
    // Typing one text for long takes no memory to speak of, and goes on.
    let mut text = replica(WorkKind::Text, &[]);
    text.limits.decoded_bytes = 1 << 20;
    let typist = replica(WorkKind::Text, &[]);
    let typed = typist.roots.text.clone().expect("a text");
    for at in 0..10_000 {
        let mut txn = typist.doc.transact_mut();
        typed.insert(&mut txn, at, "x");
        let update = txn.encode_update_v1();
        drop(txn);
        assert_changes(&mut text, &update, "a character");
    }
}
