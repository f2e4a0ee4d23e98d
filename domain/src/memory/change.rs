//! One change of memories inside a command: versions, what they tell in events, and whose profile changed, written together.
//!
//! Invariants
//! - Whatever changes what holds of a memory has its event, and raises the profiles that it stands in.
//! - A new version takes the place of the one that held: its validity ends where that of the new one begins.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::words::key_of;
use super::{
    Evidence, EvidenceRole, Memory, MemoryBasis, MemoryScope, MemoryState, MemoryVersion,
    VersionRef,
};
use crate::actor::Actor;
use crate::error::{Error, Result};
use crate::event::{EventKind, NewEvent, Subject};
use crate::ids::{MemoryId, MessageId, UserId, WorkspaceId};
use crate::store::Transaction;
use crate::time::Timestamp;

/// A version that is about to hold.
pub(super) struct NewVersion {
    pub(super) content: String,
    pub(super) basis: MemoryBasis,
    pub(super) valid_from: Option<Timestamp>,
    pub(super) derived_from: Vec<VersionRef>,
    pub(super) evidence: Vec<(MessageId, EvidenceRole, Option<String>)>,
}

/// Memories that are being changed.
pub(super) struct MemoryChange<'tx> {
    pub(super) tx: &'tx dyn Transaction,
    pub(super) workspace: WorkspaceId,
    pub(super) actor: Actor,
    pub(super) at: Timestamp,
    events: Vec<NewEvent>,
    /// Whose profiles changed, with a memory that did it; none is the workspace's part.
    profiles: BTreeSet<(Option<UserId>, MemoryId)>,
}

impl<'tx> MemoryChange<'tx> {
    pub(super) fn new(
        tx: &'tx dyn Transaction,
        workspace: WorkspaceId,
        (actor, at): (Actor, Timestamp),
    ) -> Self {
        Self {
            tx,
            workspace,
            actor,
            at,
            events: Vec::new(),
            profiles: BTreeSet::new(),
        }
    }

    pub(super) fn tell(&mut self, kind: EventKind, subject: Subject, data: Value) {
        self.events.push(NewEvent {
            kind,
            subject,
            task: None,
            actor: self.actor.clone(),
            at: self.at,
            data,
        });
    }

    /// All versions of a memory, by number.
    pub(super) async fn versions(&self, memory: MemoryId) -> Result<Vec<MemoryVersion>> {
        self.tx.list_memory_versions(&[memory]).await
    }

    /// Refuses words that another memory of the scope says already.
    pub(super) async fn check_unique(
        &self,
        scope: MemoryScope,
        content: &str,
        own: Option<MemoryId>,
    ) -> Result<()> {
        let words = key_of(self.workspace, content);
        let found = self
            .tx
            .find_memory_by_words(self.workspace, scope, words)
            .await?;
        match found.filter(|found| Some(found.id) != own) {
            Some(other) => Err(Error::Conflict(format!("{} says the same", other.id))),
            None => Ok(()),
        }
    }

    /// Makes a version hold; the memory is written as well.
    pub(super) async fn add_version(
        &mut self,
        memory: &mut Memory,
        new: NewVersion,
    ) -> Result<u32> {
        let before = memory.clone();
        let number = memory.versions + 1;
        let valid_from = self.supersede(memory, new.valid_from).await?;
        let words = key_of(self.workspace, &new.content);
        memory.versions = number;
        memory.current = Some(number);
        memory.words = Some(words);
        memory.state = MemoryState::Active;
        memory.basis = new.basis;
        memory.confirmations = 0;
        memory.updated_at = self.at;
        // The memory first: its versions refer to it.
        self.tx.put_memory(memory).await?;
        let version = MemoryVersion {
            memory: memory.id,
            number,
            content: Some(new.content),
            words: Some(words),
            state: MemoryState::Active,
            basis: new.basis,
            valid_from: Some(valid_from),
            valid_to: None,
            derived_from: new.derived_from,
            created_at: self.at,
        };
        self.tx.put_memory_version(self.workspace, &version).await?;
        self.link(memory.id, number, new.evidence).await?;
        self.note(&before, memory);
        Ok(number)
    }

    /// Ends the version that holds; since when the next one is so.
    async fn supersede(&self, memory: &Memory, wanted: Option<Timestamp>) -> Result<Timestamp> {
        let wanted = wanted.unwrap_or(self.at);
        let Some(number) = memory.current else {
            return Ok(wanted);
        };
        let mut versions = self.versions(memory.id).await?;
        let Some(former) = versions.iter_mut().find(|one| one.number == number) else {
            let text = format!("{} has no version {number}", memory.id);
            return Err(Error::internal(text));
        };
        // Nothing ends before it began.
        let valid_from = former.valid_from.map_or(wanted, |since| since.max(wanted));
        former.state = MemoryState::Superseded;
        former.valid_to = Some(valid_from);
        self.tx.put_memory_version(self.workspace, former).await?;
        Ok(valid_from)
    }

    async fn link(
        &self,
        memory: MemoryId,
        number: u32,
        evidence: Vec<(MessageId, EvidenceRole, Option<String>)>,
    ) -> Result<()> {
        let edges: Vec<Evidence> = evidence
            .into_iter()
            .map(|(message, role, quote)| Evidence {
                memory,
                number,
                message,
                role,
                quote,
                is_usable: true,
            })
            .collect();
        self.tx.insert_evidence(self.workspace, &edges).await
    }

    /// Adds support to what holds, and no words: false where the message is evidence of it already.
    pub(super) async fn confirm(
        &mut self,
        memory: &mut Memory,
        (message, quote): (MessageId, Option<String>),
    ) -> Result<bool> {
        let Some(number) = memory.current else {
            return Ok(false);
        };
        let known = self.tx.list_evidence(&[memory.id]).await?;
        if known.iter().any(|edge| edge.message == message) {
            return Ok(false);
        }
        let before = memory.clone();
        let edge = (message, EvidenceRole::Confirm, quote);
        self.link(memory.id, number, vec![edge]).await?;
        memory.confirmations += 1;
        memory.updated_at = self.at;
        self.save(&before, memory).await?;
        Ok(true)
    }

    /// Writes a memory, and notes what follows from its change.
    pub(super) async fn save(&mut self, before: &Memory, memory: &Memory) -> Result<()> {
        self.tx.put_memory(memory).await?;
        self.note(before, memory);
        Ok(())
    }

    fn note(&mut self, before: &Memory, memory: &Memory) {
        let data = json!({"version": memory.current, "state": memory.state});
        self.tell(EventKind::MemoryChanged, Subject::Memory(memory.id), data);
        self.note_profile(before, memory);
    }

    /// The profile changes where something of it, or what it says, does.
    pub(super) fn note_profile(&mut self, before: &Memory, memory: &Memory) {
        let is_same = before.is_in_profile() == memory.is_in_profile()
            && before.scope == memory.scope
            && before.words == memory.words;
        if is_same {
            return;
        }
        for one in [before, memory] {
            if one.is_in_profile() {
                self.profiles.insert((one.scope.owner(), memory.id));
            }
        }
    }

    /// Writes events and profile versions.
    pub(super) async fn finish(mut self) -> Result<()> {
        let mut raised = BTreeSet::new();
        for (owner, memory) in std::mem::take(&mut self.profiles) {
            if raised.insert(owner) {
                self.tx.raise_profile(self.workspace, owner).await?;
                self.tell(
                    EventKind::ProfileChanged,
                    Subject::Memory(memory),
                    json!({}),
                );
            }
        }
        if self.events.is_empty() {
            return Ok(());
        }
        self.tx.emit(self.workspace, self.events).await
    }
}
