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
        Self { per_second: 100.0, burst: 2_000.0 }
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
        Self { limit, by_person: Mutex::new(HashMap::new()) }
    }

    /// Takes `cost` points; where there are too few, takes nothing and says after what time to try again.
    pub fn take(&self, person: UserId, cost: u64) -> Result<Throttle, Duration> {
        // A request dearer than a full bucket waits for a full one, else it could never run.
        let cost = (cost as f64).min(self.limit.burst);
        self.with(person, |bucket| {
            if bucket.available < cost {
                let missing = (cost - bucket.available) / self.limit.per_second.max(f64::EPSILON);
                return Err(Duration::try_from_secs_f64(missing).unwrap_or(Duration::MAX));
            }
            bucket.available -= cost;
            Ok(self.throttle(bucket))
        })
    }

    /// Sets right what was taken for a request that cost `actual` points in the end.
    pub fn settle(&self, person: UserId, requested: u64, actual: u64) -> Throttle {
        let difference = (requested as f64).min(self.limit.burst) - actual as f64;
        self.with(person, |bucket| {
            bucket.available = (bucket.available + difference).clamp(0.0, self.limit.burst);
            self.throttle(bucket)
        })
    }

    fn with<T>(&self, person: UserId, change: impl FnOnce(&mut Bucket) -> T) -> T {
        let now = Instant::now();
        let mut buckets = self.by_person.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() > SWEEP_ABOVE {
            buckets.retain(|_, bucket| self.refilled(*bucket, now).available < self.limit.burst);
        }
        let bucket = buckets.entry(person).or_insert(Bucket { available: self.limit.burst, at: now });
        *bucket = self.refilled(*bucket, now);
        change(bucket)
    }

    fn refilled(&self, bucket: Bucket, now: Instant) -> Bucket {
        let restored = now.duration_since(bucket.at).as_secs_f64() * self.limit.per_second;
        Bucket { available: (bucket.available + restored).min(self.limit.burst), at: now }
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

    #[tokio::test(start_paused = true)]
    async fn points_run_out_for_one_person_and_come_back_with_time() {
        let buckets = Buckets::new(RateLimit { per_second: 10.0, burst: 100.0 });
        let (one, other) = (UserId::new(), UserId::new());
        assert_eq!(buckets.take(one, 90).expect("a full bucket").available, 10.0);
        assert_eq!(buckets.take(one, 60), Err(Duration::from_secs(5)));
        assert!(buckets.take(other, 60).is_ok());
        tokio::time::advance(Duration::from_secs(5)).await;
        assert!(buckets.take(one, 60).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_not_used_is_given_back_and_never_more_than_a_full_bucket() {
        let buckets = Buckets::new(RateLimit { per_second: 0.0, burst: 100.0 });
        let person = UserId::new();
        buckets.take(person, 100).expect("a full bucket");
        assert_eq!(buckets.settle(person, 100, 30).available, 70.0);
        assert_eq!(buckets.settle(person, 500, 0).available, 100.0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_dearer_than_the_burst_waits_for_a_full_bucket() {
        let buckets = Buckets::new(RateLimit { per_second: 1.0, burst: 10.0 });
        assert!(buckets.take(UserId::new(), 500).is_ok());
    }
}
