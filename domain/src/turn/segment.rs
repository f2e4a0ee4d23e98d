//! Storing the summary of a span of old history (C2).

use async_trait::async_trait;
use serde_json::json;

use super::{Fence, TurnChange};
use crate::error::Result;
use crate::ids::TurnId;
use crate::journal::JournalKind;
use crate::line::ContextSegment;
use crate::store::{Command, Scope, Transaction};
use crate::time::Timestamp;

/// Appends a segment; a span that is covered already stays as it is.
#[derive(Debug, Clone)]
pub struct StoreSegment {
    /// The turn's fence.
    pub fence: Fence,
    /// The step whose request it is for.
    pub step: u32,
    /// The segment.
    pub segment: ContextSegment,
    /// Tools whose display ends here, at the compaction boundary (C4).
    pub drops_tools: bool,
    /// The present time.
    pub at: Timestamp,
}

#[async_trait]
impl Command for StoreSegment {
    type Output = ();
    const NAME: &'static str = "segment.store";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.fence.workspace)
    }

    fn enters(&self) -> Option<TurnId> {
        Some(self.fence.turn)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        let mut change = TurnChange::enter(tx, self.fence, self.step, self.at).await?;
        let last = tx.list_segments(self.fence.task, 1).await?.pop();
        if last.is_some_and(|last| last.to_sequence >= self.segment.to_sequence) {
            return Ok(());
        }
        tx.insert_segment(self.fence.workspace, self.fence.task, &self.segment)
            .await?;
        if self.drops_tools {
            change.task.task.course.tool_domains.clear();
        }
        change.task.note(
            JournalKind::SystemEvent,
            "old history was summarised",
            json!({"from": self.segment.from_sequence, "to": self.segment.to_sequence}),
        );
        change.save().await
    }
}
