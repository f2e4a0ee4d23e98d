//! What tests of providers share.

use domain::ids::{TaskId, TurnId, WorkspaceId};
use domain::job::{Job, JobState, order_id};
use domain::media::MediaKind;
use domain::time::Timestamp;
use domain::turn::CallId;
use serde_json::json;

/// An order.
pub(super) fn job(at: Timestamp) -> Job {
    let call = CallId {
        turn: TurnId::new(),
        step: 1,
        index: 0,
    };
    Job {
        id: order_id(call),
        workspace: WorkspaceId::new(),
        task: TaskId::new(),
        call,
        provider: "local".to_owned(),
        kind: MediaKind::Image,
        prompt: "a fox".to_owned(),
        references: Vec::new(),
        parameters: json!({}),
        item: None,
        place: None,
        state: JobState::Submitting,
        progress: 0,
        upstream: None,
        price: 0,
        reserved: 0,
        spent: 0,
        submitted_at: None,
        made: None,
        outputs: Vec::new(),
        error: None,
        attempts: 0,
        due_at: None,
        settled_at: None,
        is_cancel_asked: false,
        created_at: at,
        updated_at: at,
    }
}
