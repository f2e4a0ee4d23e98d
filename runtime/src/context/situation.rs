//! Everything stored that a step's request is made of.

use domain::card::Card;
use domain::error::{Error, Result};
use domain::journal::JournalEntry;
use domain::line::{ContextSegment, Line};
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
    /// Lines of its executors.
    pub lines: Vec<Line>,
}

impl Situation {
    /// Reads it.
    pub async fn load(reads: &dyn Reads, opened: &OpenedStep) -> Result<Self> {
        let id = opened.step.task;
        let task = reads.list_tasks_by_id(&[id]).await?.pop();
        let task = task.ok_or_else(|| Error::not_found("task", id))?;
        let projections = reads.list_projections(&[id]).await?.pop();
        let segments = reads.list_segments(id, SEGMENTS).await?;
        let covered = segments.last().map_or(0, |segment| segment.to_sequence);
        let mut recent = reads.list_newest_journal(id, &[], covered, ENTRIES).await?;
        recent.retain(|entry| entry.sequence <= opened.step.seen.journal_sequence);
        let linked = reads.list_linked_works(&[id]).await?;
        let works = works_of(reads, linked).await?;
        let mut notices = reads.list_change_notices(&[id]).await?;
        notices.retain(|notice| {
            let seen = &opened.step.seen.notices;
            seen.iter().any(|(work, _)| *work == notice.work)
        });
        Ok(Self {
            projections: projections
                .map(|(_, projections)| projections)
                .unwrap_or_default(),
            cards: reads.list_cards(&[id], Some(true)).await?,
            lines: reads.list_lines(&[id]).await?,
            step: opened.step.clone(),
            messages: opened.messages.clone(),
            task,
            segments,
            recent,
            works,
            notices,
        })
    }
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
