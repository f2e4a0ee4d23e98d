//! Tasks: one goal each, with a brief, projections of its journal, linked works, and where it stands.
//!
//! Invariants
//! - A task that does not move has a status that says so, and words for a person.
//! - At most one turn of a task is not over; `active_turn` names it.
//! - Projections hold nothing that the journal does not: they can be deleted and folded anew (J4).
//!
//! Not here: how a task runs (`turn`), the journal itself (`journal`), what people write to it (`message`).

mod budget;
mod change;
mod control;
mod create;
mod fold;
mod language;
mod main_task;
mod stale;
mod standing;
mod wake;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::document::{Touched, Version};
use crate::error::Result;
use crate::ids::{MessageId, TaskId, TurnId, UserId, WorkId, WorkspaceId};
use crate::names::named;
use crate::page::{Page, PageRequest};
use crate::people::CreatedPosition;
use crate::time::Timestamp;

pub(crate) use budget::allow_budget;
pub(crate) use change::TaskChange;
pub use control::{
    ArchiveTask, DropProjections, FoldProjections, PauseTask, PromoteTask, RebuildProjections,
    ResumeTask, StopTask, TaskAction, UpdateTask,
};
pub(crate) use control::{become_persistent, end, go_on};
pub use create::{CreateTask, title_of, visible_task};
pub(crate) use create::{begin, task_of};
pub(crate) use fold::confirm;
pub use language::detect_language;
pub use main_task::main_id;
pub(crate) use main_task::new_main;
pub(crate) use stale::mark_after_change;
pub use stale::{dependents, stale_after};
pub use standing::{Standing, TaskLimits, Verdict, verdict};
pub use wake::WakeTask;

named! {
    /// How much a task weighs (T3).
    TaskKind {
        /// One generation with its result; not in the task list.
        Lightweight = "LIGHTWEIGHT",
        /// The full life cycle.
        Persistent = "PERSISTENT",
    }
}

named! {
    /// Where a task stands.
    TaskStatus {
        /// It will go on as soon as a worker is free.
        Queued = "QUEUED",
        /// A worker has it.
        Running = "RUNNING",
        /// It waits for something outside, such as a generation.
        WaitingExternal = "WAITING_EXTERNAL",
        /// It waits for a person.
        WaitingForPerson = "WAITING_FOR_PERSON",
        /// A person or a limit holds it.
        Paused = "PAUSED",
        /// It can not go on by itself.
        Blocked = "BLOCKED",
        /// A person ended it.
        Stopped = "STOPPED",
        /// Its checklist is closed.
        Delivered = "DELIVERED",
        /// It is out of the way.
        Archived = "ARCHIVED",
    }
}

impl TaskStatus {
    /// Whether what a person writes to it makes it go on.
    pub const fn is_woken_by_message(self) -> bool {
        matches!(
            self,
            Self::WaitingExternal | Self::WaitingForPerson | Self::Blocked | Self::Delivered
        )
    }

    /// Whether it is not at its end: a new goal may be one of these again (R4).
    pub const fn is_in_work(self) -> bool {
        !matches!(self, Self::Delivered | Self::Stopped | Self::Archived)
    }

    /// Whether it takes messages at all.
    pub const fn takes_messages(self) -> bool {
        !matches!(self, Self::Stopped | Self::Archived)
    }
}

named! {
    /// How far the agent may go by itself; says nothing about money or permissions (A5).
    Autonomy {
        /// A card after each closed item.
        AskEachStep = "ASK_EACH_STEP",
        /// A card at each checkpoint of the plan.
        AskAtCheckpoints = "ASK_AT_CHECKPOINTS",
        /// Passes checkpoints; never a question of cost or of what can not be undone.
        RunUntilDone = "RUN_UNTIL_DONE",
    }
}

/// A task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Its id.
    pub id: TaskId,
    /// Where it belongs.
    pub workspace: WorkspaceId,
    /// How much it weighs.
    pub kind: TaskKind,
    /// Where it stands.
    pub status: TaskStatus,
    /// Why it stands still, in words for a person; none while it moves.
    pub status_reason: Option<String>,
    /// Its title, at most 200 characters.
    pub title: String,
    /// What it is to reach, as it was put first.
    pub goal: String,
    /// What is to be kept in mind; people rewrite it.
    pub brief: String,
    /// BCP 47 tag of the language the person wrote in (T5).
    pub language: String,
    /// Whose task it is.
    pub created_by: UserId,
    /// The message it came from.
    pub origin: Option<MessageId>,
    /// The person whose Main it is; none for a task. Main is in no list, no search and no event: see `routing`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub main_of: Option<UserId>,
    /// How far the agent may go.
    pub autonomy: Autonomy,
    /// What it may spend, in micros of the workspace's currency; none is no limit of its own.
    pub budget_micros: Option<u64>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When anything of it changed last.
    pub updated_at: Timestamp,
    /// Sequence of the newest journal entry; 0 before the first.
    pub journal_head: u64,
    /// Sequence of the newest entry that the projections must reflect: neither status change nor system event.
    pub news_head: u64,
    /// The turn that is not over.
    pub active_turn: Option<TurnId>,
    /// How it has been going.
    pub course: Course,
    /// What it has used.
    pub usage: Usage,
}

impl Task {
    /// Whether it is somebody's Main.
    pub const fn is_main(&self) -> bool {
        self.main_of.is_some()
    }
}

/// How a task has been going: what limits, nudges and the display of tools look at.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Course {
    /// Turns so far.
    pub turns: u32,
    /// Turns since a person last raised the limits by resuming.
    pub turns_since_resume: u32,
    /// Turns in a row without meaningful progress (A3).
    pub idle_turns: u32,
    /// Whether the next request says that nothing has come of the last turns.
    pub is_nudge_due: bool,
    /// Ids of items that were closed once: closing them again is no progress.
    pub closed_items: Vec<String>,
    /// Ids of items whose closing a person has seen, where every one is asked for.
    pub shown_items: Vec<String>,
    /// Domains whose tools the next request shows besides the core ones.
    pub tool_domains: Vec<String>,
    /// How often in a row the model could not be asked.
    pub model_failures: u32,
    /// Whether a program has steered the task through the public API: each of its paid calls is approved by a person (A6).
    #[serde(default)]
    pub is_by_program: bool,
    /// The most that an owner lets the task spend, in micros; none where no owner has said so.
    #[serde(default)]
    pub owner_budget: Option<u64>,
}

/// What a task has used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Decided steps.
    pub steps: u64,
    /// Tokens of requests, cached ones included.
    pub input_tokens: u64,
    /// Of these, read from providers' caches.
    pub cached_tokens: u64,
    /// Tokens of replies.
    pub output_tokens: u64,
    /// Micros spent on models, where their prices are known.
    pub spent_micros: u64,
}

impl Usage {
    /// Adds what was used since.
    pub fn add(&mut self, more: &Self) {
        self.steps += more.steps;
        self.input_tokens += more.input_tokens;
        self.cached_tokens += more.cached_tokens;
        self.output_tokens += more.output_tokens;
        self.spent_micros += more.spent_micros;
    }
}

/// What lives over the journal and is rewritten with each decision (J2).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Projections {
    /// Where the task is, in prose.
    pub summary: String,
    /// One line for lists, at most 140 characters.
    pub short_line: String,
    /// The structured plan.
    pub checklist: Vec<ChecklistItem>,
    /// When they were rewritten; none before the first decision.
    pub rewritten_at: Option<Timestamp>,
    /// The newest journal entry that their writer had seen.
    pub journal_sequence: u64,
}

named! {
    /// Where an item of the plan stands; the contract's names.
    #[derive(Default)]
    ChecklistState {
        /// Not begun.
        #[default]
        Todo = "TODO",
        /// Begun.
        InProgress = "IN_PROGRESS",
        /// Done.
        Done = "DONE",
        /// Left out.
        Skipped = "SKIPPED",
        /// Done, and something it rests on changed since.
        Stale = "STALE",
    }
}

impl ChecklistState {
    /// Whether nothing is left to do for it.
    pub const fn is_closed(self) -> bool {
        matches!(self, Self::Done | Self::Skipped)
    }
}

/// An item of a task's plan.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ChecklistItem {
    /// Chosen by the model or numbered by the runtime; stays.
    pub id: String,
    /// What is to be done.
    pub title: String,
    /// Where it stands.
    pub state: ChecklistState,
    /// Whether a person confirms it once it is done: a checkpoint.
    pub needs_confirmation: bool,
    /// Whether a person did. Never written by a model.
    pub is_confirmed: bool,
    /// Items that come first.
    pub depends_on: Vec<String>,
    /// Works that came of it.
    pub outputs: Vec<WorkId>,
    /// How one sees that it is done.
    pub evidence: Option<String>,
    /// Capabilities that it takes, such as `video` (K2).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// The journal's entry that marked it as stale. Never written by a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale_since: Option<u64>,
}

impl ChecklistItem {
    /// Whether the plan waits here for a person.
    pub fn is_open_checkpoint(&self) -> bool {
        self.needs_confirmation && self.state == ChecklistState::Done && !self.is_confirmed
    }
}

/// A work that a task refers to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkedWork {
    /// The work's workspace.
    pub workspace: WorkspaceId,
    /// The task.
    pub task: TaskId,
    /// The work.
    pub work: WorkId,
    /// The version that the task last saw, by reading or by its own writing.
    pub seen_version: Version,
    /// When it last read it.
    pub last_read_at: Option<Timestamp>,
    /// When it last wrote it.
    pub last_written_at: Option<Timestamp>,
}

/// What others changed in a linked work since the task saw it; one per work, merged while unread (W2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeNotice {
    /// The task.
    pub task: TaskId,
    /// The work.
    pub work: WorkId,
    /// The version that was there before.
    pub from_version: Version,
    /// The version that is there since.
    pub to_version: Version,
    /// What was touched; `Touched::summary` puts it in words.
    pub touched: Touched,
    /// Who did it.
    pub changed_by: Vec<Actor>,
    /// When the first of it happened.
    pub created_at: Timestamp,
}

/// Which tasks a list shows; empty filters show all.
#[derive(Debug, Clone, Default)]
pub struct TaskFilter {
    /// Only these kinds.
    pub kinds: Vec<TaskKind>,
    /// Only these statuses.
    pub statuses: Vec<TaskStatus>,
}

/// Reading tasks. Lists by ids leave out what is not there and promise no order.
#[async_trait]
pub trait TaskReads {
    /// Tasks by id.
    async fn list_tasks_by_id(&self, ids: &[TaskId]) -> Result<Vec<Task>>;
    /// Tasks of a workspace, newest first.
    async fn list_tasks(
        &self,
        workspace: WorkspaceId,
        filter: &TaskFilter,
        page: PageRequest<CreatedPosition>,
    ) -> Result<Page<Task>>;
    /// How many tasks such a list has.
    async fn count_tasks(&self, workspace: WorkspaceId, filter: &TaskFilter) -> Result<u64>;
    /// Tasks of a workspace that changed last, newest first; no statuses means all.
    async fn list_active_tasks(
        &self,
        workspace: WorkspaceId,
        statuses: &[TaskStatus],
        limit: u32,
    ) -> Result<Vec<Task>>;
    /// Projections of these tasks; a task without any is left out.
    async fn list_projections(&self, ids: &[TaskId]) -> Result<Vec<(TaskId, Projections)>>;
    /// Works that these tasks refer to, in the order they were linked.
    async fn list_linked_works(&self, tasks: &[TaskId]) -> Result<Vec<LinkedWork>>;
    /// Tasks that refer to these works of a workspace.
    async fn list_linked_tasks(
        &self,
        workspace: WorkspaceId,
        works: &[WorkId],
    ) -> Result<Vec<LinkedWork>>;
    /// Unread change notices of these tasks, oldest first.
    async fn list_change_notices(&self, tasks: &[TaskId]) -> Result<Vec<ChangeNotice>>;
}

/// Writing tasks.
#[async_trait]
pub trait TaskWrites {
    /// Inserts a task.
    async fn insert_task(&self, task: &Task) -> Result<()>;
    /// Writes everything of a task that can change.
    async fn update_task(&self, task: &Task) -> Result<()>;
    /// Writes a task's projections, in place of those that are there.
    async fn put_projections(
        &self,
        workspace: WorkspaceId,
        task: TaskId,
        projections: &Projections,
    ) -> Result<()>;
    /// Deletes a task's projections.
    async fn delete_projections(&self, workspace: WorkspaceId, task: TaskId) -> Result<()>;
    /// Gives another task what is open of one: its inbox, messages that could not be delivered, open cards, lines. Its links to works
    /// and notices about them end.
    async fn move_to_task(&self, workspace: WorkspaceId, from: TaskId, into: TaskId) -> Result<()>;
    /// Links a work, or moves what is linked forward: versions and times only rise.
    async fn put_linked_work(&self, linked: &LinkedWork) -> Result<()>;
    /// Merges changes of a work into the unread notices of these tasks.
    async fn merge_change_notices(
        &self,
        workspace: WorkspaceId,
        tasks: &[TaskId],
        noticed: &NoticedChange,
    ) -> Result<()>;
    /// Ends the notices that a decision's request contained; what was merged into one since stays unread.
    async fn read_change_notices(
        &self,
        workspace: WorkspaceId,
        task: TaskId,
        seen: &[(WorkId, Version)],
    ) -> Result<()>;
}

/// Changes of a work, as they are noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoticedChange {
    /// The work.
    pub work: WorkId,
    /// The version before.
    pub from_version: Version,
    /// The version after.
    pub to_version: Version,
    /// What was touched.
    pub touched: Touched,
    /// Who did it.
    pub changed_by: Vec<Actor>,
    /// When.
    pub at: Timestamp,
}
