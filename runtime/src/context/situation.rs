//! Everything stored that a step's request is made of.

use std::collections::HashSet;
use std::sync::Arc;

use domain::card::Card;
use domain::error::Result;
use domain::job::Job;
use domain::journal::JournalEntry;
use domain::line::{ContextSegment, Line};
use domain::memory::{MemoryMark, Profile};
use domain::message::Message;
use domain::store::Reads;
use domain::task::{ChangeNotice, LinkedWork, Projections, Task};
use domain::turn::{OpenedStep, Step};
use domain::work::Work;

/// Segments that are looked at; more never fit their budget.
const SEGMENTS: u32 = 40;
/// Journal entries that are looked at; older ones are in segments.
const ENTRIES: u32 = 400;

/// What is stored about a task as one of its steps is opened.
#[derive(Debug, Clone, PartialEq)]
pub struct Situation {
    /// The task.
    pub task: Task,
    /// Its projections.
    pub projections: Projections,
    /// The open step.
    pub step: Step,
    /// What people wrote and no decision has read yet.
    pub messages: Vec<Message>,
    /// Summaries of old history, oldest first.
    pub segments: Vec<ContextSegment>,
    /// The journal after the last segment, oldest first, up to what the step has seen.
    pub recent: Vec<JournalEntry>,
    /// Works that the task refers to.
    pub works: Vec<(LinkedWork, Work)>,
    /// What others changed in them since the task looked.
    pub notices: Vec<ChangeNotice>,
    /// Open questions.
    pub cards: Vec<Card>,
    /// Orders that are under way.
    pub jobs: Vec<Job>,
    /// Lines of its executors.
    pub lines: Vec<Line>,
    /// What is always known of the person whose task it is.
    pub profile: Profile,
    /// How often memory had changed as the step was opened.
    pub memory: MemoryMark,
}

impl Situation {
    /// Reads what the transaction that opened the step has not read already.
    pub async fn load(reads: &dyn Reads, opened: &OpenedStep) -> Result<Self> {
        let id = opened.step.task;
        let segments = reads.list_segments(id, SEGMENTS).await?;
        let covered = segments.last().map_or(0, |segment| segment.to_sequence);
        let mut situation = Self {
            recent: journal_after(reads, opened, covered).await?,
            lines: reads.list_lines(&[id]).await?,
            works: Vec::new(),
            segments,
            task: opened.task.clone(),
            projections: opened.projections.clone(),
            step: opened.step.clone(),
            messages: opened.messages.clone(),
            notices: Vec::new(),
            cards: Vec::new(),
            jobs: Vec::new(),
            profile: read_profile(reads, opened).await?,
            memory: opened.memory,
        };
        if opened.memory.forgets > 0 {
            situation.leave_out(reads).await?;
        }
        situation.enter(reads, opened).await?;
        Ok(situation)
    }

    /// Takes out what rests on something forgotten.
    async fn leave_out(&mut self, reads: &dyn Reads) -> Result<()> {
        let left_out: HashSet<u64> = reads
            .list_left_out(self.task.id)
            .await?
            .into_iter()
            .collect();
        self.recent
            .retain(|entry| !left_out.contains(&entry.sequence));
        Ok(())
    }

    /// Takes over what the step was opened with.
    async fn enter(&mut self, reads: &dyn Reads, opened: &OpenedStep) -> Result<()> {
        self.task.clone_from(&opened.task);
        self.projections.clone_from(&opened.projections);
        self.step.clone_from(&opened.step);
        self.messages.clone_from(&opened.messages);
        if opened.memory.forgets > 0 && !self.messages.is_empty() {
            let ids: Vec<_> = self.messages.iter().map(|message| message.id).collect();
            let workspace = opened.task.workspace;
            let forgotten = reads.list_forgotten(workspace, Some(&ids)).await?;
            let is_left = |id| forgotten.iter().all(|one| one.message != id);
            self.messages.retain(|message| is_left(message.id));
        }
        self.cards.clone_from(&opened.cards);
        self.jobs.clone_from(&opened.jobs);
        self.notices.clone_from(&opened.notices);
        self.notices.retain(|notice| {
            let seen = &opened.step.seen.notices;
            seen.iter().any(|(work, _)| *work == notice.work)
        });
        self.works = if opened.has_works {
            works_of(reads, reads.list_linked_works(&[self.task.id]).await?).await?
        } else {
            Vec::new()
        };
        Ok(())
    }
}

/// What the last request of this drive was made of. Segments, lines and most of the journal are written by the owner of the turn alone.
#[derive(Debug)]
pub(crate) struct Known {
    situation: Arc<Situation>,
    /// Calls can have opened lines and continued them.
    has_run_calls: bool,
}

impl Known {
    pub(crate) fn new(situation: Arc<Situation>) -> Self {
        Self {
            situation,
            has_run_calls: false,
        }
    }

    /// Calls were carried out since.
    pub(crate) fn note_calls(&mut self) {
        self.has_run_calls = true;
    }

    /// The situation of the next step.
    pub(crate) async fn go_on(self, reads: &dyn Reads, opened: &OpenedStep) -> Result<Situation> {
        if self.situation.memory.forgets != opened.memory.forgets {
            // Nothing that was known may be told any more without looking.
            return Situation::load(reads, opened).await;
        }
        let mut situation = Arc::unwrap_or_clone(self.situation);
        if situation.memory != opened.memory {
            situation.profile = read_profile(reads, opened).await?;
            situation.memory = opened.memory;
        }
        let known = situation.step.seen.journal_sequence;
        let seen = opened.step.seen.journal_sequence;
        // What others noted since, such as a person's message, stands between, and is in the store.
        let is_whole = seen == known + opened.noted.len() as u64
            && opened
                .noted
                .first()
                .is_none_or(|first| first.sequence == known + 1);
        if is_whole {
            situation.recent.extend_from_slice(&opened.noted);
        } else {
            let new = journal_after(reads, opened, known).await?;
            situation.recent.extend(new);
        }
        let surplus = situation.recent.len().saturating_sub(ENTRIES as usize);
        situation.recent.drain(..surplus);
        if self.has_run_calls {
            situation.lines = reads.list_lines(&[opened.step.task]).await?;
        }
        situation.enter(reads, opened).await?;
        Ok(situation)
    }
}

/// The profile of the person whose task it is; nobody has one before something is in it.
async fn read_profile(reads: &dyn Reads, opened: &OpenedStep) -> Result<Profile> {
    if opened.memory.profile == 0 {
        return Ok(Profile::default());
    }
    Profile::read(reads, opened.task.workspace, opened.task.created_by).await
}

/// The journal after a sequence, up to what the step has seen.
async fn journal_after(
    reads: &dyn Reads,
    opened: &OpenedStep,
    after: u64,
) -> Result<Vec<JournalEntry>> {
    let id = opened.step.task;
    let mut entries = reads.list_newest_journal(id, &[], after, ENTRIES).await?;
    entries.retain(|entry| entry.sequence <= opened.step.seen.journal_sequence);
    Ok(entries)
}

async fn works_of(reads: &dyn Reads, linked: Vec<LinkedWork>) -> Result<Vec<(LinkedWork, Work)>> {
    if linked.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<_> = linked.iter().map(|linked| linked.work).collect();
    let works = reads.list_works_by_id(&ids).await?;
    let with_work = |linked: LinkedWork| {
        let work = works.iter().find(|work| work.id == linked.work)?;
        Some((linked, work.clone()))
    };
    Ok(linked.into_iter().filter_map(with_work).collect())
}
