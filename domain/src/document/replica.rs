//! One in-memory Yrs document with what goes with it: roots, recorder, and what is known of its state.
//!
//! Invariants
//! - Only validated bytes are applied, so nothing ever becomes pending inside yrs.
//! - After a [`Failure`] the replica must be thrown away: yrs has no rollback.
//!
//! Not here: storing anything (`actor`), conflict rules (`node_edit`, `text_edit`).

mod application;
#[cfg(test)]
mod hostile_tests;

use bytes::Bytes;
use yrs::updates::decoder::Decode;
use yrs::updates::encoder::Encode;
use yrs::{Doc, ReadTxn, StateVector, Transact, TransactionMut, Update};

use crate::document::contain::{Contained, contain};
use crate::document::effort::{Stopwatch, Strain};
use crate::document::layout::{Roots, open_document};
use crate::document::read::read_content;
use crate::document::recorder::{Recorded, Recorder};
use crate::document::validate::{
    KnownPlaces, Rejection, UpdateFacts, UpdateLimits, validate_update, weigh,
};
use crate::document::{Content, Touched, Version};
use crate::work::{StoredDocument, WorkKind};

pub(crate) use application::Application;
use application::Bearing;

/// How deep shared types may lie in each other.
const DEPTH: usize = 12;
/// How many nodes and edges one update may touch: each is a row in the transaction that stores it.
const TOUCHED: usize = 100_000;

/// An open document.
pub(crate) struct Replica {
    kind: WorkKind,
    doc: Doc,
    roots: Roots,
    recorder: Recorder,
    known: StateVector,
    places: KnownPlaces,
    limits: UpdateLimits,
    strain: Strain,
    /// Memory that it takes, estimated from above, in bytes.
    weight: usize,
}

/// What a change from here gave, and what to store where it changed anything.
pub(crate) type Changed<T> = (T, Option<(Bytes, Touched)>);

/// What became of bytes from outside.
pub(crate) enum Applied {
    /// It brought something: what to store, and what it touched.
    Changed(Bytes, Recorded),
    /// All of it was known.
    Nothing,
    /// It builds on changes that are not here; nothing was applied.
    Missing,
}

/// What is to be done with bytes from outside.
pub(crate) enum Begun {
    /// Nothing: this became of them.
    Over(Applied),
    /// This.
    Application(Box<Application>),
}

/// Why a replica can not be used any more, or bytes can not be taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The bytes are refused; the replica is as before.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// The document would take too much memory; the replica is as before.
    #[error("{0}")]
    TooLarge(String),
    /// The bytes were applied and are refused for what they did; the replica must go.
    #[error("{0}")]
    Spoilt(String),
    /// yrs failed; the replica must go.
    #[error(transparent)]
    Contained(#[from] Contained),
}

impl Replica {
    /// Builds a document from what is stored. A stored change that can not be read is left out, and named in the log.
    pub(crate) fn build(
        kind: WorkKind,
        limits: UpdateLimits,
        stored: &StoredDocument,
    ) -> Result<Self, Failure> {
        contain(|| {
            let watch = Stopwatch::start();
            let (mut bytes, mut weight) = (0, 0);
            let (doc, roots) = open_document(kind);
            if let Some(snapshot) = &stored.snapshot {
                integrate(&doc, &snapshot.state)?;
                bytes += snapshot.state.len();
                weight += weigh(&snapshot.state, kind);
            }
            for (version, update) in &stored.changes {
                bytes += update.len();
                weight += weigh(update, kind);
                if let Err(failure) = integrate(&doc, update) {
                    tracing::error!(document.id = %stored.work, %version, %failure, "a stored change can not be read and is left out");
                }
            }
            let known = doc.transact().state_vector();
            // Last, so that building records nothing.
            let recorder = Recorder::attach(&doc, &roots, kind);
            Ok(Self {
                kind,
                doc,
                roots,
                recorder,
                known,
                places: KnownPlaces::default(),
                limits,
                strain: Strain::of_opening(watch.elapsed(), bytes),
                weight,
            })
        })?
    }

    /// Validates bytes from outside. `is_reply`: they answer a state vector, and so repeat much that is known.
    pub(crate) fn begin(&mut self, update: &Bytes, is_reply: bool) -> Result<Begun, Failure> {
        let mut facts = validate_update(update, self.kind, &self.known, &self.limits)?;
        if facts.missing {
            return Ok(Begun::Over(Applied::Missing));
        }
        if !facts.has_new_blocks && !facts.has_deletes() {
            return Ok(Begun::Over(Applied::Nothing));
        }
        self.check_weight(facts.weight)?;
        facts.neighbours.forget_known(&self.places);
        let application = Application::new(update.clone(), facts, is_reply, Bearing::Limited);
        Ok(Begun::Application(Box::new(application)))
    }

    fn check_weight(&mut self, more: usize) -> Result<(), Failure> {
        let limit = self.limits.decoded_bytes;
        if self.weight + more > limit {
            // Much of what came is gone since, or was joined: the state itself decides.
            self.weight = weigh(&self.state()?, self.kind);
        }
        if self.weight + more <= limit {
            return Ok(());
        }
        Err(Failure::TooLarge(
            "the document would hold too many parts".to_owned(),
        ))
    }

    /// The same for bytes that are stored: nothing of them is refused.
    pub(crate) fn begin_stored(&self, update: &Bytes) -> Application {
        let facts = validate_update(update, self.kind, &self.known, &self.limits);
        // What can not be cut into portions is applied whole.
        let facts = facts
            .ok()
            .filter(|facts| !facts.missing)
            .unwrap_or_default();
        let facts = UpdateFacts {
            has_new_blocks: true,
            weight: facts.weight,
            portions: facts.portions,
            ..UpdateFacts::default()
        };
        Application::new(update.clone(), facts, false, Bearing::Unlimited)
    }

    /// Whether it may have come to cost too much to open: then `measure` decides.
    pub(crate) fn is_strained(&self) -> bool {
        self.strain.exceeds(self.limits.strain)
    }

    /// Takes over the strain of a replica that was built from the same state.
    pub(crate) fn measure(&mut self, built: &Self) {
        self.strain = built.strain;
    }

    /// Changes the document from here; gives what `change` gives, and what to store where anything changed.
    ///
    /// `change` must check everything before it writes: what is written stays.
    pub(crate) fn change<T, E>(
        &mut self,
        change: impl FnOnce(&mut TransactionMut<'_>, &Roots) -> Result<T, E>,
    ) -> Result<Result<Changed<T>, E>, Failure> {
        let result = contain(|| {
            let mut txn = self.doc.transact_mut();
            let result = change(&mut txn, &self.roots);
            let update = txn
                .has_changes()
                .then(|| Bytes::from(txn.encode_update_v1()));
            note_known(&mut self.known, &txn);
            drop(txn);
            let recorded = self.recorder.take(&self.doc.transact());
            result.map(|value| (value, update.map(|update| (update, recorded.touched))))
        })?;
        Ok(result)
    }

    /// What this document holds.
    pub(crate) fn content(&self, version: Version) -> Result<Content, Failure> {
        Ok(contain(|| Content {
            version,
            ..read_content(&self.doc.transact(), &self.roots)
        })?)
    }

    /// Reads with an open transaction.
    pub(crate) fn read<T>(
        &self,
        read: impl FnOnce(&yrs::Transaction<'_>, &Roots) -> T,
    ) -> Result<T, Failure> {
        Ok(contain(|| read(&self.doc.transact(), &self.roots))?)
    }

    /// Whether an update brings nothing new; false for one that can not be read.
    pub(crate) fn knows_all(&self, update: &[u8]) -> bool {
        let Ok(facts) = validate_update(update, self.kind, &self.known, &self.limits) else {
            return false;
        };
        if facts.missing || facts.has_new_blocks {
            return false;
        }
        !facts.has_deletes()
            || facts
                .deletes
                .diff(&self.doc.transact().snapshot().delete_set)
                .is_empty()
    }

    /// The state vector, encoding v1.
    pub(crate) fn state_vector(&self) -> Bytes {
        Bytes::from(self.known.encode_v1())
    }

    /// What somebody with this state vector lacks, encoding v1.
    pub(crate) fn difference(&self, known: &StateVector) -> Result<Bytes, Failure> {
        Ok(contain(|| {
            Bytes::from(self.doc.transact().encode_state_as_update_v1(known))
        })?)
    }

    /// The whole state, encoding v1.
    pub(crate) fn state(&self) -> Result<Bytes, Failure> {
        self.difference(&StateVector::default())
    }
}

/// Why an update that was applied can not stay.
fn forbidden(recorded: &Recorded) -> Option<String> {
    if recorded.touched_file {
        return Some("the file of an asset is changed by uploads only".to_owned());
    }
    if recorded.touched.nodes.len() > TOUCHED {
        return Some(format!(
            "the update touches more than {TOUCHED} nodes and edges; send it in parts"
        ));
    }
    if recorded.misplaced.is_some() {
        return recorded.misplaced.clone();
    }
    (recorded.depth > DEPTH)
        .then(|| format!("shared types lie more than {DEPTH} deep in each other"))
}

fn integrate(doc: &Doc, update: &[u8]) -> Result<(), Failure> {
    let decoded = Update::decode_v1(update).map_err(|error| Failure::Spoilt(error.to_string()))?;
    doc.transact_mut()
        .apply_update(decoded)
        .map_err(|error| Failure::Spoilt(error.to_string()))
}

fn note_known(known: &mut StateVector, txn: &TransactionMut<'_>) {
    for (client, ranges) in txn.insert_set().iter() {
        if let Some(end) = ranges.iter().map(|range| range.end).max() {
            known.set_max(*client, end);
        }
    }
}
