//! Keeps the index up with the event log, and builds what it does not hold.
//!
//! Invariants
//! - What a commit calls indexed is indexed: positions move only with the things that their events touched.
//! - A workspace is built from what the store holds now, and then followed from the event that was the last when that began.
//! - The store may be away and the index may break: the first is waited for, the second is begun anew. Neither ends this.

mod build;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use domain::event::{EventKind, Sequence};
use domain::ids::{WorkId, WorkspaceId};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use super::pace::{Commits, pause};
use super::{Keyword, View};
use crate::edited::Works;
use crate::index::{Entry, Folder, Opened, Positions, Writer};
use crate::source::{Searchable, Source, Subject};
use crate::subjects::touched_by;
use crate::{Error, Result};

use build::Build;

/// Events that are read at once.
const EVENTS: u32 = 500;
/// Workspaces that are followed in one round.
const WORKSPACES: usize = 64;
/// How often logs are looked at without being told, where other processes write them.
const SWEEP_SHARED: Duration = Duration::from_secs(5);
/// The same where this process is the only one.
const SWEEP_ALONE: Duration = Duration::from_secs(30);
/// How often segments with something deleted are rewritten, however little it is.
const PURGES: Duration = Duration::from_hours(1);

/// How long the words of a work that is edited all the time are left as they are, at least.
const REST: Duration = Duration::from_secs(5);
/// And how many times as long as reading it took.
const COST: u32 = 50;

/// Rounds with something to follow before purges and builds have their turn all the same.
const BUSY_ROUNDS: u32 = 16;

/// Keeps the index.
pub(crate) struct Follower {
    keyword: Arc<Keyword>,
    source: Source,
    folder: Arc<Folder>,
    /// None only while it is on another thread.
    writer: Option<Writer>,
    view: View,
    positions: Positions,
    heads: HashMap<WorkspaceId, Sequence>,
    /// Workspaces whose log is ahead of the index.
    behind: BTreeSet<WorkspaceId>,
    /// Those of them that somebody searches.
    wanted: HashSet<WorkspaceId>,
    build: Option<Build>,
    works: Works,
    commits: Commits,
    purged: Instant,
    /// Whether words of something forgotten may still be on the disk: also when a former process died.
    owes_purge: bool,
    /// Rounds in a row with something to follow.
    busy_rounds: u32,
}

/// Things of a workspace as they are now, and those among the names that are not there any more.
struct Batch {
    workspace: WorkspaceId,
    things: Vec<Searchable>,
    gone: Vec<Subject>,
    is_new: bool,
}

impl Follower {
    /// Opens the index of the folder. Blocks.
    pub(crate) fn open(keyword: Arc<Keyword>, source: Source, folder: Folder) -> Result<Self> {
        let opened = folder.open()?;
        let view = View {
            fields: opened.fields.clone(),
            reader: opened.reader.clone(),
        };
        let mut follower = Self {
            keyword,
            source,
            folder: Arc::new(folder),
            writer: None,
            view,
            positions: Positions::new(),
            heads: HashMap::new(),
            behind: BTreeSet::new(),
            wanted: HashSet::new(),
            build: None,
            works: Works::new(REST, COST),
            commits: Commits::default(),
            purged: Instant::now(),
            owes_purge: true,
            busy_rounds: 0,
        };
        follower.take(opened);
        Ok(follower)
    }

    fn take(&mut self, opened: Opened) {
        self.view = View {
            fields: opened.fields,
            reader: opened.reader,
        };
        self.writer = Some(opened.writer);
        self.positions = opened.positions;
        self.works.clear();
        for (workspace, position) in &self.positions {
            self.works.inherit(*workspace, &position.deferred);
        }
        self.behind = self.heads.keys().copied().collect();
        self.build = None;
        self.commits.done();
        self.keyword.show(self.view.clone());
        self.keyword.publish(Arc::new(self.positions.clone()));
    }

    /// Follows until it is told to stop; what is not committed then is indexed again by the next one.
    pub(crate) async fn run(mut self, stop: CancellationToken) {
        let mut logs = self.source.store.follow_logs();
        let mut swept: Option<Instant> = None;
        while !stop.is_cancelled() {
            let interval = self.sweep_interval();
            let is_lost = self.hear(&mut logs);
            let is_sweep = is_lost || swept.is_none_or(|swept| swept.elapsed() >= interval);
            let outcome = if is_sweep {
                self.sweep().await
            } else {
                self.round().await
            };
            if is_sweep && outcome.is_ok() {
                swept = Some(Instant::now());
            }
            match outcome {
                Ok(true) => tokio::task::yield_now().await,
                Ok(false) => self.rest(&mut logs, interval, &stop).await,
                Err(Error::Store(error)) => {
                    tracing::warn!(error = ?error, "what is to be indexed can not be read; trying again");
                    self.build = None;
                    pause(&stop).await;
                }
                Err(error) => {
                    tracing::warn!(error = ?error, "the search index broke; it is built anew");
                    self.begin_anew(&stop).await;
                }
            }
        }
        // Whoever waits for one is told that nobody keeps the index.
        drop(self.keyword.take_purges());
        if let Err(error) = self.commit().await {
            tracing::warn!(error = ?error, "the last of the index was not committed; it is indexed again");
        }
    }

    fn sweep_interval(&self) -> Duration {
        if self.source.store.is_shared() {
            SWEEP_SHARED
        } else {
            SWEEP_ALONE
        }
    }

    /// Takes what was told; whether some of it was lost.
    fn hear(&mut self, logs: &mut broadcast::Receiver<(WorkspaceId, Sequence)>) -> bool {
        for (workspace, head) in self.keyword.take_wanted() {
            self.heard(workspace, head);
            self.wanted.insert(workspace);
        }
        loop {
            match logs.try_recv() {
                Ok((workspace, head)) => self.heard(workspace, head),
                Err(broadcast::error::TryRecvError::Lagged(_)) => return true,
                Err(_) => return false,
            }
        }
    }

    fn heard(&mut self, workspace: WorkspaceId, head: Sequence) {
        let known = self.heads.entry(workspace).or_default();
        *known = head.max(*known);
        let position = self.positions.get(&workspace);
        if position.is_none_or(|position| position.sequence < *known) {
            self.behind.insert(workspace);
        }
    }

    /// Builds all that the index lacks; how many things it holds then.
    pub(crate) async fn build_all(&mut self) -> Result<u64> {
        self.sweep().await?;
        while self.round().await? {}
        self.commit().await?;
        Ok(self.view.reader.searcher().num_docs())
    }

    /// Looks at the heads of all logs, and whether somebody has deleted the index.
    async fn sweep(&mut self) -> Result<bool> {
        if !self.folder.is_there() {
            return Err(Error::Index("its folder is gone".into()));
        }
        let mut last = None;
        loop {
            let reads = self.source.store.reads();
            let workspaces = reads.list_workspace_ids(last, EVENTS).await?;
            let Some(newest) = workspaces.last() else {
                return Ok(true);
            };
            last = Some(*newest);
            for (workspace, head) in reads.list_event_heads(&workspaces).await? {
                self.heard(workspace, head);
            }
        }
    }

    /// Waits until something is to be done.
    async fn rest(
        &mut self,
        logs: &mut broadcast::Receiver<(WorkspaceId, Sequence)>,
        interval: Duration,
        stop: &CancellationToken,
    ) {
        let waits = [self.commits.wait(), self.works.wait(), Some(interval)];
        let wait = waits.into_iter().flatten().min().unwrap_or(interval);
        tokio::select! {
            () = stop.cancelled() => {}
            () = tokio::time::sleep(wait) => {}
            () = self.keyword.wake.notified() => {}
            told = logs.recv() => match told {
                Ok((workspace, head)) => self.heard(workspace, head),
                // What was lost is found by the next sweep, which `hear` asks for.
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                // The store has ended: nothing more comes.
                Err(broadcast::error::RecvError::Closed) => pause(stop).await,
            },
        }
    }

    /// One round of work; whether there may be more.
    async fn round(&mut self) -> Result<bool> {
        let followed = self.follow().await?;
        let read = self.read_deferred().await?;
        let is_due = self.commits.is_due(self.keyword.has_waiting());
        if is_due {
            self.commit().await?;
        }
        let is_busy = followed || read || is_due;
        self.busy_rounds = if is_busy { self.busy_rounds + 1 } else { 0 };
        if is_busy && self.busy_rounds < BUSY_ROUNDS {
            return Ok(true);
        }
        self.busy_rounds = 0;
        let is_due = self.owes_purge || self.purged.elapsed() >= PURGES;
        if self.keyword.has_purges() || is_due {
            self.purge().await?;
        }
        Ok(self.build_some().await? || is_busy)
    }

    /// Rewrites what holds something deleted, with what was deleted just now, and tells those who wait for it.
    async fn purge(&mut self) -> Result<()> {
        let asked = self.keyword.take_purges();
        self.commit().await?;
        let reader = self.view.reader.clone();
        let is_purged = Arc::new(AtomicBool::new(false));
        let done = is_purged.clone();
        self.write(move |writer| {
            done.store(writer.purge(&reader)?, Ordering::SeqCst);
            Ok(())
        })
        .await?;
        if is_purged.load(Ordering::SeqCst) {
            self.purged = Instant::now();
            self.owes_purge = false;
            // Whoever no longer waits need not be told.
            for asked in asked {
                let _ = asked.send(());
            }
        } else {
            tracing::warn!(
                "a merge or a search holds what was deleted; its words are removed later"
            );
            self.keyword.return_purges(asked);
        }
        Ok(())
    }

    /// Follows workspaces whose logs are ahead; whether there were any.
    async fn follow(&mut self) -> Result<bool> {
        let behind = self.behind.iter();
        let some: Vec<WorkspaceId> = behind
            .filter(|workspace| self.positions.contains_key(workspace))
            .take(WORKSPACES)
            .copied()
            .collect();
        for workspace in &some {
            let followed = self.follow_one(*workspace).await;
            self.go_on_after(*workspace, followed)?;
        }
        Ok(!some.is_empty())
    }

    /// A workspace whose rows can not be read holds up no other; the next sweep looks at it again.
    fn go_on_after(&mut self, workspace: WorkspaceId, outcome: Result<()>) -> Result<()> {
        match outcome {
            Err(Error::Store(error)) if !matches!(error, domain::Error::Unavailable(_)) => {
                tracing::error!(workspace.id = %workspace, error = ?error, "a workspace can not be indexed");
                self.behind.remove(&workspace);
                Ok(())
            }
            outcome => outcome,
        }
    }

    async fn follow_one(&mut self, workspace: WorkspaceId) -> Result<()> {
        let Some(position) = self.positions.get(&workspace) else {
            return Ok(());
        };
        let reads = self.source.store.reads();
        let events = reads
            .list_events(workspace, position.sequence, EVENTS)
            .await?;
        let Some(last) = events.last().map(|event| event.sequence) else {
            self.behind.remove(&workspace);
            return Ok(());
        };
        let touched = touched_by(reads, workspace, &events).await?;
        self.owes_purge |= events
            .iter()
            .any(|event| event.kind == EventKind::MemoryForgotten);
        let mut subjects = touched.subjects;
        let edited = touched.edited.into_iter();
        let now: Vec<WorkId> = edited
            .filter(|work| !self.works.defer(workspace, *work))
            .collect();
        subjects.extend(now.into_iter().map(Subject::Work));
        self.replace(workspace, subjects).await?;
        let deferred = self.works.of(workspace);
        if let Some(position) = self.positions.get_mut(&workspace) {
            position.sequence = last;
            position.deferred = deferred;
        }
        self.commits.is_moved = true;
        if self.heads.get(&workspace).is_none_or(|head| *head <= last) {
            self.behind.remove(&workspace);
        }
        // Where nothing waits for a commit, events that touch nothing are indexed already.
        if self.commits.pending == 0 && self.behind.is_empty() {
            self.keyword.publish(Arc::new(self.positions.clone()));
        }
        Ok(())
    }

    /// Puts these things into the index as they are now.
    async fn replace(&mut self, workspace: WorkspaceId, subjects: Vec<Subject>) -> Result<()> {
        if subjects.is_empty() {
            return Ok(());
        }
        let began = Instant::now();
        let things = self.source.load(workspace, &subjects).await?;
        let works = subjects.iter().filter_map(|subject| match subject {
            Subject::Work(work) => Some(*work),
            Subject::Task(_) | Subject::Message(_) | Subject::Memory(_) => None,
        });
        self.works.read(works, began.elapsed());
        let there: HashSet<Subject> = things.iter().map(|thing| thing.subject).collect();
        let batch = Batch {
            workspace,
            things,
            gone: subjects
                .into_iter()
                .filter(|subject| !there.contains(subject))
                .collect(),
            is_new: false,
        };
        self.commits.is_urgent = true;
        self.put(batch).await
    }

    async fn read_deferred(&mut self) -> Result<bool> {
        let due = self.works.due();
        let mut by_workspace: HashMap<WorkspaceId, Vec<Subject>> = HashMap::new();
        for (workspace, work) in due {
            let works = by_workspace.entry(workspace).or_default();
            works.push(Subject::Work(work));
        }
        let has_any = !by_workspace.is_empty();
        for (workspace, works) in by_workspace {
            let ids: Vec<WorkId> = works.iter().filter_map(Subject::work).collect();
            let began = Instant::now();
            let replaced = self.replace(workspace, works).await;
            // Also where they could not be read: they are looked at again when they change.
            self.works.read(ids.into_iter(), began.elapsed());
            self.go_on_after(workspace, replaced)?;
            let deferred = self.works.of(workspace);
            if let Some(position) = self.positions.get_mut(&workspace) {
                position.deferred = deferred;
            }
        }
        Ok(has_any)
    }

    async fn put(&mut self, batch: Batch) -> Result<()> {
        self.commits.pending += batch.things.len() + batch.gone.len();
        let fields = self.view.fields.clone();
        self.write(move |writer| {
            for gone in &batch.gone {
                writer.remove(gone.uuid());
            }
            for thing in &batch.things {
                let entry = Entry::new(&fields, batch.workspace, thing);
                if batch.is_new {
                    writer.add(entry)?;
                } else {
                    writer.put(entry)?;
                }
            }
            Ok(())
        })
        .await
    }

    async fn commit(&mut self) -> Result<()> {
        let positions = Arc::new(self.positions.clone());
        let (committed, view) = (positions.clone(), self.view.clone());
        self.write(move |writer| {
            writer.commit(&committed)?;
            view.reader.reload()?;
            Ok(())
        })
        .await?;
        self.commits.done();
        self.keyword.publish(positions);
        Ok(())
    }

    /// Writes on a thread that may block.
    async fn write(
        &mut self,
        write: impl FnOnce(&mut Writer) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let Some(mut writer) = self.writer.take() else {
            return Err(Error::Index("the writer of the index is gone".into()));
        };
        let written = tokio::task::spawn_blocking(move || {
            let outcome = write(&mut writer);
            (writer, outcome)
        });
        let (writer, outcome) = written.await.map_err(|error| Error::Index(error.into()))?;
        self.writer = Some(writer);
        outcome
    }

    /// Begins with an empty index, as often as it takes.
    async fn begin_anew(&mut self, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            let (writer, folder) = (self.writer.take(), self.folder.clone());
            let begun = tokio::task::spawn_blocking(move || {
                drop(writer);
                folder.begin()
            });
            match begun.await {
                Ok(Ok(opened)) => return self.take(opened),
                Ok(Err(error)) => tracing::error!(error = ?error, "no search index can be made"),
                Err(error) => tracing::error!(%error, "no search index can be made"),
            }
            pause(stop).await;
        }
    }
}
