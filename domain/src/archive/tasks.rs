//! Tasks in an archive: everything that is stored of one, and bringing it in.
//!
//! Invariants
//! - A task comes in whole, in one transaction, or not at all; one that is here already is left as it is.
//! - A turn that was under way goes on from its resume point: nobody here has its lease.
//! - What is written of a task is what was stored at one moment: see [`StoredTask::read`].
//!
//! The names that these types have when they are serialised are those of archives: they stay.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::check_unfinished;
use crate::card::Card;
use crate::error::{Error, Result};
use crate::ids::{TaskId, WorkspaceId};
use crate::journal::JournalEntry;
use crate::line::{ContextSegment, Line, LineExchange};
use crate::message::{Message, MessageState};
use crate::page::{End, PageRequest, Window};
use crate::store::{Command, Reads, Scope, Transaction};
use crate::task::{ChangeNotice, LinkedWork, NoticedChange, Projections, Task, main_id, new_main};
use crate::turn::{Call, CallId, LargeResult, Step, Turn};

/// Rows that are read or stored at once.
const ROWS: u32 = 500;
/// Segments of one task at most: no task has so many.
const SEGMENTS: u32 = 1_000_000;
/// How often a task that is being worked on is read again, until nothing of it has changed meanwhile.
const ATTEMPTS: u32 = 50;

/// Something that is stored of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskPart {
    /// What lives over its journal.
    Projections(Projections),
    /// A work that it refers to.
    Work(LinkedWork),
    /// What others changed in one since it looked.
    Notice(ChangeNotice),
    /// A turn.
    Turn(Turn),
    /// A step of a turn above.
    Step(Step),
    /// A call of a step above.
    Call(Call),
    /// The whole of a result of which a call above holds a digest.
    Result(CallId, LargeResult),
    /// The next entry of its journal.
    Entry(JournalEntry),
    /// A line of an executor.
    Line(Line),
    /// The next exchange on a line above.
    Exchange(LineExchange),
    /// The next summary of old history.
    Segment(ContextSegment),
    /// A card.
    Card(Card),
    /// A message of its thread.
    Message(Message),
}

/// Everything that is stored of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredTask {
    /// The task.
    pub task: Task,
    /// All else, in the order in which it can be stored.
    pub parts: Vec<TaskPart>,
}

impl StoredTask {
    /// Reads a task as it was stored at one moment; `Unavailable` where it is worked on too fast for that.
    pub async fn read(reads: &dyn Reads, id: TaskId) -> Result<Self> {
        for _ in 0..ATTEMPTS {
            let before = task(reads, id).await?;
            let parts = read_parts(reads, id).await?;
            // Whatever a turn or a person writes of a task, it writes the task as well.
            if task(reads, id).await? == before {
                return Ok(Self {
                    task: before,
                    parts,
                });
            }
        }
        Err(Error::Unavailable(
            format!("task {id} is being worked on; pause it, and try again").into(),
        ))
    }
}

async fn task(reads: &dyn Reads, id: TaskId) -> Result<Task> {
    let found = reads.list_tasks_by_id(&[id]).await?.pop();
    found.ok_or_else(|| Error::not_found("task", id))
}

async fn read_parts(reads: &dyn Reads, id: TaskId) -> Result<Vec<TaskPart>> {
    let ids = [id];
    let mut parts = Vec::new();
    let projections = reads.list_projections(&ids).await?;
    parts.extend(
        projections
            .into_iter()
            .map(|(_, of)| TaskPart::Projections(of)),
    );
    let works = reads.list_linked_works(&ids).await?;
    parts.extend(works.into_iter().map(TaskPart::Work));
    let notices = reads.list_change_notices(&ids).await?;
    parts.extend(notices.into_iter().map(TaskPart::Notice));
    read_turns(reads, id, &mut parts).await?;
    read_journal(reads, id, &mut parts).await?;
    let lines = reads.list_lines(&ids).await?;
    let line_ids: Vec<_> = lines.iter().map(|line| line.id).collect();
    parts.extend(lines.into_iter().map(TaskPart::Line));
    let exchanges = reads.list_exchanges(&line_ids).await?;
    parts.extend(exchanges.into_iter().map(TaskPart::Exchange));
    let segments = reads.list_segments(id, SEGMENTS).await?;
    parts.extend(segments.into_iter().map(TaskPart::Segment));
    let cards = reads.list_cards(&ids, None).await?;
    parts.extend(cards.into_iter().map(TaskPart::Card));
    read_thread(reads, id, &mut parts).await?;
    Ok(parts)
}

async fn read_turns(reads: &dyn Reads, id: TaskId, parts: &mut Vec<TaskPart>) -> Result<()> {
    let mut after = None;
    loop {
        let page = reads.list_turns(id, onward(after)).await?;
        let ids: Vec<_> = page.rows.iter().map(|turn| turn.id).collect();
        after = page.rows.last().map(|turn| turn.number);
        parts.extend(page.rows.into_iter().map(TaskPart::Turn));
        let steps = reads.list_steps(&ids).await?;
        parts.extend(steps.into_iter().map(TaskPart::Step));
        for call in reads.list_calls(&ids).await? {
            let call_id = call.id;
            let result = call.result.as_ref();
            let is_large = result.is_some_and(|result| result.get("handle").is_some());
            parts.push(TaskPart::Call(call));
            if is_large && let Some(whole) = reads.find_large_result(&call_id).await? {
                parts.push(TaskPart::Result(call_id, whole));
            }
        }
        if !page.has_next {
            return Ok(());
        }
    }
}

async fn read_journal(reads: &dyn Reads, id: TaskId, parts: &mut Vec<TaskPart>) -> Result<()> {
    let mut after = None;
    loop {
        let request = PageRequest { first: ROWS, after };
        let page = reads.list_journal(id, &[], request).await?;
        after = page.rows.last().map(|entry| entry.sequence);
        parts.extend(page.rows.into_iter().map(TaskPart::Entry));
        if !page.has_next {
            return Ok(());
        }
    }
}

async fn read_thread(reads: &dyn Reads, id: TaskId, parts: &mut Vec<TaskPart>) -> Result<()> {
    let mut after = None;
    loop {
        let page = reads.list_thread(id, onward(after)).await?;
        after = page.rows.last().map(Message::position);
        parts.extend(page.rows.into_iter().map(TaskPart::Message));
        if !page.has_next {
            return Ok(());
        }
    }
}

fn onward<K>(after: Option<K>) -> Window<K> {
    Window {
        limit: ROWS,
        end: End::First,
        after,
        before: None,
    }
}

/// Brings a task in.
#[derive(Debug, Clone)]
pub struct ImportTask {
    /// The workspace that is being brought in.
    pub workspace: WorkspaceId,
    /// The task, with everything of it.
    pub stored: Arc<StoredTask>,
}

#[async_trait]
impl Command for ImportTask {
    type Output = ();
    const NAME: &'static str = "import.task";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        check_unfinished(tx, self.workspace).await?;
        let task = &self.stored.task;
        if let Some(known) = tx.list_tasks_by_id(&[task.id]).await?.pop() {
            if known.workspace == self.workspace {
                return Ok(());
            }
            let text = format!("task {} is in another workspace here", task.id);
            return Err(Error::Conflict(text));
        }
        self.check(task.workspace, Some(task.id))?;
        tx.insert_task(task).await?;
        for part in &self.stored.parts {
            self.store(tx, part).await?;
        }
        Ok(())
    }
}

impl ImportTask {
    /// An archive can say anything: what belongs to another workspace or task is refused.
    fn check(&self, workspace: WorkspaceId, task: Option<TaskId>) -> Result<()> {
        if workspace == self.workspace && task == Some(self.stored.task.id) {
            return Ok(());
        }
        let id = self.stored.task.id;
        Err(Error::Invalid(format!(
            "a part of task {id} names another task or workspace"
        )))
    }

    async fn store(&self, tx: &dyn Transaction, part: &TaskPart) -> Result<()> {
        let (workspace, task) = (self.workspace, self.stored.task.id);
        match part {
            TaskPart::Projections(projections) => {
                tx.put_projections(workspace, task, projections).await
            }
            TaskPart::Work(linked) => {
                self.check(linked.workspace, Some(linked.task))?;
                tx.put_linked_work(linked).await
            }
            TaskPart::Notice(notice) => {
                self.check(workspace, Some(notice.task))?;
                tx.merge_change_notices(workspace, &[task], &noticed(notice))
                    .await
            }
            TaskPart::Turn(turn) => {
                self.check(turn.workspace, Some(turn.task))?;
                let turn = Turn {
                    lease: None,
                    ..turn.clone()
                };
                tx.insert_turn(&turn).await
            }
            TaskPart::Step(step) => {
                self.check(step.workspace, Some(step.task))?;
                tx.put_step(step).await
            }
            TaskPart::Call(call) => {
                self.check(call.workspace, Some(call.task))?;
                tx.insert_calls(std::slice::from_ref(call)).await
            }
            TaskPart::Result(call, whole) => tx.insert_large_result(workspace, call, whole).await,
            TaskPart::Entry(entry) => {
                let entry = std::slice::from_ref(entry);
                tx.append_journal(workspace, task, entry).await
            }
            TaskPart::Line(line) => {
                self.check(line.workspace, Some(line.task))?;
                tx.insert_line(line).await
            }
            TaskPart::Exchange(exchange) => tx.insert_exchange(workspace, exchange).await,
            TaskPart::Segment(segment) => tx.insert_segment(workspace, task, segment).await,
            TaskPart::Card(card) => {
                self.check(card.workspace, card.task)?;
                tx.insert_card(card).await
            }
            TaskPart::Message(message) => {
                self.check(message.workspace, message.task)?;
                tx.insert_message(message).await
            }
        }
    }
}

fn noticed(notice: &ChangeNotice) -> NoticedChange {
    NoticedChange {
        work: notice.work,
        from_version: notice.from_version,
        to_version: notice.to_version,
        touched: notice.touched.clone(),
        changed_by: notice.changed_by.clone(),
        at: notice.created_at,
    }
}

/// Brings in what stands in the main threads of people, and in no task.
#[derive(Debug, Clone)]
pub struct ImportMessages {
    /// The workspace that is being brought in.
    pub workspace: WorkspaceId,
    /// Messages without a task.
    pub messages: Vec<Message>,
    /// Cards about them.
    pub cards: Vec<Card>,
}

#[async_trait]
impl Command for ImportMessages {
    type Output = ();
    const NAME: &'static str = "import.messages";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        check_unfinished(tx, self.workspace).await?;
        let ids: Vec<_> = self.messages.iter().map(|message| message.id).collect();
        let known = tx.list_messages_by_id(&ids).await?;
        for message in &self.messages {
            let is_own = message.workspace == self.workspace && message.task.is_none();
            if !is_own {
                let text = format!("message {} belongs elsewhere", message.id);
                return Err(Error::Invalid(text));
            }
            if known.iter().all(|known| known.id != message.id) {
                self.store(tx, message).await?;
            }
        }
        for card in &self.cards {
            let is_own = card.workspace == self.workspace && card.task.is_none();
            if !is_own {
                let text = format!("card {} belongs elsewhere", card.id);
                return Err(Error::Invalid(text));
            }
            tx.insert_card(card).await?;
        }
        Ok(())
    }
}

impl ImportMessages {
    /// What stands in a main thread alone is with Main, which is made with the first: what waits for its place is found there.
    async fn store(&self, tx: &dyn Transaction, message: &Message) -> Result<()> {
        let Some(user) = message.main_of else {
            return tx.insert_message(message).await;
        };
        let main = main_id(self.workspace, user);
        if tx.list_tasks_by_id(&[main]).await?.is_empty() {
            let main = new_main(self.workspace, user, message.created_at);
            tx.insert_task(&main).await?;
        }
        let state = match message.state {
            MessageState::Routing => MessageState::Received,
            state => state,
        };
        let message = Message {
            task: Some(main),
            taken_by: None,
            state,
            ..message.clone()
        };
        tx.insert_message(&message).await
    }
}
