//! Putting a message where it belongs, or asking where that is. The caller stores the message.

use serde_json::json;

use crate::card::{
    Card, CardKind, CardOption, CardOrigin, CardState, NEW_TASK, PICK_ANOTHER, RESUME, RoutingWords,
};
use crate::error::Result;
use crate::journal::JournalKind;
use crate::message::{Message, MessageState, Routing, RoutingOutcome, RoutingStage};
use crate::store::Transaction;
use crate::task::{Task, TaskChange, TaskKind, TaskStatus, become_persistent};
use crate::turn::{Spare, TurnState};
use crate::work::Work;

/// Tasks that one card offers.
pub(super) const OFFERED: usize = 12;

/// Puts a message into a task's inbox, and makes the task go on where messages do that. One that takes no messages keeps it as
/// undeliverable, and a card offers what can be done.
pub(crate) async fn deliver(
    change: &mut TaskChange<'_>,
    message: &mut Message,
    routing: Routing,
    spare: Spare,
) -> Result<()> {
    let status = change.task.status;
    if !status.takes_messages() {
        let words = RoutingWords::of(language(message));
        let why = words.refused(status);
        let prompt = words.ask_refused(&change.task.title, status);
        let options = vec![
            CardOption::plain(RESUME, words.resume),
            CardOption::plain(PICK_ANOTHER, words.pick_another),
        ];
        return refuse(change, message, routing, (&why, &prompt, options, spare)).await;
    }
    change.task.course.is_by_program |= message.by_program;
    message.task = Some(change.task.id);
    message.taken_by = None;
    message.state = MessageState::Delivered;
    let data = json!({
        "message": message.id, "attachments": message.attachments, "replyTo": message.reply_to,
        "correctedFrom": routing.corrected_from,
    });
    message.routing = Some(routing);
    if change.task.kind == TaskKind::Lightweight && change.task.origin != Some(message.id) {
        // Somebody refines what came of it (T3).
        become_persistent(change);
    }
    change.note(JournalKind::IncomingMessage, message.text.clone(), data);
    if status.is_woken_by_message() {
        if status == TaskStatus::Blocked {
            change.task.course.idle_turns = 0;
            change.task.course.is_nudge_due = false;
        }
        return change.queue_turn(spare.turn).await;
    }
    end_suspension(change).await
}

/// Delivers what was written to a task while it took no messages, now that it does; their cards are withdrawn. One that was
/// refused for another reason still waits for its answer.
pub(crate) async fn deliver_refused(change: &mut TaskChange<'_>, spare: Spare) -> Result<()> {
    let (task, refused) = (change.task.id, [MessageState::Undeliverable]);
    for mut message in change.tx.list_inbox(&[task], &refused).await? {
        let workspace = change.task.workspace;
        let cards = change
            .tx
            .list_open_cards_about(workspace, message.id)
            .await?;
        let offers_to_resume = |card: &Card| card.options.iter().any(|option| option.id == RESUME);
        if !cards.is_empty() && !cards.iter().any(offers_to_resume) {
            continue;
        }
        change.withdraw(cards).await?;
        let former = message.routing.take();
        let (stage, outcome) = (RoutingStage::Deterministic, RoutingOutcome::ExistingTask);
        let routing = Routing {
            candidates: former.map(|former| former.candidates).unwrap_or_default(),
            ..Routing::new(stage, outcome, change.at)
        };
        deliver(change, &mut message, routing, spare).await?;
        change.save_message(&message).await?;
    }
    Ok(())
}

/// What a person writes is reason enough to try again at once.
pub(super) async fn end_suspension(change: &TaskChange<'_>) -> Result<()> {
    let Some(id) = change.task.active_turn else {
        return Ok(());
    };
    let Some(mut turn) = change.tx.list_turns_by_id(&[id]).await?.pop() else {
        return Ok(());
    };
    if turn.state != TurnState::Suspended {
        return Ok(());
    }
    turn.not_before = None;
    change.tx.update_turn(&turn, turn.epoch).await?;
    change.wake(&turn).await
}

/// The task can not have the message: why, and a card with what can be done instead.
pub(crate) async fn refuse(
    change: &mut TaskChange<'_>,
    message: &mut Message,
    routing: Routing,
    (why, prompt, options, spare): (&str, &str, Vec<CardOption>, Spare),
) -> Result<()> {
    message.task = Some(change.task.id);
    message.taken_by = None;
    message.state = MessageState::Undeliverable;
    message.routing = Some(Routing {
        outcome: RoutingOutcome::Rejected,
        rationale: Some(why.to_owned()),
        ..routing
    });
    let card = Card {
        options,
        ..card_about(message, prompt, spare)
    };
    change.raise(&card).await
}

/// Works of a message that lie in the bin.
pub(crate) async fn gone_works(tx: &dyn Transaction, message: &Message) -> Result<Vec<Work>> {
    if message.attachments.is_empty() {
        return Ok(Vec::new());
    }
    let mut works = tx.list_works_by_id(&message.attachments).await?;
    works.retain(|work| work.deleted_at.is_some());
    Ok(works)
}

/// What a person is asked about a message.
pub(crate) struct Inquiry<'a> {
    /// The question; empty for the usual one.
    pub(crate) question: &'a str,
    /// The tasks that are offered.
    pub(crate) tasks: &'a [Task],
    /// How it came to be asked.
    pub(crate) routing: Routing,
}

/// Asks the person where a message belongs; the answer delivers it.
pub(crate) async fn ask_where(
    change: &mut TaskChange<'_>,
    message: &mut Message,
    inquiry: Inquiry<'_>,
    spare: Spare,
) -> Result<()> {
    let words = RoutingWords::of(language(message));
    message.taken_by = None;
    message.state = MessageState::AwaitingChoice;
    message.routing = Some(Routing {
        outcome: RoutingOutcome::NeedsClarification,
        ..inquiry.routing
    });
    let prompt = match inquiry.question.trim() {
        "" => words.which_task,
        question => question,
    };
    let tasks = inquiry.tasks.iter().take(OFFERED).map(option);
    let card = Card {
        options: tasks
            .chain([CardOption::plain(NEW_TASK, words.new_task)])
            .collect(),
        ..card_about(message, prompt, spare)
    };
    change.raise(&card).await
}

/// A task as an answer.
pub(super) fn option(task: &Task) -> CardOption {
    CardOption {
        task: Some(task.id),
        ..CardOption::plain(&task.id.to_string(), &task.title)
    }
}

/// A card of the router about a message; where the message is for one person alone, the card is.
fn card_about(message: &Message, prompt: &str, spare: Spare) -> Card {
    Card {
        id: spare.card,
        workspace: message.workspace,
        kind: CardKind::Clarification,
        task: message.task.filter(|_| !message.is_with_main()),
        message: Some(message.id),
        call: None,
        item: None,
        prompt: prompt.to_owned(),
        options: Vec::new(),
        recommended: None,
        works: Vec::new(),
        cost: None,
        job: None,
        raised_by: CardOrigin::Router,
        state: CardState::Open,
        answer: None,
        created_at: message.created_at,
    }
}

pub(super) fn language(message: &Message) -> &str {
    message.language.as_deref().unwrap_or("en")
}
