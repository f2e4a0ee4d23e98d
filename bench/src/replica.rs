//! One editor's copy of a storyboard, in the layout that Atelier gives its works: `nodes` is a map of shots, each a map
//! with prose as texts and other fields as values.
//!
//! Invariants
//! - Half of the edits type into the description of a shot, half set a field of one.
//! - Authors set fields of their own, so that no edit is lost to another: every stamp must reach everybody.
//! - What others send is kept and integrated when it is asked for, so that the load and not the editors is measured.

use std::collections::HashMap;

use anyhow::Result;
use bytes::Bytes;
use yrs::updates::decoder::Decode;
use yrs::updates::encoder::Encode;
use yrs::{
    Any, ClientID, Doc, GetString, Map, MapPrelim, MapRef, OffsetKind, Options, Out, ReadTxn,
    StateVector, Text, TextPrelim, TextRef, Transact, TransactionMut, Update,
};

use crate::random::Random;
use crate::stamp::{self, Stamp};

/// Shots of a storyboard.
pub(crate) const SHOTS: u64 = 8;
/// The newest stamps of a text among which the next one is put.
const TYPING_PLACES: u64 = 200;

/// A copy of a storyboard.
pub(crate) struct Replica {
    doc: Doc,
    nodes: MapRef,
    author: usize,
    made: usize,
    random: Random,
    kept: Vec<Bytes>,
}

impl Replica {
    /// An empty copy of this author.
    pub(crate) fn new(author: usize, client: u64) -> Self {
        let doc = document(client);
        Self {
            nodes: doc.get_or_insert_map("nodes"),
            doc,
            author,
            made: 0,
            random: Random::new(client),
            kept: Vec::new(),
        }
    }

    /// The id of its client.
    pub(crate) fn client(&self) -> u64 {
        self.doc.client_id().get()
    }

    /// Makes the shots, with this many edits in them, as one update.
    pub(crate) fn make_shots(&mut self, edits: usize) -> Vec<u8> {
        let nodes = self.nodes.clone();
        let doc = self.doc.clone();
        let mut txn = doc.transact_mut();
        for shot in 0..SHOTS {
            let node = nodes.insert(&mut txn, shot_id(shot), MapPrelim::default());
            node.insert(&mut txn, "type", "shot");
            node.insert(&mut txn, "order", format!("V{shot}"));
            node.insert(&mut txn, "title", TextPrelim::new(format!("Shot {shot}")));
            node.insert(&mut txn, "description", TextPrelim::new(""));
        }
        for _ in 0..edits {
            self.write(&mut txn, 0);
        }
        txn.encode_update_v1()
    }

    /// Makes the next edit; an update.
    pub(crate) fn edit(&mut self, at: u64) -> Vec<u8> {
        let doc = self.doc.clone();
        let mut txn = doc.transact_mut();
        self.write(&mut txn, at);
        txn.encode_update_v1()
    }

    fn write(&mut self, txn: &mut TransactionMut<'_>, at: u64) {
        let stamp = Stamp {
            author: self.author,
            number: self.made,
            at,
        };
        self.made += 1;
        let shot = shot_id(self.random.below(SHOTS));
        let Some(Out::YMap(node)) = self.nodes.get(txn, &shot) else {
            unreachable!("shots are made before edits and never removed");
        };
        if self.random.below(2) == 0 {
            let Some(Out::YText(text)) = node.get(txn, "description") else {
                unreachable!("every shot has a description");
            };
            let stamps = u64::from(text.len(txn)) / stamp::LENGTH as u64;
            let place = self.random.below(stamps.min(TYPING_PLACES) + 1) as u32;
            text.insert(txn, place * stamp::LENGTH as u32, &stamp.text());
        } else {
            let camera = HashMap::from([
                (
                    "x".to_owned(),
                    Any::from(self.random.below(4_000) as f64 / 4.0),
                ),
                (
                    "y".to_owned(),
                    Any::from(self.random.below(4_000) as f64 / 4.0),
                ),
                ("zoom".to_owned(), Any::from(1.5)),
                ("label".to_owned(), Any::from(stamp.text())),
            ]);
            node.insert(txn, format!("camera{}", self.author), Any::from(camera));
        }
    }

    /// Keeps what somebody else sent.
    pub(crate) fn keep(&mut self, update: Bytes) {
        self.kept.push(update);
    }

    /// Integrates all that was kept.
    pub(crate) fn integrate(&mut self) -> Result<()> {
        let mut txn = self.doc.transact_mut();
        for update in std::mem::take(&mut self.kept) {
            txn.apply_update(Update::decode_v1(&update)?)?;
        }
        Ok(())
    }

    /// Its state vector.
    pub(crate) fn state_vector(&self) -> Vec<u8> {
        self.doc.transact().state_vector().encode_v1()
    }

    /// What somebody with this state vector lacks.
    pub(crate) fn difference(&self, known: &[u8]) -> Result<Vec<u8>> {
        let known = StateVector::decode_v1(known)?;
        Ok(self.doc.transact().encode_state_as_update_v1(&known))
    }

    /// Everything that an editor shows, for comparing copies.
    pub(crate) fn content(&self) -> String {
        let txn = self.doc.transact();
        let mut shots = Vec::new();
        for shot in 0..SHOTS {
            let Some(Out::YMap(node)) = self.nodes.get(&txn, &shot_id(shot)) else {
                continue;
            };
            let mut fields: Vec<String> = node
                .iter(&txn)
                .map(|(key, value)| match value {
                    Out::YText(text) => format!("{key}={}", text.get_string(&txn)),
                    // The keys of a value have no order of their own.
                    Out::Any(value) => format!("{key}={}", label_of(&value)),
                    _ => key.to_owned(),
                })
                .collect();
            fields.sort();
            shots.push(fields.join("\n"));
        }
        shots.join("\n\n")
    }
}

/// A copy of a text document.
pub(crate) struct TextReplica {
    doc: Doc,
    text: TextRef,
}

impl TextReplica {
    /// An empty one.
    pub(crate) fn new(client: u64) -> Self {
        let doc = document(client);
        Self {
            text: doc.get_or_insert_text("text"),
            doc,
        }
    }

    /// Removes characters at a place and puts others there; an update.
    pub(crate) fn edit(&self, at: u32, removed: u32, inserted: &str) -> Vec<u8> {
        let mut txn = self.doc.transact_mut();
        if removed > 0 {
            self.text.remove_range(&mut txn, at, removed);
        }
        if !inserted.is_empty() {
            self.text.insert(&mut txn, at, inserted);
        }
        txn.encode_update_v1()
    }

    /// Integrates an update.
    pub(crate) fn integrate(&self, update: &[u8]) -> Result<()> {
        let update = Update::decode_v1(update)?;
        Ok(self.doc.transact_mut().apply_update(update)?)
    }

    /// Bytes of its state.
    pub(crate) fn state_bytes(&self) -> usize {
        let txn = self.doc.transact();
        txn.encode_state_as_update_v1(&StateVector::default()).len()
    }

    /// The text.
    pub(crate) fn content(&self) -> String {
        self.text.get_string(&self.doc.transact())
    }
}

fn document(client: u64) -> Doc {
    Doc::with_options(Options {
        client_id: ClientID::new(client),
        offset_kind: OffsetKind::Utf16,
        ..Options::default()
    })
}

fn shot_id(shot: u64) -> String {
    format!("shot{shot}")
}

fn label_of(value: &Any) -> String {
    match value {
        Any::Map(map) => map
            .get("label")
            .map(ToString::to_string)
            .unwrap_or_default(),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_that_got_the_same_edits_show_the_same() {
        let mut writer = Replica::new(0, 1);
        let mut reader = Replica::new(1, 2);
        let shots = writer.make_shots(50);
        reader.keep(shots.into());
        for _ in 0..100 {
            let update = writer.edit(7);
            assert_eq!(stamp::find(&update).count(), 1);
            reader.keep(update.into());
        }
        reader.integrate().expect("the updates are whole");
        assert_eq!(reader.content(), writer.content());
    }
}
