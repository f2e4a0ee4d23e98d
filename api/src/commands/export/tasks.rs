//! Tasks and main threads of a workspace that is exported.

use anyhow::Result;
use domain::actor::Actor;
use domain::archive::StoredTask;
use domain::card::Card;
use domain::ids::UserId;
use domain::message::Message;
use domain::page::{End, PageRequest, Window};
use domain::people::CreatedPosition;
use domain::task::{Task, TaskFilter};
use serde::Serialize;
use serde_json::Value;

use super::super::archive::rows::{MessageRow, TaskRow};
use super::super::archive::{MESSAGES, TASKS};
use super::{Exporter, ROWS};

impl Exporter<'_> {
    pub(super) async fn tasks(&mut self) -> Result<()> {
        let mut after = None;
        self.begin(TASKS)?;
        loop {
            let page = PageRequest { first: ROWS, after };
            let page = self
                .reads()
                .list_tasks(self.workspace, &TaskFilter::default(), page)
                .await?;
            for task in &page.rows {
                let stored = StoredTask::read(self.reads(), task.id).await?;
                self.line_with_people(&TaskRow::Task(stored.task))?;
                for part in stored.parts {
                    self.line_with_people(&TaskRow::Part(part))?;
                }
            }
            after = page.rows.last().map(position);
            if !page.has_next {
                return Ok(());
            }
        }
    }

    /// What stands in main threads alone: what belongs to a task goes with it.
    pub(super) async fn main_threads(&mut self) -> Result<()> {
        let members = self.reads().list_members(&[self.workspace]).await?;
        let mut messages = Vec::new();
        for member in members {
            messages.extend(self.main_thread(member.user).await?);
        }
        let mut cards: Vec<Card> = self.reads().list_open_cards(self.workspace).await?;
        cards.retain(|card| card.task.is_none());
        self.begin(MESSAGES)?;
        for message in messages {
            self.line_with_people(&MessageRow::Message(message))?;
        }
        for card in cards {
            self.line_with_people(&MessageRow::Card(card))?;
        }
        Ok(())
    }

    async fn main_thread(&self, user: UserId) -> Result<Vec<Message>> {
        let (mut messages, mut after) = (Vec::new(), None);
        loop {
            let window = Window {
                limit: ROWS,
                end: End::First,
                after,
                before: None,
            };
            let page = self
                .reads()
                .list_main_thread(self.workspace, user, window)
                .await?;
            after = page.rows.last().map(Message::position);
            // Main is made again where they come in.
            let alone = page
                .rows
                .into_iter()
                .filter(|message| message.private_to().is_some())
                .map(|message| Message {
                    task: None,
                    ..message
                });
            messages.extend(alone);
            if !page.has_next {
                return Ok(messages);
            }
        }
    }

    /// Writes a line, and notes everybody whom it names.
    pub(super) fn line_with_people(&mut self, row: &impl Serialize) -> Result<()> {
        let row = serde_json::to_value(row)?;
        self.note_all(&row);
        self.line(&row)
    }

    fn note_all(&mut self, value: &Value) {
        match value {
            Value::String(text) => {
                if let Ok(user) = text.parse::<UserId>() {
                    self.people.insert(user);
                } else if let Ok(actor) = text.parse::<Actor>() {
                    self.note(&actor);
                }
            }
            Value::Array(values) => values.iter().for_each(|value| self.note_all(value)),
            Value::Object(fields) => fields.values().for_each(|value| self.note_all(value)),
            _ => {}
        }
    }
}

fn position(task: &Task) -> CreatedPosition {
    CreatedPosition {
        at: task.created_at,
        id: task.id.uuid(),
    }
}
