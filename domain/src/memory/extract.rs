//! Messages that wait to be extracted from: queued when a step has read them, claimed by a worker, read once.
//!
//! Invariants
//! - A message waits once for each extraction that it is part of; what waits is in the store, and a process that dies loses an attempt.
//! - No transaction is open while a model reads: what a claim saw is compared when its outcome is stored.
//!
//! Not here: asking the model (`runtime`), storing what it found (`store_extraction`).

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;

use super::{Memory, MemoryKind, MemoryScope, ScopeKind};
use crate::error::Result;
use crate::ids::{MemoryId, MessageId, TaskId, UserId, WorkspaceId};
use crate::message::Message;
use crate::store::{Command, Scope, Transaction};
use crate::time::Timestamp;

/// Messages of one claim.
const MESSAGES: u32 = 20;
/// Memories that an extractor is shown.
const SHOWN: u32 = 60;
/// Attempts after which messages wait no more.
pub const MOST_ATTEMPTS: u32 = 8;

/// Messages that are extracted from together: of one person, in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExtractionGroup {
    /// Where.
    pub workspace: WorkspaceId,
    /// Whose.
    pub user: UserId,
    /// The task they were written to; none for the main thread.
    pub task: Option<TaskId>,
    /// The memory that is derived anew from them; none for what they say at all.
    pub memory: Option<MemoryId>,
}

impl ExtractionGroup {
    /// The scopes that what they say can be for.
    pub fn scopes(&self) -> Vec<MemoryScope> {
        let shared = [MemoryScope::Person(self.user), MemoryScope::Workspace];
        shared
            .into_iter()
            .chain(self.task.map(MemoryScope::Task))
            .collect()
    }
}

/// A message that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// The message.
    pub message: MessageId,
    /// Whether it is nothing but what is to be remembered.
    pub is_stated: bool,
    /// How often it was claimed.
    pub attempts: u32,
    /// Since when it waits.
    pub queued_at: Timestamp,
}

/// Lets messages that a step has read wait to be extracted from.
pub(crate) async fn queue_read(
    tx: &dyn Transaction,
    read: &[MessageId],
    at: Timestamp,
) -> Result<()> {
    if read.is_empty() {
        return Ok(());
    }
    let messages = tx.list_messages_by_id(read).await?;
    queue(tx, &messages, at).await
}

/// The same for messages at hand.
pub(crate) async fn queue(tx: &dyn Transaction, messages: &[Message], at: Timestamp) -> Result<()> {
    let mut groups: BTreeMap<ExtractionGroup, Vec<Waiting>> = BTreeMap::new();
    for message in messages {
        let Some(user) = message.person() else {
            continue;
        };
        let group = ExtractionGroup {
            workspace: message.workspace,
            user,
            task: message.task.filter(|_| !message.is_with_main()),
            memory: None,
        };
        groups.entry(group).or_default().push(Waiting {
            message: message.id,
            is_stated: false,
            attempts: 0,
            queued_at: at,
        });
    }
    for (group, waiting) in groups {
        tx.queue_extractions(&group, &waiting).await?;
    }
    Ok(())
}

/// A memory as an extractor is shown it.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// The memory.
    pub memory: Memory,
    /// What holds.
    pub content: String,
}

/// What a worker has claimed.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// Whose messages.
    pub group: ExtractionGroup,
    /// The messages, oldest first, each with whether it is nothing but what is to be remembered.
    pub messages: Vec<(Message, bool)>,
    /// What is known in their scopes, newest first.
    pub shown: Vec<Shown>,
    /// How far the memory reaches that is derived anew.
    pub scope_to_derive: Option<ScopeKind>,
    /// How often something of the workspace had been forgotten.
    pub forgets: u64,
    /// How often these were claimed, this time included.
    pub attempts: u32,
}

/// Claims messages of a group: nobody else does before the time is over.
#[derive(Debug, Clone, Copy)]
pub struct ClaimExtraction {
    /// Whose messages.
    pub group: ExtractionGroup,
    /// How long the claim holds.
    pub lease: Duration,
    /// The present time.
    pub at: Timestamp,
}

#[async_trait]
impl Command for ClaimExtraction {
    /// None where nothing waits any more.
    type Output = Option<Claim>;
    const NAME: &'static str = "extraction.claim";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.group.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<Option<Claim>> {
        let group = self.group;
        let waiting = tx.list_waiting(&group, self.at, MESSAGES).await?;
        let ids: Vec<MessageId> = waiting.iter().map(|one| one.message).collect();
        let forgotten = tx.list_forgotten(group.workspace, Some(&ids)).await?;
        let mut found = tx.list_messages_by_id(&ids).await?;
        found.retain(|message| {
            let is_forgotten = forgotten.iter().any(|one| one.message == message.id);
            !is_forgotten && !message.state.is_taken_back()
        });
        let gone: Vec<MessageId> = ids
            .iter()
            .copied()
            .filter(|id| found.iter().all(|message| message.id != *id))
            .collect();
        if !gone.is_empty() {
            tx.end_extractions(&group, &gone, "DONE").await?;
        }
        if found.is_empty() {
            return Ok(None);
        }
        found.sort_by_key(Message::position_key);
        let held: Vec<MessageId> = found.iter().map(|message| message.id).collect();
        let until = self.at.plus(self.lease);
        tx.hold_extractions(&group, &held, (1, until)).await?;
        let of = |message: &Message| waiting.iter().find(|one| one.message == message.id);
        let attempts = found.iter().filter_map(of).map(|one| one.attempts).max();
        let shown = tx
            .list_newest_memories(group.workspace, &group.scopes(), SHOWN)
            .await?;
        let mark = tx.memory_mark(group.workspace, group.user).await?;
        let derived: Vec<MemoryId> = group.memory.into_iter().collect();
        let derived = tx.list_memories_by_id(&derived).await?.pop();
        Ok(Some(Claim {
            group,
            scope_to_derive: derived.map(|memory| memory.scope.kind()),
            attempts: attempts.unwrap_or_default() + 1,
            messages: found
                .into_iter()
                .map(|message| {
                    let is_stated = of(&message).is_some_and(|one| one.is_stated);
                    (message, is_stated)
                })
                .collect(),
            shown: shown
                .into_iter()
                .filter(|(memory, _)| memory.kind != MemoryKind::Episode)
                .map(|(memory, content)| Shown { memory, content })
                .collect(),
            forgets: mark.forgets,
        }))
    }
}

/// Lets claimed messages wait longer, or no more after too many attempts.
#[derive(Debug, Clone)]
pub struct FailExtraction {
    /// Whose messages.
    pub group: ExtractionGroup,
    /// The messages.
    pub messages: Vec<MessageId>,
    /// When they are tried again; none gives them up.
    pub again_at: Option<Timestamp>,
}

#[async_trait]
impl Command for FailExtraction {
    type Output = ();
    const NAME: &'static str = "extraction.fail";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.group.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        if let Some(at) = self.again_at {
            let held = tx.hold_extractions(&self.group, &self.messages, (0, at));
            return held.await;
        }
        let ended = tx.end_extractions(&self.group, &self.messages, "FAILED");
        ended.await.map(drop)
    }
}
