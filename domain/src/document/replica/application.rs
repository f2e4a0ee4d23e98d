//! Applying an update: portion by portion where it is long, and given up where it costs more than the document bears.
//!
//! Invariants
//! - Between two portions the caller may do something else, but nothing with this document.
//! - Each portion is a transaction of its own, because what the library tidies up at the end of one grows faster than
//!   the transaction.
//! - Before the first portion nothing was applied; after it every failure leaves a replica that must be thrown away.

use std::time::Duration;

use bytes::Bytes;
use yrs::updates::decoder::Decode;
use yrs::{IdSet, ReadTxn, Transact, Update};

use super::{Applied, Failure, Replica, forbidden, note_known};
use crate::document::contain::contain;
use crate::document::effort::{Effort, Stopwatch};
use crate::document::recorder::length;
use crate::document::validate::{Portion, UpdateFacts, check_neighbours};

/// Blocks and deletions that are applied at once to begin with, and the most ever.
const FIRST_PORTION: usize = 32;
const LARGEST_PORTION: usize = 8_192;
/// A portion that took less is followed by a larger one, and one that took more by a smaller one.
const QUICK: Duration = Duration::from_millis(4);
const SLOW: Duration = Duration::from_millis(10);
/// Neighbours that are looked up at once.
const NEIGHBOURS: usize = 32;

/// Whether a document may refuse an update for what it costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bearing {
    /// It comes from outside.
    Limited,
    /// It is stored: it was borne already.
    Unlimited,
}

/// An accepted update on its way into a replica.
#[derive(Debug)]
pub(crate) struct Application {
    update: Bytes,
    facts: UpdateFacts,
    is_reply: bool,
    bearing: Bearing,
    portion_size: usize,
    effort: Effort,
    is_changed: bool,
    deleted: IdSet,
    /// What to store instead of the update, where that is known by now.
    shortened: Option<Bytes>,
}

impl Application {
    pub(super) fn new(update: Bytes, facts: UpdateFacts, is_reply: bool, bearing: Bearing) -> Self {
        Self {
            update,
            facts,
            is_reply,
            bearing,
            portion_size: FIRST_PORTION,
            effort: Effort::default(),
            is_changed: false,
            deleted: IdSet::new(),
            shortened: None,
        }
    }

    /// Whether it takes more than one portion.
    pub(crate) fn is_long(&self) -> bool {
        self.facts.portions.len() > FIRST_PORTION
    }

    /// Applies a portion; gives what became of the update when that was the last one.
    pub(crate) fn advance(&mut self, replica: &mut Replica) -> Result<Option<Applied>, Failure> {
        contain(|| {
            let watch = if self.is_long() {
                Stopwatch::start()
            } else {
                Stopwatch::start_short()
            };
            if !self.facts.neighbours.is_empty() {
                let some = self.facts.neighbours.take(NEIGHBOURS);
                check_neighbours(&replica.doc.transact(), &some, &mut replica.places)?;
                return self.bear(replica, watch.elapsed(), 0, 0).map(|()| None);
            }
            if !self.is_long() {
                self.apply_whole(replica, &watch)?;
                return self.finish(replica).map(Some);
            }
            let next = self.facts.portions.next(&self.update, self.portion_size);
            match next {
                Some(portion) => self.apply_portion(replica, &portion, &watch).map(|()| None),
                None => self.finish(replica).map(Some),
            }
        })?
    }

    fn apply_whole(&mut self, replica: &mut Replica, watch: &Stopwatch) -> Result<(), Failure> {
        let decoded = decode(&self.update)?;
        let mut txn = replica.doc.transact_mut();
        txn.apply_update(decoded).map_err(spoilt)?;
        self.is_changed = txn.has_changes();
        if self.is_changed && self.is_shortened() {
            self.shortened = Some(Bytes::from(txn.encode_update_v1()));
        }
        note_known(&mut replica.known, &txn);
        let is_missing = txn.has_missing_updates();
        let deleted = length(txn.delete_set());
        drop(txn);
        check_nothing_is_missing(is_missing)?;
        let blocks = self.facts.portions.blocks();
        self.bear(replica, watch.elapsed(), blocks, deleted)
    }

    fn apply_portion(
        &mut self,
        replica: &mut Replica,
        portion: &Portion,
        watch: &Stopwatch,
    ) -> Result<(), Failure> {
        let decoded = decode(&portion.update)?;
        let mut txn = replica.doc.transact_mut();
        txn.apply_update(decoded).map_err(spoilt)?;
        self.is_changed |= txn.has_changes();
        note_known(&mut replica.known, &txn);
        let is_missing = txn.has_missing_updates();
        let deleted = length(txn.delete_set());
        if deleted > 0 && self.is_shortened() {
            self.deleted.merge_with(txn.delete_set().clone());
        }
        drop(txn);
        check_nothing_is_missing(is_missing)?;
        let spent = watch.elapsed();
        self.portion_size = match spent {
            spent if spent < QUICK => LARGEST_PORTION.min(self.portion_size * 2),
            spent if spent > SLOW => 1.max(self.portion_size / 4),
            _ => self.portion_size,
        };
        self.bear(replica, spent, portion.blocks, deleted)
    }

    /// Of a long reply only what is new is worth storing; other updates are stored as they came.
    fn is_shortened(&self) -> bool {
        self.is_reply || !self.facts.has_new_blocks
    }

    fn bear(
        &mut self,
        replica: &Replica,
        spent: Duration,
        blocks: usize,
        deleted: u64,
    ) -> Result<(), Failure> {
        self.effort.add(spent, blocks, deleted);
        if self.bearing == Bearing::Limited && self.effort.exceeds(replica.limits.effort) {
            return Err(Failure::Spoilt(
                "the update is built so that it takes far more work than it brings".to_owned(),
            ));
        }
        Ok(())
    }

    fn finish(&mut self, replica: &mut Replica) -> Result<Applied, Failure> {
        replica.strain.add(&self.effort);
        replica.weight += self.facts.weight;
        replica.places.learn(&self.facts.placed);
        let recorded = replica.recorder.take(&replica.doc.transact());
        if self.bearing == Bearing::Limited
            && let Some(reason) = forbidden(&recorded)
        {
            return Err(Failure::Spoilt(reason));
        }
        if !self.is_changed {
            return Ok(Applied::Nothing);
        }
        let shortened = self.shortened.take().or_else(|| {
            let is_shortened = self.is_long() && self.is_shortened();
            let portions = &self.facts.portions;
            is_shortened.then(|| Bytes::from(portions.shortened(&self.update, &self.deleted)))
        });
        let stored = shortened.unwrap_or_else(|| self.update.clone());
        Ok(Applied::Changed(stored, recorded))
    }
}

fn decode(update: &[u8]) -> Result<Update, Failure> {
    Update::decode_v1(update).map_err(spoilt)
}

fn spoilt(error: impl std::fmt::Display) -> Failure {
    Failure::Spoilt(error.to_string())
}

fn check_nothing_is_missing(is_missing: bool) -> Result<(), Failure> {
    if is_missing {
        let reason = "the update left parts that can not be placed";
        return Err(Failure::Spoilt(reason.to_owned()));
    }
    Ok(())
}
