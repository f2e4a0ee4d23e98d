//! Two legs, one order.
//!
//! Invariants
//! - Candidates come from both legs: what one of them did not find can be the best all the same.
//! - Words count by the share of the question that they cover, so that few common words never outvote a meaning; meanings
//!   count by how far they stand out from what is usual there.
//! - Age decides between equals, and never turns a clear order around.

use std::collections::HashMap;

use domain::search::Found;
use domain::time::Timestamp;
use uuid::Uuid;

use crate::index::Hit;
use crate::vectors::Compared;

/// The part of a score that age makes.
const AGE_PART: f64 = 0.04;
/// After how many days a thing counts half as fresh.
const HALF_LIFE_DAYS: f64 = 30.0;
/// A meaning that stands out less than this from what is usual is as good as noise.
const STANDS_OUT: f64 = 0.15;

/// What both legs found, best first, at most `limit`.
pub(crate) fn fuse(
    keyword: Option<&[Hit]>,
    vector: Option<&Compared>,
    now: Timestamp,
    limit: usize,
) -> Vec<Found> {
    let mut found: HashMap<Uuid, Found> = HashMap::new();
    let hits = keyword.unwrap_or_default();
    let best = hits.iter().map(|hit| hit.score).fold(1.0, f64::max);
    for hit in hits {
        found.insert(
            hit.stored.id,
            Found {
                kind: hit.stored.kind,
                id: hit.stored.id,
                score: hit.score / best,
                keyword: Some(hit.coverage),
                vector: None,
                at: hit.stored.at,
            },
        );
    }
    if let Some(compared) = vector {
        add_meanings(&mut found, compared);
    }
    let legs = f64::from(u8::from(keyword.is_some()) + u8::from(vector.is_some())).max(1.0);
    let mut found: Vec<Found> = found.into_values().collect();
    for one in &mut found {
        let days = now.since(one.at).as_secs_f64() / 86_400.0;
        let freshness = 0.5_f64.powf(days / HALF_LIFE_DAYS);
        one.score = one.score / legs * (1.0 - AGE_PART) + freshness * AGE_PART;
    }
    found.sort_by(|one, other| {
        let by_score = other.score.total_cmp(&one.score);
        by_score.then_with(|| other.id.cmp(&one.id))
    });
    found.truncate(limit);
    found
}

fn add_meanings(found: &mut HashMap<Uuid, Found>, compared: &Compared) {
    let usual = f64::from(compared.usual);
    let best = compared
        .nearest
        .first()
        .map_or(usual, |near| f64::from(near.cosine));
    let spread = (best - usual).max(STANDS_OUT);
    for near in &compared.nearest {
        let cosine = f64::from(near.cosine);
        let share = ((cosine - usual) / spread).clamp(0.0, 1.0);
        let one = found.entry(near.id).or_insert(Found {
            kind: near.kind,
            id: near.id,
            score: 0.0,
            keyword: None,
            vector: None,
            at: near.at,
        });
        one.score += share;
        one.vector = Some(cosine);
    }
}
