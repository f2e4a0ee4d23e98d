//! Folding a task's projections out of its journal (J4).

use serde_json::Value;

use super::stale::mark;
use super::{ChecklistItem, Projections};
use crate::error::{Error, Result};
use crate::ids::TaskId;
use crate::journal::{JournalEntry, JournalKind, JournalReads};
use crate::memory::MemoryReads;

/// Entries that are read at once.
const PAGE: u32 = 500;

/// Kinds of entries that can change a plan besides plans themselves.
const CHANGING: [JournalKind; 2] = [JournalKind::IncomingMessage, JournalKind::SystemEvent];

/// The projections as the journal tells them: the last plan, and what people confirmed since. None before the first plan.
pub(crate) async fn fold(
    reads: &(impl JournalReads + MemoryReads + ?Sized),
    task: TaskId,
) -> Result<Option<Projections>> {
    let plan = reads
        .list_newest_journal(task, &[JournalKind::Plan], 0, 1)
        .await?;
    let Some(plan) = plan.first() else {
        return Ok(None);
    };
    let mut projections = read_plan(plan)?;
    if reads.list_left_out(task).await?.contains(&plan.sequence) {
        leave_words_out(&mut projections);
    }
    let mut after = plan.sequence;
    loop {
        let request = crate::page::PageRequest {
            first: PAGE,
            after: Some(after),
        };
        let page = reads.list_journal(task, &CHANGING, request).await?;
        for entry in &page.rows {
            confirm(&mut projections.checklist, &entry.data);
            mark_stale(&mut projections.checklist, entry);
            after = entry.sequence;
        }
        if !page.has_next {
            return Ok(Some(projections));
        }
    }
}

fn read_plan(plan: &JournalEntry) -> Result<Projections> {
    let text = |key: &str| {
        plan.data[key]
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| unreadable(plan, key))
    };
    let checklist: Vec<ChecklistItem> = serde_json::from_value(plan.data["checklist"].clone())
        .map_err(|_| unreadable(plan, "checklist"))?;
    Ok(Projections {
        summary: text("summary")?,
        short_line: text("shortLine")?,
        checklist,
        rewritten_at: Some(plan.at),
        journal_sequence: plan.data["seenSequence"]
            .as_u64()
            .ok_or_else(|| unreadable(plan, "seenSequence"))?,
    })
}

/// What a plan said that rests on something forgotten does not come back; where the task stands does.
fn leave_words_out(projections: &mut Projections) {
    let mark = "…";
    mark.clone_into(&mut projections.summary);
    mark.clone_into(&mut projections.short_line);
    for item in &mut projections.checklist {
        mark.clone_into(&mut item.title);
        item.evidence = None;
    }
}

/// Marks the items that an answer confirmed; the answer's entry names them.
pub(crate) fn confirm(checklist: &mut [ChecklistItem], answer: &Value) {
    let Some(confirmed) = answer["confirmedItems"].as_array() else {
        return;
    };
    for item in checklist {
        if confirmed.iter().any(|id| id.as_str() == Some(&item.id)) {
            item.is_confirmed = true;
        }
    }
}

/// Marks the items that rest on a change; its entry names them.
fn mark_stale(checklist: &mut [ChecklistItem], entry: &JournalEntry) {
    if let Some(stale) = entry.data["staleItems"].as_array() {
        let stale: Vec<_> = stale
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
        mark(checklist, &stale, entry.sequence);
    }
}

fn unreadable(plan: &JournalEntry, key: &str) -> Error {
    Error::internal(format!(
        "journal entry {}: `{key}` of the plan can not be read",
        plan.sequence
    ))
}
