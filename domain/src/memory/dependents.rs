//! What tasks have made of something that is forgotten: replies, results, summaries, plans (M5).
//!
//! Invariants
//! - What rests on it is left out of later requests, and loses its words wherever they are not the conversation or the journal themselves.
//! - What is still said by what may be used stays: see [`Echo`].
//!
//! A memory stands in every request of those it is for as long as it holds, so what a task made since then can rest on it; whether it
//! does is told by its words.
//!
//! Not here: what a task is called, asks, orders and tells executors (`scrub`), what is remembered of it (`episode`).

use std::collections::BTreeSet;

use serde_json::{Value, json};
use uuid::Uuid;

use super::change::MemoryChange;
use super::words::{Echo, MARK};
use super::{ForgetTarget, ForgottenMessage, MemoryKind, MemoryScope};
use crate::error::Result;
use crate::event::{EventKind, Subject};
use crate::ids::{MemoryId, MessageId, TaskId, UserId};
use crate::journal::{JournalEntry, JournalKind};
use crate::message::Message;
use crate::page::PageRequest;
use crate::task::{Projections, Task};
use crate::time::Timestamp;
use crate::turn::CallState;

/// Entries that are read at once.
const ROWS: u32 = 500;
/// Memories that still hold and are looked at.
const HOLDING: u32 = 200;
/// What is gone.
#[derive(Debug, Default)]
pub(super) struct Gone {
    /// What memories said.
    pub(super) contents: Vec<String>,
    /// What was said in the messages that they rest on.
    said: Vec<String>,
    /// Whether it was a message that was named.
    is_message: bool,
    /// Memories that lost words.
    pub(super) memories: Vec<MemoryId>,
    /// Tasks in which it was said.
    tasks: BTreeSet<TaskId>,
    /// The people for whom alone it was remembered; none where others used it as well.
    people: Option<BTreeSet<UserId>>,
    is_shared: bool,
    since: Option<Timestamp>,
}

impl Gone {
    /// Nothing yet, of what is to be forgotten.
    pub(super) fn of(target: ForgetTarget) -> Self {
        Self {
            is_message: matches!(target, ForgetTarget::Message(_)),
            ..Self::default()
        }
    }

    pub(super) fn note_time(&mut self, at: Timestamp) {
        self.since = Some(self.since.map_or(at, |since| since.min(at)));
    }

    pub(super) fn note_scope(&mut self, scope: MemoryScope) {
        match scope {
            MemoryScope::Person(user) => {
                self.people.get_or_insert_default().insert(user);
            }
            MemoryScope::Workspace => self.is_shared = true,
            MemoryScope::Task(task) => {
                self.tasks.insert(task);
            }
        }
    }

    pub(super) fn note_message(&mut self, message: &Message) {
        self.note_time(message.created_at);
        self.said.push(message.text.clone());
        self.tasks.extend(message.task);
        if let Some(user) = message.main_of {
            self.people.get_or_insert_default().insert(user);
        }
    }

    /// Whether a task can have used it.
    fn concerns(&self, task: &Task) -> bool {
        let is_theirs = |people: &BTreeSet<UserId>| people.contains(&task.created_by);
        self.is_shared
            || self.tasks.contains(&task.id)
            || self.people.as_ref().is_some_and(is_theirs)
    }
}

/// Takes it out of everything that tasks have made since.
pub(super) async fn forget_dependents(
    change: &mut MemoryChange<'_>,
    gone: &Gone,
    (by, messages): (UserId, &[Message]),
) -> Result<()> {
    let Some(since) = gone.since else {
        return Ok(());
    };
    let tx = change.tx;
    let ids = tx.list_tasks_since(change.workspace, since).await?;
    for ids in ids.chunks(ROWS as usize) {
        for task in tx.list_tasks_by_id(ids).await? {
            if gone.concerns(&task) {
                let scrub = Scrub::of(change, gone, (task, since, messages)).await?;
                scrub.run(change, by).await?;
            }
        }
    }
    Ok(())
}

fn names(gone: &Gone) -> Vec<String> {
    gone.memories.iter().map(ToString::to_string).collect()
}

/// One task, and what in it is an echo.
pub(super) struct Scrub<'a> {
    pub(super) task: Task,
    pub(super) since: Timestamp,
    forgotten: &'a [Message],
    pub(super) echo: Echo,
    /// What the task is called and asked for loses less: the task stays what it is, where a memory was named and no message.
    pub(super) narrow: Echo,
    /// The journal since then.
    entries: Vec<JournalEntry>,
}

impl<'a> Scrub<'a> {
    async fn of(
        change: &MemoryChange<'_>,
        gone: &Gone,
        (task, since, forgotten): (Task, Timestamp, &'a [Message]),
    ) -> Result<Self> {
        let tx = change.tx;
        let is_forgotten = |id: &str| forgotten.iter().any(|one| one.id.to_string() == id);
        let said = read_journal(change, &task, (0, &[JournalKind::IncomingMessage])).await?;
        let scopes = [
            MemoryScope::Workspace,
            MemoryScope::Person(task.created_by),
            MemoryScope::Task(task.id),
        ];
        let holding = tx
            .list_newest_memories(change.workspace, &scopes, HOLDING)
            .await?;
        let mut left: Vec<&str> = said
            .iter()
            .filter(|entry| !entry.data["message"].as_str().is_some_and(is_forgotten))
            .map(|entry| entry.text.as_str())
            .collect();
        // What an episode says was said by others.
        let holding = holding
            .iter()
            .filter(|(memory, _)| memory.kind != MemoryKind::Episode);
        left.extend(holding.map(|(_, content)| content.as_str()));
        // What a model has called it after a message is no witness of itself; what a person has, is.
        if task.origin.is_none() {
            left.extend([task.title.as_str(), &task.goal, &task.brief]);
        }
        let contents = || gone.contents.iter().map(String::as_str);
        let of_messages = || gone.said.iter().map(String::as_str);
        let echo = Echo::new(
            contents().chain(of_messages()),
            names(gone),
            left.iter().copied(),
        );
        let narrow = if gone.is_message {
            echo.clone()
        } else {
            Echo::new(contents(), names(gone), left)
        };
        let before = tx.journal_before(task.id, since).await?;
        let entries = read_journal(change, &task, (before, &[])).await?;
        Ok(Self {
            task,
            since,
            forgotten,
            echo,
            narrow,
            entries,
        })
    }

    async fn run(&self, change: &mut MemoryChange<'_>, by: UserId) -> Result<()> {
        let left_out: Vec<(Uuid, u64)> = self
            .entries
            .iter()
            .filter(|entry| self.is_left_out(entry))
            .map(|entry| (self.task.id.uuid(), entry.sequence))
            .collect();
        change.tx.leave_out(change.workspace, &left_out).await?;
        self.lines(change).await?;
        self.segments(change, &left_out).await?;
        self.steps(change).await?;
        self.cards(change).await?;
        self.jobs(change).await?;
        self.events(change).await?;
        self.replies(change, by).await?;
        let has_other_words = self.own_words(change).await? | self.projections(change).await?;
        if has_other_words {
            self.find_anew(change).await?;
        }
        self.episode(change).await
    }

    /// The message itself, and what the agent made of it. What people say beside it is their own.
    fn is_left_out(&self, entry: &JournalEntry) -> bool {
        if entry.kind == JournalKind::IncomingMessage {
            let id = entry.data["message"].as_str();
            return id
                .and_then(|id| id.parse::<MessageId>().ok())
                .is_some_and(|id| self.forgotten.iter().any(|one| one.id == id));
        }
        self.echo.is_in(&entry.text) || self.is_in_value(&entry.data)
    }

    pub(super) fn is_in_value(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.echo.is_in(text),
            Value::Array(items) => items.iter().any(|item| self.is_in_value(item)),
            Value::Object(members) => members.values().any(|member| self.is_in_value(member)),
            _ => false,
        }
    }

    /// A summary of a span in which something is left out says nothing any more; the span itself stays readable.
    async fn segments(&self, change: &MemoryChange<'_>, left_out: &[(Uuid, u64)]) -> Result<()> {
        for mut segment in change.tx.list_segments(self.task.id, u32::MAX).await? {
            let span = segment.from_sequence..=segment.to_sequence;
            let covers = left_out.iter().any(|(_, sequence)| span.contains(sequence));
            if covers || self.echo.is_in(&segment.summary) {
                segment.summary = String::new();
                segment.tokens = 0;
                change
                    .tx
                    .rewrite_segment(change.workspace, self.task.id, &segment)
                    .await?;
            }
        }
        Ok(())
    }

    /// Whether they say something else now.
    async fn projections(&self, change: &MemoryChange<'_>) -> Result<bool> {
        let found = change.tx.list_projections(&[self.task.id]).await?.pop();
        let Some((task, former)) = found else {
            return Ok(false);
        };
        let scrubbed = self.scrubbed(former.clone());
        if scrubbed == former {
            return Ok(false);
        }
        let put = change.tx.put_projections(change.workspace, task, &scrubbed);
        put.await?;
        Ok(true)
    }

    fn scrubbed(&self, mut projections: Projections) -> Projections {
        for text in [&mut projections.summary, &mut projections.short_line] {
            if self.echo.is_in(text) {
                MARK.clone_into(text);
            }
        }
        for item in &mut projections.checklist {
            if self.echo.is_in(&item.title) {
                MARK.clone_into(&mut item.title);
            }
            item.evidence = item.evidence.take().filter(|text| !self.echo.is_in(text));
        }
        projections
    }

    async fn steps(&self, change: &MemoryChange<'_>) -> Result<()> {
        let tx = change.tx;
        for mut step in tx.list_steps_since(self.task.id, self.since).await? {
            if self.echo.is_in(&step.rationale) {
                MARK.clone_into(&mut step.rationale);
                tx.rewrite_rationale(&step).await?;
            }
        }
        for (mut call, large) in tx.list_calls_since(self.task.id, self.since).await? {
            let is_over = matches!(
                call.state,
                CallState::Done
                    | CallState::Failed
                    | CallState::Refused
                    | CallState::OutcomeUnknown
            );
            let is_large = large.is_some_and(|large| self.echo.is_in(&large.body));
            let is_echo = is_large
                || self.is_in_value(&call.arguments)
                || call
                    .result
                    .as_ref()
                    .is_some_and(|result| self.is_in_value(result))
                || call
                    .error
                    .as_deref()
                    .is_some_and(|error| self.echo.is_in(error));
            if is_over && is_echo {
                call.arguments = json!({"forgotten": true});
                call.result = call.result.map(|_| json!({"forgotten": true}));
                call.error = call.error.map(|_| MARK.to_owned());
                tx.rewrite_call(&call, is_large).await?;
            }
        }
        Ok(())
    }

    /// What the agent wrote to people stays in its thread, and may not be used any more.
    async fn replies(&self, change: &mut MemoryChange<'_>, by: UserId) -> Result<()> {
        let tx = change.tx;
        let mut revoked = Vec::new();
        for message in tx.list_agent_messages(self.task.id, self.since).await? {
            if !self.echo.is_in(&message.text) {
                continue;
            }
            revoked.push(ForgottenMessage {
                message: message.id,
                by,
                at: change.at,
            });
            let subject = Subject::Message(message.id);
            change.tell(EventKind::MemoryForgotten, subject, json!({}));
        }
        tx.forget_messages(change.workspace, &revoked).await?;
        let ids: Vec<Uuid> = revoked.iter().map(|one| one.message.uuid()).collect();
        tx.drop_vectors(change.workspace, &ids).await
    }

    async fn events(&self, change: &MemoryChange<'_>) -> Result<()> {
        let told = change
            .tx
            .list_told_lines(change.workspace, self.task.id, self.since)
            .await?;
        let echoes = told.iter().filter(|(_, line)| self.echo.is_in(line));
        let sequences: Vec<_> = echoes.map(|(sequence, _)| *sequence).collect();
        change.tx.blank_events(change.workspace, &sequences).await
    }
}

async fn read_journal(
    change: &MemoryChange<'_>,
    task: &Task,
    (before, kinds): (u64, &[JournalKind]),
) -> Result<Vec<JournalEntry>> {
    let (mut entries, mut after) = (Vec::new(), Some(before));
    loop {
        let page = PageRequest { first: ROWS, after };
        let page = change.tx.list_journal(task.id, kinds, page).await?;
        after = page.rows.last().map(|entry| entry.sequence).or(after);
        entries.extend(page.rows);
        if !page.has_next {
            return Ok(entries);
        }
    }
}
