//! Which things an event touches, as far as they are searched.
//!
//! Invariants
//! - Every kind of event is decided here by name: a new one does not compile until somebody has decided.

use std::collections::BTreeSet;

use domain::event::{Event, EventKind};
use domain::ids::{WorkId, WorkspaceId};
use domain::store::Reads;

use crate::Result;
use crate::source::Subject;

/// What events touch.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    /// Things, each once, but for those below.
    pub(crate) subjects: Vec<Subject>,
    /// Works of which only the content changed: while somebody types, it does so all the time.
    pub(crate) edited: Vec<WorkId>,
}

/// What these events of a workspace touch.
pub(crate) async fn touched_by(
    reads: &dyn Reads,
    workspace: WorkspaceId,
    events: &[Event],
) -> Result<Touched> {
    let mut subjects = BTreeSet::new();
    let mut renamed: BTreeSet<WorkId> = BTreeSet::new();
    let mut edited: BTreeSet<WorkId> = BTreeSet::new();
    for event in events {
        match (subject_of(event), event.kind) {
            (Some(Subject::Work(work)), EventKind::WorkChanged) => {
                edited.insert(work);
            }
            (Some(Subject::Work(work)), kind) => {
                subjects.insert(Subject::Work(work));
                if changes_title(kind) {
                    renamed.insert(work);
                }
            }
            (Some(subject), _) => {
                subjects.insert(subject);
            }
            (None, _) => {}
        }
    }
    edited.retain(|work| !subjects.contains(&Subject::Work(*work)));
    let renamed: Vec<WorkId> = renamed.into_iter().collect();
    for works in renamed.chunks(500) {
        // The titles of its works are among the words of a task.
        let linked = reads.list_linked_tasks(workspace, works).await?;
        subjects.extend(linked.into_iter().map(|linked| Subject::Task(linked.task)));
    }
    Ok(Touched {
        subjects: subjects.into_iter().collect(),
        edited: edited.into_iter().collect(),
    })
}

fn subject_of(event: &Event) -> Option<Subject> {
    use domain::event::Subject as Of;
    let is_searched = match event.kind {
        EventKind::MessagePosted
        | EventKind::MessageStateChanged
        | EventKind::TaskCreated
        | EventKind::TaskStatusChanged
        | EventKind::TaskUpdated
        | EventKind::WorkCreated
        | EventKind::WorkChanged
        | EventKind::WorkRenamed
        | EventKind::WorkDeleted
        | EventKind::WorkRestored
        | EventKind::MemoryChanged
        | EventKind::MemoryForgotten => true,
        EventKind::JournalAppended
        | EventKind::StepDecided
        | EventKind::CallStateChanged
        | EventKind::CardOpened
        | EventKind::CardAnswered
        | EventKind::JobStateChanged
        | EventKind::JobProgress
        | EventKind::BudgetChanged
        | EventKind::MembersChanged
        | EventKind::ProfileChanged => false,
    };
    match event.subject {
        Of::Task(id) if is_searched => Some(Subject::Task(id)),
        Of::Work(id) if is_searched => Some(Subject::Work(id)),
        Of::Message(id) if is_searched => Some(Subject::Message(id)),
        Of::Memory(id) if is_searched => Some(Subject::Memory(id)),
        Of::Task(_)
        | Of::Work(_)
        | Of::Message(_)
        | Of::Memory(_)
        | Of::Member(_)
        | Of::Card(_)
        | Of::Job(_)
        | Of::Workspace => None,
    }
}

const fn changes_title(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::WorkRenamed | EventKind::WorkDeleted | EventKind::WorkRestored
    )
}
