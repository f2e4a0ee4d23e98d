//! One change of a task inside a command: what it notes in the journal and tells in events is written together at its end.
//!
//! Invariants
//! - Each entry of the journal has its event, and each change of status both.
//! - Nothing is written before [`TaskChange::save`].

use serde_json::{Value, json};

use super::{Task, TaskStatus};
use crate::actor::Actor;
use crate::card::{Card, CardState};
use crate::error::{Error, Result};
use crate::event::{EventKind, NewEvent, Subject};
use crate::ids::{MessageId, TaskId};
use crate::journal::{JournalEntry, JournalKind};
use crate::message::Message;
use crate::store::Transaction;
use crate::time::Timestamp;
use crate::turn::{Call, StepRef, Turn, TurnState, TurnWake};

/// A task that is being changed.
pub(crate) struct TaskChange<'tx> {
    pub(crate) tx: &'tx dyn Transaction,
    pub(crate) task: Task,
    pub(crate) at: Timestamp,
    /// Who does it.
    pub(crate) actor: Actor,
    /// The step in which it happens.
    pub(crate) step: Option<StepRef>,
    is_new: bool,
    has_raised: bool,
    entries: Vec<JournalEntry>,
    events: Vec<NewEvent>,
}

impl<'tx> TaskChange<'tx> {
    /// Starts changing a task that is stored.
    pub(crate) async fn load(
        tx: &'tx dyn Transaction,
        task: TaskId,
        actor: Actor,
        at: Timestamp,
    ) -> Result<Self> {
        let found = tx.list_tasks_by_id(&[task]).await?.pop();
        let task = found.ok_or_else(|| Error::not_found("task", task))?;
        Ok(Self::of(tx, task, actor, at))
    }

    /// Starts changing a task that was read in this transaction.
    pub(crate) fn of(tx: &'tx dyn Transaction, task: Task, actor: Actor, at: Timestamp) -> Self {
        Self {
            tx,
            task,
            at,
            actor,
            step: None,
            is_new: false,
            has_raised: false,
            entries: Vec::new(),
            events: Vec::new(),
        }
    }

    /// Starts with a task that is not stored yet.
    pub(crate) fn new(tx: &'tx dyn Transaction, task: Task, actor: Actor, at: Timestamp) -> Self {
        let mut change = Self::of(tx, task, actor, at);
        change.is_new = true;
        change.tell(EventKind::TaskCreated, json!({"kind": change.task.kind}));
        change
    }

    /// Whether this change has raised a card.
    pub(crate) fn has_raised(&self) -> bool {
        self.has_raised
    }

    /// What this change has noted so far.
    pub(crate) fn noted(&self) -> &[JournalEntry] {
        &self.entries
    }

    /// Notes an entry of the journal.
    pub(crate) fn note(&mut self, kind: JournalKind, text: impl Into<String>, data: Value) {
        self.task.journal_head += 1;
        let sequence = self.task.journal_head;
        if kind.is_news() {
            self.task.news_head = sequence;
        }
        self.entries.push(JournalEntry {
            sequence,
            kind,
            at: self.at,
            actor: self.actor.clone(),
            step: self.step,
            text: text.into(),
            data,
        });
        self.tell(
            EventKind::JournalAppended,
            json!({"sequence": sequence, "kind": kind}),
        );
    }

    /// Tells something about the task.
    pub(crate) fn tell(&mut self, kind: EventKind, data: Value) {
        // Of Main nobody is told: what a person follows are the messages and cards of the main thread.
        if !self.task.is_main() {
            self.tell_of(kind, Subject::Task(self.task.id), data);
        }
    }

    /// Tells something about a part of the task.
    pub(crate) fn tell_of(&mut self, kind: EventKind, subject: Subject, data: Value) {
        self.events.push(NewEvent {
            kind,
            subject,
            task: (!self.task.is_main()).then_some(self.task.id),
            actor: self.actor.clone(),
            at: self.at,
            data,
        });
    }

    /// Gives the task another status; the reason says why it stands still. The same again is nothing.
    pub(crate) fn set_status(&mut self, status: TaskStatus, reason: Option<String>) {
        if self.task.status == status && self.task.status_reason == reason {
            return;
        }
        let former = std::mem::replace(&mut self.task.status, status);
        self.task.status_reason.clone_from(&reason);
        let data = json!({"from": former, "to": status, "reason": reason});
        // The journal tells where the task came to stand; that it waits for a worker is nothing to remember.
        if status != TaskStatus::Queued && status != TaskStatus::Running {
            let text = reason.unwrap_or_else(|| status.name().to_lowercase());
            self.note(JournalKind::StatusChange, text, data.clone());
        }
        self.tell(EventKind::TaskStatusChanged, data);
    }

    /// Stores a message's new state, and tells of it.
    pub(crate) async fn save_message(&mut self, message: &Message) -> Result<()> {
        self.tx.update_message(message).await?;
        self.tell_of(
            EventKind::MessageStateChanged,
            Subject::Message(message.id),
            json!({"state": message.state}),
        );
        Ok(())
    }

    /// Stores a new message, and tells of it.
    pub(crate) async fn post(&mut self, message: &Message) -> Result<()> {
        self.tx.insert_message(message).await?;
        self.tell_of(
            EventKind::MessagePosted,
            Subject::Message(message.id),
            json!({"state": message.state}),
        );
        Ok(())
    }

    /// Notes what came of a call, in the journal and for those who follow.
    pub(crate) fn note_result(&mut self, call: &Call) {
        let text = match &call.error {
            Some(error) => format!("{}: {error}", call.tool),
            None => format!("{}: {}", call.tool, call.state.name().to_lowercase()),
        };
        self.note(
            JournalKind::Result,
            text,
            json!({"call": call.id, "tool": call.tool, "state": call.state, "result": call.result, "error": call.error}),
        );
        self.note_call(call);
    }

    /// Tells those who follow that a call has another state.
    pub(crate) fn note_call(&mut self, call: &Call) {
        self.tell(
            EventKind::CallStateChanged,
            json!({"callId": call.id, "tool": call.tool, "state": call.state}),
        );
    }

    /// Raises a card.
    pub(crate) async fn raise(&mut self, card: &Card) -> Result<()> {
        self.tx.insert_card(card).await?;
        self.has_raised = true;
        let data = json!({"card": card.id, "kind": card.kind, "options": card.options, "raisedBy": card.raised_by, "item": card.item});
        self.note(JournalKind::Question, card.prompt.clone(), data);
        self.tell_of(
            EventKind::CardOpened,
            Subject::Card(card.id),
            json!({"kind": card.kind}),
        );
        Ok(())
    }

    /// Withdraws every open card that the task's work has raised. What should happen with a message stays a question.
    pub(crate) async fn withdraw_cards(&mut self) -> Result<()> {
        let mut cards = self.tx.list_cards(&[self.task.id], Some(true)).await?;
        cards.retain(|card| card.message.is_none());
        self.withdraw(cards).await
    }

    /// Withdraws the open cards that ask what should happen with a message.
    pub(crate) async fn withdraw_cards_about(&mut self, message: MessageId) -> Result<()> {
        let workspace = self.task.workspace;
        let cards = self.tx.list_open_cards_about(workspace, message).await?;
        self.withdraw(cards).await
    }

    /// Withdraws these open cards: their reason has gone.
    pub(crate) async fn withdraw(&mut self, cards: Vec<Card>) -> Result<()> {
        for mut card in cards {
            card.state = CardState::Withdrawn;
            self.close(&card).await?;
        }
        Ok(())
    }

    /// Stores the end of a card, and tells of it; whether it was open.
    pub(crate) async fn close(&mut self, card: &Card) -> Result<bool> {
        let was_open = self.tx.close_card(card).await?;
        if was_open {
            self.tell_of(
                EventKind::CardAnswered,
                Subject::Card(card.id),
                json!({"state": card.state}),
            );
        }
        Ok(was_open)
    }

    /// Queues a turn, unless one is not over.
    pub(crate) async fn queue_turn(&mut self, id: crate::ids::TurnId) -> Result<()> {
        if self.task.active_turn.is_some() {
            return Ok(());
        }
        self.task.course.turns += 1;
        self.task.course.turns_since_resume += 1;
        self.task.active_turn = Some(id);
        let turn = Turn {
            id,
            workspace: self.task.workspace,
            task: self.task.id,
            number: self.task.course.turns,
            state: TurnState::Queued,
            epoch: crate::turn::Epoch::default(),
            lease: None,
            queued_at: self.at,
            not_before: None,
            started_at: None,
            ended_at: None,
            settled_steps: 0,
            moved_at: self.at,
            idle_claims: 0,
            has_progress: false,
        };
        self.tx.insert_turn(&turn).await?;
        self.set_status(TaskStatus::Queued, None);
        self.wake(&turn).await
    }

    /// Wakes workers for a turn, once this is committed.
    pub(crate) async fn wake(&self, turn: &Turn) -> Result<()> {
        self.tx
            .announce_turn(TurnWake {
                workspace: turn.workspace,
                task: turn.task,
                turn: turn.id,
                epoch: turn.epoch,
            })
            .await
    }

    /// Writes everything.
    pub(crate) async fn save(mut self) -> Result<Task> {
        self.task.updated_at = self.at;
        let (workspace, id) = (self.task.workspace, self.task.id);
        if self.is_new {
            self.tx.insert_task(&self.task).await?;
        } else {
            self.tx.update_task(&self.task).await?;
        }
        if !self.entries.is_empty() {
            self.tx.append_journal(workspace, id, &self.entries).await?;
        }
        if !self.events.is_empty() {
            self.tx.emit(workspace, self.events).await?;
        }
        Ok(self.task)
    }
}
