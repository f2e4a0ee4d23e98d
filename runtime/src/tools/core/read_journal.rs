//! `read_journal`: entries of the task's own journal; what summaries stand for can be read again (C2).

use async_trait::async_trait;
use domain::error::{Error, Result};
use domain::journal::{JournalEntry, JournalKind};
use domain::page::{Page, PageRequest};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::context::cut;
use crate::tools::arguments::{object, read, time, whole};
use crate::tools::{Invocation, Ran, Tool, ToolSpec};

/// Entries where no number is named.
const DEFAULT: u32 = 10;
/// The most entries at once.
const MOST: u32 = 50;
/// Characters of the text of one entry among several.
const TEXT: usize = 160;

pub(super) struct ReadJournal(ToolSpec);

#[derive(Deserialize)]
struct Arguments {
    after: Option<u64>,
    limit: Option<u32>,
    #[serde(default)]
    kinds: Vec<String>,
}

impl Default for ReadJournal {
    fn default() -> Self {
        let names: Vec<_> = JournalKind::ALL.iter().map(|kind| kind.name()).collect();
        let properties = json!({
            "after": whole(0, "Entries after this number, oldest first; without it the newest."),
            "limit": whole(1, "At most so many, 10 by default, up to 50. With 1 the entry is whole, with its data."),
            "kinds": {"type": "array", "items": {"type": "string", "enum": names}},
        });
        Self(ToolSpec::core(
            "read_journal",
            "Reads entries of the task's journal; of several entries the texts are cut.",
            object(&[], properties),
        ))
    }
}

#[async_trait]
impl Tool for ReadJournal {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn run(&self, invocation: &Invocation<'_>) -> Result<Ran> {
        let arguments: Arguments = read(&invocation.call.arguments)?;
        let (reads, task) = (invocation.services.store.reads(), invocation.task.id);
        let kinds: Vec<_> = arguments
            .kinds
            .iter()
            .map(|name| kind(name))
            .collect::<Result<_>>()?;
        let first = arguments.limit.unwrap_or(DEFAULT).clamp(1, MOST);
        let page = if arguments.after.is_some() {
            let after = arguments.after;
            reads
                .list_journal(task, &kinds, PageRequest { first, after })
                .await?
        } else {
            let newest = reads
                .list_newest_journal(task, &kinds, 0, first + 1)
                .await?;
            newest_of(newest, first)
        };
        let shown = match arguments.limit {
            Some(1) => whole_entry,
            _ => short_entry,
        };
        let left_out = reads.list_left_out(task).await?;
        let readable = page
            .rows
            .iter()
            .filter(|entry| !left_out.contains(&entry.sequence));
        let entries: Vec<_> = readable.map(shown).collect();
        Ok(Ran::done(json!({
            "entries": entries,
            "has_more": page.has_next,
            "newest": invocation.task.journal_head,
        })))
    }
}

/// The newest entries of those that were read, oldest first.
fn newest_of(mut entries: Vec<JournalEntry>, first: u32) -> Page<JournalEntry> {
    let has_next = entries.len() > first as usize;
    if has_next {
        entries.remove(0);
    }
    Page {
        rows: entries,
        has_next,
    }
}

fn kind(name: &str) -> Result<JournalKind> {
    JournalKind::from_name(name)
        .ok_or_else(|| Error::Invalid(format!("`{name}` is no kind of entry")))
}

fn short_entry(entry: &JournalEntry) -> Value {
    json!({"sequence": entry.sequence, "kind": entry.kind, "step": step(entry), "text": cut(&entry.text, TEXT)})
}

fn whole_entry(entry: &JournalEntry) -> Value {
    json!({
        "sequence": entry.sequence,
        "kind": entry.kind,
        "at": time(entry.at),
        "by": entry.actor,
        "step": step(entry),
        "text": entry.text,
        "data": entry.data,
    })
}

/// Turn and step, such as `2/7`.
fn step(entry: &JournalEntry) -> Option<String> {
    let step = entry.step?;
    Some(format!("{}/{}", step.turn, step.step))
}
