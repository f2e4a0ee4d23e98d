//! Hostile updates are refused, real ones are accepted, and what is accepted does no harm.

use std::sync::mpsc;
use std::time::Duration;

use yrs::types::{Attrs, ToJson};
use yrs::updates::decoder::Decode;
use yrs::updates::encoder::Encode;
use yrs::{Any, Doc, GetString, Map, MapPrelim, ReadTxn, Text, TextPrelim, Transact, Update};

use super::*;
use crate::document::layout::{Roots, open_document};
use crate::document::lib0::{write_var, write_var_string};

pub(super) fn validate(update: &[u8], kind: WorkKind) -> Result<UpdateFacts, Rejection> {
    validate_update(
        update,
        kind,
        &StateVector::default(),
        &UpdateLimits::default(),
    )
}

fn reason(update: &[u8], kind: WorkKind) -> String {
    validate(update, kind).expect_err("is hostile").reason
}

/// One client (7) with one block at clock 0, followed by an empty delete set.
fn update_with(block: &[u8]) -> Vec<u8> {
    let mut bytes = vec![1, 1, 7, 0];
    bytes.extend_from_slice(block);
    bytes.push(0);
    bytes
}

/// A block for the key `k` of a root, with this content kind and content.
fn entry(root: &str, content: u8, rest: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x20 | content, 1];
    write_var_string(&mut bytes, root);
    write_var_string(&mut bytes, "k");
    bytes.extend_from_slice(rest);
    bytes
}

fn state(doc: &Doc) -> Vec<u8> {
    doc.transact()
        .encode_state_as_update_v1(&StateVector::default())
}

#[test]
fn an_emoji_in_a_root_that_is_no_text_is_refused() {
    let mut block = vec![4, 1];
    write_var_string(&mut block, "nodes");
    write_var_string(&mut block, "😀");
    assert_eq!(
        reason(&update_with(&block), WorkKind::Storyboard),
        "a Y.Map is used as a list"
    );
    let in_map = entry("nodes", 4, &[4, 0xf0, 0x9f, 0x98, 0x80]);
    assert_eq!(
        reason(&update_with(&in_map), WorkKind::Storyboard),
        "a Y.Map is used as a text"
    );
}

#[test]
fn deep_lists_are_refused_without_recursion() {
    for depth in [33, 10_000, 200_000] {
        let mut values = vec![1];
        values.extend((0..depth).flat_map(|_| [117, 1]));
        values.push(126);
        let update = update_with(&entry("nodes", 8, &values));
        assert_eq!(
            reason(&update, WorkKind::Storyboard),
            "a value is nested too deep"
        );
    }
}

#[test]
fn five_thousand_maps_inside_each_other_are_refused() {
    let mut bytes = vec![1];
    write_var(&mut bytes, 5_000);
    bytes.extend([7, 0]);
    bytes.extend(entry("nodes", 7, &[1]));
    for clock in 0..4_999 {
        bytes.extend([0x27, 0, 7]);
        write_var(&mut bytes, clock);
        write_var_string(&mut bytes, "k");
        bytes.push(1);
    }
    bytes.push(0);
    assert_eq!(
        reason(&bytes, WorkKind::Storyboard),
        "shared types are nested too deep"
    );
}

#[test]
fn counts_beyond_the_bytes_are_refused_before_anything_is_allocated() {
    let hundred_million = [0x80, 0xc2, 0xd7, 0x2f];
    assert!(validate(&hundred_million, WorkKind::Text).is_err());
    assert!(decode_state_vector(&hundred_million).is_err());
    let mut map = vec![1, 118];
    map.extend(hundred_million);
    let update = update_with(&entry("nodes", 8, &map));
    assert_eq!(
        reason(&update, WorkKind::Flow),
        "more parts are announced than there are bytes"
    );
}

#[test]
fn many_small_parts_are_refused_before_they_fill_the_memory() {
    let maps = 4_000_000;
    let mut values = vec![1, 117];
    write_var(&mut values, maps);
    values.extend((0..maps).flat_map(|_| [118, 0]));
    let update = update_with(&entry("nodes", 8, &values));
    assert_eq!(
        reason(&update, WorkKind::Flow),
        "the update holds too many parts"
    );
}

#[test]
fn roots_that_the_kind_does_not_have_are_refused() {
    let junk = update_with(&entry("junk0", 8, &[1, 126]));
    for kind in WorkKind::ALL {
        assert!(reason(&junk, kind).contains("has no shared type `junk0`"));
    }
    let edges = update_with(&entry("edges", 8, &[1, 126]));
    assert!(validate(&edges, WorkKind::Flow).is_ok());
    assert!(reason(&edges, WorkKind::Storyboard).contains("`edges`"));
}

#[test]
fn old_json_subdocuments_and_other_shared_types_are_refused() {
    let json = update_with(&entry("nodes", 2, &[0, 1, b'1']));
    assert!(reason(&json, WorkKind::Flow).contains("old JSON form"));
    let document = update_with(&entry("nodes", 9, &[1, b'g', 126]));
    assert!(reason(&document, WorkKind::Flow).contains("documents inside documents"));
    for other in [0, 3, 4, 5, 6, 7, 15] {
        let update = update_with(&entry("nodes", 7, &[other, 1, b'p']));
        assert!(reason(&update, WorkKind::Flow).contains("only Y.Map and Y.Text"));
    }
}

#[test]
fn clients_that_come_twice_and_clocks_that_overflow_are_refused() {
    let block = entry("nodes", 8, &[1, 126]);
    let mut twice = vec![2];
    for _ in 0..2 {
        twice.extend([1, 7, 0]);
        twice.extend(&block);
    }
    twice.push(0);
    assert_eq!(reason(&twice, WorkKind::Flow), "a client comes twice");
    let mut late = vec![1, 1, 7];
    write_var(&mut late, u64::from(u32::MAX));
    late.extend(&block);
    late.push(0);
    assert_eq!(reason(&late, WorkKind::Flow), "a clock is too large");
    let wide = [
        1, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 1, 0,
    ];
    assert!(validate(&wide, WorkKind::Flow).is_err());
}

#[test]
fn a_circle_of_blocks_is_refused() {
    // Client 1 stands on client 2 and the other way round.
    let circle = [
        2, 1, 1, 0, 0x84, 2, 0, 1, b'a', 1, 2, 0, 0x84, 1, 0, 1, b'b', 0,
    ];
    assert!(reason(&circle, WorkKind::Text).contains("circle"));
    let itself = update_with(&[0x84, 7, 0, 1, b'a']);
    assert!(reason(&itself, WorkKind::Text).contains("circle"));
}

#[test]
fn a_change_whose_predecessor_is_unknown_is_missing_something() {
    let (doc, roots) = open_document(WorkKind::Text);
    let text = roots.text.expect("a text");
    text.insert(&mut doc.transact_mut(), 0, "first");
    let between = doc.transact().state_vector();
    text.insert(&mut doc.transact_mut(), 5, " second");
    text.remove_range(&mut doc.transact_mut(), 0, 1);
    let late = doc.transact().encode_state_as_update_v1(&between);
    let facts = validate(&late, WorkKind::Text).expect("is well formed");
    assert!(facts.missing && facts.has_new_blocks);
    let facts = validate_update(&late, WorkKind::Text, &between, &UpdateLimits::default());
    let facts = facts.expect("is well formed");
    assert!(!facts.missing && facts.has_new_blocks && facts.has_deletes());
    let now = doc.transact().state_vector();
    let again = validate_update(&state(&doc), WorkKind::Text, &now, &UpdateLimits::default());
    assert!(!again.expect("is well formed").has_new_blocks);
    // A deletion of what is not there yet.
    assert!(
        validate(&[0, 1, 7, 1, 0, 3], WorkKind::Text)
            .expect("is well formed")
            .missing
    );
}

#[test]
fn truncated_longer_and_version_two_updates_are_refused() {
    for (kind, update) in real_updates() {
        for length in 0..update.len() {
            assert!(validate(&update[..length], kind).is_err());
        }
        let longer = [update.as_slice(), &[0]].concat();
        assert_eq!(reason(&longer, kind), "bytes follow the update");
        let second = Update::decode_v1(&update).expect("is real").encode_v2();
        assert!(validate(&second, kind).is_err());
    }
    assert!(validate(&[], WorkKind::Text).is_err());
}

#[test]
fn state_vectors_are_read_exactly() {
    let (doc, roots) = open_document(WorkKind::Text);
    roots
        .text
        .expect("a text")
        .insert(&mut doc.transact_mut(), 0, "abc");
    let vector = doc.transact().state_vector();
    assert_eq!(decode_state_vector(&vector.encode_v1()), Ok(vector));
    assert_eq!(decode_state_vector(&[0]), Ok(StateVector::default()));
    assert!(decode_state_vector(&[0, 0]).is_err());
    assert!(decode_state_vector(&[2, 7, 1, 7, 2]).is_err());
}

#[test]
fn what_editors_send_is_accepted() {
    for (kind, update) in real_updates() {
        let facts = validate(&update, kind).expect("a real update");
        assert!(!facts.missing && facts.has_new_blocks);
        assert_harmless(kind, update);
    }
}

/// Updates as editors make them: maps, values of all sorts, texts with formats and embeds, deletions, undo, merges.
pub(super) fn real_updates() -> Vec<(WorkKind, Vec<u8>)> {
    vec![
        (WorkKind::Storyboard, storyboard()),
        (WorkKind::Flow, flow()),
        (WorkKind::Text, prose()),
        (WorkKind::Text, merged_with_a_gap_filled()),
        (WorkKind::Text, undone()),
        (WorkKind::Asset, asset()),
    ]
}

pub(super) fn storyboard() -> Vec<u8> {
    let (doc, roots) = open_document(WorkKind::Storyboard);
    let nodes = roots.nodes.expect("nodes");
    let mut txn = doc.transact_mut();
    for id in ["a", "b", "c"] {
        let node = nodes.insert(&mut txn, id, MapPrelim::default());
        node.insert(&mut txn, "type", "shot");
        node.insert(&mut txn, "duration", 4.5);
        node.insert(&mut txn, "big", i64::MAX);
        node.insert(&mut txn, "bytes", Any::from(vec![1_u8, 2]));
        node.insert(&mut txn, "gone", Any::Null);
        node.insert(&mut txn, "undefined", Any::Undefined);
        let json = r#"{"list":[1,-2,true,{"x":null}],"text":"Füße 😀"}"#;
        node.insert(&mut txn, "deep", Any::from_json(json).expect("JSON"));
        let title = node.insert(&mut txn, "title", TextPrelim::new("Arrival 😀"));
        title.remove_range(&mut txn, 0, 2);
        title.insert(&mut txn, 3, "xyz");
        node.insert(&mut txn, "duration", 5);
    }
    nodes.remove(&mut txn, "b");
    drop(txn);
    state(&doc)
}

pub(super) fn flow() -> Vec<u8> {
    let (doc, roots) = open_document(WorkKind::Flow);
    let (nodes, edges) = (roots.nodes.expect("nodes"), roots.edges.expect("edges"));
    let mut txn = doc.transact_mut();
    let node = nodes.insert(&mut txn, "n", MapPrelim::default());
    let position = node.insert(&mut txn, "position", MapPrelim::from([("x", 1.5)]));
    position.insert(&mut txn, "y", -3);
    edges.insert(
        &mut txn,
        "e",
        MapPrelim::from([("source", "n"), ("target", "n")]),
    );
    drop(txn);
    nodes.insert(&mut doc.transact_mut(), "late", MapPrelim::default());
    state(&doc)
}

pub(super) fn prose() -> Vec<u8> {
    let (doc, roots) = open_document(WorkKind::Text);
    let text = roots.text.expect("a text");
    let mut txn = doc.transact_mut();
    text.insert(&mut txn, 0, "# Title\n\nSome bold text 😀 here");
    let bold = Attrs::from([("bold".into(), Any::from(true))]);
    text.format(&mut txn, 9, 4, bold.clone());
    text.insert_with_attributes(&mut txn, 3, "loud", bold);
    let image = Any::from_json(r#"{"image":"a.png"}"#).expect("JSON");
    text.insert_embed(&mut txn, 2, image);
    text.remove_range(&mut txn, 0, 5);
    drop(txn);
    state(&doc)
}

fn merged_with_a_gap_filled() -> Vec<u8> {
    let (doc, roots) = open_document(WorkKind::Text);
    let text = roots.text.expect("a text");
    let mut pieces = Vec::new();
    for index in 0..3 {
        let before = doc.transact().state_vector();
        text.insert(&mut doc.transact_mut(), index, "a");
        pieces.push(doc.transact().encode_state_as_update_v1(&before));
    }
    // The outer two first: the merge holds a gap between them, which the last merge closes.
    let outer = yrs::merge_updates_v1([pieces[0].as_slice(), &pieces[2]]).expect("merges");
    assert!(
        validate(&outer, WorkKind::Text)
            .expect("is well formed")
            .missing
    );
    yrs::merge_updates_v1([outer.as_slice(), &pieces[1]]).expect("merges")
}

fn undone() -> Vec<u8> {
    let (doc, roots) = open_document(WorkKind::Text);
    let text = roots.text.expect("a text");
    let mut undo = yrs::undo::UndoManager::<()>::new();
    undo.expand_scope(&doc, &text);
    text.insert(&mut doc.transact_mut(), 0, "kept");
    undo.reset();
    text.remove_range(&mut doc.transact_mut(), 1, 2);
    undo.undo_blocking();
    state(&doc)
}

fn asset() -> Vec<u8> {
    let (doc, roots) = open_document(WorkKind::Asset);
    let asset = roots.asset.expect("an asset");
    let mut txn = doc.transact_mut();
    asset.insert(&mut txn, "caption", TextPrelim::new("A hill"));
    asset.insert(&mut txn, "tags", Any::from(vec!["hill", "dawn"]));
    drop(txn);
    state(&doc)
}

/// Applies an accepted update to a fresh document and reads everything, on a thread of its own and in bounded time.
pub(super) fn assert_harmless(kind: WorkKind, update: Vec<u8>) {
    let (done, wait) = mpsc::channel();
    let shown = format!("{update:?}");
    let thread = std::thread::Builder::new().stack_size(16 << 20);
    let handle = thread.spawn(move || {
        apply_and_read(kind, &update);
        done.send(()).expect("somebody waits");
    });
    let in_time = wait.recv_timeout(Duration::from_secs(20));
    assert!(in_time.is_ok(), "hangs or panics: {shown}");
    handle.expect("a thread").join().expect("no panic");
}

fn apply_and_read(kind: WorkKind, update: &[u8]) {
    let Ok(update) = Update::decode_v1(update) else {
        return;
    };
    let (doc, roots) = open_document(kind);
    let mut txn = doc.transact_mut();
    let applied = txn.apply_update(update);
    drop(txn);
    let txn = doc.transact();
    assert!(applied.is_err() || !txn.has_missing_updates());
    read_all(&txn, &roots);
    txn.encode_state_as_update_v1(&StateVector::default());
}

pub(super) fn read_all(txn: &impl ReadTxn, roots: &Roots) {
    for map in [&roots.nodes, &roots.edges, &roots.asset]
        .into_iter()
        .flatten()
    {
        map.to_json(txn);
    }
    if let Some(text) = &roots.text {
        text.get_string(txn);
        text.diff(txn, yrs::types::text::YChange::identity);
    }
}
