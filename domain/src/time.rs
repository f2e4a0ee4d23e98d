//! Time as the domain sees it: microseconds since the epoch, from a clock that is passed in.
//!
//! Invariants
//! - Both databases hold microseconds, so a stored time compares equal to the one that was written.
//! - Commands never read a clock; the service that builds a command does.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Microseconds since 1970-01-01 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The time this many microseconds after the epoch.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since the epoch.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// This time and a duration later.
    pub fn plus(self, duration: Duration) -> Self {
        Self(
            self.0
                .saturating_add(duration.as_micros().min(i64::MAX as u128) as i64),
        )
    }

    /// How long ago `earlier` was; zero if it is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0).max(0) as u64)
    }
}

/// Where the hour comes from.
pub trait Clock: Send + Sync + 'static {
    /// The present time.
    fn now(&self) -> Timestamp;
}

/// A clock that is shared.
pub type SharedClock = Arc<dyn Clock>;

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is where the hour comes from"
    )]
    fn now(&self) -> Timestamp {
        let elapsed = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp(elapsed.as_micros() as i64)
    }
}

/// A clock that stands still until it is moved.
#[cfg(feature = "test-support")]
#[derive(Debug)]
pub struct TestClock(std::sync::atomic::AtomicI64);

#[cfg(feature = "test-support")]
impl TestClock {
    /// A clock that shows `start`.
    pub fn new(start: Timestamp) -> Arc<Self> {
        Arc::new(Self(start.0.into()))
    }

    /// Moves the clock forward.
    pub fn advance(&self, duration: Duration) {
        self.0.fetch_add(
            duration.as_micros() as i64,
            std::sync::atomic::Ordering::SeqCst,
        );
    }
}

#[cfg(feature = "test-support")]
impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(std::sync::atomic::Ordering::SeqCst))
    }
}
