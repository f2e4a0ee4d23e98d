//! Posting a message that says where it belongs, and delivering one to a task.
//!
//! Invariants
//! - A message is stored before anything is decided about it; where its target can not take it, it stays, and says why.

use async_trait::async_trait;
use serde_json::json;

use super::{Message, MessageState, Routing, RoutingOutcome, RoutingStage};
use crate::card::{Card, CardKind, CardOption, CardOrigin, CardState, PICK_ANOTHER, RESUME};
use crate::error::{Error, Result};
use crate::event::{EventKind, NewEvent, Subject};
use crate::idempotency::{IdempotencyKey, first_result};
use crate::ids::{CardId, MessageId, TaskId, WorkId};
use crate::journal::JournalKind;
use crate::people::{Caller, Role, check_text, require};
use crate::store::{Command, Scope, Transaction};
use crate::task::{Task, TaskChange, TaskStatus, visible_task};
use crate::time::Timestamp;
use crate::turn::{Spare, TurnState};

/// Works that one message can bring.
const ATTACHMENTS: usize = 20;

/// Where a message says that it belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Address {
    /// A task.
    Task(TaskId),
    /// The task that asked.
    Card(CardId),
    /// The task that works on this.
    Work(WorkId),
}

/// Stores a message and delivers it.
#[derive(Debug, Clone)]
pub struct PostMessage {
    /// Who writes.
    pub caller: Caller,
    /// The message, as received.
    pub message: Message,
    /// Where it belongs.
    pub address: Address,
    /// The key of the request.
    pub idempotency: Option<IdempotencyKey>,
    /// Ids for what is made.
    pub spare: Spare,
}

#[async_trait]
impl Command for PostMessage {
    /// The message, or the one that the same key posted before.
    type Output = MessageId;
    const NAME: &'static str = "message.post";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.message.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<MessageId> {
        require(tx, self.message.workspace, self.caller.user, Role::Editor).await?;
        check_text("a message", &self.message.text, 20_000)?;
        if let Some(key) = &self.idempotency {
            if let Some(first) = first_result(tx, key).await? {
                return serde_json::from_value(first)
                    .map_err(|error| Error::Internal(error.into()));
            }
            tx.remember_idempotency(key, &json!(self.message.id))
                .await?;
        }
        self.check_attachments(tx).await?;
        let mut message = self.message.clone();
        match self.address {
            Address::Task(id) => self.to_task(tx, &mut message, id).await?,
            Address::Card(id) => self.to_card(tx, &mut message, id).await?,
            Address::Work(id) => self.about_work(tx, &mut message, id).await?,
        }
        Ok(message.id)
    }
}

impl PostMessage {
    async fn check_attachments(&self, tx: &dyn Transaction) -> Result<()> {
        let ids = &self.message.attachments;
        if ids.len() > ATTACHMENTS {
            return Err(Error::Invalid(format!(
                "a message can bring {ATTACHMENTS} works, and brings {}",
                ids.len()
            )));
        }
        let found = tx.list_works_by_id(ids).await?;
        for id in ids {
            found
                .iter()
                .find(|work| work.id == *id && work.workspace == self.message.workspace)
                .ok_or_else(|| Error::not_found("work", id))?;
        }
        Ok(())
    }

    async fn to_task(&self, tx: &dyn Transaction, message: &mut Message, id: TaskId) -> Result<()> {
        let (task, _) = visible_task(tx, id, self.caller.user).await?;
        if task.workspace != message.workspace {
            return Err(Error::not_found("task", id));
        }
        let mut change = TaskChange::of(tx, task, self.caller.actor(), self.message.created_at);
        deliver(
            &mut change,
            message,
            RoutingStage::Deterministic,
            self.spare,
        )
        .await?;
        change.post(message).await?;
        change.save().await?;
        Ok(())
    }

    async fn to_card(&self, tx: &dyn Transaction, message: &mut Message, id: CardId) -> Result<()> {
        let card = tx.list_cards_by_id(&[id]).await?.pop();
        let card = card.filter(|card| card.workspace == message.workspace);
        let task = card.as_ref().and_then(|card| card.task);
        let (Some(card), Some(task)) = (card, task) else {
            return Err(Error::not_found("card", id));
        };
        message.reply_to = Some(card.id);
        self.to_task(tx, message, task).await
    }

    /// One task that still moves is the place; of several the person chooses.
    async fn about_work(
        &self,
        tx: &dyn Transaction,
        message: &mut Message,
        id: WorkId,
    ) -> Result<()> {
        let work = tx.list_works_by_id(&[id]).await?.pop();
        work.filter(|work| work.workspace == message.workspace)
            .ok_or_else(|| Error::not_found("work", id))?;
        let linked = tx.list_linked_tasks(message.workspace, &[id]).await?;
        let ids: Vec<_> = linked.iter().map(|linked| linked.task).collect();
        let mut tasks = tx.list_tasks_by_id(&ids).await?;
        tasks.retain(|task| task.status.takes_messages());
        match tasks.as_slice() {
            [] => Err(Error::Conflict(format!(
                "no task works on {id}; name a task, or make one for it"
            ))),
            [task] => self.to_task(tx, message, task.id).await,
            several => self.ask_which(tx, message, several).await,
        }
    }

    async fn ask_which(
        &self,
        tx: &dyn Transaction,
        message: &mut Message,
        tasks: &[Task],
    ) -> Result<()> {
        let at = message.created_at;
        message.state = MessageState::AwaitingChoice;
        message.main_of = Some(self.caller.user);
        message.routing = Some(routing(
            RoutingStage::Deterministic,
            RoutingOutcome::NeedsClarification,
            "several tasks work on this",
            at,
        ));
        let option = |task: &Task| CardOption {
            task: Some(task.id),
            ..CardOption::plain(&task.id.to_string(), &task.title)
        };
        let card = Card {
            options: tasks.iter().take(12).map(option).collect(),
            ..card_about(self.spare, message, "Which task is this for?")
        };
        tx.insert_message(message).await?;
        tx.insert_card(&card).await?;
        let event = |kind, subject, data| NewEvent {
            kind,
            subject,
            task: None,
            actor: self.caller.actor(),
            at,
            data,
        };
        let posted = json!({"state": message.state});
        let opened = json!({"kind": card.kind});
        let events = vec![
            event(
                EventKind::MessagePosted,
                Subject::Message(message.id),
                posted,
            ),
            event(EventKind::CardOpened, Subject::Card(card.id), opened),
        ];
        tx.emit(message.workspace, events).await
    }
}

/// A card of the router about a message.
fn card_about(spare: Spare, message: &Message, prompt: &str) -> Card {
    Card {
        id: spare.card,
        workspace: message.workspace,
        kind: CardKind::Clarification,
        task: None,
        message: Some(message.id),
        call: None,
        item: None,
        prompt: prompt.to_owned(),
        options: Vec::new(),
        recommended: None,
        works: Vec::new(),
        raised_by: CardOrigin::Router,
        state: CardState::Open,
        answer: None,
        created_at: message.created_at,
    }
}

fn routing(
    stage: RoutingStage,
    outcome: RoutingOutcome,
    rationale: &str,
    at: Timestamp,
) -> Routing {
    Routing {
        stage,
        outcome,
        rationale: (!rationale.is_empty()).then(|| rationale.to_owned()),
        decided_at: at,
        corrected_from: None,
    }
}

/// Puts a message into a task's inbox, and makes the task go on where messages do that. One that takes no messages keeps it as
/// undeliverable, and a card offers what can be done. The caller stores the message.
pub(crate) async fn deliver(
    change: &mut TaskChange<'_>,
    message: &mut Message,
    stage: RoutingStage,
    spare: Spare,
) -> Result<()> {
    message.task = Some(change.task.id);
    let status = change.task.status;
    if !status.takes_messages() {
        return reject(change, message, stage, spare).await;
    }
    message.state = MessageState::Delivered;
    message.routing = Some(routing(stage, RoutingOutcome::ExistingTask, "", change.at));
    change.note(
        JournalKind::IncomingMessage,
        message.text.clone(),
        json!({"message": message.id, "attachments": message.attachments, "replyTo": message.reply_to}),
    );
    if status.is_woken_by_message() {
        if status == TaskStatus::Blocked {
            change.task.course.idle_turns = 0;
            change.task.course.is_nudge_due = false;
        }
        return change.queue_turn(spare.turn).await;
    }
    end_suspension(change).await
}

/// What a person writes is reason enough to try again at once.
async fn end_suspension(change: &TaskChange<'_>) -> Result<()> {
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

async fn reject(
    change: &mut TaskChange<'_>,
    message: &mut Message,
    stage: RoutingStage,
    spare: Spare,
) -> Result<()> {
    let status = change.task.status.name().to_lowercase();
    message.state = MessageState::Undeliverable;
    message.routing = Some(routing(
        stage,
        RoutingOutcome::Rejected,
        &format!("the task is {status} and takes no messages"),
        change.at,
    ));
    let card = Card {
        task: Some(change.task.id),
        options: vec![
            CardOption::plain(RESUME, "Resume the task and deliver the message"),
            CardOption::plain(PICK_ANOTHER, "Pick another task"),
        ],
        ..card_about(
            spare,
            message,
            &format!(
                "\u{201c}{}\u{201d} is {status}. What should happen with your message?",
                change.task.title
            ),
        )
    };
    change.raise(&card).await
}
