//! Messages: what people write, and what the agent replies.
//!
//! Invariants
//! - A message's author is a person or the agent; `by_program` says that a program wrote it for the person.
//! - A message's words and author never change; only its state moves.
//! - What a step has taken can no longer be withdrawn or replaced (R6): which step took it is stored, not compared by time.
//!
//! Not here: where a message belongs (`routing`).

mod post;
mod withdraw;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::error::Result;
use crate::ids::{CardId, MessageId, TaskId, UserId, WorkId, WorkspaceId};
use crate::names::named;
use crate::page::{End, Page, Window};
use crate::people::CreatedPosition;
use crate::routing::Candidate;
use crate::task::main_id;
use crate::time::Timestamp;
use crate::turn::StepRef;

pub use post::{Address, PostMessage};
pub use withdraw::{ReplaceMessage, WithdrawMessage, Withdrawn};

named! {
    /// Where a message stands (R6).
    MessageState {
        /// Stored, and not looked at yet.
        Received = "RECEIVED",
        /// The router looks for its place.
        Routing = "ROUTING",
        /// In a task's inbox, or taken by a step that has not decided yet.
        Delivered = "DELIVERED",
        /// A stored decision has read it.
        Consumed = "CONSUMED",
        /// Answered in the main thread.
        Answered = "ANSWERED",
        /// A person must say where it belongs.
        AwaitingChoice = "AWAITING_CHOICE",
        /// Its target can not take it.
        Undeliverable = "UNDELIVERABLE",
        /// Taken back.
        Withdrawn = "WITHDRAWN",
        /// Another message stands in its place.
        Replaced = "REPLACED",
    }
}

impl MessageState {
    /// Whether its author has taken it back, or put another in its place: it stays in its thread, and no search finds it.
    pub const fn is_taken_back(self) -> bool {
        matches!(self, Self::Withdrawn | Self::Replaced)
    }
}

/// A message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Its id.
    pub id: MessageId,
    /// Where it belongs.
    pub workspace: WorkspaceId,
    /// The person in whose main thread it stands; none for one that stands in a task's thread alone.
    pub main_of: Option<UserId>,
    /// The task in whose thread it stands.
    pub task: Option<TaskId>,
    /// Who wrote it.
    pub author: Actor,
    /// Its words.
    pub text: String,
    /// BCP 47 tag of the language it is written in.
    pub language: Option<String>,
    /// When it was written.
    pub created_at: Timestamp,
    /// Where it stands.
    pub state: MessageState,
    /// The step that took it; it is consumed when that step's decision is stored.
    pub taken_by: Option<StepRef>,
    /// The message in its place.
    pub replaced_by: Option<MessageId>,
    /// The card that it answers.
    pub reply_to: Option<CardId>,
    /// Works that came with it.
    pub attachments: Vec<WorkId>,
    /// Whether a program wrote it through the public API, for its person.
    #[serde(default)]
    pub by_program: bool,
    /// How it found its place; none for what the agent wrote.
    pub routing: Option<Routing>,
}

impl Message {
    /// Its place in lists of messages.
    pub fn position(&self) -> MessagePosition {
        MessagePosition {
            at: self.created_at,
            id: self.id.uuid(),
        }
    }

    /// The same, for sorting.
    pub(crate) fn position_key(&self) -> (Timestamp, MessageId) {
        (self.created_at, self.id)
    }

    /// The person who wrote it; none for what the agent wrote.
    pub const fn person(&self) -> Option<UserId> {
        match self.author {
            Actor::Person(user) => Some(user),
            _ => None,
        }
    }

    /// The only person who may see it: what stands in a main thread alone is for whose thread it is.
    pub fn private_to(&self) -> Option<UserId> {
        self.main_of
            .filter(|_| self.task.is_none() || self.is_with_main())
    }

    /// Whether a member of its workspace may see it.
    pub fn is_visible_to(&self, user: UserId) -> bool {
        self.private_to().is_none_or(|owner| owner == user)
    }

    /// Whether Main has it: it waits for its place, or Main is its place.
    pub fn is_with_main(&self) -> bool {
        let main = self.main_of.map(|owner| main_id(self.workspace, owner));
        main.is_some() && main == self.task
    }
}

named! {
    /// How a message's place was found.
    RoutingStage {
        /// By a rule.
        Deterministic = "DETERMINISTIC",
        /// By the router's model.
        Semantic = "SEMANTIC",
        /// A person moved it.
        Correction = "CORRECTION",
    }
}

named! {
    /// What place was found.
    RoutingOutcome {
        /// Main answered.
        AnsweredByMain = "ANSWERED_BY_MAIN",
        /// A light task was made.
        LightweightTask = "LIGHTWEIGHT_TASK",
        /// A task that was there.
        ExistingTask = "EXISTING_TASK",
        /// A new task was made.
        NewTask = "NEW_TASK",
        /// A person must choose.
        NeedsClarification = "NEEDS_CLARIFICATION",
        /// The place can not take it.
        Rejected = "REJECTED",
    }
}

/// How a message found its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Routing {
    /// How.
    pub stage: RoutingStage,
    /// What came of it.
    pub outcome: RoutingOutcome,
    /// Why, in words for a person.
    pub rationale: Option<String>,
    /// The tasks that were weighed, best first.
    #[serde(default)]
    pub candidates: Vec<Candidate>,
    /// When.
    pub decided_at: Timestamp,
    /// The task it was moved from.
    pub corrected_from: Option<TaskId>,
}

impl Routing {
    /// A place that was found so, for no more reason than that.
    pub fn new(stage: RoutingStage, outcome: RoutingOutcome, at: Timestamp) -> Self {
        Self {
            stage,
            outcome,
            rationale: None,
            candidates: Vec::new(),
            decided_at: at,
            corrected_from: None,
        }
    }
}

/// A position in a list of messages: oldest first, by time and then id.
pub type MessagePosition = CreatedPosition;

/// Reading messages. Lists by ids leave out what is not there and promise no order.
#[async_trait]
pub trait MessageReads {
    /// Messages by id.
    async fn list_messages_by_id(&self, ids: &[MessageId]) -> Result<Vec<Message>>;
    /// The main thread of a person, oldest first.
    async fn list_main_thread(
        &self,
        workspace: WorkspaceId,
        user: UserId,
        window: Window<MessagePosition>,
    ) -> Result<Page<Message>>;
    /// The thread of a task, oldest first.
    async fn list_thread(
        &self,
        task: TaskId,
        window: Window<MessagePosition>,
    ) -> Result<Page<Message>>;
    /// The ends of the threads of these tasks: at most `limit` messages of each, by task and then oldest first.
    async fn list_threads(&self, tasks: &[TaskId], limit: u32, end: End) -> Result<Vec<Message>>;
    /// Messages that these steps have consumed, those of one step oldest first.
    async fn list_consumed(&self, steps: &[(TaskId, StepRef)]) -> Result<Vec<Message>>;
    /// Whether a step of a task after this one has consumed a message.
    async fn is_consumed_after(&self, task: TaskId, step: StepRef) -> Result<bool>;
    /// What people wrote to these tasks and is in one of these states (none: delivered, and not consumed), oldest first.
    async fn list_inbox(&self, tasks: &[TaskId], states: &[MessageState]) -> Result<Vec<Message>>;
}

/// Writing messages.
#[async_trait]
pub trait MessageWrites {
    /// Inserts a message.
    async fn insert_message(&self, message: &Message) -> Result<()>;
    /// Writes state, task, `taken_by`, `replaced_by` and routing of a message.
    async fn update_message(&self, message: &Message) -> Result<()>;
    /// Gives the unread inbox of a task to a step, what the same step took before included; oldest first, and at most so many.
    async fn take_inbox(
        &self,
        workspace: WorkspaceId,
        task: TaskId,
        step: StepRef,
        most: Option<u32>,
    ) -> Result<Vec<Message>>;
    /// Marks what a step took as consumed; returns their ids.
    async fn consume_inbox(
        &self,
        workspace: WorkspaceId,
        task: TaskId,
        step: StepRef,
    ) -> Result<Vec<MessageId>>;
    /// Puts what an undecided step took back into the inbox.
    async fn release_inbox(
        &self,
        workspace: WorkspaceId,
        task: TaskId,
        step: StepRef,
    ) -> Result<()>;
    /// How many messages of a task no step has taken.
    async fn count_unread(&self, workspace: WorkspaceId, task: TaskId) -> Result<u64>;
}
