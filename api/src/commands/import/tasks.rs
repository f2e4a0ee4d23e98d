//! Tasks and main threads of an archive.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use domain::archive::{ImportMessages, ImportTask, StoredTask};
use domain::store::StoreExt as _;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::super::archive::rows::{MessageRow, TaskRow};
use super::super::archive::{MESSAGES, TASKS};
use super::{Importer, ROWS};

impl Importer<'_> {
    /// Brings tasks in, each in one transaction.
    pub(super) async fn tasks(&mut self) -> Result<()> {
        let Some(rows) = self.reader.lines_if_there::<Value>(TASKS)? else {
            return Ok(());
        };
        let store = &self.installation.store;
        let workspace = self.workspace;
        let import = |stored: StoredTask| ImportTask {
            workspace,
            stored: Arc::new(stored),
        };
        let mut gathered: Option<StoredTask> = None;
        for row in rows {
            match read::<TaskRow>(self.people.data(row?))? {
                TaskRow::Task(task) => {
                    let next = StoredTask {
                        task,
                        parts: Vec::new(),
                    };
                    if let Some(whole) = gathered.replace(next) {
                        store.run(import(whole)).await?;
                    }
                }
                TaskRow::Part(part) => {
                    let gathered = gathered.as_mut();
                    let stored = gathered.context("a part of a task stands before any task")?;
                    stored.parts.push(part);
                }
            }
        }
        if let Some(whole) = gathered {
            store.run(import(whole)).await?;
        }
        Ok(())
    }

    /// Brings in what stands in main threads alone.
    pub(super) async fn main_threads(&mut self) -> Result<()> {
        let Some(rows) = self.reader.lines_if_there::<Value>(MESSAGES)? else {
            return Ok(());
        };
        let (mut messages, mut cards) = (Vec::new(), Vec::new());
        for row in rows {
            match read::<MessageRow>(self.people.data(row?))? {
                MessageRow::Message(message) => messages.push(message),
                MessageRow::Card(card) => cards.push(card),
            }
        }
        let workspace = self.workspace;
        for messages in messages.chunks(ROWS) {
            let command = ImportMessages {
                workspace,
                messages: messages.to_vec(),
                cards: Vec::new(),
            };
            self.installation.store.run(command).await?;
        }
        let command = ImportMessages {
            workspace,
            messages: Vec::new(),
            cards,
        };
        self.installation.store.run(command).await?;
        Ok(())
    }
}

fn read<T: DeserializeOwned>(row: Value) -> Result<T> {
    serde_json::from_value(row).context("a row is of another form")
}
