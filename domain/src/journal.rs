//! The journal of a task: what happened and why, in order (J1).
//!
//! Invariants
//! - Entries are only ever appended; storage refuses to change or delete one.
//! - Sequences of a task start at 1 and have no gap.
//!
//! Not here: what is folded out of it (`task::fold`).

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::actor::Actor;
use crate::error::Result;
use crate::ids::{TaskId, WorkspaceId};
use crate::names::named;
use crate::page::{Page, PageRequest};
use crate::time::Timestamp;
use crate::turn::StepRef;

named! {
    /// What an entry tells.
    JournalKind {
        /// What a person wrote or answered.
        IncomingMessage = "INCOMING_MESSAGE",
        /// A decision, with the projections that it rewrote.
        Plan = "PLAN",
        /// The whole prompt of an executor.
        Prompt = "PROMPT",
        /// An executor's answer.
        Answer = "ANSWER",
        /// What came of a call.
        Result = "RESULT",
        /// A card was raised.
        Question = "QUESTION",
        /// The task's status changed.
        StatusChange = "STATUS_CHANGE",
        /// Everything else that the runtime did.
        SystemEvent = "SYSTEM_EVENT",
    }
}

impl JournalKind {
    /// Whether projections must reflect it. A decision's own entry is no news to the projections that it rewrites.
    pub const fn is_news(self) -> bool {
        !matches!(self, Self::Plan | Self::StatusChange | Self::SystemEvent)
    }
}

/// One entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// Its place, from 1 on.
    pub sequence: u64,
    /// What it tells.
    pub kind: JournalKind,
    /// When.
    pub at: Timestamp,
    /// Who did it.
    pub actor: Actor,
    /// The step it belongs to.
    pub step: Option<StepRef>,
    /// It in words, for people and models.
    pub text: String,
    /// It in data, by kind.
    pub data: Value,
}

/// Reading journals.
#[async_trait]
pub trait JournalReads {
    /// Entries of a task after a sequence, oldest first; no kinds means all.
    async fn list_journal(
        &self,
        task: TaskId,
        kinds: &[JournalKind],
        page: PageRequest<u64>,
    ) -> Result<Page<JournalEntry>>;
    /// The first entries of these tasks, at most `limit` of each, by task and then oldest first; no kinds means all.
    async fn list_journals(
        &self,
        tasks: &[TaskId],
        kinds: &[JournalKind],
        limit: u32,
    ) -> Result<Vec<(TaskId, JournalEntry)>>;
    /// Whole prompts that executors were given in these steps; those of one step oldest first.
    async fn list_prompts(
        &self,
        steps: &[(TaskId, StepRef)],
    ) -> Result<Vec<(TaskId, JournalEntry)>>;
    /// The newest entries of a task that stand after a sequence, oldest first, at most `limit`; no kinds means all.
    async fn list_newest_journal(
        &self,
        task: TaskId,
        kinds: &[JournalKind],
        after: u64,
        limit: u32,
    ) -> Result<Vec<JournalEntry>>;
}

/// Writing journals.
#[async_trait]
pub trait JournalWrites {
    /// Appends entries; their sequences follow the last one.
    async fn append_journal(
        &self,
        workspace: WorkspaceId,
        task: TaskId,
        entries: &[JournalEntry],
    ) -> Result<()>;
}
