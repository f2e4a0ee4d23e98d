//! What applying updates costs in processor time, and how much of it a document bears.
//!
//! The document library places a block among those that were put to the same place at the same time by looking at them one
//! by one, so a few hundred kilobytes can be made to cost hours, in one update or in many harmless ones. What an editor
//! makes costs next to nothing there, whatever its size. So it is the cost that tells them apart.
//!
//! Invariants
//! - Only time beyond the ordinary counts, and a document bears [`LIMIT`] of it in sum: opening it again costs about the same.
//! - Time is that of the thread on its processor, so that a busy machine does not make honest work look hostile.

use std::time::Duration;

use nix::time::ClockId;

/// What a document bears beyond the ordinary.
const LIMIT: Duration = Duration::from_secs(5);
/// What is ordinary for an update of any size: many times what it takes.
const PER_UPDATE: Duration = Duration::from_micros(100);
/// What is ordinary for a block, or for a character that is deleted with what hangs on it.
const PER_PART: Duration = Duration::from_micros(10);
/// Deletions make nothing ordinary beyond this.
const MOST_FOR_DELETIONS: Duration = Duration::from_secs(10);
/// What is ordinary for a byte of a stored document that is opened.
const PER_STORED_BYTE: Duration = Duration::from_micros(1);
/// What each ordinary update takes back of the strain, so that chance does not add up over months.
const RECOVERY: Duration = Duration::from_micros(20);

/// Processor time of the present thread.
#[derive(Debug)]
pub(crate) struct Stopwatch(Duration);

impl Stopwatch {
    /// Starts.
    pub(crate) fn start() -> Self {
        Self(thread_time())
    }

    /// What the thread has worked since; only on the thread that started it.
    pub(crate) fn elapsed(&self) -> Duration {
        thread_time().saturating_sub(self.0)
    }
}

fn thread_time() -> Duration {
    // Without such a clock nothing counts as effort.
    ClockId::CLOCK_THREAD_CPUTIME_ID
        .now()
        .map_or(Duration::ZERO, Duration::from)
}

/// What an update has cost so far, and what of that is ordinary.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Effort {
    spent: Duration,
    blocks: u32,
    deleted: u32,
}

impl Effort {
    /// Adds a portion: its time, and how many blocks it brought and characters it deleted.
    pub(crate) fn add(&mut self, spent: Duration, blocks: usize, deleted: u64) {
        self.spent += spent;
        self.blocks = self.blocks.saturating_add(blocks as u32);
        let deleted = u32::try_from(deleted).unwrap_or(u32::MAX);
        self.deleted = self.deleted.saturating_add(deleted);
    }

    fn beyond_ordinary(&self) -> Duration {
        let deletions = PER_PART.saturating_mul(self.deleted).min(MOST_FOR_DELETIONS);
        let ordinary = PER_UPDATE + PER_PART.saturating_mul(self.blocks) + deletions;
        self.spent.saturating_sub(ordinary)
    }
}

/// What a document has borne beyond the ordinary.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Strain(Duration);

impl Strain {
    /// The strain of a document of so many bytes that took so long to open.
    pub(crate) fn of_opening(spent: Duration, bytes: usize) -> Self {
        let ordinary = PER_STORED_BYTE.saturating_mul(u32::try_from(bytes).unwrap_or(u32::MAX));
        Self(spent.saturating_sub(ordinary).min(LIMIT))
    }

    /// Whether the document bears this as well.
    pub(crate) fn bears(self, effort: &Effort) -> bool {
        let beyond = effort.beyond_ordinary();
        beyond.is_zero() || self.0 + beyond <= LIMIT
    }

    /// Adds an update that was applied.
    pub(crate) fn add(&mut self, effort: &Effort) {
        let beyond = effort.beyond_ordinary();
        self.0 = if beyond.is_zero() {
            self.0.saturating_sub(RECOVERY)
        } else {
            self.0 + beyond
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effort(millis: u64, blocks: usize) -> Effort {
        let mut effort = Effort::default();
        effort.add(Duration::from_millis(millis), blocks, 0);
        effort
    }

    #[test]
    fn ordinary_work_is_borne_without_end() {
        let mut strain = Strain::default();
        for _ in 0..10_000 {
            let ordinary = effort(900, 100_000);
            assert!(strain.bears(&ordinary));
            strain.add(&ordinary);
        }
        assert_eq!(strain.0, Duration::ZERO);
    }

    #[test]
    fn costly_updates_are_borne_up_to_a_sum_and_ordinary_ones_beyond_it() {
        let mut strain = Strain::default();
        let mut borne = 0;
        while strain.bears(&effort(1_000, 10)) {
            strain.add(&effort(1_000, 10));
            borne += 1;
        }
        assert_eq!(borne, 5);
        assert!(strain.bears(&effort(0, 1)));
    }

    #[test]
    fn opening_a_document_that_was_costly_to_make_starts_with_its_strain() {
        let strain = Strain::of_opening(Duration::from_secs(60), 100_000);
        assert!(!strain.bears(&effort(100, 1)));
        let strain = Strain::of_opening(Duration::from_millis(50), 100_000);
        assert!(strain.bears(&effort(100, 1)));
    }
}
