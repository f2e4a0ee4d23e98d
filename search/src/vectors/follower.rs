//! Makes vectors of what the event log tells of, and of everything where a model is new.
//!
//! Invariants
//! - A work that is edited all the time gets a new vector seldom; the stored mark stays before the first of its events that
//!   was passed over, so that a restart finds it again.
//! - How far a workspace has come is stored with the vectors; two processes that do the same undo nothing of each other.
//! - What was deleted or taken back loses its vector in the same write that moves the mark past its event.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::embedding::{Embedding, EmbeddingMark, StoreEmbeddings};
use domain::event::Sequence;
use domain::ids::{WorkId, WorkspaceId};
use domain::store::StoreExt as _;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::Vectors;
use super::rows::Rows;
use crate::edited::Works;
use crate::embed::Embedder;
use crate::source::{Scan, Source, Subject};
use crate::subjects::touched_by;
use crate::{Error, Result};

/// Events that are read at once.
const EVENTS: u32 = 500;
/// Things that are read at once while a workspace is gone through.
const THINGS: u32 = 256;
/// How often they are read before other workspaces have their turn.
const SCANS: usize = 4;
/// Between two rounds: what changes all the time is looked at this often.
const ROUNDS: Duration = Duration::from_millis(500);
/// How long a mark may stay behind events that touched nothing: it is written for a restart's sake only.
const MARKS: Duration = Duration::from_mins(1);
/// How often logs are looked at without being told.
const SWEEPS: Duration = Duration::from_secs(30);
/// How long to wait after something failed, and after another process was faster.
const PAUSE: Duration = Duration::from_secs(2);

/// How long the vector of a work that is edited all the time is left as it is, at least.
const REST: Duration = Duration::from_secs(30);
/// And how many times as long as making it took.
const COST: u32 = 200;

/// Keeps vectors up with the event log.
pub(crate) struct Follower {
    vectors: Arc<Vectors>,
    rows: Rows,
    /// Workspaces whose log may be ahead, with its head.
    behind: BTreeMap<WorkspaceId, Sequence>,
    known: HashMap<WorkspaceId, Known>,
    works: Works,
    /// Works that wait, and how far their workspace had come before their events.
    passed: BTreeMap<WorkspaceId, HashMap<WorkId, Sequence>>,
    /// Workspaces that are being gone through.
    through: HashMap<WorkspaceId, Through>,
}

/// How far going through a workspace has come.
struct Through {
    mark: EmbeddingMark,
    head: Sequence,
    scan: Scan,
    seen: HashSet<Uuid>,
}

/// How far a workspace has come: as stored, and as this process knows.
#[derive(Clone, Copy)]
struct Known {
    mark: EmbeddingMark,
    /// Everything up to here has its vector; ahead of the mark where nothing had to be stored.
    sequence: Sequence,
    marked: Instant,
}

/// How a step ended.
enum Step {
    /// There is more to do in this workspace.
    More,
    /// It has come to the head.
    Done,
    /// Another process has written: what is known of it is read again.
    Overtaken,
}

impl Follower {
    pub(crate) fn new(vectors: Arc<Vectors>, source: Source, embedder: Arc<dyn Embedder>) -> Self {
        Self {
            vectors,
            rows: Rows { source, embedder },
            behind: BTreeMap::new(),
            known: HashMap::new(),
            works: Works::new(REST, COST),
            passed: BTreeMap::new(),
            through: HashMap::new(),
        }
    }

    /// Follows until it is told to stop.
    pub(crate) async fn run(mut self, stop: CancellationToken) {
        let mut logs = self.rows.source.store.follow_logs();
        let mut swept: Option<Instant> = None;
        while !stop.is_cancelled() {
            let is_lost = self.hear(&mut logs);
            for workspace in self.vectors.take_unmade() {
                self.known.remove(&workspace);
                self.behind.entry(workspace).or_default();
            }
            let mut outcome = Ok(());
            if is_lost || swept.is_none_or(|swept| swept.elapsed() >= SWEEPS) {
                outcome = self.sweep().await;
                swept = outcome.is_ok().then(Instant::now);
            }
            if outcome.is_ok() {
                outcome = self.round(&stop).await;
            }
            let pause = match outcome {
                Ok(()) if self.through.is_empty() => ROUNDS,
                Ok(()) => Duration::ZERO,
                Err(error) => {
                    tracing::warn!(error = ?error, "vectors can not be made at the moment; words are searched meanwhile");
                    self.known.clear();
                    self.works.clear();
                    self.passed.clear();
                    self.through.clear();
                    PAUSE
                }
            };
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(pause) => {}
            }
            if self.behind.is_empty() && self.works.due().is_empty() {
                self.rest(&mut logs, &stop).await;
            }
        }
    }

    fn hear(&mut self, logs: &mut broadcast::Receiver<(WorkspaceId, Sequence)>) -> bool {
        loop {
            match logs.try_recv() {
                Ok((workspace, head)) => self.heard(workspace, head),
                Err(broadcast::error::TryRecvError::Lagged(_)) => return true,
                Err(_) => return false,
            }
        }
    }

    fn heard(&mut self, workspace: WorkspaceId, head: Sequence) {
        let known = self.known.get(&workspace);
        if known.is_none_or(|known| known.sequence < head) {
            let behind = self.behind.entry(workspace).or_default();
            *behind = head.max(*behind);
        }
    }

    async fn sweep(&mut self) -> Result<()> {
        let mut last = None;
        loop {
            let reads = self.rows.source.store.reads();
            let workspaces = reads.list_workspace_ids(last, EVENTS).await?;
            let Some(newest) = workspaces.last() else {
                return Ok(());
            };
            last = Some(*newest);
            for (workspace, head) in reads.list_event_heads(&workspaces).await? {
                self.heard(workspace, head);
            }
        }
    }

    async fn rest(
        &mut self,
        logs: &mut broadcast::Receiver<(WorkspaceId, Sequence)>,
        stop: &CancellationToken,
    ) {
        tokio::select! {
            () = stop.cancelled() => {}
            () = tokio::time::sleep(self.works.wait().map_or(SWEEPS, |wait| wait.min(SWEEPS))) => {}
            told = logs.recv() => match told {
                Ok((workspace, head)) => self.heard(workspace, head),
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => stop.cancelled().await,
            },
        }
    }

    async fn round(&mut self, stop: &CancellationToken) -> Result<()> {
        self.embed_deferred().await?;
        let workspaces: Vec<WorkspaceId> = self.behind.keys().copied().collect();
        for workspace in workspaces {
            if stop.is_cancelled() {
                return Ok(());
            }
            match self.step(workspace).await {
                Ok(Step::More) => {}
                Ok(Step::Done) => {
                    self.behind.remove(&workspace);
                }
                Err(Error::Store(error)) if !matches!(error, domain::Error::Unavailable(_)) => {
                    tracing::error!(workspace.id = %workspace, error = ?error, "a workspace gets no vectors");
                    self.behind.remove(&workspace);
                    self.through.remove(&workspace);
                }
                Err(error) => return Err(error),
                Ok(Step::Overtaken) => {
                    self.known.remove(&workspace);
                    self.through.remove(&workspace);
                    tokio::time::sleep(PAUSE).await;
                }
            }
            let model = self.rows.embedder.model();
            self.vectors.refresh(workspace, model).await?;
        }
        Ok(())
    }

    async fn step(&mut self, workspace: WorkspaceId) -> Result<Step> {
        let known = self.known(workspace).await?;
        if known.mark.sequence.is_none() {
            return self.go_through(workspace, known.mark).await;
        }
        let reads = self.rows.source.store.reads();
        let events = reads.list_events(workspace, known.sequence, EVENTS).await?;
        let Some(last) = events.last().map(|event| event.sequence) else {
            return Ok(Step::Done);
        };
        let touched = touched_by(reads, workspace, &events).await?;
        let mut subjects = touched.subjects;
        for work in touched.edited {
            if self.works.defer(workspace, work) {
                let passed = self.passed.entry(workspace).or_default();
                passed.entry(work).or_insert(known.sequence);
            } else {
                subjects.push(Subject::Work(work));
            }
        }
        if !self.take_in(workspace, known, last, &subjects).await? {
            return Ok(Step::Overtaken);
        }
        let is_done = self.behind.get(&workspace).is_none_or(|head| *head <= last);
        Ok(if is_done { Step::Done } else { Step::More })
    }

    /// Embeds these things, and moves to this event; whether no other process was faster.
    async fn take_in(
        &mut self,
        workspace: WorkspaceId,
        known: Known,
        last: Sequence,
        subjects: &[Subject],
    ) -> Result<bool> {
        let began = Instant::now();
        let rows = self.rows.make(workspace, subjects).await?;
        let works = subjects.iter().filter_map(Subject::work);
        let mut passed = self.passed.remove(&workspace).unwrap_or_default();
        for work in works.clone() {
            passed.remove(&work);
        }
        self.works.read(works, began.elapsed());
        let reached = passed
            .values()
            .min()
            .map_or(last, |first| *first.min(&last));
        if !passed.is_empty() {
            self.passed.insert(workspace, passed);
        }
        if rows.is_empty() && known.marked.elapsed() < MARKS {
            self.remember(workspace, known.mark, last, known.marked);
            return Ok(true);
        }
        let reached = known
            .mark
            .sequence
            .map_or(reached, |mark| mark.max(reached));
        let Some(mark) = self
            .store(workspace, known.mark, Some(reached), rows)
            .await?
        else {
            return Ok(false);
        };
        self.remember(workspace, mark, last, Instant::now());
        Ok(true)
    }

    /// Embeds works that waited long enough.
    async fn embed_deferred(&mut self) -> Result<()> {
        let mut due: BTreeMap<WorkspaceId, Vec<Subject>> = BTreeMap::new();
        for (workspace, work) in self.works.due() {
            due.entry(workspace).or_default().push(Subject::Work(work));
        }
        for (workspace, works) in due {
            let known = self.known(workspace).await?;
            if known.mark.sequence.is_none() {
                // Going through the workspace makes these vectors with all others.
                let works = works.iter().filter_map(Subject::work);
                self.works.read(works, Duration::ZERO);
                self.passed.remove(&workspace);
                self.behind.entry(workspace).or_default();
                continue;
            }
            if !self
                .take_in(workspace, known, known.sequence, &works)
                .await?
            {
                self.known.remove(&workspace);
            }
            self.vectors
                .refresh(workspace, self.rows.embedder.model())
                .await?;
        }
        Ok(())
    }

    async fn known(&mut self, workspace: WorkspaceId) -> Result<Known> {
        if let Some(known) = self.known.get(&workspace) {
            return Ok(*known);
        }
        let reads = self.rows.source.store.reads();
        let mark = reads
            .embedding_mark(workspace, self.rows.embedder.model())
            .await?;
        let sequence = mark.sequence.unwrap_or_default();
        Ok(self.remember(workspace, mark, sequence, Instant::now()))
    }

    fn remember(
        &mut self,
        workspace: WorkspaceId,
        mark: EmbeddingMark,
        sequence: Sequence,
        marked: Instant,
    ) -> Known {
        let known = Known {
            mark,
            sequence,
            marked,
        };
        self.known.insert(workspace, known);
        known
    }

    /// Goes through a part of a workspace, because nothing says that all of it has its vectors.
    async fn go_through(&mut self, workspace: WorkspaceId, mark: EmbeddingMark) -> Result<Step> {
        let mut through = match self.through.remove(&workspace) {
            Some(through) => through,
            None => Through {
                mark,
                head: self.rows.source.store.reads().event_head(workspace).await?,
                scan: Scan::Start,
                seen: HashSet::new(),
            },
        };
        for _ in 0..SCANS {
            let (subjects, next) = self
                .rows
                .source
                .scan(workspace, through.scan, THINGS)
                .await?;
            let ids = subjects.iter().map(|subject| subject.uuid());
            through.seen.extend(ids);
            let rows = self.rows.make(workspace, &subjects).await?;
            if !rows.is_empty() {
                let stored = self.store(workspace, through.mark, None, rows).await?;
                let Some(mark) = stored else {
                    return Ok(Step::Overtaken);
                };
                through.mark = mark;
            }
            through.scan = next;
            if next == Scan::End {
                return self.come_through(workspace, through).await;
            }
        }
        self.through.insert(workspace, through);
        Ok(Step::More)
    }

    async fn come_through(&mut self, workspace: WorkspaceId, through: Through) -> Result<Step> {
        let left = self
            .left_behind(workspace, through.mark, &through.seen)
            .await?;
        let head = through.head;
        let Some(mark) = self
            .store(workspace, through.mark, Some(head), left)
            .await?
        else {
            return Ok(Step::Overtaken);
        };
        self.remember(workspace, mark, head, Instant::now());
        Ok(Step::More)
    }

    /// Vectors of a run that broke off, of things that are gone since.
    async fn left_behind(
        &self,
        workspace: WorkspaceId,
        mark: EmbeddingMark,
        seen: &HashSet<Uuid>,
    ) -> Result<Vec<Embedding>> {
        let reads = self.rows.source.store.reads();
        let model = self.rows.embedder.model();
        let mut after = (0, Uuid::nil());
        let mut left = Vec::new();
        while after.0 <= mark.writes {
            let rows = reads
                .list_embeddings(workspace, model, after, super::ROWS)
                .await?;
            let Some((write, last)) = rows.last() else {
                break;
            };
            after = (*write, last.id);
            let gone = rows
                .into_iter()
                .filter(|(_, row)| row.vector.is_some() && !seen.contains(&row.id));
            left.extend(gone.map(|(_, row)| Embedding {
                vector: None,
                ..row
            }));
        }
        Ok(left)
    }

    async fn store(
        &self,
        workspace: WorkspaceId,
        expected: EmbeddingMark,
        reached: Option<Sequence>,
        embeddings: Vec<Embedding>,
    ) -> Result<Option<EmbeddingMark>> {
        let command = StoreEmbeddings {
            workspace,
            model: self.rows.embedder.model().to_owned(),
            expected,
            reached,
            embeddings,
        };
        Ok(self.rows.source.store.run(command).await?)
    }
}
