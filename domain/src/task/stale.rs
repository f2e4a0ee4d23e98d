//! Stale items: what was made, and rests on something that changed since (K3).
//!
//! Invariants
//! - Only what depends on the change is marked; everything else stays as it is, and is used again.
//! - A mark stands in the journal, so that folding the plan anew brings it back (J4).

use serde_json::json;

use super::{ChecklistItem, ChecklistState, TaskChange};
use crate::error::Result;
use crate::event::EventKind;
use crate::ids::WorkId;
use crate::job::{Job, JobState};
use crate::journal::JournalKind;
use crate::store::Transaction;
use crate::task::NoticedChange;
use crate::work::{Work, WorkKind};

/// Items that are done and rest on these, directly or through others, in the order of the plan.
pub fn dependents(checklist: &[ChecklistItem], roots: &[String]) -> Vec<String> {
    let mut reached: Vec<&str> = roots.iter().map(String::as_str).collect();
    loop {
        let before = reached.len();
        for item in checklist {
            let rests = item
                .depends_on
                .iter()
                .any(|id| reached.contains(&id.as_str()));
            if rests && !reached.contains(&item.id.as_str()) {
                reached.push(&item.id);
            }
        }
        if reached.len() == before {
            break;
        }
    }
    let is_hit = |item: &&ChecklistItem| {
        item.state == ChecklistState::Done
            && reached.contains(&item.id.as_str())
            && !roots.contains(&item.id)
    };
    checklist
        .iter()
        .filter(is_hit)
        .map(|item| item.id.clone())
        .collect()
}

/// Items whose results no longer fit after a change of a work by somebody else: those that were made for a node that changed or after
/// an asset that did, and what rests on them.
pub fn stale_after(
    checklist: &[ChecklistItem],
    jobs: &[Job],
    (work, nodes): (&Work, &[&str]),
) -> Vec<String> {
    let is_made_of = |job: &&Job| {
        let place = job.place.as_ref();
        let stands_there = place
            .is_some_and(|place| place.work == work.id && nodes.contains(&place.node.as_str()));
        job.state == JobState::Succeeded
            && (stands_there || is_file(work) && job.references.contains(&work.id))
    };
    let mut hit: Vec<String> = jobs
        .iter()
        .filter(is_made_of)
        .filter_map(|job| job.item.clone())
        .collect();
    let is_done = |id: &String| {
        let found = checklist.iter().find(|item| item.id == *id);
        found.is_some_and(|item| item.state == ChecklistState::Done)
    };
    hit.retain(is_done);
    hit.sort();
    hit.dedup();
    let mut roots = hit.clone();
    if is_whole(work) {
        // What came of an item was changed as a whole: the item stands, what was made after it does not.
        let made: Vec<_> = checklist
            .iter()
            .filter(|item| item.outputs.contains(&work.id))
            .map(|item| item.id.clone())
            .collect();
        roots.extend(made.into_iter().filter(|id| !hit.contains(id)));
    }
    let resting = dependents(checklist, &roots);
    let is_stale = |item: &&ChecklistItem| hit.contains(&item.id) || resting.contains(&item.id);
    checklist
        .iter()
        .filter(is_stale)
        .map(|item| item.id.clone())
        .collect()
}

fn is_file(work: &Work) -> bool {
    work.kind == WorkKind::Asset
}

fn is_whole(work: &Work) -> bool {
    matches!(work.kind, WorkKind::Asset | WorkKind::Text)
}

/// Marks what rests on a change of a work, in each of these tasks that had something made.
pub(crate) async fn mark_after_change(
    tx: &dyn Transaction,
    tasks: &[crate::ids::TaskId],
    noticed: &NoticedChange,
) -> Result<()> {
    let jobs = tx.list_jobs(tasks).await?;
    if jobs.is_empty() {
        return Ok(());
    }
    let Some(work) = tx.list_works_by_id(&[noticed.work]).await?.pop() else {
        return Ok(());
    };
    let nodes = noticed.touched.node_ids();
    for (task, mut projections) in tx.list_projections(tasks).await? {
        let own: Vec<Job> = jobs
            .iter()
            .filter(|job| job.task == task)
            .cloned()
            .collect();
        let stale = stale_after(&projections.checklist, &own, (&work, &nodes));
        if stale.is_empty() {
            continue;
        }
        let actor = noticed.changed_by.last().cloned();
        let actor = actor.unwrap_or(crate::actor::Actor::System);
        let mut change = TaskChange::load(tx, task, actor, noticed.at).await?;
        note_stale(&mut change, (&stale, work.id));
        mark(&mut projections.checklist, &stale, change.task.journal_head);
        tx.put_projections(change.task.workspace, task, &projections)
            .await?;
        change.save().await?;
    }
    Ok(())
}

fn note_stale(change: &mut TaskChange<'_>, (stale, work): (&[String], WorkId)) {
    change.note(
        JournalKind::SystemEvent,
        format!("work {work} changed; to be made anew: {}", stale.join(", ")),
        json!({"staleItems": stale, "workId": work}),
    );
    change.tell(EventKind::TaskUpdated, json!({"staleItems": stale}));
}

/// Marks these items, if they are done.
pub(super) fn mark(checklist: &mut [ChecklistItem], stale: &[String], sequence: u64) {
    for item in checklist {
        if item.state == ChecklistState::Done && stale.contains(&item.id) {
            item.state = ChecklistState::Stale;
            item.stale_since = Some(sequence);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(id: &str, after: &[&str], state: ChecklistState) -> ChecklistItem {
        ChecklistItem {
            id: id.to_owned(),
            title: id.to_owned(),
            state,
            depends_on: after.iter().map(|id| (*id).to_owned()).collect(),
            ..ChecklistItem::default()
        }
    }

    #[test]
    fn only_what_rests_on_the_change_is_reached_however_far() {
        use ChecklistState::{Done, Todo};
        let plan = [
            item("hero", &[], Done),
            item("place", &[], Done),
            item("shot-1", &["hero", "place"], Done),
            item("shot-2", &["place"], Done),
            item("shot-3", &["hero"], Todo),
            item("film", &["shot-1", "shot-2"], Done),
        ];
        assert_eq!(dependents(&plan, &["hero".to_owned()]), ["shot-1", "film"]);
        assert_eq!(dependents(&plan, &["film".to_owned()]), [""; 0]);
        let circle = [item("a", &["b"], Done), item("b", &["a"], Done)];
        assert_eq!(dependents(&circle, &["a".to_owned()]), ["b"]);
    }
}
