//! What a task waits for, and whether a finished order wakes it: decided from stored state alone (G2).
//!
//! Invariants
//! - Whatever a task waits for wakes it: the same rule decides both, so that no task waits for ever.

use super::Job;
use crate::task::ChecklistItem;

/// Whether an order that has come to its end wakes its task: without an item of the plan, if any is open; with one, if that one is
/// open, or an open one depends on it.
pub fn wakes(job: &Job, checklist: &[ChecklistItem]) -> bool {
    let is_open = |item: &&ChecklistItem| !item.state.is_closed();
    match own_item(job, checklist) {
        None => checklist.iter().any(|item| is_open(&item)),
        Some(own) => checklist
            .iter()
            .filter(is_open)
            .any(|item| item.id == own.id || item.depends_on.contains(&own.id)),
    }
}

/// Whether something could be done for an item now: it is open, what it depends on is closed, and no order for it is under way.
pub fn is_ready(item: &ChecklistItem, checklist: &[ChecklistItem], jobs: &[Job]) -> bool {
    let is_closed = |id: &String| {
        let known = checklist.iter().find(|known| known.id == *id);
        known.is_none_or(|known| known.state.is_closed())
    };
    let is_ordered = jobs
        .iter()
        .any(|job| job.is_under_way() && job.item.as_ref() == Some(&item.id));
    !item.state.is_closed() && !is_ordered && item.depends_on.iter().all(is_closed)
}

/// Whether a task waits for its orders: one that will wake it is under way, and nothing can be done meanwhile, or the last step did
/// nothing.
pub fn waits(checklist: &[ChecklistItem], jobs: &[Job], has_rested: bool) -> bool {
    let mut awaited = jobs
        .iter()
        .filter(|job| job.is_under_way() && wakes(job, checklist))
        .peekable();
    if awaited.peek().is_none() {
        return false;
    }
    has_rested
        || awaited.any(|job| own_item(job, checklist).is_none())
        || !checklist.iter().any(|item| is_ready(item, checklist, jobs))
}

fn own_item<'a>(job: &Job, checklist: &'a [ChecklistItem]) -> Option<&'a ChecklistItem> {
    let own = job.item.as_ref()?;
    checklist.iter().find(|item| item.id == *own)
}
