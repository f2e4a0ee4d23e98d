//! Cost over time: a leaky bucket for each person.
//!
//! Invariants
//! - The requested cost is taken before execution, and set right with the actual cost afterwards.
//! - A person is one, with all tokens. Full buckets are forgotten, so memory follows the people who are active.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use domain::ids::UserId;
use tokio::time::Instant;

/// How fast points come back, and how many may be saved up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateLimit {
    /// Points that come back each second.
    pub per_second: f64,
    /// The most points that can be had at once.
    pub burst: f64,
}

impl Default for RateLimit {
    fn default() -> Self {
        Self {
            per_second: 100.0,
            burst: 2_000.0,
        }
    }
}

/// What a person has left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Throttle {
    /// The most points that can be had at once.
    pub maximum: f64,
    /// Points that can be spent now.
    pub available: f64,
    /// Points that come back each second.
    pub restore_rate: f64,
}

/// Buckets beyond this number are swept of those that are full again.
const SWEEP_ABOVE: usize = 4_096;

#[derive(Debug, Clone, Copy)]
struct Bucket {
    available: f64,
    at: Instant,
}

/// The buckets of everybody.
#[derive(Debug)]
pub struct Buckets {
    limit: RateLimit,
    by_person: Mutex<HashMap<UserId, Bucket>>,
}

impl Buckets {
    /// Full buckets for everybody.
    pub fn new(limit: RateLimit) -> Self {
        Self {
            limit,
            by_person: Mutex::new(HashMap::new()),
        }
    }

    /// Takes `cost` points; where there are too few, takes nothing and says after what time to try again.
    pub fn take(&self, person: UserId, cost: u64, now: Instant) -> Result<Throttle, Duration> {
        // A request dearer than a full bucket waits for a full one, else it could never run.
        let cost = (cost as f64).min(self.limit.burst);
        self.with(person, now, |bucket| {
            if bucket.available < cost {
                let missing = (cost - bucket.available) / self.limit.per_second.max(f64::EPSILON);
                return Err(Duration::try_from_secs_f64(missing).unwrap_or(Duration::MAX));
            }
            bucket.available -= cost;
            Ok(self.throttle(bucket))
        })
    }

    /// Sets right what was taken for a request that cost `actual` points in the end.
    pub fn settle(&self, person: UserId, requested: u64, actual: u64, now: Instant) -> Throttle {
        let difference = (requested as f64).min(self.limit.burst) - actual as f64;
        self.with(person, now, |bucket| {
            bucket.available = (bucket.available + difference).clamp(0.0, self.limit.burst);
            self.throttle(bucket)
        })
    }

    fn with<T>(&self, person: UserId, now: Instant, change: impl FnOnce(&mut Bucket) -> T) -> T {
        let mut buckets = self
            .by_person
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if buckets.len() > SWEEP_ABOVE {
            buckets.retain(|_, bucket| self.refilled(*bucket, now).available < self.limit.burst);
        }
        let bucket = buckets.entry(person).or_insert(Bucket {
            available: self.limit.burst,
            at: now,
        });
        *bucket = self.refilled(*bucket, now);
        change(bucket)
    }

    fn refilled(&self, bucket: Bucket, now: Instant) -> Bucket {
        let restored = now.duration_since(bucket.at).as_secs_f64() * self.limit.per_second;
        Bucket {
            available: (bucket.available + restored).min(self.limit.burst),
            at: now,
        }
    }

    fn throttle(&self, bucket: &Bucket) -> Throttle {
        Throttle {
            maximum: self.limit.burst,
            available: bucket.available.floor(),
            restore_rate: self.limit.per_second,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_run_out_for_one_person_and_come_back_with_time() {
        let buckets = Buckets::new(RateLimit {
            per_second: 10.0,
            burst: 100.0,
        });
        let (one, other, start) = (UserId::new(), UserId::new(), Instant::now());
        assert_eq!(
            buckets
                .take(one, 90, start)
                .map(|left| left.available as u32),
            Ok(10)
        );
        assert_eq!(buckets.take(one, 60, start), Err(Duration::from_secs(5)));
        assert!(buckets.take(other, 60, start).is_ok());
        assert!(
            buckets
                .take(one, 60, start + Duration::from_secs(5))
                .is_ok()
        );
    }

    #[test]
    fn what_was_not_used_is_given_back_and_never_more_than_a_full_bucket() {
        let buckets = Buckets::new(RateLimit {
            per_second: 0.0,
            burst: 100.0,
        });
        let (person, now) = (UserId::new(), Instant::now());
        buckets.take(person, 100, now).expect("a full bucket");
        assert_eq!(buckets.settle(person, 100, 30, now).available as u32, 70);
        assert_eq!(buckets.settle(person, 500, 0, now).available as u32, 100);
    }

    #[test]
    fn a_request_dearer_than_the_burst_waits_for_a_full_bucket() {
        let buckets = Buckets::new(RateLimit {
            per_second: 1.0,
            burst: 10.0,
        });
        let (person, now) = (UserId::new(), Instant::now());
        assert!(buckets.take(person, 500, now).is_ok());
        assert_eq!(buckets.take(person, 500, now), Err(Duration::from_secs(10)));
    }
}
