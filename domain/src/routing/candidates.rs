//! Candidates: the tasks that the router is shown for a message (R3), and those that a new goal is compared with (R4).
//!
//! Invariants
//! - At most [`RECENT`] tasks that changed last and [`FOUND`] that were found are weighed, and the best [`SHOWN`] of them are shown:
//!   as many where there are ten tasks as where there are a million.
//! - All are read from the workspace of whoever asks; the index gives ids alone.
//! - A leg of the search that did not answer is told, and the others count.

use std::collections::HashMap;

use super::{Candidate, CandidateReason};
use crate::error::Result;
use crate::event::Sequence;
use crate::ids::{TaskId, UserId, WorkId, WorkspaceId};
use crate::message::Message;
use crate::page::{End, Window};
use crate::search::{Found, SearchAnswer, SearchIndex, SearchKind, SearchLeg, SearchRequest};
use crate::store::Reads;
use crate::task::{Task, TaskStatus};
use crate::time::Timestamp;

/// Tasks that the router is shown.
pub const SHOWN: usize = 10;
/// Tasks that changed last.
const RECENT: u32 = 12;
/// Tasks that were found besides.
const FOUND: usize = 8;
/// Messages of the main thread before this one that are looked at.
const THREAD: u32 = 8;
/// Tasks that are looked for; those that changed last may be among them.
const SEARCHED: usize = 30;
/// Works that are looked for.
const WORKS: usize = 8;
/// The latest tasks in work that a new goal is compared with.
const IN_WORK: u32 = 50;
/// Of these, how many can look like it.
const ALIKE: usize = 5;
/// The share of a goal's words that must stand in a task that looks like it.
const SHARED: f64 = 0.45;
/// How near both meanings must be else.
const NEAR: f64 = 0.62;

/// Weights of what makes a candidate, beside what the search found.
const WORDS: f64 = 0.3;
const LINKED: f64 = 0.5;
const SPOKEN_OF: f64 = 0.12;
const FRESH: f64 = 0.06;
/// The share of a message below which its words tell little, however little the other tasks share.
const LEAST_WORDS: f64 = 0.1;
/// After how many days a task counts half as fresh.
const HALF_LIFE_DAYS: f64 = 3.0;

/// For what and whom candidates are looked for.
#[derive(Debug, Clone, Copy)]
pub struct CandidateRequest<'a> {
    /// Where.
    pub workspace: WorkspaceId,
    /// Whose main thread it is.
    pub user: UserId,
    /// The message.
    pub text: &'a str,
    /// Works that came with it.
    pub works: &'a [WorkId],
    /// The present time; what was written later is left out.
    pub at: Timestamp,
}

/// A task that was weighed.
#[derive(Debug, Clone, PartialEq)]
pub struct Weighed {
    /// How well it fits, and why.
    pub candidate: Candidate,
    /// The task.
    pub task: Task,
    /// The share of the message that stands in it.
    pub keyword: Option<f64>,
    /// The cosine of both meanings.
    pub vector: Option<f64>,
}

/// What was found for a message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Candidates {
    /// The tasks, best first.
    pub weighed: Vec<Weighed>,
    /// The main thread before the message, oldest first.
    pub thread: Vec<Message>,
    /// Legs of the search that did not answer.
    pub missing: Vec<SearchLeg>,
    /// Whether every task of the workspace is among them, whatever the search says.
    pub is_all: bool,
}

impl Candidates {
    /// Whether older tasks are out of sight: nothing answers that knows them.
    pub fn is_blind(&self) -> bool {
        !self.is_all && self.missing.len() > 1
    }

    /// What is stored of them with a decision.
    pub fn stored(&self) -> Vec<Candidate> {
        let stored = |weighed: &Weighed| weighed.candidate.clone();
        self.weighed.iter().map(stored).collect()
    }
}

/// The tasks that the router is shown for a message.
pub async fn candidates(
    reads: &dyn Reads,
    search: &dyn SearchIndex,
    request: CandidateRequest<'_>,
) -> Result<Candidates> {
    let open: Vec<_> = TaskStatus::ALL
        .iter()
        .copied()
        .filter(|status| status.takes_messages())
        .collect();
    let (workspace, limit) = (request.workspace, RECENT + 1);
    // What was written before the message is found, where the index comes up to it in its time.
    let seen = Some(reads.event_head(workspace).await?);
    let (recent, thread, tasks, works) = futures_util::join!(
        reads.list_active_tasks(workspace, &[], limit),
        thread_before(reads, &request),
        find(search, &request, (SearchKind::Task, SEARCHED, seen)),
        find(search, &request, (SearchKind::Work, WORKS, seen)),
    );
    let (mut recent, thread) = (recent?, thread?);
    let is_all = recent.len() <= RECENT as usize;
    if !is_all {
        recent = reads.list_active_tasks(workspace, &open, RECENT).await?;
    }
    let mut pool = Pool::new(&request);
    for task in recent {
        pool.add_recent(task);
    }
    pool.note_thread(&thread);
    pool.note_found(&tasks.found);
    let mut linked: HashMap<WorkId, f64> = request.works.iter().map(|id| (*id, 1.0)).collect();
    for found in &works.found {
        let part = found.keyword.unwrap_or_default() * found.score * 0.5;
        linked.entry(WorkId::from_uuid(found.id)).or_insert(part);
    }
    let ids: Vec<WorkId> = linked.keys().copied().collect();
    for one in reads.list_linked_tasks(workspace, &ids).await? {
        pool.note_linked(one.task, linked[&one.work]);
    }
    let unread = pool.unread();
    for task in reads.list_tasks_by_id(&unread).await? {
        pool.add(task);
    }
    Ok(Candidates {
        weighed: pool.best(),
        thread,
        missing: tasks.missing,
        is_all,
    })
}

async fn find(
    search: &dyn SearchIndex,
    request: &CandidateRequest<'_>,
    (kind, limit, seen): (SearchKind, usize, Option<Sequence>),
) -> SearchAnswer {
    let asked = SearchRequest {
        workspace: request.workspace,
        user: request.user,
        text: request.text.to_owned(),
        kinds: vec![kind],
        among: Vec::new(),
        limit,
        seen,
        within: None,
    };
    search.find(&asked).await
}

async fn thread_before(reads: &dyn Reads, request: &CandidateRequest<'_>) -> Result<Vec<Message>> {
    let window = Window {
        limit: THREAD + 1,
        end: End::Last,
        after: None,
        before: None,
    };
    let page = reads.list_main_thread(request.workspace, request.user, window);
    let mut thread = page.await?.rows;
    thread.retain(|message| message.created_at < request.at && !message.state.is_taken_back());
    let ids: Vec<_> = thread.iter().map(|message| message.id).collect();
    let forgotten = reads.list_forgotten(request.workspace, Some(&ids)).await?;
    thread.retain(|message| forgotten.iter().all(|one| one.message != message.id));
    let surplus = thread.len().saturating_sub(THREAD as usize);
    thread.drain(..surplus);
    Ok(thread)
}

/// Latest tasks in work that look like a goal, best first. None are told where the search does not answer.
pub async fn similar_in_work(
    reads: &dyn Reads,
    search: &dyn SearchIndex,
    (workspace, user): (WorkspaceId, UserId),
    goal: &str,
) -> Result<Vec<Weighed>> {
    let in_work: Vec<_> = TaskStatus::ALL
        .iter()
        .copied()
        .filter(|status| status.is_in_work())
        .collect();
    let tasks = reads
        .list_active_tasks(workspace, &in_work, IN_WORK)
        .await?;
    if tasks.is_empty() {
        return Ok(Vec::new());
    }
    let request = SearchRequest {
        workspace,
        user,
        text: goal.to_owned(),
        kinds: vec![SearchKind::Task],
        among: tasks.iter().map(|task| task.id.uuid()).collect(),
        limit: ALIKE,
        seen: None,
        within: None,
    };
    let answer = search.find(&request).await;
    let is_alike = |found: &&Found| {
        found.keyword.is_some_and(|share| share >= SHARED)
            || found.vector.is_some_and(|cosine| cosine >= NEAR)
    };
    let weighed = |found: &Found| {
        let task = tasks.iter().find(|task| task.id.uuid() == found.id)?;
        Some(Weighed {
            candidate: Candidate {
                task: task.id,
                score: found.score,
                reasons: vec![CandidateReason::SimilarInProgress],
            },
            task: task.clone(),
            keyword: found.keyword,
            vector: found.vector,
        })
    };
    Ok(answer
        .found
        .iter()
        .filter(is_alike)
        .filter_map(weighed)
        .collect())
}

/// What is known of one task while candidates are gathered.
#[derive(Default)]
struct Marks {
    task: Option<Task>,
    is_recent: bool,
    found: Option<Found>,
    /// The share of the message that stands in it, beside the task where most does.
    words: f64,
    linked: f64,
    spoken_of: f64,
}

struct Pool {
    workspace: WorkspaceId,
    at: Timestamp,
    marks: HashMap<TaskId, Marks>,
}

impl Pool {
    fn new(request: &CandidateRequest<'_>) -> Self {
        Self {
            workspace: request.workspace,
            at: request.at,
            marks: HashMap::new(),
        }
    }

    fn add_recent(&mut self, task: Task) {
        let marks = self.marks.entry(task.id).or_default();
        marks.is_recent = true;
        marks.task = Some(task);
    }

    /// What was spoken of last is near at hand, above all what was spoken of just now.
    fn note_thread(&mut self, thread: &[Message]) {
        for (distance, message) in thread.iter().rev().enumerate() {
            if let Some(task) = message.task.filter(|_| !message.is_with_main()) {
                let near = 1.0 / (distance + 1) as f64;
                let marks = self.marks.entry(task).or_default();
                marks.spoken_of = marks.spoken_of.max(near);
            }
        }
    }

    fn note_found(&mut self, found: &[Found]) {
        let words = found.iter().filter_map(|one| one.keyword);
        let most = words.fold(LEAST_WORDS, f64::max);
        for one in found {
            let marks = self.marks.entry(TaskId::from_uuid(one.id)).or_default();
            marks.words = one.keyword.unwrap_or_default() / most;
            marks.found = Some(*one);
        }
    }

    fn note_linked(&mut self, task: TaskId, weight: f64) {
        let marks = self.marks.entry(task).or_default();
        marks.linked = marks.linked.max(weight);
    }

    /// Tasks that are not read yet.
    fn unread(&self) -> Vec<TaskId> {
        let marks = self.marks.iter();
        let unread = marks.filter(|(_, marks)| marks.task.is_none());
        unread.map(|(id, _)| *id).collect()
    }

    fn add(&mut self, task: Task) {
        if task.workspace == self.workspace && !task.is_main() {
            let marks = self.marks.entry(task.id).or_default();
            marks.task = Some(task);
        }
    }

    /// Those that are shown, best first.
    fn best(self) -> Vec<Weighed> {
        let at = self.at;
        let marks = self.marks.into_values();
        let mut all: Vec<(bool, Weighed)> = marks
            .filter_map(|marks| Some((marks.is_recent, marks.weighed(at)?)))
            .collect();
        all.sort_by(|(_, one), (_, other)| {
            let by_score = other.candidate.score.total_cmp(&one.candidate.score);
            by_score.then_with(|| other.task.id.cmp(&one.task.id))
        });
        let mut found = 0;
        all.retain(|(is_recent, _)| {
            found += usize::from(!is_recent);
            *is_recent || found <= FOUND
        });
        all.truncate(SHOWN);
        all.into_iter().map(|(_, weighed)| weighed).collect()
    }
}

impl Marks {
    fn weighed(self, at: Timestamp) -> Option<Weighed> {
        let task = self.task?;
        let days = at.since(task.updated_at).as_secs_f64() / 86_400.0;
        let fresh = 0.5_f64.powf(days / HALF_LIFE_DAYS);
        let found = self.found.map_or(0.0, |found| found.score);
        let found = found + WORDS * self.words;
        let score = found + LINKED * self.linked + SPOKEN_OF * self.spoken_of + FRESH * fresh;
        let (keyword, vector) = match self.found {
            Some(found) => (found.keyword, found.vector),
            None => (None, None),
        };
        let mut reasons = Vec::new();
        let mut note = |is_so: bool, reason| {
            if is_so {
                reasons.push(reason);
            }
        };
        let is_at_hand = self.is_recent || self.spoken_of > 0.0;
        note(is_at_hand, CandidateReason::RecentlyActive);
        note(keyword.is_some(), CandidateReason::Keyword);
        note(vector.is_some(), CandidateReason::Vector);
        note(self.linked > 0.0, CandidateReason::LinkedWork);
        let most = 1.0 + WORDS + LINKED + SPOKEN_OF + FRESH;
        Some(Weighed {
            candidate: Candidate {
                task: task.id,
                score: score / most,
                reasons,
            },
            task,
            keyword,
            vector,
        })
    }
}
