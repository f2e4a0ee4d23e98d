//! The editors of one document together: who has made which edits, and who has got them.
//!
//! Invariants
//! - A delivery is one edit that has reached one other editor for the first time; an edit's own echo is none.
//! - Deliveries count from the stamp in the edit to the arrival of the frame that brings it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Result, ensure};
use bytes::Bytes;
use tokio::sync::Notify;

use crate::replica::Replica;
use crate::stamp;

/// What one load counts over all documents.
#[derive(Default)]
pub(crate) struct Counts {
    /// Edits that were sent.
    pub(crate) sent: AtomicU64,
    /// Edits that have reached one other editor.
    pub(crate) delivered: AtomicU64,
    /// Microseconds that edits took which were sent in the measured time.
    latencies: Mutex<Vec<u32>>,
    from: AtomicU64,
    to: AtomicU64,
}

impl Counts {
    /// Begins to note how long edits take that are sent in this time.
    pub(crate) fn measure(&self, from: u64, to: u64) {
        self.to.store(to, Ordering::Relaxed);
        self.from.store(from, Ordering::Relaxed);
    }

    /// How long the measured edits took, sorted, in milliseconds.
    pub(crate) fn latencies_ms(&self) -> Vec<f64> {
        let mut sorted = std::mem::take(&mut *lock(&self.latencies));
        sorted.sort_unstable();
        sorted
            .into_iter()
            .map(|micros| f64::from(micros) / 1e3)
            .collect()
    }

    fn note(&self, sent_at: u64, arrived_at: u64) {
        let is_measured =
            (self.from.load(Ordering::Relaxed)..self.to.load(Ordering::Relaxed)).contains(&sent_at);
        if is_measured {
            let micros = arrived_at.saturating_sub(sent_at);
            lock(&self.latencies).push(u32::try_from(micros).unwrap_or(u32::MAX));
        }
    }
}

/// The editors of one document.
pub(crate) struct Crowd {
    members: Vec<Member>,
    counts: Arc<Counts>,
}

/// An editor, as the others see it.
#[derive(Default)]
struct Member {
    sent: AtomicU64,
    /// How often its edits have reached somebody.
    delivered: AtomicU64,
    /// Somebody has got an edit of it.
    moved: Notify,
}

/// What one editor has got, by author and number.
pub(crate) struct Got(Vec<Vec<bool>>);

impl Crowd {
    /// This many editors.
    pub(crate) fn new(size: usize, counts: Arc<Counts>) -> Arc<Self> {
        Arc::new(Self {
            members: (0..size).map(|_| Member::default()).collect(),
            counts,
        })
    }

    /// Nothing was got yet.
    pub(crate) fn got(&self) -> Got {
        Got(vec![Vec::new(); self.members.len()])
    }

    /// Notes that an editor sends an edit.
    pub(crate) fn sends(&self, author: usize) {
        self.members[author].sent.fetch_add(1, Ordering::Relaxed);
        self.counts.sent.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes what an update has brought to an editor.
    pub(crate) fn gets(&self, reader: usize, got: &mut Got, update: &Bytes) {
        let arrived_at = stamp::now();
        for stamp in stamp::find(update) {
            if stamp.author == reader || stamp.at == 0 || !got.is_new(stamp.author, stamp.number) {
                continue;
            }
            self.counts.delivered.fetch_add(1, Ordering::Relaxed);
            self.counts.note(stamp.at, arrived_at);
            let author = &self.members[stamp.author];
            author.delivered.fetch_add(1, Ordering::Relaxed);
            author.moved.notify_one();
        }
    }

    /// Waits until fewer than `window` edits of an editor are under way to everybody.
    pub(crate) async fn has_room(&self, author: usize, window: u64) {
        let member = &self.members[author];
        while self.under_way(member) >= window * self.others() {
            member.moved.notified().await;
        }
    }

    /// Edits that have not reached somebody whom they should reach.
    pub(crate) fn missing(&self) -> u64 {
        self.members
            .iter()
            .map(|member| self.under_way(member))
            .sum()
    }

    fn under_way(&self, member: &Member) -> u64 {
        let due = member.sent.load(Ordering::Relaxed) * self.others();
        due.saturating_sub(member.delivered.load(Ordering::Relaxed))
    }

    fn others(&self) -> u64 {
        self.members.len() as u64 - 1
    }
}

impl Got {
    fn is_new(&mut self, author: usize, number: usize) -> bool {
        let Some(numbers) = self.0.get_mut(author) else {
            return false;
        };
        if numbers.len() <= number {
            numbers.resize(number + 1, false);
        }
        !std::mem::replace(&mut numbers[number], true)
    }
}

/// Fails where editors of one document show different things.
pub(crate) fn ensure_equal(replicas: &[Arc<Mutex<Replica>>]) -> Result<()> {
    let mut first: Option<String> = None;
    for replica in replicas {
        let mut replica = lock(replica);
        replica.integrate()?;
        let content = replica.content();
        let expected = first.get_or_insert_with(|| content.clone());
        ensure!(*expected == content, "two editors show different things");
    }
    Ok(())
}

/// The value behind a mutex; whoever panicked with it has ended the run already.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
