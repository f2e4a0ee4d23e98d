//! Taking a message back, or putting another in its place, as long as no step has taken it (R6).

use async_trait::async_trait;
use serde_json::json;

use super::{Message, MessageState, Routing, RoutingOutcome, RoutingStage};
use crate::error::{Error, Result};
use crate::ids::{MessageId, WorkspaceId};
use crate::journal::JournalKind;
use crate::people::{Caller, Role, check_text, require};
use crate::routing::{deliver, receive};
use crate::store::{Command, Scope, Transaction};
use crate::task::{TaskChange, detect_language};
use crate::time::Timestamp;
use crate::turn::{Spare, StepRef};

/// Takes a message back.
#[derive(Debug, Clone)]
pub struct WithdrawMessage {
    /// Who asks: its author.
    pub caller: Caller,
    /// The message's workspace.
    pub workspace: WorkspaceId,
    /// The message.
    pub message: MessageId,
    /// The present time.
    pub at: Timestamp,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Withdrawn {
    /// It is done; the message that stands now.
    Done(MessageId),
    /// This step has taken it: it is final.
    AlreadyConsumed(StepRef),
}

#[async_trait]
impl Command for WithdrawMessage {
    type Output = Withdrawn;
    const NAME: &'static str = "message.withdraw";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<Withdrawn> {
        let mut message = own_message(tx, &self.caller, self.workspace, self.message).await?;
        match message.state {
            MessageState::Withdrawn => return Ok(Withdrawn::Done(message.id)),
            _ => {
                if let Some(step) = taken(&message) {
                    return Ok(Withdrawn::AlreadyConsumed(step));
                }
            }
        }
        take_back(tx, &mut message, MessageState::Withdrawn, self.at).await?;
        Ok(Withdrawn::Done(message.id))
    }
}

/// Puts another message in the place of one.
#[derive(Debug, Clone)]
pub struct ReplaceMessage {
    /// Who asks: its author.
    pub caller: Caller,
    /// The message's workspace.
    pub workspace: WorkspaceId,
    /// The message.
    pub message: MessageId,
    /// Id of the new one.
    pub new: MessageId,
    /// Its words.
    pub text: String,
    /// Ids for what is made.
    pub spare: Spare,
    /// The present time.
    pub at: Timestamp,
}

#[async_trait]
impl Command for ReplaceMessage {
    type Output = Withdrawn;
    const NAME: &'static str = "message.replace";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<Withdrawn> {
        check_text("a message", &self.text, 20_000)?;
        let mut former = own_message(tx, &self.caller, self.workspace, self.message).await?;
        if let Some(step) = taken(&former) {
            return Ok(Withdrawn::AlreadyConsumed(step));
        }
        let mut new = Message {
            id: self.new,
            text: self.text.clone(),
            language: Some(detect_language(&self.text).to_owned()),
            created_at: self.at,
            taken_by: None,
            replaced_by: None,
            routing: None,
            state: MessageState::Received,
            ..former.clone()
        };
        former.replaced_by = Some(new.id);
        let (task, is_with_main) = (former.task, former.is_with_main());
        take_back(tx, &mut former, MessageState::Replaced, self.at).await?;
        if is_with_main {
            receive(tx, &mut new, self.spare).await?;
            return Ok(Withdrawn::Done(new.id));
        }
        let task = task.ok_or_else(|| not_replaceable(&former))?;
        let mut change = TaskChange::load(tx, task, self.caller.actor(), self.at).await?;
        let (stage, outcome) = (RoutingStage::Deterministic, RoutingOutcome::ExistingTask);
        let routing = Routing::new(stage, outcome, self.at);
        deliver(&mut change, &mut new, routing, self.spare).await?;
        change.post(&new).await?;
        change.save().await?;
        Ok(Withdrawn::Done(new.id))
    }
}

/// The step for which a message is final. A step of Main only looks for its place: until that is stored, nothing was read.
fn taken(message: &Message) -> Option<StepRef> {
    message.taken_by.filter(|_| !message.is_with_main())
}

async fn own_message(
    tx: &dyn Transaction,
    caller: &Caller,
    workspace: WorkspaceId,
    id: MessageId,
) -> Result<Message> {
    require(tx, workspace, caller.user, Role::Editor).await?;
    let found = tx.list_messages_by_id(&[id]).await?.pop();
    let message = found
        .filter(|message| message.workspace == workspace)
        .ok_or_else(|| Error::not_found("message", id))?;
    if message.author != caller.actor() {
        return Err(Error::Forbidden(
            "only its author can take a message back".to_owned(),
        ));
    }
    Ok(message)
}

/// Gives a message that no step has taken its last state.
async fn take_back(
    tx: &dyn Transaction,
    message: &mut Message,
    state: MessageState,
    at: Timestamp,
) -> Result<()> {
    if matches!(
        message.state,
        MessageState::Replaced | MessageState::Answered | MessageState::Consumed
    ) {
        return Err(not_replaceable(message));
    }
    let Some(task) = message.task else {
        return Err(not_replaceable(message));
    };
    message.state = state;
    message.taken_by = None;
    let mut change = TaskChange::load(tx, task, message.author.clone(), at).await?;
    change.save_message(message).await?;
    change.withdraw_cards_about(message.id).await?;
    // The journal keeps what was written, and says that it no longer holds.
    change.note(
        JournalKind::SystemEvent,
        "a message was taken back before it was read",
        json!({"withdrawn": message.id, "replacedBy": message.replaced_by}),
    );
    change.save().await?;
    Ok(())
}

fn not_replaceable(message: &Message) -> Error {
    Error::Conflict(format!(
        "message {} is {} and can not be taken back",
        message.id,
        message.state.name().to_lowercase()
    ))
}
