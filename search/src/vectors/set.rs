//! The vectors of a workspace in memory, compared one by one with a question.
//!
//! Invariants
//! - Every vector that the question may meet is compared: nothing is missed that an approximate index would miss.
//! - Things of one kind stand side by side, so that a search for tasks does not read messages.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap};

use domain::embedding::Embedding;
use domain::ids::UserId;
use domain::search::SearchKind;
use domain::time::Timestamp;
use pulp::Arch;
use uuid::Uuid;

use super::code::{self, Question};

/// What is asked of a set.
#[derive(Debug, Clone)]
pub(crate) struct VectorQuery {
    /// For whom.
    pub(crate) user: UserId,
    pub(crate) kinds: Vec<SearchKind>,
    /// Only these; empty for all.
    pub(crate) among: Vec<Uuid>,
    pub(crate) limit: usize,
}

/// Something that meaning found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Near {
    pub(crate) kind: SearchKind,
    pub(crate) id: Uuid,
    pub(crate) at: Timestamp,
    pub(crate) cosine: f32,
}

/// What a comparison came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Compared {
    /// The nearest, nearest first.
    pub(crate) nearest: Vec<Near>,
    /// The cosine of a usual thing of those that were compared.
    pub(crate) usual: f32,
}

/// The vectors of a workspace.
#[derive(Debug, Default)]
pub(crate) struct VectorSet {
    kinds: [OfKind; SearchKind::ALL.len()],
}

#[derive(Debug, Default)]
struct OfKind {
    rows: Vec<Row>,
    steps: Vec<i8>,
    dimensions: usize,
    places: HashMap<Uuid, usize>,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    id: Uuid,
    owner: Option<UserId>,
    at: Timestamp,
    scale: f32,
}

/// A place among the nearest, ordered by its cosine.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Candidate {
    cosine: f32,
    kind: SearchKind,
    place: usize,
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_cosine = self.cosine.total_cmp(&other.cosine);
        by_cosine.then_with(|| (other.kind, other.place).cmp(&(self.kind, self.place)))
    }
}

/// The nearest so far, and the sum of all.
struct Best {
    limit: usize,
    heap: BinaryHeap<Reverse<Candidate>>,
    sum: f64,
    count: usize,
}

impl Best {
    fn offer(&mut self, candidate: Candidate) {
        self.sum += f64::from(candidate.cosine);
        self.count += 1;
        if self.heap.len() < self.limit {
            self.heap.push(Reverse(candidate));
            return;
        }
        if let Some(mut least) = self.heap.peek_mut()
            && candidate > least.0
        {
            *least = Reverse(candidate);
        }
    }
}

impl VectorSet {
    /// Takes what was stored of a thing, in place of what is there of it.
    ///
    /// A vector that can not be read is as good as none.
    pub(crate) fn put(&mut self, embedding: &Embedding) {
        let of_kind = &mut self.kinds[place_of(embedding.kind)];
        of_kind.remove(embedding.id);
        if let Some(vector) = &embedding.vector {
            let (scale, steps) = match code::from_bytes(vector) {
                Ok(read) => read,
                Err(error) => {
                    return tracing::error!(id = %embedding.id, error = ?error, "a stored vector can not be read");
                }
            };
            let row = Row {
                id: embedding.id,
                owner: embedding.owner,
                at: embedding.at,
                scale,
            };
            of_kind.push(row, steps);
        }
    }

    /// Whether a question can be compared with everything of these kinds: vectors of another length say nothing of it.
    pub(crate) fn fits(&self, question: &Question, kinds: &[SearchKind]) -> bool {
        let of_kinds = kinds.iter().map(|kind| &self.kinds[place_of(*kind)]);
        let mut some = of_kinds.filter(|of_kind| !of_kind.rows.is_empty());
        some.all(|of_kind| of_kind.dimensions == question.dimensions())
    }

    /// The nearest things to a question.
    pub(crate) fn compare(&self, question: &Question, query: &VectorQuery) -> Compared {
        let mut best = Best {
            limit: query.limit.max(1),
            heap: BinaryHeap::with_capacity(query.limit + 1),
            sum: 0.0,
            count: 0,
        };
        for kind in &query.kinds {
            let of_kind = &self.kinds[place_of(*kind)];
            if of_kind.dimensions == question.dimensions() {
                of_kind.compare(*kind, question, query, &mut best);
            }
        }
        let usual = best.sum / best.count.max(1) as f64;
        let nearest = best.heap.into_sorted_vec().into_iter();
        Compared {
            nearest: nearest
                .map(|Reverse(candidate)| self.near(candidate))
                .collect(),
            usual: usual as f32,
        }
    }

    fn near(&self, candidate: Candidate) -> Near {
        let row = &self.kinds[place_of(candidate.kind)].rows[candidate.place];
        Near {
            kind: candidate.kind,
            id: row.id,
            at: row.at,
            cosine: candidate.cosine,
        }
    }

    /// Its size in memory, about, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let sizes = self.kinds.iter().map(|of_kind| {
            of_kind.steps.capacity() + of_kind.rows.capacity() * (size_of::<Row>() + 32)
        });
        sizes.sum()
    }
}

impl OfKind {
    fn remove(&mut self, id: Uuid) {
        let Some(place) = self.places.remove(&id) else {
            return;
        };
        let last = self.rows.len() - 1;
        self.rows.swap_remove(place);
        if place != last {
            let from = last * self.dimensions;
            self.steps
                .copy_within(from..from + self.dimensions, place * self.dimensions);
            self.places.insert(self.rows[place].id, place);
        }
        self.steps.truncate(last * self.dimensions);
    }

    fn push(&mut self, row: Row, steps: impl Iterator<Item = i8>) {
        let before = self.steps.len();
        self.steps.extend(steps);
        let dimensions = self.steps.len() - before;
        if self.rows.is_empty() {
            self.dimensions = dimensions;
        } else if dimensions != self.dimensions {
            // A model has one length; a row of another is damaged, and is as good as none.
            self.steps.truncate(before);
            return;
        }
        self.places.insert(row.id, self.rows.len());
        self.rows.push(row);
    }

    fn compare(&self, kind: SearchKind, question: &Question, query: &VectorQuery, best: &mut Best) {
        let arch = Arch::new();
        if query.among.is_empty() {
            return arch.dispatch(|| self.compare_all(kind, question, query.user, best));
        }
        arch.dispatch(|| {
            let places = query.among.iter().filter_map(|id| self.places.get(id));
            for place in places {
                self.compare_one(*place, kind, question, query.user, best);
            }
        });
    }

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "only what is inlined is compiled for the vectors of the machine at hand"
    )]
    fn compare_all(&self, kind: SearchKind, question: &Question, user: UserId, best: &mut Best) {
        for place in 0..self.rows.len() {
            self.compare_one(place, kind, question, user, best);
        }
    }

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "only what is inlined is compiled for the vectors of the machine at hand"
    )]
    fn compare_one(
        &self,
        place: usize,
        kind: SearchKind,
        question: &Question,
        user: UserId,
        best: &mut Best,
    ) {
        let row = &self.rows[place];
        if row.owner.is_some_and(|owner| owner != user) {
            return;
        }
        let steps = &self.steps[place * self.dimensions..(place + 1) * self.dimensions];
        let cosine = question.cosine(row.scale, steps);
        best.offer(Candidate {
            cosine,
            kind,
            place,
        });
    }
}

fn place_of(kind: SearchKind) -> usize {
    let place = SearchKind::ALL.iter().position(|other| *other == kind);
    place.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn embedding(id: u128, vector: Option<[f32; 4]>, owner: Option<UserId>) -> Embedding {
        Embedding {
            kind: SearchKind::Task,
            id: Uuid::from_u128(id),
            owner,
            at: Timestamp::from_micros(0),
            text_hash: [0; 32],
            vector: vector.map(|vector| Bytes::from(code::to_bytes(&vector))),
        }
    }

    fn nearest(set: &VectorSet, user: UserId, among: &[u128]) -> Vec<u128> {
        let query = VectorQuery {
            user,
            kinds: SearchKind::ALL.to_vec(),
            among: among.iter().copied().map(Uuid::from_u128).collect(),
            limit: 10,
        };
        let compared = set.compare(&Question::new(&[1.0, 0.0, 0.0, 0.0]), &query);
        let ids = compared.nearest.iter().map(|near| near.id.as_u128());
        ids.collect()
    }

    #[test]
    fn the_nearest_comes_first_and_what_is_gone_comes_never() {
        let mut set = VectorSet::default();
        for (id, x) in [(1, 0.1), (2, 0.9), (3, 0.5)] {
            set.put(&embedding(id, Some([x, 1.0 - x, 0.0, 0.0]), None));
        }
        let user = UserId::new();
        assert_eq!(nearest(&set, user, &[]), [2, 3, 1]);
        assert_eq!(nearest(&set, user, &[1, 3, 7]), [3, 1]);
        set.put(&embedding(2, None, None));
        set.put(&embedding(1, Some([1.0, 0.0, 0.0, 0.0]), None));
        assert_eq!(nearest(&set, user, &[]), [1, 3]);
    }

    #[test]
    fn what_is_private_is_found_by_its_owner_alone() {
        let mut set = VectorSet::default();
        let (owner, other) = (UserId::new(), UserId::new());
        set.put(&embedding(1, Some([1.0, 0.0, 0.0, 0.0]), Some(owner)));
        assert_eq!(nearest(&set, owner, &[]), [1]);
        assert!(nearest(&set, other, &[]).is_empty());
        assert!(nearest(&set, other, &[1]).is_empty());
    }
}
