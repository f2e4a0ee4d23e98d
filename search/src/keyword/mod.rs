//! The keyword leg: the index of this process, kept up with the event log, and searched.
//!
//! Invariants
//! - Searches never wait for the one who writes: they see the last commit, and say where it does not hold what they need.
//! - A workspace that has not been built yet is not searched at all, so that nobody takes a part for the whole.
//!
//! Not here: the index itself (`index`), following the log (`follower`).

mod compare;
mod follower;
mod pace;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use domain::event::Sequence;
use domain::ids::WorkspaceId;
use tantivy::IndexReader;
use tokio::sync::{Notify, Semaphore, oneshot, watch};

use crate::index::{Fields, Hit, KeywordQuery, Positions};
use crate::{Error, Result};

pub use compare::{Differences, compare};
pub(crate) use follower::Follower;

/// Searches that run at once; more wait for their turn, each as long as its leg may take.
const SEARCHES: usize = 32;

/// What searches read.
#[derive(Clone)]
struct View {
    fields: Fields,
    reader: IndexReader,
}

/// The index as searches see it, shared with the one who keeps it.
pub(crate) struct Keyword {
    view: RwLock<Option<View>>,
    positions: RwLock<Arc<Positions>>,
    /// Grows with every commit.
    committed: watch::Sender<u64>,
    /// How many wait for a commit.
    waiting: AtomicUsize,
    /// Workspaces that somebody searches before the index has come there, and where it is to come.
    wanted: Mutex<HashMap<WorkspaceId, Sequence>>,
    /// Wakes the one who keeps the index.
    wake: Notify,
    /// Those who wait for a purge.
    purges: Mutex<Vec<oneshot::Sender<()>>>,
    turns: Arc<Semaphore>,
}

impl Default for Keyword {
    fn default() -> Self {
        Self {
            view: RwLock::default(),
            positions: RwLock::default(),
            committed: watch::channel(0).0,
            waiting: AtomicUsize::new(0),
            wanted: Mutex::default(),
            wake: Notify::new(),
            purges: Mutex::default(),
            turns: Arc::new(Semaphore::new(SEARCHES)),
        }
    }
}

/// Counts one who waits, for as long as it lives.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Keyword {
    /// Whether the index has come to this event, waiting for it at most this long.
    pub(crate) async fn reach(
        &self,
        workspace: WorkspaceId,
        sequence: Sequence,
        limit: Duration,
    ) -> bool {
        if self.has_reached(workspace, sequence) {
            return true;
        }
        let _waiting = Waiting::new(&self.waiting);
        let mut committed = self.committed.subscribe();
        self.want(workspace, sequence);
        let reached = async {
            while !self.has_reached(workspace, sequence) {
                if committed.changed().await.is_err() {
                    return false;
                }
            }
            true
        };
        tokio::time::timeout(limit, reached).await.unwrap_or(false)
    }

    fn has_reached(&self, workspace: WorkspaceId, sequence: Sequence) -> bool {
        let positions = self.positions();
        let position = positions.get(&workspace);
        position.is_some_and(|position| position.sequence >= sequence)
    }

    /// Returns when the words of everything that was deleted before are on the disk no more.
    pub(crate) async fn purge(&self) -> Result<()> {
        let (done, purged) = oneshot::channel();
        {
            let mut asked = self.purges.lock().unwrap_or_else(PoisonError::into_inner);
            asked.push(done);
        }
        self.wake.notify_one();
        let gone = || Error::Index("nobody keeps the index".into());
        purged.await.map_err(|_| gone())
    }

    fn has_purges(&self) -> bool {
        let asked = self.purges.lock().unwrap_or_else(PoisonError::into_inner);
        !asked.is_empty()
    }

    fn return_purges(&self, asked: Vec<oneshot::Sender<()>>) {
        let mut purges = self.purges.lock().unwrap_or_else(PoisonError::into_inner);
        purges.extend(asked);
    }

    fn take_purges(&self) -> Vec<oneshot::Sender<()>> {
        std::mem::take(&mut *self.purges.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// How far the index has come, as searches see it.
    pub(crate) fn positions(&self) -> Arc<Positions> {
        let positions = self.positions.read();
        positions.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The best hits, best first; none where the workspace is not built yet.
    pub(crate) async fn find(&self, query: KeywordQuery) -> Result<Option<Vec<Hit>>> {
        let Some(view) = self.view().filter(|_| self.is_built(query.workspace)) else {
            self.want(query.workspace, Sequence::default());
            return Ok(None);
        };
        let search = move || query.run(&view.fields, &view.reader.searcher());
        self.blocking(search).await.map(Some)
    }

    /// Runs a search on a thread that may block, when it is its turn.
    async fn blocking<T: Send + 'static>(
        &self,
        search: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let turn = self.turns.clone().acquire_owned().await;
        let searched = tokio::task::spawn_blocking(move || {
            // Held until the search has ended, also where nobody waits for it any more.
            let _turn = turn;
            search()
        });
        searched.await.map_err(|error| Error::Index(error.into()))?
    }

    fn view(&self) -> Option<View> {
        let view = self.view.read();
        view.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn is_built(&self, workspace: WorkspaceId) -> bool {
        self.positions().contains_key(&workspace)
    }

    fn want(&self, workspace: WorkspaceId, sequence: Sequence) {
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        let known = wanted.entry(workspace).or_default();
        *known = sequence.max(*known);
        self.wake.notify_one();
    }

    fn take_wanted(&self) -> HashMap<WorkspaceId, Sequence> {
        std::mem::take(&mut *self.wanted.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn show(&self, view: View) {
        *self.view.write().unwrap_or_else(PoisonError::into_inner) = Some(view);
    }

    fn publish(&self, positions: Arc<Positions>) {
        *self
            .positions
            .write()
            .unwrap_or_else(PoisonError::into_inner) = positions;
        self.committed.send_modify(|count| *count += 1);
    }

    fn has_waiting(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }
}
