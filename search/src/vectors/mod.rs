//! The vector leg: what things mean, kept in the store, held in memory where it is searched.
//!
//! Invariants
//! - A search never waits for vectors to be made or read beyond its time-out; what was begun for it goes on without it.
//! - The memory is bounded: the workspaces that were searched last are held.
//! - Vectors that are compared are of one model.
//!
//! Not here: making vectors of what changed (`follower`), turning texts into vectors (`embed`).

mod code;
mod follower;
mod rows;
mod set;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use domain::ids::WorkspaceId;
use domain::store::SharedStore;
use tokio::sync::Semaphore;
use uuid::Uuid;

use crate::embed::Embedder;
use crate::{Error, Result};

pub(crate) use code::Question;
pub use code::to_bytes;
pub(crate) use follower::Follower;
pub(crate) use set::{Compared, VectorQuery, VectorSet};

/// Rows that are read at once.
const ROWS: u32 = 2_000;
/// Comparisons at the same time; more wait.
const COMPARISONS: usize = 8;

/// Vectors as searches see them.
pub(crate) struct Vectors {
    store: SharedStore,
    embedder: RwLock<Option<Arc<dyn Embedder>>>,
    held: Mutex<HashMap<WorkspaceId, Arc<Held>>>,
    /// Memory for vectors, in bytes.
    limit: usize,
    /// Counts searches, so that what was not searched for longest goes first.
    tick: AtomicU64,
    turns: Arc<Semaphore>,
    /// Workspaces that were found without a mark: somebody dropped their vectors.
    unmade: Mutex<HashSet<WorkspaceId>>,
}

/// The vectors of one workspace.
#[derive(Default)]
struct Held {
    set: RwLock<VectorSet>,
    /// The last row that was read; whoever reads on has it locked.
    known: tokio::sync::Mutex<(u64, Uuid)>,
    /// Whether every thing has its vector, as far as the last reading saw.
    is_whole: AtomicBool,
    has_been_read: AtomicBool,
    used: AtomicU64,
    bytes: AtomicUsize,
}

/// What meaning found.
pub(crate) struct Found {
    pub(crate) compared: Compared,
    /// Whether every thing had its vector.
    pub(crate) is_whole: bool,
}

impl Vectors {
    pub(crate) fn new(store: SharedStore, limit: usize) -> Self {
        Self {
            store,
            embedder: RwLock::default(),
            held: Mutex::default(),
            limit,
            tick: AtomicU64::new(0),
            turns: Arc::new(Semaphore::new(COMPARISONS)),
            unmade: Mutex::default(),
        }
    }

    /// From now on texts can be turned into vectors.
    pub(crate) fn use_embedder(&self, embedder: Arc<dyn Embedder>) {
        let mut place = self
            .embedder
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *place = Some(embedder);
    }

    fn embedder(&self) -> Option<Arc<dyn Embedder>> {
        let place = self.embedder.read().unwrap_or_else(PoisonError::into_inner);
        place.clone()
    }

    /// The nearest things; none where nothing can be turned into vectors.
    pub(crate) async fn find(
        self: &Arc<Self>,
        workspace: WorkspaceId,
        text: &str,
        query: VectorQuery,
    ) -> Result<Option<Found>> {
        let Some(embedder) = self.embedder() else {
            return Ok(None);
        };
        let (question, held) = tokio::join!(
            embedder.embed(vec![text.to_owned()]),
            self.hold(workspace, embedder.model())
        );
        let (question, held) = (question?, held?);
        let Some(question) = question.first().map(|vector| Question::new(vector)) else {
            return Ok(None);
        };
        let is_whole = held.is_whole.load(Ordering::SeqCst);
        let turn = self.turns.clone().acquire_owned().await;
        let compared = tokio::task::spawn_blocking(move || {
            // Held until the comparison has ended, also where nobody waits for it any more.
            let _turn = turn;
            let set = held.set.read().unwrap_or_else(PoisonError::into_inner);
            let fits = set.fits(&question, &query.kinds);
            (set.compare(&question, &query), fits)
        });
        let (compared, fits) = compared
            .await
            .map_err(|error| Error::Embedder(error.to_string()))?;
        Ok(Some(Found {
            compared,
            is_whole: is_whole && fits,
        }))
    }

    /// The vectors of a workspace, read where they are not held yet.
    async fn hold(self: &Arc<Self>, workspace: WorkspaceId, model: &str) -> Result<Arc<Held>> {
        let held = self.entry(workspace);
        held.used
            .store(self.tick.fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
        if !held.has_been_read.load(Ordering::SeqCst) {
            let (vectors, held, model) = (self.clone(), held.clone(), model.to_owned());
            // Whoever gives up waiting leaves it reading: the next search finds it read.
            let reading = tokio::spawn(async move { vectors.read(workspace, &held, &model).await });
            reading
                .await
                .map_err(|error| Error::Embedder(error.to_string()))??;
        }
        Ok(held)
    }

    fn entry(&self, workspace: WorkspaceId) -> Arc<Held> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.entry(workspace).or_default().clone()
    }

    /// Reads what was stored since, where the workspace is held.
    pub(crate) async fn refresh(&self, workspace: WorkspaceId, model: &str) -> Result<()> {
        let held = {
            let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            held.get(&workspace).cloned()
        };
        match held {
            Some(held) => self.read(workspace, &held, model).await,
            None => Ok(()),
        }
    }

    fn take_unmade(&self) -> HashSet<WorkspaceId> {
        std::mem::take(&mut *self.unmade.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn read(&self, workspace: WorkspaceId, held: &Held, model: &str) -> Result<()> {
        let mut known = held.known.lock().await;
        let reads = self.store.reads();
        let mark = reads.embedding_mark(workspace, model).await?;
        if mark.sequence.is_none() {
            let mut unmade = self.unmade.lock().unwrap_or_else(PoisonError::into_inner);
            unmade.insert(workspace);
        }
        // A generation that was begun anew counts from 1 again.
        if mark.writes < known.0 {
            *held.set.write().unwrap_or_else(PoisonError::into_inner) = VectorSet::default();
            *known = (0, Uuid::nil());
        }
        let end = Uuid::max();
        while *known < (mark.writes, end) {
            let rows = reads
                .list_embeddings(workspace, model, *known, ROWS)
                .await?;
            {
                let mut set = held.set.write().unwrap_or_else(PoisonError::into_inner);
                for (_, row) in &rows {
                    set.put(row);
                }
            }
            let last = rows.last().map(|(write, last)| (*write, last.id));
            *known = match last.filter(|_| rows.len() == ROWS as usize) {
                Some(last) => last,
                // Rows of one write come all at once, so whoever has read to the end has all of them.
                None => (
                    last.map_or(mark.writes, |last| last.0.max(mark.writes)),
                    end,
                ),
            };
        }
        let bytes = {
            let set = held.set.read().unwrap_or_else(PoisonError::into_inner);
            set.bytes()
        };
        held.bytes.store(bytes, Ordering::SeqCst);
        held.is_whole
            .store(mark.sequence.is_some(), Ordering::SeqCst);
        held.has_been_read.store(true, Ordering::SeqCst);
        drop(known);
        self.make_room(workspace);
        Ok(())
    }

    /// Lets go of what was not searched for longest, but never of this workspace.
    fn make_room(&self, keep: WorkspaceId) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes: usize = held
            .values()
            .map(|held| held.bytes.load(Ordering::SeqCst))
            .sum();
        while bytes > self.limit {
            let others = held.iter().filter(|(workspace, _)| **workspace != keep);
            let oldest = others.min_by_key(|(_, held)| held.used.load(Ordering::SeqCst));
            let Some(oldest) = oldest.map(|(workspace, _)| *workspace) else {
                return;
            };
            if let Some(gone) = held.remove(&oldest) {
                bytes -= gone.bytes.load(Ordering::SeqCst);
            }
        }
    }
}
