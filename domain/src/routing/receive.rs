//! Receiving a message without an address: it is stored in Main's inbox, and a turn of Main looks for its place.

use serde_json::json;

use crate::error::{Error, Result};
use crate::journal::JournalKind;
use crate::message::{Message, MessageState};
use crate::store::Transaction;
use crate::task::{TaskChange, main_id, new_main};
use crate::turn::Spare;

use super::place::end_suspension;

/// Stores a message in the inbox of its author's Main; the Main is made with the first one.
pub(crate) async fn receive(
    tx: &dyn Transaction,
    message: &mut Message,
    spare: Spare,
) -> Result<()> {
    let Some(user) = message.person() else {
        return Err(Error::internal("the agent writes nothing to Main"));
    };
    let (actor, at) = (message.author.clone(), message.created_at);
    let id = main_id(message.workspace, user);
    let mut change = match tx.list_tasks_by_id(&[id]).await?.pop() {
        Some(main) => TaskChange::of(tx, main, actor, at),
        None => TaskChange::new(tx, new_main(message.workspace, user, at), actor, at),
    };
    message.main_of = Some(user);
    message.task = Some(id);
    message.state = MessageState::Received;
    change.note(
        JournalKind::IncomingMessage,
        message.text.clone(),
        json!({"message": message.id, "attachments": message.attachments}),
    );
    change.post(message).await?;
    if change.task.status.is_woken_by_message() {
        change.queue_turn(spare.turn).await?;
    } else {
        end_suspension(&change).await?;
    }
    change.save().await?;
    Ok(())
}
