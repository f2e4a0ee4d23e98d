//! Posting a message: stage 1 of routing (R1), and the stages' common beginning.
//!
//! Invariants
//! - A message is stored before anything is decided about it; where its target can not take it, it stays, and says why.
//! - What says where it belongs goes there without a model: a task, a card, a work of exactly one task, a task's id among the words.
//!   Everything else is Main's.

use async_trait::async_trait;
use serde_json::json;

use super::{Message, Routing, RoutingOutcome, RoutingStage};
use crate::card::{CardOption, NEW_TASK, PICK_ANOTHER, RoutingWords};
use crate::error::{Error, Result};
use crate::idempotency::{IdempotencyKey, first_result};
use crate::ids::{CardId, MessageId, TaskId, WorkId};
use crate::people::{Caller, Role, TokenKind, check_text, require};
use crate::routing::{deliver, receive, refuse};
use crate::store::{Command, Scope, Transaction};
use crate::task::{Task, TaskChange, visible_task};
use crate::turn::Spare;
use crate::work::Work;

/// Works that one message can bring.
const ATTACHMENTS: usize = 20;

/// Where a message says that it belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Address {
    /// Nothing: Main finds its place.
    Main,
    /// A task.
    Task(TaskId),
    /// The task that asked.
    Card(CardId),
    /// The task that works on this; Main finds the place where there are several or none.
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
        message.by_program = self.caller.kind == TokenKind::PublicApi;
        match self.address {
            Address::Main => self.to_main(tx, &mut message).await?,
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
        let mut change = self.target(tx, id).await?;
        deliver(&mut change, message, self.by_rule(), self.spare).await?;
        change.post(message).await?;
        change.save().await?;
        Ok(())
    }

    /// A task that a rule names.
    async fn target<'tx>(&self, tx: &'tx dyn Transaction, id: TaskId) -> Result<TaskChange<'tx>> {
        let (task, _) = visible_task(tx, id, self.caller.user).await?;
        if task.workspace != self.message.workspace {
            return Err(Error::not_found("task", id));
        }
        let (actor, at) = (self.caller.actor(), self.message.created_at);
        Ok(TaskChange::of(tx, task, actor, at))
    }

    fn by_rule(&self) -> Routing {
        let stage = RoutingStage::Deterministic;
        Routing::new(stage, RoutingOutcome::ExistingTask, self.message.created_at)
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

    /// The id of exactly one task among the words is an address; whatever else they say is Main's to read.
    async fn to_main(&self, tx: &dyn Transaction, message: &mut Message) -> Result<()> {
        let mut tasks = tx.list_tasks_by_id(&named_tasks(&message.text)).await?;
        tasks.retain(|task| task.workspace == message.workspace && !task.is_main());
        if let [task] = tasks.as_slice() {
            message.main_of = Some(self.caller.user);
            return self.to_task(tx, message, task.id).await;
        }
        receive(tx, message, self.spare).await
    }

    /// One task is the place: the only one that takes messages, or the only one at all. Otherwise the work goes with the message.
    async fn about_work(
        &self,
        tx: &dyn Transaction,
        message: &mut Message,
        id: WorkId,
    ) -> Result<()> {
        let work = tx.list_works_by_id(&[id]).await?.pop();
        let work = work
            .filter(|work| work.workspace == message.workspace)
            .ok_or_else(|| Error::not_found("work", id))?;
        let linked = tx.list_linked_tasks(message.workspace, &[id]).await?;
        let ids: Vec<_> = linked.iter().map(|linked| linked.task).collect();
        let tasks = tx.list_tasks_by_id(&ids).await?;
        let takes = |task: &&Task| task.status.takes_messages();
        let taking: Vec<&Task> = tasks.iter().filter(takes).collect();
        let only = match (taking.as_slice(), tasks.as_slice()) {
            ([task], _) => Some(task.id),
            ([], [task]) => Some(task.id),
            _ => None,
        };
        match only {
            Some(task) if work.deleted_at.is_some() => {
                self.about_gone(tx, message, (task, &work)).await
            }
            Some(task) => self.to_task(tx, message, task).await,
            None => {
                if !message.attachments.contains(&id) {
                    message.attachments.push(id);
                }
                receive(tx, message, self.spare).await
            }
        }
    }

    /// What the message is about lies in the bin: the person hears of it, and picks again (R5).
    async fn about_gone(
        &self,
        tx: &dyn Transaction,
        message: &mut Message,
        (task, work): (TaskId, &Work),
    ) -> Result<()> {
        let mut change = self.target(tx, task).await?;
        let words = RoutingWords::of(message.language.as_deref().unwrap_or("en"));
        let mut options = vec![
            CardOption::plain(NEW_TASK, words.new_task),
            CardOption::plain(PICK_ANOTHER, words.pick_another),
        ];
        if change.task.status.takes_messages() {
            let to_task = CardOption {
                task: Some(task),
                ..CardOption::plain(&task.to_string(), &change.task.title)
            };
            options.insert(0, to_task);
        }
        let prompt = words.gone(&work.title);
        let told = (prompt.as_str(), prompt.as_str(), options, self.spare);
        refuse(&mut change, message, self.by_rule(), told).await?;
        change.post(message).await?;
        change.save().await?;
        Ok(())
    }
}

/// Ids of tasks that stand in a text, each once; more than a few are no address.
fn named_tasks(text: &str) -> Vec<TaskId> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(TaskId::PREFIX).take(20) {
        let id = text.get(at..at + TaskId::PREFIX.len() + 33);
        if let Some(Ok(id)) = id.map(str::parse::<TaskId>)
            && !found.contains(&id)
        {
            found.push(id);
        }
    }
    found
}
