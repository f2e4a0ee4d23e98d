//! Journals of tasks.
//!
//! Invariants
//! - Entries are only ever appended; the database refuses anything else.

use async_trait::async_trait;
use domain::Result;
use domain::ids::{TaskId, WorkspaceId};
use domain::journal::{JournalEntry, JournalKind, JournalReads, JournalWrites};
use domain::page::{End, Page, PageRequest};
use domain::turn::StepRef;

use super::each::{self, Each, at_end};
use super::gathered::{Into, Rule};
use super::tasks::task_keys;
use super::{Row, Session, among, at, id, json, number, step_key};
use crate::link::{DatabaseRow, Link};

const OF_TASK: &str = "select * from journal where workspace_id = (select workspace_id from tasks where id = $1) and task_id = $1 \
     and sequence > $2";

/// The order of entries of several tasks.
const ORDER: &str = "task_id, sequence";

fn entry(row: &DatabaseRow) -> Result<JournalEntry> {
    let row = Row::of("journal", row);
    Ok(JournalEntry {
        sequence: row.number("sequence")?,
        kind: row.named("kind", JournalKind::from_name)?,
        at: row.time("at")?,
        actor: row.parsed("actor")?,
        step: row.step("turn_number", "step_number")?,
        text: row.get("text")?,
        data: row.json("data")?,
    })
}

fn entry_of_task(row: &DatabaseRow) -> Result<(TaskId, JournalEntry)> {
    let entry = entry(row)?;
    let row = Row::of("journal", row);
    Ok((TaskId::from_uuid(row.uuid("task_id")?), entry))
}

impl<C: Link> Session<C> {
    /// Entries after a sequence, from the end that the order of their sequences says.
    async fn entries(
        &self,
        task: TaskId,
        kinds: &[JournalKind],
        (after, limit): (u64, u64),
        order: &str,
    ) -> Result<Vec<JournalEntry>> {
        let mut values = vec![id(task.uuid()), number(after), number(limit)];
        let kinds = among("kind", kinds.iter().map(|kind| kind.name()), &mut values);
        let sql = format!("{OF_TASK}{kinds} order by sequence {order} limit $3");
        let rows = self.rows(&sql, values).await?;
        rows.iter().map(entry).collect()
    }
}

#[async_trait]
impl<C: Link> JournalReads for Session<C> {
    async fn list_journal(
        &self,
        task: TaskId,
        kinds: &[JournalKind],
        page: PageRequest<u64>,
    ) -> Result<Page<JournalEntry>> {
        let part = (page.after.unwrap_or_default(), u64::from(page.first) + 1);
        let entries = self.entries(task, kinds, part, "asc").await?;
        Ok(Page::from_overread(entries, page.first))
    }

    async fn list_journals(
        &self,
        tasks: &[TaskId],
        kinds: &[JournalKind],
        limit: u32,
    ) -> Result<Vec<(TaskId, JournalEntry)>> {
        let mut shared = Vec::new();
        let kinds = among("kind", kinds.iter().map(|kind| kind.name()), &mut shared);
        shared.push(number(limit.into()));
        let end = at_end(&["sequence"], End::First, shared.len());
        let each = Each {
            sql: format!("select * from journal where {}{kinds} {end}", each::OF_TASK),
            shared,
            order: ORDER,
        };
        self.each(each, &task_keys(tasks), entry_of_task).await
    }

    async fn list_prompts(
        &self,
        steps: &[(TaskId, StepRef)],
    ) -> Result<Vec<(TaskId, JournalEntry)>> {
        let each = Each {
            sql: format!(
                "select * from journal where {} and turn_number = #2 and step_number = #3 and kind = 'PROMPT'",
                each::OF_TASK
            ),
            shared: Vec::new(),
            order: ORDER,
        };
        let keys: Vec<_> = steps.iter().map(step_key).collect();
        self.each(each, &keys, entry_of_task).await
    }

    async fn list_newest_journal(
        &self,
        task: TaskId,
        kinds: &[JournalKind],
        after: u64,
        limit: u32,
    ) -> Result<Vec<JournalEntry>> {
        let part = (after, u64::from(limit));
        let mut entries = self.entries(task, kinds, part, "desc").await?;
        entries.reverse();
        Ok(entries)
    }
}

#[async_trait]
impl<C: Link> JournalWrites for Session<C> {
    async fn append_journal(
        &self,
        workspace: WorkspaceId,
        task: TaskId,
        entries: &[JournalEntry],
    ) -> Result<()> {
        for entry in entries {
            let values = vec![
                id(workspace.uuid()),
                id(task.uuid()),
                number(entry.sequence),
                entry.kind.name().into(),
                at(entry.at),
                entry.actor.to_string().into(),
                entry.step.map(|step| i64::from(step.turn)).into(),
                entry.step.map(|step| i64::from(step.step)).into(),
                entry.text.as_str().into(),
                json(&entry.data)?,
            ];
            self.gather(Into::Journal, Rule::Insert, values).await?;
        }
        Ok(())
    }
}
