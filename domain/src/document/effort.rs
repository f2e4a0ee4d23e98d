//! What applying updates costs in processor time, and how much of it a document bears.
//!
//! The document library places a block among those that were put to the same place at the same time by looking at them one
//! by one, so a few hundred kilobytes can be made to cost hours, in one update or in many harmless ones. What an editor
//! makes costs next to nothing there, whatever its size. So it is the cost that tells them apart.
//!
//! Invariants
//! - Only time beyond the ordinary counts: one update may cost so much, and a document so much in sum, because opening it
//!   costs that again each time.
//! - The sum is a guess, since some of it is paid once only. Where it is over the limit, opening the document decides.
//! - Time is that of the thread on its processor, so that a busy machine does not make honest work look hostile. Updates of
//!   a few blocks are so many that reading that clock would show; theirs is the wall's, which is never less.

use std::time::{Duration, Instant};

use nix::time::ClockId;

/// What is ordinary for an update of any size: many times what it takes.
const PER_UPDATE: Duration = Duration::from_micros(100);
/// What is ordinary for a block, or for a character that is deleted with what hangs on it.
const PER_PART: Duration = Duration::from_micros(10);
/// Deletions make nothing ordinary beyond this.
const MOST_FOR_DELETIONS: Duration = Duration::from_secs(10);
/// What is ordinary for a byte of a stored document that is opened.
const PER_STORED_BYTE: Duration = Duration::from_micros(1);

/// What the present thread works.
#[derive(Debug)]
pub(crate) enum Stopwatch {
    /// By its processor time.
    Processor(Duration),
    /// By the wall's, which counts interruptions too.
    Wall(Instant),
}

impl Stopwatch {
    /// Starts.
    pub(crate) fn start() -> Self {
        Self::Processor(thread_time())
    }

    /// Starts for something short.
    pub(crate) fn start_short() -> Self {
        Self::Wall(Instant::now())
    }

    /// What the thread has worked since, at most; only on the thread that started it.
    pub(crate) fn elapsed(&self) -> Duration {
        match self {
            Self::Processor(since) => thread_time().saturating_sub(*since),
            Self::Wall(since) => since.elapsed(),
        }
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

    /// Whether it has cost too much by now, whatever it brings.
    pub(crate) fn exceeds(&self, limit: Duration) -> bool {
        self.beyond_ordinary() > limit
    }

    fn beyond_ordinary(&self) -> Duration {
        let deletions = PER_PART
            .saturating_mul(self.deleted)
            .min(MOST_FOR_DELETIONS);
        let ordinary = PER_UPDATE + PER_PART.saturating_mul(self.blocks) + deletions;
        self.spent.saturating_sub(ordinary)
    }
}

/// What opening a document costs beyond the ordinary: measured when it was opened, and guessed since.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Strain {
    sum: Duration,
    /// Whether what was done last added to it: what costs nothing is welcome in any document.
    has_grown: bool,
}

impl Strain {
    /// The strain of a document of so many bytes that took so long to open.
    pub(crate) fn of_opening(spent: Duration, bytes: usize) -> Self {
        let ordinary = PER_STORED_BYTE.saturating_mul(u32::try_from(bytes).unwrap_or(u32::MAX));
        Self {
            sum: spent.saturating_sub(ordinary),
            has_grown: true,
        }
    }

    /// Adds an update that was applied.
    pub(crate) fn add(&mut self, effort: &Effort) {
        let beyond = effort.beyond_ordinary();
        self.sum += beyond;
        self.has_grown = !beyond.is_zero();
    }

    /// Whether it has come to be more than a document may cost.
    pub(crate) fn exceeds(self, limit: Duration) -> bool {
        self.has_grown && self.sum > limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(5);

    fn effort(spent: Duration, blocks: usize) -> Effort {
        let mut effort = Effort::default();
        effort.add(spent, blocks, 0);
        effort
    }

    #[test]
    fn ordinary_work_strains_nothing_however_much_it_is() {
        let mut strain = Strain::default();
        for _ in 0..10_000 {
            let ordinary = effort(Duration::from_millis(900), 100_000);
            assert!(!ordinary.exceeds(Duration::ZERO));
            strain.add(&ordinary);
        }
        assert!(!strain.exceeds(Duration::ZERO));
    }

    #[test]
    fn costly_updates_add_up() {
        let mut strain = Strain::default();
        for _ in 0..5 {
            strain.add(&effort(Duration::from_millis(990), 10));
            assert!(!strain.exceeds(LIMIT));
        }
        strain.add(&effort(Duration::from_millis(990), 10));
        assert!(strain.exceeds(LIMIT));
        strain.add(&effort(Duration::ZERO, 1));
        assert!(
            !strain.exceeds(LIMIT),
            "ordinary updates are taken all the same"
        );
    }

    #[test]
    fn an_update_of_few_blocks_may_not_take_long() {
        assert!(effort(Duration::from_secs(9), 10).exceeds(LIMIT));
        assert!(!effort(Duration::from_secs(9), 600_000).exceeds(LIMIT));
    }

    #[test]
    fn a_document_that_was_costly_to_open_is_strained() {
        assert!(Strain::of_opening(Duration::from_mins(1), 100_000).exceeds(LIMIT));
        assert!(!Strain::of_opening(Duration::from_mins(1), 60_000_000).exceeds(LIMIT));
    }
}
