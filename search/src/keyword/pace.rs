//! How often the index is written: seldom enough that it has few segments, and at once where somebody waits.

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

/// Between two commits for which nobody waits.
const COMMITS: Duration = Duration::from_millis(200);
/// Where only positions moved: they are committed so that a restart does not read the same events again.
const POSITIONS: Duration = Duration::from_secs(2);
/// Things that are written to a segment before it is committed at the latest.
const THINGS: usize = 50_000;
/// How long to wait after the store has failed.
const PAUSE: Duration = Duration::from_secs(1);
/// When what is written is to be committed.
pub(super) struct Commits {
    last: Instant,
    /// Things since the last commit.
    pub(super) pending: usize,
    /// Whether somebody may look for what came since.
    pub(super) is_urgent: bool,
    /// Whether positions moved since.
    pub(super) is_moved: bool,
}

impl Default for Commits {
    fn default() -> Self {
        Self {
            last: Instant::now(),
            pending: 0,
            is_urgent: false,
            is_moved: false,
        }
    }
}

impl Commits {
    pub(super) fn is_due(&self, has_waiting: bool) -> bool {
        let is_time = has_waiting || self.last.elapsed() >= COMMITS;
        let is_lazy = self.is_moved && self.last.elapsed() >= POSITIONS;
        self.pending >= THINGS || (self.is_urgent && is_time) || is_lazy
    }

    pub(super) fn done(&mut self) {
        *self = Self::default();
    }

    /// How long the next commit may wait; none where there is nothing to commit.
    pub(super) fn wait(&self) -> Option<Duration> {
        let pause = match (self.is_urgent, self.is_moved) {
            (true, _) => COMMITS,
            (false, true) => POSITIONS,
            (false, false) => return None,
        };
        Some(pause.saturating_sub(self.last.elapsed()))
    }
}

/// Waits before something that failed is tried again, or until everything ends.
pub(super) async fn pause(stop: &CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = tokio::time::sleep(PAUSE) => {}
    }
}
