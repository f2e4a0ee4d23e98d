//! Cards: questions to a person, answered by a click (A4).
//!
//! Invariants
//! - A card is answered once, by a person who may change works; the answer is final.
//! - A card whose reason has gone is withdrawn; a stop withdraws all of a task.
//!
//! Not here: who decides that one is raised (`task::standing`, tools).

mod answer;
mod propose_delete;
mod withdraw;
mod words;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::ids::{CardId, JobId, MessageId, TaskId, UserId, WorkId, WorkspaceId};
use crate::names::named;
use crate::time::Timestamp;

pub use answer::{AnswerCard, Answered};
pub use propose_delete::ProposeDeleteWork;
pub(crate) use propose_delete::close_alone;
pub(crate) use withdraw::withdraw_about_work;
pub use words::{CardWords, RoutingWords};

named! {
    /// What is asked.
    CardKind {
        /// Whether what was done is right.
        Checkpoint = "CHECKPOINT",
        /// Which of these.
        Choice = "CHOICE",
        /// What was meant.
        Clarification = "CLARIFICATION",
        /// Whether this may be paid.
        ApproveCost = "APPROVE_COST",
        /// Whether this may be done though it can not be undone.
        ConfirmIrreversible = "CONFIRM_IRREVERSIBLE",
    }
}

named! {
    /// Who raised a card.
    CardOrigin {
        /// The model asked.
        Model = "MODEL",
        /// The runtime asked, because the model did not.
        Runtime = "RUNTIME",
        /// The router asked.
        Router = "ROUTER",
        /// A guard asked before an effect.
        Guard = "GUARD",
    }
}

named! {
    /// Where a card stands.
    CardState {
        /// It waits for a person.
        Open = "OPEN",
        /// A person answered.
        Answered = "ANSWERED",
        /// It is no longer asked.
        Withdrawn = "WITHDRAWN",
    }
}

/// The option that confirms a checkpoint or an irreversible act.
pub const CONFIRM: &str = "confirm";
/// The option that asks for changes at a checkpoint.
pub const ADJUST: &str = "adjust";
/// The option that lets a cost be paid.
pub const APPROVE: &str = "approve";
/// The option that refuses an irreversible act or a cost.
pub const DECLINE: &str = "decline";
/// The option that resumes the task that a message was meant for.
pub const RESUME: &str = "resume";
/// The option that asks which other task an undeliverable message is for.
pub const PICK_ANOTHER: &str = "pick_another";
/// The option that makes a task of its own of a message.
pub const NEW_TASK: &str = "new_task";

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// Its id.
    pub id: CardId,
    /// Where it belongs.
    pub workspace: WorkspaceId,
    /// What is asked.
    pub kind: CardKind,
    /// The task that asks.
    pub task: Option<TaskId>,
    /// The message that it is about.
    pub message: Option<MessageId>,
    /// The call that waits for the answer, as its id.
    pub call: Option<String>,
    /// The item of the plan that it confirms.
    pub item: Option<String>,
    /// The question.
    pub prompt: String,
    /// What can be answered.
    pub options: Vec<CardOption>,
    /// The option that is recommended.
    pub recommended: Option<String>,
    /// Works that it shows.
    pub works: Vec<WorkId>,
    /// What a yes would cost, in micros.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<u64>,
    /// The order that a yes would pay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobId>,
    /// Who raised it.
    pub raised_by: CardOrigin,
    /// Where it stands.
    pub state: CardState,
    /// What was answered.
    pub answer: Option<CardAnswer>,
    /// When it was raised.
    pub created_at: Timestamp,
}

/// One possible answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardOption {
    /// Its id, unique on the card.
    pub id: String,
    /// What it says.
    pub label: String,
    /// What it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// A work it stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<WorkId>,
    /// A task it stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
}

impl CardOption {
    /// An option that needs no more words.
    pub fn plain(id: &str, label: &str) -> Self {
        Self {
            id: id.to_owned(),
            label: label.to_owned(),
            detail: None,
            work: None,
            task: None,
        }
    }
}

/// What a person answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardAnswer {
    /// The option; none where the comment is the answer.
    pub option: Option<String>,
    /// What the person added.
    pub comment: Option<String>,
    /// Who.
    pub by: UserId,
    /// When.
    pub at: Timestamp,
}

/// Reading cards. Lists by ids leave out what is not there and promise no order.
#[async_trait]
pub trait CardReads {
    /// Cards by id.
    async fn list_cards_by_id(&self, ids: &[CardId]) -> Result<Vec<Card>>;
    /// Cards of these tasks, oldest first; `is_open` chooses open ones, or the others.
    async fn list_cards(&self, tasks: &[TaskId], is_open: Option<bool>) -> Result<Vec<Card>>;
    /// Open cards about a message, oldest first.
    async fn list_open_cards_about(
        &self,
        workspace: WorkspaceId,
        message: MessageId,
    ) -> Result<Vec<Card>>;
    /// Open cards of a workspace, oldest first, at most 100.
    async fn list_open_cards(&self, workspace: WorkspaceId) -> Result<Vec<Card>>;
}

/// Writing cards.
#[async_trait]
pub trait CardWrites {
    /// Inserts a card; one that is there already stays.
    async fn insert_card(&self, card: &Card) -> Result<()>;
    /// Writes state and answer of a card that is open; whether it was.
    async fn close_card(&self, card: &Card) -> Result<bool>;
}
