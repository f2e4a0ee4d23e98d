//! How often words are used, as far as the person who searches may know.
//!
//! Invariants
//! - Counts are those of the scopes that are searched: how others use a word moves no score.
//! - The length of a usual text is a constant for each kind, so that a score means the same in every workspace.

use std::collections::HashMap;

use domain::search::SearchKind;
use tantivy::Term;
use tantivy::query::Bm25StatisticsProvider;
use tantivy::schema::Field;

use super::Fields;

/// Words of a usual text of each kind.
const fn usual_length(kind: SearchKind) -> u64 {
    match kind {
        SearchKind::Task => 50,
        SearchKind::Work => 250,
        SearchKind::Memory | SearchKind::Message => 25,
    }
}

/// Counts for one search.
pub(super) struct Statistics {
    things: u64,
    lengths: HashMap<Field, u64>,
    /// How many things hold the word of each term, over all scopes that are searched.
    counts: HashMap<Term, u64>,
}

impl Statistics {
    pub(super) fn new(fields: &Fields, things: u64, counts: HashMap<Term, u64>) -> Self {
        let most = counts.values().copied().max().unwrap_or_default();
        let lengths = SearchKind::ALL.iter();
        Self {
            // Things that were deleted count until their segment is merged, in one number and not yet in the other.
            things: things.max(most).max(1),
            lengths: lengths
                .map(|kind| (fields.words_of(*kind), usual_length(*kind)))
                .collect(),
            counts,
        }
    }

    /// How much it says about a thing that it holds a word which `count` things hold.
    pub(super) fn weight(&self, count: u64) -> f32 {
        let (things, count) = (self.things as f32, count as f32);
        (1.0 + (things - count + 0.5) / (count + 0.5)).ln()
    }
}

impl Bm25StatisticsProvider for Statistics {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        Ok(self.things * self.lengths.get(&field).copied().unwrap_or(1))
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.things)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        Ok(self.counts.get(term).copied().unwrap_or_default())
    }
}
