//! Moving a message that went to the wrong place (T6).
//!
//! Invariants
//! - What was done under the wrong address stays: both journals say that the message was moved, and which step had read it.

use async_trait::async_trait;
use serde_json::json;

use super::place::deliver;
use crate::error::{Error, Result};
use crate::ids::{MessageId, TaskId, WorkspaceId};
use crate::journal::JournalKind;
use crate::message::{Message, MessageState, Routing, RoutingOutcome, RoutingStage};
use crate::people::{Caller, Role, check_text, require};
use crate::store::{Command, Scope, Transaction};
use crate::task::{TaskChange, begin, task_of, visible_task};
use crate::time::Timestamp;
use crate::turn::Spare;

/// Where a message is moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// A task that is there.
    Task(TaskId),
    /// A new task with this goal.
    NewTask(String),
}

/// Moves a message.
#[derive(Debug, Clone)]
pub struct RerouteMessage {
    /// Who asks.
    pub caller: Caller,
    /// The message's workspace.
    pub workspace: WorkspaceId,
    /// The message.
    pub message: MessageId,
    /// Where to.
    pub to: Destination,
    /// Ids for what is made.
    pub spare: Spare,
    /// The present time.
    pub at: Timestamp,
}

#[async_trait]
impl Command for RerouteMessage {
    type Output = ();
    const NAME: &'static str = "message.reroute";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        require(tx, self.workspace, self.caller.user, Role::Editor).await?;
        let mut message = self.movable(tx).await?;
        let from = message.task;
        let (mut change, outcome) = self.target(tx, &message).await?;
        if from == Some(change.task.id) {
            let text = format!("message {} is with this task already", message.id);
            return Err(Error::Conflict(text));
        }
        let is_from_task = from.is_some() && !message.is_with_main();
        let routing = Routing {
            corrected_from: from.filter(|_| is_from_task),
            candidates: message
                .routing
                .take()
                .map(|former| former.candidates)
                .unwrap_or_default(),
            ..Routing::new(RoutingStage::Correction, outcome, self.at)
        };
        if let Some(from) = from {
            self.leave(tx, &message, (from, change.task.id)).await?;
        }
        deliver(&mut change, &mut message, routing, self.spare).await?;
        change.save_message(&message).await?;
        change.save().await?;
        Ok(())
    }
}

impl RerouteMessage {
    async fn movable(&self, tx: &dyn Transaction) -> Result<Message> {
        let found = tx.list_messages_by_id(&[self.message]).await?.pop();
        let message = found
            .filter(|message| message.workspace == self.workspace)
            .filter(|message| message.is_visible_to(self.caller.user))
            .ok_or_else(|| Error::not_found("message", self.message))?;
        if message.person().is_none() {
            return Err(Error::Invalid(
                "what the agent wrote has no other place".to_owned(),
            ));
        }
        if message.state.is_taken_back() {
            let state = message.state.name().to_lowercase();
            let text = format!("message {} is {state} and goes nowhere", message.id);
            return Err(Error::Conflict(text));
        }
        Ok(message)
    }

    async fn target<'tx>(
        &self,
        tx: &'tx dyn Transaction,
        message: &Message,
    ) -> Result<(TaskChange<'tx>, RoutingOutcome)> {
        let actor = self.caller.actor();
        match &self.to {
            Destination::Task(id) => {
                let (task, _) = visible_task(tx, *id, self.caller.user).await?;
                if task.workspace != self.workspace {
                    return Err(Error::not_found("task", id));
                }
                let change = TaskChange::of(tx, task, actor, self.at);
                Ok((change, RoutingOutcome::ExistingTask))
            }
            Destination::NewTask(goal) => {
                check_text("a task's goal", goal, 20_000)?;
                let task = task_of(message, self.spare.task, goal, self.at)?;
                let made = begin(tx, task, &message.attachments, (actor, self.spare)).await?;
                Ok((made, RoutingOutcome::NewTask))
            }
        }
    }

    /// What the place that it leaves keeps of it.
    async fn leave(
        &self,
        tx: &dyn Transaction,
        message: &Message,
        (from, to): (TaskId, TaskId),
    ) -> Result<()> {
        let mut change = TaskChange::load(tx, from, self.caller.actor(), self.at).await?;
        change.withdraw_cards_about(message.id).await?;
        let read_by = message
            .taken_by
            .filter(|_| message.state == MessageState::Consumed);
        change.note(
            JournalKind::SystemEvent,
            format!("a message was moved to task {to}: it was not for this one"),
            json!({"moved": message.id, "movedTo": to, "text": message.text, "readBy": read_by}),
        );
        change.save().await?;
        Ok(())
    }
}
