//! Forgetting: the evidence loses its right to be used, and what rests on it loses its words, in one transaction (M5).
//!
//! Invariants
//! - What is left to say is derived from what may still be used, later and in its turn; until then nothing is said of it.
//! - A version that was only replaced because of the forgotten one holds again; a confirmation is only unlinked.
//! - The conversation, works and money are not touched; receipts hold no words.
//!
//! Not here: what tasks have made of it (`dependents`), deriving anew (`store_extraction`).

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use serde_json::json;
use uuid::Uuid;

use super::change::MemoryChange;
use super::correct::task_of;
use super::dependents::{Gone, forget_dependents};
use super::extract::{ExtractionGroup, Waiting};
use super::{
    Evidence, EvidenceRole, ForgottenMessage, Memory, MemoryKind, MemoryState, MemoryVersion,
    Tombstone, VersionRef, normal, own_memory,
};
use crate::error::{Error, Result};
use crate::event::{EventKind, Subject};
use crate::ids::{MemoryId, MessageId, WorkspaceId};
use crate::message::Message;
use crate::people::{Caller, Role, role_in};
use crate::store::{Command, Scope, Transaction};
use crate::time::Timestamp;

/// What is to be forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForgetTarget {
    /// A memory, and everything else that rests on its evidence.
    Memory(MemoryId),
    /// Everything that rests on a message.
    Message(MessageId),
}

/// Forgets.
#[derive(Debug, Clone)]
pub struct Forget {
    /// Who asks.
    pub caller: Caller,
    /// Where.
    pub workspace: WorkspaceId,
    /// What.
    pub target: ForgetTarget,
    /// What ids of receipts are made from.
    pub receipt: Uuid,
    /// The present time.
    pub at: Timestamp,
}

/// What came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Memories of which a version lost its words.
    pub scrubbed: Vec<MemoryId>,
    /// Of these, those of which something holds again or is left to be derived.
    pub derived: Vec<MemoryId>,
    /// Memories that lost a confirmation alone.
    pub unlinked: Vec<MemoryId>,
}

#[async_trait]
impl Command for Forget {
    type Output = Forgotten;
    const NAME: &'static str = "memory.forget";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<Forgotten> {
        let (whole, messages) = self.target(tx).await?;
        let reach = Reach::of(tx, self.workspace, (whole, &messages)).await?;
        let actor = self.caller.actor();
        let mut act = Act {
            command: self,
            messages: &messages,
            change: MemoryChange::new(tx, self.workspace, (actor, self.at)),
            gone: Gone::of(self.target),
            tombstones: Vec::new(),
            scrubbed: Vec::new(),
            forgotten: Forgotten::default(),
        };
        for (numbers, stored) in reach.stored(tx).await? {
            act.scrub(stored, numbers).await?;
        }
        tx.blank_quotes(self.workspace, &act.scrubbed).await?;
        for (version, unlinked) in &reach.unlinked {
            act.unlink(*version, unlinked).await?;
        }
        act.finish().await
    }
}

impl Forget {
    /// The memory that goes whole, and the messages that may not be used any more.
    async fn target(&self, tx: &dyn Transaction) -> Result<(Option<MemoryId>, Vec<Message>)> {
        match self.target {
            ForgetTarget::Memory(id) => {
                let place = (self.workspace, self.caller.user);
                let memory = own_memory(tx, id, place).await?;
                let edges = tx.list_evidence(&[memory.id]).await?;
                let mut ids: Vec<MessageId> = edges.iter().map(|edge| edge.message).collect();
                ids.sort_unstable();
                ids.dedup();
                Ok((Some(id), tx.list_messages_by_id(&ids).await?))
            }
            ForgetTarget::Message(id) => {
                let role = role_in(tx, self.workspace, self.caller.user).await?;
                let found = tx.list_messages_by_id(&[id]).await?.pop();
                let message = found
                    .filter(|message| message.workspace == self.workspace)
                    .filter(|message| message.is_visible_to(self.caller.user))
                    .ok_or_else(|| Error::not_found("message", id))?;
                let is_own = message.person() == Some(self.caller.user);
                if !is_own && role < Role::Owner {
                    return Err(Error::Forbidden(
                        "what somebody else wrote is forgotten by them, or by an owner".to_owned(),
                    ));
                }
                Ok((None, vec![message]))
            }
        }
    }
}

/// What rests on messages, found by walking provenance forward.
struct Reach {
    /// Versions that lose their words, by memory.
    versions: BTreeMap<MemoryId, BTreeSet<u32>>,
    /// Versions that lose confirmations alone.
    unlinked: BTreeMap<VersionRef, Vec<MessageId>>,
}

impl Reach {
    async fn of(
        tx: &dyn Transaction,
        workspace: WorkspaceId,
        (whole, messages): (Option<MemoryId>, &[Message]),
    ) -> Result<Self> {
        let ids: Vec<MessageId> = messages.iter().map(|message| message.id).collect();
        let edges = tx.list_evidence_of(workspace, &ids).await?;
        let makes = |edge: &&Evidence| edge.role != EvidenceRole::Confirm;
        let mut next: BTreeSet<VersionRef> = edges
            .iter()
            .filter(makes)
            .map(|edge| (edge.memory, edge.number))
            .collect();
        if let Some(memory) = whole {
            let versions = tx.list_memory_versions(&[memory]).await?;
            next.extend(versions.iter().map(|version| (memory, version.number)));
        }
        let mut reached = BTreeSet::new();
        while !next.is_empty() {
            let from: Vec<VersionRef> = next.iter().copied().collect();
            reached.extend(next);
            let derived = tx.list_derived(workspace, &from).await?;
            next = derived
                .into_iter()
                .filter(|one| !reached.contains(one))
                .collect();
        }
        let mut unlinked: BTreeMap<VersionRef, Vec<MessageId>> = BTreeMap::new();
        for edge in edges {
            let version = (edge.memory, edge.number);
            if edge.role == EvidenceRole::Confirm && !reached.contains(&version) {
                unlinked.entry(version).or_default().push(edge.message);
            }
        }
        let mut versions: BTreeMap<MemoryId, BTreeSet<u32>> = BTreeMap::new();
        for (memory, number) in reached {
            versions.entry(memory).or_default().insert(number);
        }
        Ok(Self { versions, unlinked })
    }
}

impl Reach {
    /// The memories of which versions lose their words, all read at once.
    async fn stored(&self, tx: &dyn Transaction) -> Result<Vec<(&BTreeSet<u32>, Stored)>> {
        let ids: Vec<MemoryId> = self.versions.keys().copied().collect();
        let mut versions: BTreeMap<MemoryId, Vec<MemoryVersion>> = BTreeMap::new();
        for version in tx.list_memory_versions(&ids).await? {
            versions.entry(version.memory).or_default().push(version);
        }
        let mut edges: BTreeMap<MemoryId, Vec<Evidence>> = BTreeMap::new();
        for edge in tx.list_evidence(&ids).await? {
            edges.entry(edge.memory).or_default().push(edge);
        }
        let memories = tx.list_memories_by_id(&ids).await?;
        let stored = memories.into_iter().filter_map(|memory| {
            let numbers = self.versions.get(&memory.id)?;
            Some((
                numbers,
                Stored {
                    versions: versions.remove(&memory.id).unwrap_or_default(),
                    edges: edges.remove(&memory.id).unwrap_or_default(),
                    memory,
                },
            ))
        });
        Ok(stored.collect())
    }
}

/// Forgetting, as far as it has come.
struct Act<'a> {
    command: &'a Forget,
    messages: &'a [Message],
    change: MemoryChange<'a>,
    gone: Gone,
    tombstones: Vec<Tombstone>,
    scrubbed: Vec<VersionRef>,
    forgotten: Forgotten,
}

/// A memory as it is stored.
struct Stored {
    memory: Memory,
    versions: Vec<MemoryVersion>,
    edges: Vec<Evidence>,
}

impl Act<'_> {
    fn is_forgotten(&self, message: MessageId) -> bool {
        self.messages.iter().any(|one| one.id == message)
    }

    /// Takes the words of these versions of a memory, and sees what is left.
    async fn scrub(&mut self, stored: Stored, numbers: &BTreeSet<u32>) -> Result<()> {
        let (tx, workspace) = (self.change.tx, self.command.workspace);
        let Stored {
            mut memory,
            mut versions,
            edges,
        } = stored;
        let (id, before) = (memory.id, memory.clone());
        let mut left: Vec<Evidence> = Vec::new();
        for version in &mut versions {
            if !numbers.contains(&version.number) || version.state == MemoryState::Forgotten {
                continue;
            }
            let usable = edges.iter().filter(|edge| {
                edge.number == version.number && edge.is_usable && !self.is_forgotten(edge.message)
            });
            let usable: Vec<Evidence> = usable.cloned().collect();
            self.take_words(&memory, version, usable.is_empty());
            left.extend(usable);
            tx.put_memory_version(workspace, version).await?;
        }
        self.scrubbed
            .extend(numbers.iter().map(|number| (id, *number)));
        self.settle(&mut memory, versions, &edges).await?;
        memory.updated_at = self.command.at;
        tx.put_memory(&memory).await?;
        self.change.note_profile(&before, &memory);
        let data = json!({"version": memory.current, "state": memory.state});
        self.change
            .tell(EventKind::MemoryForgotten, Subject::Memory(id), data);
        self.gone.memories.push(id);
        self.gone.note_scope(memory.scope);
        if self.derive_later(&memory, &left).await? || memory.current.is_some() {
            self.forgotten.derived.push(id);
        }
        self.forgotten.scrubbed.push(id);
        Ok(())
    }

    fn take_words(&mut self, memory: &Memory, version: &mut MemoryVersion, is_all: bool) {
        let content = version.content.take();
        // An episode says much that rests on something else.
        let content = content.filter(|_| memory.kind != MemoryKind::Episode);
        self.gone.contents.extend(content);
        self.gone.note_time(version.created_at);
        // What others still say is derived anew; what nobody says any more is not learned again.
        if let Some(words) = version.words.take().filter(|_| is_all) {
            let name = format!("{}/{}", memory.id, version.number);
            self.tombstones.push(Tombstone {
                id: Uuid::new_v5(&self.command.receipt, name.as_bytes()),
                scope: memory.scope.key(self.command.workspace),
                words,
                memory: memory.id,
                number: version.number,
                by: self.command.caller.user,
                at: self.command.at,
            });
        }
        version.state = MemoryState::Forgotten;
    }

    /// What is left holds, each version until the next one.
    async fn settle(
        &self,
        memory: &mut Memory,
        versions: Vec<MemoryVersion>,
        edges: &[Evidence],
    ) -> Result<()> {
        let (tx, workspace) = (self.change.tx, self.command.workspace);
        let mut left: Vec<MemoryVersion> = versions;
        left.retain(|version| version.state != MemoryState::Forgotten);
        for place in 0..left.len() {
            let next = left.get(place + 1).and_then(|next| next.valid_from);
            let version = &mut left[place];
            if version.valid_to != next {
                version.valid_to = next;
                tx.put_memory_version(workspace, version).await?;
            }
        }
        memory.current = None;
        memory.words = None;
        memory.confirmations = 0;
        memory.state = MemoryState::Forgotten;
        let Some(last) = left.last_mut() else {
            return Ok(());
        };
        let words = last.words.unwrap_or_default();
        let other = tx
            .find_memory_by_words(workspace, memory.scope, words)
            .await?;
        if other.is_some_and(|other| other.id != memory.id) {
            // Another memory says by now what this one would say again.
            memory.state = MemoryState::Superseded;
            return Ok(());
        }
        last.state = MemoryState::Active;
        tx.put_memory_version(workspace, last).await?;
        memory.current = Some(last.number);
        memory.words = last.words;
        memory.basis = last.basis;
        memory.state = MemoryState::Active;
        let confirms = edges.iter().filter(|edge| {
            edge.number == last.number
                && edge.role == EvidenceRole::Confirm
                && edge.is_usable
                && !self.is_forgotten(edge.message)
        });
        memory.confirmations = confirms.count() as u32;
        Ok(())
    }

    /// Lets what may still be used wait to be derived from; whether there is any.
    async fn derive_later(&self, memory: &Memory, left: &[Evidence]) -> Result<bool> {
        // What is left of an episode is written with the rest of its task.
        if left.is_empty() || memory.kind == MemoryKind::Episode {
            return Ok(false);
        }
        let ids: Vec<MessageId> = left.iter().map(|edge| edge.message).collect();
        let messages = self.change.tx.list_messages_by_id(&ids).await?;
        let mut groups: BTreeMap<ExtractionGroup, Vec<Waiting>> = BTreeMap::new();
        for message in &messages {
            let Some(user) = message.person() else {
                continue;
            };
            let said = normal(&message.text);
            let is_stated = left.iter().any(|edge| {
                let quote = edge.quote.as_deref();
                edge.message == message.id && quote.is_some_and(|quote| normal(quote) == said)
            });
            let group = ExtractionGroup {
                workspace: self.command.workspace,
                user,
                task: task_of(memory).or(message.task.filter(|_| !message.is_with_main())),
                memory: Some(memory.id),
            };
            groups.entry(group).or_default().push(Waiting {
                message: message.id,
                is_stated,
                attempts: 0,
                queued_at: self.command.at,
            });
        }
        for (group, waiting) in &groups {
            self.change.tx.queue_extractions(group, waiting).await?;
        }
        Ok(!groups.is_empty())
    }

    /// Takes confirmations from a version that rests on other messages.
    async fn unlink(&mut self, version: VersionRef, messages: &[MessageId]) -> Result<()> {
        let (tx, workspace) = (self.change.tx, self.command.workspace);
        tx.delete_evidence(workspace, version, messages).await?;
        let Some(mut memory) = tx.list_memories_by_id(&[version.0]).await?.pop() else {
            return Ok(());
        };
        let before = memory.clone();
        if memory.current == Some(version.1) {
            memory.confirmations = memory.confirmations.saturating_sub(messages.len() as u32);
        }
        memory.updated_at = self.command.at;
        self.change.save(&before, &memory).await?;
        self.forgotten.unlinked.push(memory.id);
        Ok(())
    }

    /// Revokes the messages, and takes everything away that was made of them and of the memories.
    async fn finish(mut self) -> Result<Forgotten> {
        let (tx, workspace) = (self.change.tx, self.command.workspace);
        let ids: Vec<MessageId> = self.messages.iter().map(|message| message.id).collect();
        let revoked: Vec<ForgottenMessage> = ids
            .iter()
            .map(|message| ForgottenMessage {
                message: *message,
                by: self.command.caller.user,
                at: self.command.at,
            })
            .collect();
        tx.forget_messages(workspace, &revoked).await?;
        tx.insert_tombstones(workspace, &self.tombstones).await?;
        tx.blank_rejections(workspace, &ids).await?;
        tx.drop_extractions(workspace, &ids).await?;
        for message in self.messages {
            self.gone.note_message(message);
            let subject = Subject::Message(message.id);
            self.change
                .tell(EventKind::MemoryForgotten, subject, json!({}));
        }
        forget_dependents(
            &mut self.change,
            &self.gone,
            (self.command.caller.user, self.messages),
        )
        .await?;
        let things = ids.iter().map(|id| id.uuid());
        let things = things.chain(self.gone.memories.iter().map(|id| id.uuid()));
        let things: Vec<Uuid> = things.collect();
        tx.drop_vectors(workspace, &things).await?;
        tx.raise_forgets(workspace).await?;
        self.change.finish().await?;
        Ok(self.forgotten)
    }
}
