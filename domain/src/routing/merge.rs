//! Merging a superfluous task into another (T6).
//!
//! Invariants
//! - Journals stay where they are and point to each other; what is open moves: unread messages, works, open cards, lines.
//! - The merged task is archived; whoever works on it is fenced off.

use async_trait::async_trait;
use serde_json::json;

use super::place::end_suspension;
use crate::document::Version;
use crate::error::{Error, Result};
use crate::event::EventKind;
use crate::ids::{TaskId, WorkspaceId};
use crate::journal::JournalKind;
use crate::message::{Message, MessageState};
use crate::people::{Caller, Role};
use crate::store::{Command, Scope, Transaction};
use crate::task::{LinkedWork, TaskChange, TaskStatus, end, visible_task};
use crate::time::Timestamp;
use crate::turn::Spare;

/// Merges a task into another.
#[derive(Debug, Clone)]
pub struct MergeTasks {
    /// Who asks.
    pub caller: Caller,
    /// The workspace of both.
    pub workspace: WorkspaceId,
    /// The task that ends.
    pub from: TaskId,
    /// The task that goes on.
    pub into: TaskId,
    /// Ids for what is made.
    pub spare: Spare,
    /// The present time.
    pub at: Timestamp,
}

#[async_trait]
impl Command for MergeTasks {
    type Output = ();
    const NAME: &'static str = "task.merge";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        if self.from == self.into {
            let text = "a task can not be merged into itself".to_owned();
            return Err(Error::Invalid(text));
        }
        let mut from = self.task(tx, self.from).await?;
        let mut into = self.task(tx, self.into).await?;
        if from.task.status == TaskStatus::Archived || !into.task.status.takes_messages() {
            return Err(Error::Conflict(format!(
                "task {} is {} and task {} is {}: what is archived or stopped is not merged; resume it first",
                self.from,
                from.task.status.name().to_lowercase(),
                self.into,
                into.task.status.name().to_lowercase(),
            )));
        }
        let linked = tx.list_linked_works(&[self.from]).await?;
        let cards = tx.list_cards(&[self.from], Some(true)).await?;
        let lines = tx.list_lines(&[self.from]).await?;
        let unread = [MessageState::Delivered];
        let messages = tx.list_inbox(&[self.from], &unread).await?;
        let moved = json!({
            "messages": messages.iter().map(|message| message.id).collect::<Vec<_>>(),
            "works": linked.iter().map(|linked| linked.work).collect::<Vec<_>>(),
            "cards": cards.iter().map(|card| card.id).collect::<Vec<_>>(),
            "lines": lines.iter().map(|line| line.id).collect::<Vec<_>>(),
        });
        tx.move_to_task(self.workspace, self.from, self.into)
            .await?;
        self.link(tx, &linked).await?;
        let reason = format!(
            "merged into task {} \u{201c}{}\u{201d}",
            self.into, into.task.title
        );
        let data = json!({"mergedInto": self.into, "moved": moved});
        from.note(JournalKind::SystemEvent, reason.clone(), data);
        from.tell(EventKind::TaskUpdated, json!({"mergedInto": self.into}));
        end(&mut from, TaskStatus::Archived, reason).await?;
        self.take_over(&mut into, &from, moved, &messages).await?;
        from.save().await?;
        into.save().await?;
        Ok(())
    }
}

impl MergeTasks {
    async fn task<'tx>(&self, tx: &'tx dyn Transaction, id: TaskId) -> Result<TaskChange<'tx>> {
        let (task, role) = visible_task(tx, id, self.caller.user).await?;
        if task.workspace != self.workspace {
            return Err(Error::not_found("task", id));
        }
        if role < Role::Editor {
            return Err(Error::Forbidden(
                "this needs the role editor; you are viewer".to_owned(),
            ));
        }
        Ok(TaskChange::of(tx, task, self.caller.actor(), self.at))
    }

    /// The task that goes on has read none of these works yet.
    async fn link(&self, tx: &dyn Transaction, linked: &[LinkedWork]) -> Result<()> {
        for one in linked {
            let linked = LinkedWork {
                task: self.into,
                seen_version: Version(0),
                last_read_at: None,
                last_written_at: None,
                ..one.clone()
            };
            tx.put_linked_work(&linked).await?;
        }
        Ok(())
    }

    async fn take_over(
        &self,
        into: &mut TaskChange<'_>,
        from: &TaskChange<'_>,
        moved: serde_json::Value,
        messages: &[Message],
    ) -> Result<()> {
        let data = json!({"mergedFrom": self.from, "goal": from.task.goal, "brief": from.task.brief, "moved": moved});
        into.note(
            JournalKind::SystemEvent,
            format!(
                "task {} \u{201c}{}\u{201d} was merged into this one; its goal: {}",
                self.from, from.task.title, from.task.goal
            ),
            data,
        );
        into.tell(EventKind::TaskUpdated, json!({"mergedFrom": self.from}));
        for message in messages {
            let data = json!({
                "message": message.id, "attachments": message.attachments, "replyTo": message.reply_to,
                "mergedFrom": self.from,
            });
            into.note(JournalKind::IncomingMessage, message.text.clone(), data);
        }
        if messages.is_empty() {
            return Ok(());
        }
        if into.task.status.is_woken_by_message() {
            return into.queue_turn(self.spare.turn).await;
        }
        end_suspension(into).await
    }
}
