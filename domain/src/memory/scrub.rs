//! What a task is called, asks people, orders and tells executors: what in it rests on something forgotten is cut out.
//!
//! Invariants
//! - A task keeps every word that rests on something else: it goes on with what is left of it.
//! - What was searched with the words that are gone is searched without them.

use serde_json::{Value, json};
use uuid::Uuid;

use super::change::MemoryChange;
use super::dependents::Scrub;
use crate::error::Result;
use crate::event::{EventKind, Subject};
use crate::line::LineExchange;

impl Scrub<'_> {
    /// Title, goal and brief; whether they say something else now.
    pub(super) async fn own_words(&self, change: &MemoryChange<'_>) -> Result<bool> {
        let mut task = self.task.clone();
        let mut is_cut = false;
        for text in [&mut task.title, &mut task.goal, &mut task.brief] {
            if let Some(left) = self.narrow.cut(text) {
                *text = left;
                is_cut = true;
            }
        }
        if is_cut {
            change.tx.update_task(&task).await?;
        }
        Ok(is_cut)
    }

    /// The task is searched by what it says now.
    pub(super) async fn find_anew(&self, change: &mut MemoryChange<'_>) -> Result<()> {
        let id = self.task.id;
        change.tell(EventKind::TaskUpdated, Subject::Task(id), json!({}));
        let vectors = [id.uuid()];
        change.tx.drop_vectors(change.workspace, &vectors).await
    }

    /// What lines are for; what executors were told and answered is appended only, and left out from now on.
    pub(super) async fn lines(&self, change: &MemoryChange<'_>) -> Result<()> {
        let tx = change.tx;
        let lines = tx.list_lines(&[self.task.id]).await?;
        let ids: Vec<_> = lines.iter().map(|line| line.id).collect();
        for mut line in lines {
            if let Some(left) = self.echo.cut(&line.purpose) {
                line.purpose = left;
                tx.rewrite_line(&line).await?;
            }
        }
        let exchanges = tx.list_exchanges(&ids).await?;
        let is_echo = |one: &&LineExchange| {
            one.at >= self.since && (self.echo.is_in(&one.prompt) || self.echo.is_in(&one.answer))
        };
        let left_out: Vec<(Uuid, u64)> = exchanges
            .iter()
            .filter(is_echo)
            .map(|one| (one.line.uuid(), u64::from(one.number)))
            .collect();
        tx.leave_out(change.workspace, &left_out).await
    }

    /// Questions and what could be answered; what people answered is theirs.
    pub(super) async fn cards(&self, change: &MemoryChange<'_>) -> Result<()> {
        for mut card in change.tx.list_cards(&[self.task.id], None).await? {
            let mut is_cut = self.cut(&mut card.prompt);
            for option in &mut card.options {
                is_cut |= self.cut(&mut option.label);
                is_cut |= option.detail.as_mut().is_some_and(|text| self.cut(text));
            }
            if is_cut {
                change.tx.rewrite_card(&card).await?;
            }
        }
        Ok(())
    }

    /// Orders; one that was not sent yet goes without the words.
    pub(super) async fn jobs(&self, change: &MemoryChange<'_>) -> Result<()> {
        for mut job in change.tx.list_jobs(&[self.task.id]).await? {
            let mut is_cut = self.cut(&mut job.prompt);
            is_cut |= job.error.as_mut().is_some_and(|text| self.cut(text));
            is_cut |= self.cut_value(&mut job.parameters);
            if is_cut {
                change.tx.update_job(&job).await?;
            }
        }
        Ok(())
    }

    fn cut(&self, text: &mut String) -> bool {
        let Some(left) = self.echo.cut(text) else {
            return false;
        };
        *text = left;
        true
    }

    fn cut_value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => self.cut(text),
            Value::Array(items) => items
                .iter_mut()
                .fold(false, |is_cut, item| is_cut | self.cut_value(item)),
            Value::Object(members) => members
                .values_mut()
                .fold(false, |is_cut, member| is_cut | self.cut_value(member)),
            _ => false,
        }
    }
}
