//! Remembering something at a person's word.

use async_trait::async_trait;

use super::change::{MemoryChange, NewVersion};
use super::words::key_of;
use super::{
    CONTENT_LENGTH, EvidenceRole, Memory, MemoryBasis, MemoryKind, MemoryScope, MemoryState,
    secrets,
};
use crate::error::{Error, Result};
use crate::event::{EventKind, Subject};
use crate::ids::{MemoryId, MessageId, TaskId, WorkspaceId};
use crate::message::{Message, MessageState};
use crate::people::{Caller, Role, TokenKind, check_text, require};
use crate::store::{Command, Scope, Transaction};
use crate::task::{detect_language, visible_task};
use crate::time::Timestamp;

/// Remembers something: the words are stored as a message of the person, which is the evidence.
#[derive(Debug, Clone)]
pub struct Remember {
    /// Who asks.
    pub caller: Caller,
    /// Where.
    pub workspace: WorkspaceId,
    /// What.
    pub content: String,
    /// What it is.
    pub kind: MemoryKind,
    /// How far it reaches: a person's own is the caller's.
    pub scope: MemoryScope,
    /// Id of the memory, if it is new.
    pub memory: MemoryId,
    /// Id of the message.
    pub message: MessageId,
    /// The present time.
    pub at: Timestamp,
}

#[async_trait]
impl Command for Remember {
    /// The memory, or the one that says the same already.
    type Output = MemoryId;
    const NAME: &'static str = "memory.remember";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<MemoryId> {
        require(tx, self.workspace, self.caller.user, Role::Editor).await?;
        let content = checked_content(&self.content)?;
        let task = self.checked_task(tx).await?;
        let said = (self.message, content.as_str());
        let statement = statement(said, (self.workspace, task), (&self.caller, self.at));
        let about = (self.caller.actor(), self.at);
        let mut change = MemoryChange::new(tx, self.workspace, about);
        tell_statement(&mut change, &statement).await?;
        let words = key_of(self.workspace, &content);
        let known = tx
            .find_memory_by_words(self.workspace, self.scope, words)
            .await?;
        let memory = match known {
            Some(memory) => self.say_again(&mut change, memory, content).await?,
            None => self.make(&mut change, content).await?,
        };
        change.finish().await?;
        Ok(memory)
    }
}

impl Remember {
    async fn checked_task(&self, tx: &dyn Transaction) -> Result<Option<TaskId>> {
        match self.scope {
            MemoryScope::Person(user) if user != self.caller.user => Err(Error::Forbidden(
                "what is remembered of a person is that person's to say".to_owned(),
            )),
            MemoryScope::Task(id) => {
                let (task, _) = visible_task(tx, id, self.caller.user).await?;
                if task.workspace != self.workspace {
                    return Err(Error::not_found("task", id));
                }
                Ok(Some(id))
            }
            MemoryScope::Person(_) | MemoryScope::Workspace => Ok(None),
        }
    }

    /// What was inferred until now is said now; what was said gets one more witness.
    async fn say_again(
        &self,
        change: &mut MemoryChange<'_>,
        mut memory: Memory,
        content: String,
    ) -> Result<MemoryId> {
        let before = memory.clone();
        let evidence = (self.message, Some(content));
        change.confirm(&mut memory, evidence).await?;
        if memory.basis == MemoryBasis::Inferred || !memory.for_profile {
            memory.basis = MemoryBasis::Explicit;
            memory.for_profile = is_for_profile(self.kind, memory.scope);
            change.save(&before, &memory).await?;
        }
        Ok(memory.id)
    }

    async fn make(&self, change: &mut MemoryChange<'_>, content: String) -> Result<MemoryId> {
        let mut memory = Memory {
            id: self.memory,
            workspace: self.workspace,
            kind: self.kind,
            scope: self.scope,
            basis: MemoryBasis::Explicit,
            state: MemoryState::Active,
            current: None,
            versions: 0,
            words: None,
            confirmations: 0,
            for_profile: is_for_profile(self.kind, self.scope),
            created_at: self.at,
            updated_at: self.at,
        };
        let version = NewVersion {
            evidence: vec![(self.message, EvidenceRole::Origin, Some(content.clone()))],
            content,
            basis: MemoryBasis::Explicit,
            valid_from: Some(self.at),
            derived_from: Vec::new(),
        };
        change.add_version(&mut memory, version).await?;
        Ok(memory.id)
    }
}

/// What a person asks for to be remembered beyond one task is meant to be known always; what happened is looked up.
fn is_for_profile(kind: MemoryKind, scope: MemoryScope) -> bool {
    kind != MemoryKind::Episode && !matches!(scope, MemoryScope::Task(_))
}

/// Words that can be remembered.
pub(super) fn checked_content(content: &str) -> Result<String> {
    check_text("a memory", content, CONTENT_LENGTH)?;
    if secrets::has_secret(content) {
        return Err(Error::Invalid(
            "this looks like a password, a key or a card number; such things are not remembered"
                .to_owned(),
        ));
    }
    Ok(content.trim().to_owned())
}

/// What a person said to memory: a message that nobody has to read.
pub(super) fn statement(
    (id, text): (MessageId, &str),
    (workspace, task): (WorkspaceId, Option<TaskId>),
    (caller, at): (&Caller, Timestamp),
) -> Message {
    Message {
        id,
        workspace,
        main_of: Some(caller.user),
        task,
        author: caller.actor(),
        text: text.to_owned(),
        language: Some(detect_language(text).to_owned()),
        created_at: at,
        state: MessageState::Consumed,
        taken_by: None,
        replaced_by: None,
        reply_to: None,
        attachments: Vec::new(),
        routing: None,
        by_program: caller.kind == TokenKind::PublicApi,
    }
}

/// Stores it, and tells of it.
pub(super) async fn tell_statement(
    change: &mut MemoryChange<'_>,
    statement: &Message,
) -> Result<()> {
    change.tx.insert_message(statement).await?;
    let data = serde_json::json!({"state": statement.state});
    let subject = Subject::Message(statement.id);
    change.tell(EventKind::MessagePosted, subject, data);
    Ok(())
}
