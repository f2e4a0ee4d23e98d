//! How often the index is written: seldom enough that it has few segments, and at once where somebody waits.
//!
//! Invariants
//! - A work that is edited all the time is read again only after a while that grows with what reading it costs.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use domain::ids::{WorkId, WorkspaceId};
use tokio_util::sync::CancellationToken;

/// Between two commits for which nobody waits.
const COMMITS: Duration = Duration::from_millis(200);
/// Where only positions moved: they are committed so that a restart does not read the same events again.
const POSITIONS: Duration = Duration::from_secs(2);
/// Things that are written to a segment before it is committed at the latest.
const THINGS: usize = 50_000;
/// How long a work that was just read is left alone at least.
const WORKS: Duration = Duration::from_secs(1);
/// How many times as long as reading it took.
const WORK_COST: u32 = 20;
/// How long to wait after the store has failed.
const PAUSE: Duration = Duration::from_secs(1);
/// Works that are remembered.
const REMEMBERED: usize = 10_000;

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

/// Works whose content changes all the time.
#[derive(Default)]
pub(super) struct Works {
    /// From when on a work may be read again.
    next: HashMap<WorkId, Instant>,
    /// Works that wait for that.
    deferred: HashMap<WorkId, WorkspaceId>,
}

impl Works {
    /// Whether a work is to be read later; it is remembered then.
    pub(super) fn defer(&mut self, workspace: WorkspaceId, work: WorkId) -> bool {
        let is_early = self
            .next
            .get(&work)
            .is_some_and(|next| *next > Instant::now());
        if is_early {
            self.deferred.insert(work, workspace);
        }
        is_early
    }

    /// Works of a former process that waited.
    pub(super) fn inherit(&mut self, workspace: WorkspaceId, works: &[WorkId]) {
        self.deferred
            .extend(works.iter().map(|work| (*work, workspace)));
    }

    /// Notes that works were read, and how long all of them took.
    pub(super) fn read(&mut self, works: impl Iterator<Item = WorkId>, took: Duration) {
        if self.next.len() > REMEMBERED {
            let now = Instant::now();
            self.next.retain(|_, next| *next > now);
        }
        let next = Instant::now() + WORKS.max(took * WORK_COST);
        for work in works {
            self.deferred.remove(&work);
            self.next.insert(work, next);
        }
    }

    /// Works that waited long enough.
    pub(super) fn due(&self) -> Vec<(WorkspaceId, WorkId)> {
        let now = Instant::now();
        let is_due = |work: &WorkId| self.next.get(work).is_none_or(|next| *next <= now);
        let due = self.deferred.iter().filter(|(work, _)| is_due(work));
        due.map(|(work, workspace)| (*workspace, *work)).collect()
    }

    /// How long the first of them waits.
    pub(super) fn wait(&self) -> Option<Duration> {
        let now = Instant::now();
        let waits = self.deferred.keys().map(|work| {
            let next = self.next.get(work);
            next.map_or(Duration::ZERO, |next| next.saturating_duration_since(now))
        });
        waits.min()
    }

    /// Works of a workspace that wait.
    pub(super) fn of(&self, workspace: WorkspaceId) -> Vec<WorkId> {
        let deferred = self.deferred.iter();
        deferred
            .filter(|(_, of)| **of == workspace)
            .map(|(work, _)| *work)
            .collect()
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// Waits before something that failed is tried again, or until everything ends.
pub(super) async fn pause(stop: &CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = tokio::time::sleep(PAUSE) => {}
    }
}
