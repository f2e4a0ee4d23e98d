//! Tasks, messages, cards, and what hangs on them, as far as the caller may see them.
//!
//! Invariants
//! - First pages of lists come in one batch for all tasks of a request; later ones are asked for one task at a time.

use std::sync::Arc;

use async_graphql::Result;
use domain::Error;
use domain::card::Card;
use domain::ids::{CardId, JobId, LineId, MessageId, TaskId, TurnId, WorkspaceId};
use domain::job::Job;
use domain::journal::{JournalEntry, JournalKind};
use domain::line::{Line, LineExchange};
use domain::message::{Message, MessagePosition, MessageState};
use domain::money::WorkspaceBudget;
use domain::page::{Page, PageRequest, Window};
use domain::task::{ChangeNotice, LinkedWork, Projections, Task};
use domain::turn::{Call, Step, StepRef, Turn};
use domain::work::Work;
use futures_util::future::try_join_all;

use super::Scope;
use crate::graphql::loaders::{Part, keep_cards};

impl Scope {
    /// A task that the caller may see.
    pub(crate) async fn find_task(&self, id: TaskId) -> Result<Option<Arc<Task>>> {
        Ok(self.loaders().tasks.tasks.load(id).await?)
    }

    /// The same, where it must be there.
    pub(crate) async fn task(&self, id: TaskId) -> Result<Arc<Task>> {
        let found = self.find_task(id).await?;
        Ok(found.ok_or_else(|| Error::not_found("task", id))?)
    }

    /// The projections of a visible task; empty ones before its first decision.
    pub(crate) async fn projections(&self, task: TaskId) -> Result<Arc<Projections>> {
        let found = self.loaders().tasks.projections.load(task).await?;
        Ok(found.unwrap_or_default())
    }

    /// Works that a visible task refers to, in the order they were linked.
    pub(crate) async fn linked_works(&self, task: TaskId) -> Result<Arc<Vec<LinkedWork>>> {
        let found = self.loaders().tasks.works.load(task).await?;
        Ok(found.unwrap_or_default())
    }

    /// The tasks that refer to a visible work.
    pub(crate) async fn linked_tasks(&self, work: &Work) -> Result<Vec<Arc<Task>>> {
        let key = (work.workspace, work.id);
        let found = self.loaders().tasks.of_works.load(key).await?;
        let linked = found.unwrap_or_default();
        let tasks = linked.iter().map(|linked| self.find_task(linked.task));
        Ok(try_join_all(tasks).await?.into_iter().flatten().collect())
    }

    /// Unread notices of what others changed in the works of a visible task, oldest first.
    pub(crate) async fn change_notices(&self, task: TaskId) -> Result<Arc<Vec<ChangeNotice>>> {
        let found = self.loaders().tasks.notices.load(task).await?;
        Ok(found.unwrap_or_default())
    }

    /// A message that the caller may see.
    pub(crate) async fn find_message(&self, id: MessageId) -> Result<Option<Arc<Message>>> {
        Ok(self.loaders().tasks.messages.load(id).await?)
    }

    /// The same, where it must be there.
    pub(crate) async fn message(&self, id: MessageId) -> Result<Arc<Message>> {
        let found = self.find_message(id).await?;
        Ok(found.ok_or_else(|| Error::not_found("message", id))?)
    }

    /// What people wrote to a visible task and is in one of these states; none stand for what is not consumed yet.
    pub(crate) async fn inbox(
        &self,
        task: TaskId,
        states: Vec<MessageState>,
    ) -> Result<Arc<Vec<Message>>> {
        let found = self.loaders().tasks.inboxes.load((task, states)).await?;
        Ok(found.unwrap_or_default())
    }

    /// A part of a visible task's thread.
    pub(crate) async fn thread(
        &self,
        task: TaskId,
        window: Window<MessagePosition>,
    ) -> Result<Page<Message>> {
        let Some(part) = first_part(task, &window) else {
            return Ok(self.reads().list_thread(task, window).await?);
        };
        let rows = self.loaders().tasks.threads.load(part).await?;
        let rows = rows.unwrap_or_default().to_vec();
        Ok(Page::from_overread_end(rows, window.limit, window.end))
    }

    /// The messages that a step of a visible task has consumed, oldest first.
    pub(crate) async fn consumed(&self, task: TaskId, step: StepRef) -> Result<Arc<Vec<Message>>> {
        let found = self.loaders().tasks.consumed.load((task, step)).await?;
        Ok(found.unwrap_or_default())
    }

    /// A card that the caller may see.
    pub(crate) async fn find_card(&self, id: CardId) -> Result<Option<Arc<Card>>> {
        Ok(self.loaders().tasks.cards.load(id).await?)
    }

    /// The same, where it must be there.
    pub(crate) async fn card(&self, id: CardId) -> Result<Arc<Card>> {
        let found = self.find_card(id).await?;
        Ok(found.ok_or_else(|| Error::not_found("card", id))?)
    }

    /// Cards of a visible task, oldest first.
    pub(crate) async fn cards(
        &self,
        task: TaskId,
        is_open: Option<bool>,
    ) -> Result<Arc<Vec<Card>>> {
        let key = (task, is_open);
        let found = self.loaders().tasks.task_cards.load(key).await?;
        Ok(found.unwrap_or_default())
    }

    /// Open cards of a workspace that the caller is a member of, oldest first.
    pub(crate) async fn open_cards(&self, workspace: WorkspaceId) -> Result<Vec<Card>> {
        self.role(workspace).await?;
        let mut cards = self.reads().list_open_cards(workspace).await?;
        keep_cards(&self.services, self.caller, &mut cards).await?;
        Ok(cards)
    }

    /// A job that the caller may see.
    pub(crate) async fn find_job(&self, id: JobId) -> Result<Option<Arc<Job>>> {
        Ok(self.loaders().tasks.jobs.load(id).await?)
    }

    /// The same, where it must be there.
    pub(crate) async fn job(&self, id: JobId) -> Result<Arc<Job>> {
        let found = self.find_job(id).await?;
        Ok(found.ok_or_else(|| Error::not_found("job", id))?)
    }

    /// The jobs of a visible task, oldest first.
    pub(crate) async fn jobs(&self, task: TaskId) -> Result<Arc<Vec<Arc<Job>>>> {
        let found = self.loaders().tasks.task_jobs.load(task).await?;
        Ok(found.unwrap_or_default())
    }

    /// The budget of a workspace that the caller is a member of.
    pub(crate) async fn budget(&self, workspace: WorkspaceId) -> Result<WorkspaceBudget> {
        let found = self.loaders().tasks.budgets.load(workspace).await?;
        Ok(found.unwrap_or_default())
    }

    /// A page of a visible task's journal, oldest first; no kinds means all.
    pub(crate) async fn journal(
        &self,
        task: TaskId,
        kinds: Vec<JournalKind>,
        page: PageRequest<u64>,
    ) -> Result<Page<JournalEntry>> {
        if page.after.is_some() {
            return Ok(self.reads().list_journal(task, &kinds, page).await?);
        }
        let key = (task, kinds, page.first + 1);
        let rows = self.loaders().tasks.journals.load(key).await?;
        let rows = rows.unwrap_or_default().to_vec();
        Ok(Page::from_overread(rows, page.first))
    }

    /// The prompts that a step of a visible task gave to executors.
    pub(crate) async fn prompts(
        &self,
        task: TaskId,
        step: StepRef,
    ) -> Result<Arc<Vec<JournalEntry>>> {
        let found = self.loaders().tasks.prompts.load((task, step)).await?;
        Ok(found.unwrap_or_default())
    }

    /// A part of a visible task's turns, by number.
    pub(crate) async fn turns(&self, task: TaskId, window: Window<u32>) -> Result<Page<Turn>> {
        let Some(part) = first_part(task, &window) else {
            return Ok(self.reads().list_turns(task, window).await?);
        };
        let rows = self.loaders().tasks.turns.load(part).await?;
        let rows = rows.unwrap_or_default().to_vec();
        Ok(Page::from_overread_end(rows, window.limit, window.end))
    }

    /// A decided step of a task, where the caller may see the task.
    pub(crate) async fn find_step(&self, task: TaskId, step: StepRef) -> Result<Option<Arc<Step>>> {
        if self.find_task(task).await?.is_none() {
            return Ok(None);
        }
        let found = self.loaders().tasks.steps.load((task, step)).await?;
        Ok(found.filter(|step| step.decided_at.is_some()))
    }

    /// The decided steps of a turn of a visible task, by number.
    pub(crate) async fn steps(&self, turn: TurnId) -> Result<Vec<Arc<Step>>> {
        let found = self.loaders().tasks.turn_steps.load(turn).await?;
        let mut steps = found.unwrap_or_default().to_vec();
        steps.retain(|step| step.decided_at.is_some());
        Ok(steps)
    }

    /// The calls of a turn of a visible task, by step and index.
    pub(crate) async fn calls(&self, turn: TurnId) -> Result<Arc<Vec<Arc<Call>>>> {
        let found = self.loaders().tasks.calls.load(turn).await?;
        Ok(found.unwrap_or_default())
    }

    /// The lines of a visible task, in the order they were opened.
    pub(crate) async fn lines(&self, task: TaskId) -> Result<Arc<Vec<Line>>> {
        let found = self.loaders().tasks.lines.load(task).await?;
        Ok(found.unwrap_or_default())
    }

    /// The exchanges on a line of a visible task, oldest first.
    pub(crate) async fn exchanges(&self, line: LineId) -> Result<Arc<Vec<LineExchange>>> {
        let found = self.loaders().tasks.exchanges.load(line).await?;
        Ok(found.unwrap_or_default())
    }
}

/// What is read for a window that starts at an end of the list: one row more, which tells whether others follow.
fn first_part<K>(task: TaskId, window: &Window<K>) -> Option<Part> {
    let is_first = window.after.is_none() && window.before.is_none();
    is_first.then_some(Part {
        task,
        limit: window.limit + 1,
        end: window.end,
    })
}
