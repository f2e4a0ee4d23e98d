//! What is open of a task that is merged into another.

use domain::Result;
use domain::ids::{TaskId, WorkspaceId};

use super::{Session, id};
use crate::link::Link;

/// Statements over workspace, the task that is merged and the one it is merged into. What a step had taken and not read is taken by
/// the other task's next step.
const MOVES: [&str; 3] = [
    "update messages set task_id = $3, taken_turn = null, taken_step = null where workspace_id = $1 and task_id = $2 \
     and state in ('DELIVERED', 'UNDELIVERABLE', 'AWAITING_CHOICE')",
    // What nobody has approved ends with the task that ordered it. A checkpoint of a plan that goes no further confirms nothing in the other plan.
    "update cards set task_id = $3, item = null, kind = case when kind = 'CHECKPOINT' then 'CHOICE' else kind end \
     where workspace_id = $1 and task_id = $2 and state = 'OPEN' and kind <> 'APPROVE_COST'",
    "update lines set task_id = $3 where workspace_id = $1 and task_id = $2",
];

/// Statements over workspace and the task that is merged.
const ENDS: [&str; 2] = [
    "delete from change_notices where workspace_id = $1 and task_id = $2",
    "delete from task_works where workspace_id = $1 and task_id = $2",
];

impl<C: Link> Session<C> {
    pub(super) async fn move_rows(
        &self,
        workspace: WorkspaceId,
        from: TaskId,
        into: TaskId,
    ) -> Result<()> {
        for sql in MOVES {
            let values = vec![id(workspace.uuid()), id(from.uuid()), id(into.uuid())];
            self.execute(sql, values).await?;
        }
        for sql in ENDS {
            let values = vec![id(workspace.uuid()), id(from.uuid())];
            self.execute(sql, values).await?;
        }
        Ok(())
    }
}
