//! Works whose content changes all the time: each change would have all of a work read.
//!
//! Invariants
//! - A work that is edited all the time is read again only after a while that grows with what reading it costs.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use domain::ids::{WorkId, WorkspaceId};

/// Works that are remembered.
const REMEMBERED: usize = 10_000;

/// Works whose content changes all the time.
pub(crate) struct Works {
    /// How long a work that was just read is left alone at least.
    rest: Duration,
    /// And how many times as long as reading it took.
    cost: u32,
    /// From when on a work may be read again.
    next: HashMap<WorkId, Instant>,
    /// Works that wait for that.
    deferred: HashMap<WorkId, WorkspaceId>,
}

impl Works {
    pub(crate) fn new(rest: Duration, cost: u32) -> Self {
        Self {
            rest,
            cost,
            next: HashMap::new(),
            deferred: HashMap::new(),
        }
    }

    /// Whether a work is to be read later; it is remembered then.
    pub(crate) fn defer(&mut self, workspace: WorkspaceId, work: WorkId) -> bool {
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
    pub(crate) fn inherit(&mut self, workspace: WorkspaceId, works: &[WorkId]) {
        self.deferred
            .extend(works.iter().map(|work| (*work, workspace)));
    }

    /// Notes that works were read, and how long all of them took.
    pub(crate) fn read(&mut self, works: impl Iterator<Item = WorkId>, took: Duration) {
        if self.next.len() > REMEMBERED {
            let now = Instant::now();
            self.next.retain(|_, next| *next > now);
        }
        let next = Instant::now() + self.rest.max(took * self.cost);
        for work in works {
            self.deferred.remove(&work);
            self.next.insert(work, next);
        }
    }

    /// Works that waited long enough.
    pub(crate) fn due(&self) -> Vec<(WorkspaceId, WorkId)> {
        let now = Instant::now();
        let is_due = |work: &WorkId| self.next.get(work).is_none_or(|next| *next <= now);
        let due = self.deferred.iter().filter(|(work, _)| is_due(work));
        due.map(|(work, workspace)| (*workspace, *work)).collect()
    }

    /// How long the first of them waits.
    pub(crate) fn wait(&self) -> Option<Duration> {
        let now = Instant::now();
        let waits = self.deferred.keys().map(|work| {
            let next = self.next.get(work);
            next.map_or(Duration::ZERO, |next| next.saturating_duration_since(now))
        });
        waits.min()
    }

    /// Works of a workspace that wait.
    pub(crate) fn of(&self, workspace: WorkspaceId) -> Vec<WorkId> {
        let deferred = self.deferred.iter();
        deferred
            .filter(|(_, of)| **of == workspace)
            .map(|(work, _)| *work)
            .collect()
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.rest, self.cost);
    }
}
