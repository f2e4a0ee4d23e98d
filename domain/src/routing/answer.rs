//! A card's answer says where a message belongs.

use serde_json::json;

use super::place::{Inquiry, OFFERED, ask_where, deliver};
use crate::card::{Card, CardOption, NEW_TASK, PICK_ANOTHER, RESUME, close_alone};
use crate::error::{Error, Result};
use crate::journal::JournalKind;
use crate::message::{Message, MessageState, Routing, RoutingOutcome, RoutingStage};
use crate::people::Caller;
use crate::store::Transaction;
use crate::task::{TaskChange, TaskStatus, begin, go_on, task_of};
use crate::time::Timestamp;
use crate::turn::Spare;

/// Does with the message of a card what its answer says, and closes the card.
pub(crate) async fn place_by_answer(
    tx: &dyn Transaction,
    card: &Card,
    (caller, spare, at): (&Caller, Spare, Timestamp),
) -> Result<()> {
    let chosen = chosen(card)?;
    let found = match card.message {
        Some(id) => tx.list_messages_by_id(&[id]).await?.pop(),
        None => None,
    };
    let waits = |message: &Message| {
        matches!(
            message.state,
            MessageState::Undeliverable | MessageState::AwaitingChoice
        )
    };
    let Some(mut message) = found.filter(waits) else {
        return close_alone(tx, card, (caller.actor(), at)).await;
    };
    let actor = caller.actor();
    let target = match chosen.id.as_str() {
        RESUME => card.task,
        _ => chosen.task,
    };
    let mut outcome = RoutingOutcome::ExistingTask;
    let mut change = match (target, chosen.id.as_str()) {
        (Some(target), _) => TaskChange::load(tx, target, actor, at).await?,
        (None, NEW_TASK) => {
            outcome = RoutingOutcome::NewTask;
            let task = task_of(&message, spare.task, &message.text, at)?;
            begin(tx, task, &message.attachments, (actor, spare)).await?
        }
        (None, PICK_ANOTHER) => {
            return ask_again(tx, card, &mut message, (caller, spare, at)).await;
        }
        (None, _) => return close_alone(tx, card, (caller.actor(), at)).await,
    };
    change.close(card).await?;
    if chosen.id == RESUME && !change.task.status.takes_messages() {
        // It gets every message that waited for this, and so this one.
        go_on(&mut change, spare).await?;
    } else {
        let former = message.routing.take();
        let routing = Routing {
            candidates: former.map(|former| former.candidates).unwrap_or_default(),
            ..Routing::new(RoutingStage::Deterministic, outcome, at)
        };
        deliver(&mut change, &mut message, routing, spare).await?;
        change.save_message(&message).await?;
    }
    note_comment(&mut change, card);
    change.save().await?;
    Ok(())
}

fn chosen(card: &Card) -> Result<&CardOption> {
    let answer = card.answer.as_ref();
    let id = answer.and_then(|answer| answer.option.as_ref());
    let found = card.options.iter().find(|option| Some(&option.id) == id);
    found.ok_or_else(|| {
        Error::Invalid("this card asks for one of its options; what else you have to say is a message of its own".to_owned())
    })
}

/// What was added to the answer is for the task as well.
fn note_comment(change: &mut TaskChange<'_>, card: &Card) {
    let answer = card.answer.as_ref();
    if let Some(comment) = answer.and_then(|answer| answer.comment.clone()) {
        let data = json!({"card": card.id, "question": card.prompt, "comment": comment});
        change.note(JournalKind::IncomingMessage, comment, data);
    }
}

/// Asks which of the tasks that changed last it is for, in place of the one that could not have it.
async fn ask_again(
    tx: &dyn Transaction,
    card: &Card,
    message: &mut Message,
    (caller, spare, at): (&Caller, Spare, Timestamp),
) -> Result<()> {
    let Some(holder) = message.task else {
        return close_alone(tx, card, (caller.actor(), at)).await;
    };
    let mut change = TaskChange::load(tx, holder, caller.actor(), at).await?;
    change.close(card).await?;
    let statuses: Vec<_> = TaskStatus::ALL
        .iter()
        .copied()
        .filter(|status| status.takes_messages())
        .collect();
    let most = OFFERED as u32 + 1;
    let mut tasks = tx
        .list_active_tasks(message.workspace, &statuses, most)
        .await?;
    tasks.retain(|task| task.id != holder);
    let former = message.routing.take();
    let routing = former.unwrap_or_else(|| {
        Routing::new(
            RoutingStage::Deterministic,
            RoutingOutcome::NeedsClarification,
            at,
        )
    });
    let inquiry = Inquiry {
        question: "",
        tasks: &tasks,
        routing,
    };
    ask_where(&mut change, message, inquiry, spare).await?;
    change.save_message(message).await?;
    change.save().await?;
    Ok(())
}
