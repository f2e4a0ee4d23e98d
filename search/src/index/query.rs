//! Asking the keyword index.
//!
//! Invariants
//! - What a person typed is only ever cut into words: there is no query language, so nothing can be written in it.
//! - A score is the share of what was asked for: words that stand nowhere count as asked for and not found.
//! - The work is bounded: the rarest words of a long question are asked for.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use domain::ids::{UserId, WorkspaceId};
use domain::search::SearchKind;
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, ConstScoreQuery, Occur, Query, TermQuery, TermSetQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocSet, Searcher, TERMINATED, Term};
use uuid::Uuid;

use super::documents::{Columns, Scope};
use super::statistics::Statistics;
use super::{Fields, Stored, place_of};
use crate::Result;
use crate::words;

/// Words of one question that are looked for.
const WORDS: usize = 32;
/// Words of one question that are counted.
const COUNTED: usize = 160;

/// A question to the index.
#[derive(Debug, Clone)]
pub(crate) struct KeywordQuery {
    pub(crate) workspace: WorkspaceId,
    /// For whom.
    pub(crate) user: UserId,
    pub(crate) text: String,
    /// At least one.
    pub(crate) kinds: Vec<SearchKind>,
    /// Only these; empty for all.
    pub(crate) among: Vec<Uuid>,
    pub(crate) limit: usize,
}

/// Something that words found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Hit {
    pub(crate) stored: Stored,
    /// How much of what was asked for stands in it, 0 to 1.
    pub(crate) coverage: f64,
    /// The same, without an upper end: tells apart what holds all of it.
    pub(crate) score: f64,
}

/// A word of the question: its terms in every scope, and how many things hold it.
struct Asked {
    terms: Vec<Term>,
    count: u64,
}

impl KeywordQuery {
    /// The best hits, best first.
    pub(crate) fn run(&self, fields: &Fields, searcher: &Searcher) -> Result<Vec<Hit>> {
        let mut asked = self.asked(fields, searcher)?;
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        asked.sort_by_key(|word| (word.count == 0, word.count));
        let counts = asked
            .iter()
            .flat_map(|word| word.terms.iter().map(|term| (term.clone(), word.count)));
        let statistics = Statistics::new(fields, self.things(fields, searcher)?, counts.collect());
        let reachable: f32 = asked.iter().map(|word| statistics.weight(word.count)).sum();
        let known = asked.into_iter().filter(|word| word.count > 0).take(WORDS);
        let terms: Vec<Term> = known.flat_map(|word| word.terms).collect();
        if terms.is_empty() {
            return Ok(Vec::new());
        }
        let query = self.query(fields, terms);
        let collector = TopDocs::with_limit(self.limit.max(1)).order_by_score();
        let found = searcher.search_with_statistics_provider(&query, &collector, &statistics)?;
        hits(searcher, found, reachable)
    }

    /// The words of the question. One that nothing holds may be Russian in Latin letters.
    fn asked(&self, fields: &Fields, searcher: &Searcher) -> Result<Vec<Asked>> {
        let scopes = [
            Scope::new(self.workspace, None),
            Scope::new(self.workspace, Some(self.user)),
        ];
        let look_up = |word: &str| -> Result<Asked> {
            let mut asked = Asked {
                terms: Vec::new(),
                count: 0,
            };
            for kind in &self.kinds {
                for scope in &scopes {
                    let field = fields.words_of(*kind);
                    let term = Term::from_field_text(field, &scope.term(word));
                    let count = searcher.doc_freq(&term)?;
                    if count > 0 {
                        asked.terms.push(term);
                        asked.count += count;
                    }
                }
            }
            Ok(asked)
        };
        let mut found = Vec::new();
        for word in words::question(&self.text).into_iter().take(COUNTED) {
            let mut asked = look_up(&word.stem)?;
            if let (0, Some(cyrillic)) = (asked.count, word.in_cyrillic()) {
                asked = look_up(&cyrillic)?;
            }
            found.push(asked);
        }
        Ok(found)
    }

    /// How many things are searched, those of other people's scopes included.
    fn things(&self, fields: &Fields, searcher: &Searcher) -> Result<u64> {
        let mut things = 0;
        for kind in &self.kinds {
            let place = place_of(self.workspace, *kind);
            things += searcher.doc_freq(&Term::from_field_bytes(fields.place, &place))?;
        }
        Ok(things)
    }

    fn query(&self, fields: &Fields, terms: Vec<Term>) -> BooleanQuery {
        let words = terms.into_iter().map(|term| {
            let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
            (Occur::Should, Box::new(query) as Box<dyn Query>)
        });
        let words = BooleanQuery::new(words.collect());
        if self.among.is_empty() {
            return words;
        }
        let ids = self.among.iter();
        let ids = ids.map(|id| Term::from_field_bytes(fields.id, id.as_bytes()));
        let among = ConstScoreQuery::new(Box::new(TermSetQuery::new(ids)), 0.0);
        BooleanQuery::new(vec![
            (Occur::Must, Box::new(words)),
            (Occur::Must, Box::new(among)),
        ])
    }
}

fn hits(searcher: &Searcher, found: Vec<(f32, DocAddress)>, reachable: f32) -> Result<Vec<Hit>> {
    let mut columns: HashMap<u32, Columns> = HashMap::new();
    let mut hits = Vec::with_capacity(found.len());
    for (score, address) in found {
        let segment = address.segment_ord;
        let columns = match columns.entry(segment) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(Columns::of(searcher.segment_reader(segment))?),
        };
        let stored = columns.read(address.doc_id);
        let score = f64::from(score / reachable);
        hits.extend(stored.map(|stored| Hit {
            stored,
            coverage: score.min(1.0),
            score,
        }));
    }
    Ok(hits)
}

/// Everything that the index holds of a workspace.
pub(crate) fn of_workspace(
    fields: &Fields,
    searcher: &Searcher,
    workspace: WorkspaceId,
) -> Result<Vec<Stored>> {
    let mut found = Vec::new();
    for segment in searcher.segment_readers() {
        let columns = Columns::of(segment)?;
        let inverted = segment.inverted_index(fields.place)?;
        for kind in SearchKind::ALL {
            let term = Term::from_field_bytes(fields.place, &place_of(workspace, *kind));
            let Some(mut postings) = inverted.read_postings(&term, IndexRecordOption::Basic)?
            else {
                continue;
            };
            let mut document = postings.doc();
            while document != TERMINATED {
                if !segment.is_deleted(document) {
                    found.extend(columns.read(document));
                }
                document = postings.advance();
            }
        }
    }
    Ok(found)
}
