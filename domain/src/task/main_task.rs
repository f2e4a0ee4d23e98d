//! Main as a task: what makes turns, steps, leases and recovery of tasks serve the main thread as well.
//!
//! Invariants
//! - There is one for a member and workspace: its id follows from both.
//!
//! Not here: what Main does with a message (`routing`).

use uuid::Uuid;

use super::{Autonomy, Course, Task, TaskKind, TaskStatus, Usage};
use crate::ids::{TaskId, UserId, WorkspaceId};
use crate::time::Timestamp;

/// The id of a person's Main in a workspace.
pub fn main_id(workspace: WorkspaceId, user: UserId) -> TaskId {
    TaskId::from_uuid(Uuid::new_v5(&workspace.uuid(), user.uuid().as_bytes()))
}

/// Main before its first message: at rest, as a task is that was delivered.
pub(crate) fn new_main(workspace: WorkspaceId, user: UserId, at: Timestamp) -> Task {
    Task {
        id: main_id(workspace, user),
        workspace,
        kind: TaskKind::Persistent,
        status: TaskStatus::Delivered,
        status_reason: None,
        title: "Main".to_owned(),
        goal: String::new(),
        brief: String::new(),
        language: "en".to_owned(),
        created_by: user,
        origin: None,
        main_of: Some(user),
        autonomy: Autonomy::RunUntilDone,
        budget_micros: None,
        created_at: at,
        updated_at: at,
        journal_head: 0,
        news_head: 0,
        active_turn: None,
        course: Course::default(),
        usage: Usage::default(),
    }
}
