//! Damaged updates: whatever gets through the gate does no harm, to an empty document or to one that is observed.
//!
//! `ATELIER_FUZZ_ROUNDS` makes a run longer, `ATELIER_FUZZ_SEED` repeats one.

use yrs::types::Attrs;
use yrs::updates::decoder::Decode;
use yrs::{
    Any, Map, MapPrelim, Out, ReadTxn, StateVector, Text, TextPrelim, Transact, TransactionMut,
    Update,
};

use super::tests::{assert_harmless, flow, prose, read_all, real_updates, storyboard, validate};
use super::*;
use crate::document::layout::{Roots, open_document};
use crate::document::lib0::{write_var, write_var_string};
use crate::document::read::{find_node, read_content};
use crate::document::recorder::Recorder;

/// A small random generator (xorshift), so that a seed says everything.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below as u64) as usize
    }

    fn mutate(&mut self, bytes: &mut Vec<u8>, others: &[(WorkKind, Vec<u8>)]) {
        let at = self.next(bytes.len());
        match self.next(8) {
            0 => drop(bytes.remove(at)),
            1 => bytes.insert(at, self.next(256) as u8),
            2 => {
                let other = &others[self.next(others.len())].1;
                let from = self.next(other.len());
                let to = (from + 1 + self.next(12)).min(other.len());
                bytes.splice(at..at, other[from..to].iter().copied());
            }
            3 => bytes.swap(at, self.0 as usize % at.max(1)),
            4 => bytes[at] ^= 1 << self.next(8),
            5 => bytes[at] = [0, 1, 2, 7, 10, 0x20, 0x27, 0x28, 0x40, 0x80, 0x84][self.next(11)],
            _ => bytes[at] = bytes[at].wrapping_add(self.next(5) as u8).wrapping_sub(2),
        }
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// A random generator, and how many rounds.
fn fuzz() -> (Random, u64) {
    let rounds = number("ATELIER_FUZZ_ROUNDS").unwrap_or(6_000);
    let fresh = uuid::Uuid::new_v4().as_u128() as u64 | 1;
    let seed = number("ATELIER_FUZZ_SEED").unwrap_or(fresh);
    eprintln!("seed {seed}, {rounds} rounds");
    (Random(seed), rounds)
}

#[test]
fn damaged_updates_are_refused_or_harmless() {
    let (mut random, rounds) = fuzz();
    let updates = real_updates();
    let mut accepted = 0;
    for _ in 0..rounds {
        let (kind, real) = &updates[random.next(updates.len())];
        let mut update = real.clone();
        for _ in 0..=random.next(3) {
            if !update.is_empty() {
                random.mutate(&mut update, &updates);
            }
        }
        if validate(&update, *kind).is_ok_and(|facts| !facts.missing) {
            accepted += 1;
            assert_harmless(*kind, update);
        }
    }
    assert!(
        accepted > 0,
        "no damaged update got through: the test shows nothing"
    );
    eprintln!("{accepted} accepted");
}

/// A document with content, and small later changes to it as an editor sends them.
struct Live {
    kind: WorkKind,
    state: Vec<u8>,
    changes: Vec<(WorkKind, Vec<u8>)>,
}

fn live_documents() -> Vec<Live> {
    [storyboard_changes, flow_changes, prose_changes]
        .map(|make| make())
        .into()
}

/// What an editor does in one transaction.
type Edit<'edit> = &'edit dyn Fn(&mut TransactionMut<'_>, &Roots);

fn live(kind: WorkKind, state: Vec<u8>, edits: &[Edit<'_>]) -> Live {
    let (doc, roots) = open_document(kind);
    let update = Update::decode_v1(&state).expect("is real");
    doc.transact_mut().apply_update(update).expect("applies");
    let mut changes = Vec::new();
    for edit in edits {
        let mut txn = doc.transact_mut();
        edit(&mut txn, &roots);
        changes.push((kind, txn.encode_update_v1()));
    }
    Live {
        kind,
        state,
        changes,
    }
}

fn storyboard_changes() -> Live {
    let node = |txn: &TransactionMut<'_>, roots: &Roots| find_node(txn, roots, "a").expect("a");
    live(
        WorkKind::Storyboard,
        storyboard(),
        &[
            &|txn, roots| {
                node(txn, roots).insert(txn, "duration", 7);
            },
            &|txn, roots| match node(txn, roots).get(txn, "title") {
                Some(Out::YText(title)) => title.insert(txn, 4, "new"),
                other => panic!("{other:?} is no text"),
            },
            &|txn, roots| {
                node(txn, roots).insert(txn, "notes", TextPrelim::new("note"));
            },
            &|txn, roots| drop(roots.nodes.as_ref().expect("nodes").remove(txn, "c")),
        ],
    )
}

fn flow_changes() -> Live {
    live(
        WorkKind::Flow,
        flow(),
        &[
            &|txn, roots| {
                let edge = MapPrelim::from([("source", "n"), ("target", "late")]);
                roots.edges.as_ref().expect("edges").insert(txn, "f", edge);
            },
            &|txn, roots| drop(roots.nodes.as_ref().expect("nodes").remove(txn, "n")),
        ],
    )
}

fn prose_changes() -> Live {
    live(
        WorkKind::Text,
        prose(),
        &[
            &|txn, roots| roots.text.as_ref().expect("a text").insert(txn, 7, "new"),
            &|txn, roots| roots.text.as_ref().expect("a text").remove_range(txn, 3, 4),
            &|txn, roots| {
                let bold = Attrs::from([("bold".into(), Any::Null)]);
                roots.text.as_ref().expect("a text").format(txn, 2, 9, bold);
            },
        ],
    )
}

/// Applies a change to a document that is observed, as the service does; returns whether it got through.
fn apply_to_live(live: &Live, update: &[u8]) -> bool {
    let (doc, roots) = open_document(live.kind);
    let state = Update::decode_v1(&live.state).expect("is real");
    doc.transact_mut().apply_update(state).expect("applies");
    let mut recorder = Recorder::attach(&doc, &roots, live.kind);
    let known = doc.transact().state_vector();
    let facts = validate_update(update, live.kind, &known, &UpdateLimits::default());
    let Ok(facts) = facts else {
        return false;
    };
    if facts.missing
        || check_neighbours(
            &doc.transact(),
            &facts.neighbours,
            &mut KnownPlaces::default(),
        )
        .is_err()
    {
        return false;
    }
    let Ok(update) = Update::decode_v1(update) else {
        return false;
    };
    let applied = doc.transact_mut().apply_update(update);
    let txn = doc.transact();
    assert!(applied.is_err() || !txn.has_missing_updates());
    recorder.take(&txn);
    read_content(&txn, &roots);
    read_all(&txn, &roots);
    txn.encode_state_as_update_v1(&StateVector::default());
    true
}

#[test]
fn damaged_changes_do_no_harm_to_a_document_that_is_observed() {
    let (mut random, rounds) = fuzz();
    let documents = live_documents();
    let mut accepted = 0;
    for _ in 0..rounds {
        let live = &documents[random.next(documents.len())];
        let mut update = live.changes[random.next(live.changes.len())].1.clone();
        for _ in 0..random.next(3) {
            if !update.is_empty() {
                random.mutate(&mut update, &live.changes);
            }
        }
        let harm = std::panic::catch_unwind(|| apply_to_live(live, &update));
        accepted += u64::from(harm.unwrap_or_else(|_| panic!("does harm: {update:?}")));
    }
    assert!(
        accepted > rounds / 10,
        "{accepted} got through: the test shows little"
    );
    eprintln!("{accepted} accepted");
}

#[test]
fn a_format_beside_an_entry_of_a_map_is_refused() {
    let live = storyboard_changes();
    let (doc, _) = open_document(live.kind);
    let state = Update::decode_v1(&live.state).expect("is real");
    doc.transact_mut().apply_update(state).expect("applies");
    let known = doc.transact().state_vector();
    let (client, _) = known.iter().next().expect("one client");
    // A format whose left neighbour is the entry of the first node in the root.
    let mut update = vec![1, 1, 9, 0, 0x86];
    write_var(&mut update, client.get());
    update.push(0);
    write_var_string(&mut update, "bold");
    write_var_string(&mut update, "true");
    update.push(0);
    let facts = validate_update(&update, live.kind, &known, &UpdateLimits::default());
    let facts = facts.expect("the bytes alone look fine");
    assert!(
        check_neighbours(
            &doc.transact(),
            &facts.neighbours,
            &mut KnownPlaces::default()
        )
        .is_err()
    );
}
