//! Storing what an extraction found: candidates one by one, each taken or rejected with its reason (M6).
//!
//! Invariants
//! - Messages are read once: a second outcome for the same messages changes nothing.
//! - A memory is changed only as it was shown: where another version holds by now, or something was forgotten, nothing is stored and the
//!   messages are read again.
//! - What was inferred takes the place of nothing that was said; what was forgotten is not learned from what was said before.

use std::collections::HashMap;

use async_trait::async_trait;
use uuid::Uuid;

use super::candidate::{Candidate, CandidateError, Relation};
use super::change::{MemoryChange, NewVersion};
use super::extract::ExtractionGroup;
use super::judge::{Judge, Refusal, Sound, refused};
use super::words::key_of;
use super::{EvidenceRole, Memory, MemoryBasis, MemoryRejection, MemoryState, RejectionReason};
use crate::actor::Actor;
use crate::error::Result;
use crate::ids::{MemoryId, MessageId};
use crate::message::Message;
use crate::store::{Command, Scope, Transaction};
use crate::time::Timestamp;

/// Candidates of one extraction that are looked at.
const CANDIDATES: usize = 50;

/// Stores the candidates of one claim.
#[derive(Debug, Clone)]
pub struct StoreExtraction {
    /// Whose messages.
    pub group: ExtractionGroup,
    /// The messages that were read.
    pub read: Vec<MessageId>,
    /// The memories that were shown, with the version that held.
    pub shown: Vec<(MemoryId, Option<u32>)>,
    /// How often something had been forgotten when they were read.
    pub forgets: u64,
    /// What was found.
    pub candidates: Vec<Result<Candidate, CandidateError>>,
    /// Ids for new memories and for rejections, one for each candidate.
    pub spare: Vec<MemoryId>,
    /// The present time.
    pub at: Timestamp,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extracted {
    /// It is stored.
    Stored {
        /// Memories that changed.
        changed: Vec<MemoryId>,
        /// How many candidates were rejected.
        rejected: usize,
    },
    /// Something that it rests on has changed: the messages are to be read again.
    Stale,
    /// The messages were read before.
    Known,
}

/// Why a candidate does not end in a memory.
enum Verdict {
    Rejected(Refusal),
    Stale,
    Failed(crate::error::Error),
}

impl From<Refusal> for Verdict {
    fn from(refusal: Refusal) -> Self {
        Self::Rejected(refusal)
    }
}

impl From<crate::error::Error> for Verdict {
    fn from(error: crate::error::Error) -> Self {
        Self::Failed(error)
    }
}

#[async_trait]
impl Command for StoreExtraction {
    type Output = Extracted;
    const NAME: &'static str = "extraction.store";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.group.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<Extracted> {
        let group = &self.group;
        let mark = tx.memory_mark(group.workspace, group.user).await?;
        if mark.forgets != self.forgets || !self.shows_what_holds(tx).await? {
            return Ok(Extracted::Stale);
        }
        if tx.end_extractions(group, &self.read, "DONE").await? < self.read.len() as u64 {
            return Ok(Extracted::Known);
        }
        let judge = self.judge(tx).await?;
        let actor = Actor::System;
        let mut change = MemoryChange::new(tx, group.workspace, (actor, self.at));
        let (mut changed, mut rejections) = (Vec::new(), Vec::new());
        let mut derives = group.memory;
        for (candidate, spare) in self.candidates.iter().zip(&self.spare).take(CANDIDATES) {
            let taken = match candidate {
                Ok(candidate) => {
                    let (own, with) = ((&judge, *spare), &mut derives);
                    self.take(&mut change, candidate, own, with).await
                }
                Err(error) => Err(Verdict::Rejected((
                    RejectionReason::Malformed,
                    error.detail.clone(),
                ))),
            };
            match taken {
                Ok(memory) => changed.push(memory),
                Err(Verdict::Rejected(why)) => {
                    rejections.push(self.rejection(&judge, candidate, (spare.uuid(), why)));
                }
                // A memory that an earlier candidate of these has changed is shown as it is to the next reading.
                Err(Verdict::Stale) => rejections.push(self.rejection(
                    &judge,
                    candidate,
                    (
                        spare.uuid(),
                        refused(
                            RejectionReason::Conflict,
                            "it changes what has just changed",
                        ),
                    ),
                )),
                Err(Verdict::Failed(error)) => return Err(error),
            }
        }
        let rejected = rejections.len();
        tx.insert_rejections(group.workspace, &rejections).await?;
        change.finish().await?;
        Ok(Extracted::Stored { changed, rejected })
    }
}

impl StoreExtraction {
    /// Whether of every memory that was shown the same version holds now.
    async fn shows_what_holds(&self, tx: &dyn Transaction) -> Result<bool> {
        let named: Vec<MemoryId> = self
            .candidates
            .iter()
            .flatten()
            .filter_map(|candidate| candidate.memory.as_ref()?.parse().ok())
            .collect();
        let now = tx.list_memories_by_id(&named).await?;
        Ok(now.iter().all(|memory| {
            let shown = self.shown.iter().find(|(id, _)| *id == memory.id);
            shown.is_none_or(|(_, version)| *version == memory.current)
        }))
    }

    async fn judge(&self, tx: &dyn Transaction) -> Result<Judge<'_>> {
        let named = self
            .candidates
            .iter()
            .flat_map(|candidate| match candidate {
                Ok(candidate) => candidate.evidence.as_slice(),
                Err(error) => error.evidence.as_slice(),
            });
        let mut ids: Vec<MessageId> = named.filter_map(|id| id.parse().ok()).collect();
        ids.extend(&self.read);
        ids.sort_unstable();
        ids.dedup();
        let messages = tx.list_messages_by_id(&ids).await?;
        let forgotten = tx.list_forgotten(self.group.workspace, Some(&ids)).await?;
        Ok(Judge {
            group: &self.group,
            read: &self.read,
            messages: messages
                .into_iter()
                .map(|one| (one.id, one))
                .collect::<HashMap<_, _>>(),
            forgotten: forgotten.into_iter().map(|one| one.message).collect(),
        })
    }

    async fn take(
        &self,
        change: &mut MemoryChange<'_>,
        candidate: &Candidate,
        (judge, spare): (&Judge<'_>, MemoryId),
        derives: &mut Option<MemoryId>,
    ) -> Result<MemoryId, Verdict> {
        let mut target = self.target(change, candidate).await?;
        let known = target.as_ref().map(|(_, content)| content.as_str());
        let sound = judge.judge(candidate, known)?;
        self.check_forgotten(change, candidate, &sound).await?;
        if let Some(memory) = derives {
            let found = change.tx.list_memories_by_id(&[*memory]).await?.pop();
            if let Some(memory) = found.filter(|memory| memory.scope == sound.scope) {
                *derives = None;
                return self.derive(change, memory, (candidate, &sound)).await;
            }
        }
        match candidate.relation {
            Relation::Confirm => {
                let Some((memory, _)) = &mut target else {
                    return Err(no_target().into());
                };
                confirm(change, memory, &sound.evidence).await?;
                Ok(memory.id)
            }
            Relation::Refine => {
                let Some((memory, _)) = target else {
                    return Err(no_target().into());
                };
                self.refine(change, memory, (candidate, &sound)).await
            }
            Relation::Origin => self.originate(change, spare, (candidate, &sound)).await,
        }
    }

    /// The memory that a candidate changes or supports: one that was shown.
    async fn target(
        &self,
        change: &MemoryChange<'_>,
        candidate: &Candidate,
    ) -> Result<Option<(Memory, String)>, Verdict> {
        if candidate.relation == Relation::Origin {
            return Ok(None);
        }
        let named = candidate.memory.as_ref();
        let id = named.and_then(|named| named.parse::<MemoryId>().ok());
        let shown = id.and_then(|id| self.shown.iter().find(|(shown, _)| *shown == id));
        let Some((id, version)) = shown else {
            return Err(no_target().into());
        };
        let found = change.tx.list_contents(&[*id]).await?.pop();
        match found {
            Some((memory, _)) if memory.current != *version => Err(Verdict::Stale),
            Some(found) => Ok(Some(found)),
            None => Err(no_target().into()),
        }
    }

    /// What was forgotten is learned again only from what a person says after that.
    async fn check_forgotten(
        &self,
        change: &MemoryChange<'_>,
        candidate: &Candidate,
        sound: &Sound,
    ) -> Result<(), Verdict> {
        if candidate.relation == Relation::Confirm {
            return Ok(());
        }
        let workspace = self.group.workspace;
        let scopes: Vec<Uuid> = self
            .group
            .scopes()
            .iter()
            .map(|one| one.key(workspace))
            .collect();
        let words = [key_of(workspace, &candidate.content)];
        let Some(at) = change.tx.find_tombstone(workspace, &scopes, &words).await? else {
            return Ok(());
        };
        let is_new = sound.evidence.iter().any(|message| message.created_at > at);
        if is_new && candidate.basis == MemoryBasis::Explicit {
            return Ok(());
        }
        Err(refused(RejectionReason::Forgotten, "it was forgotten").into())
    }

    async fn originate(
        &self,
        change: &mut MemoryChange<'_>,
        spare: MemoryId,
        (candidate, sound): (&Candidate, &Sound),
    ) -> Result<MemoryId, Verdict> {
        let words = key_of(self.group.workspace, &candidate.content);
        let known = change
            .tx
            .find_memory_by_words(self.group.workspace, sound.scope, words)
            .await?;
        if let Some(mut memory) = known {
            confirm(change, &mut memory, &sound.evidence).await?;
            if memory.basis == MemoryBasis::Inferred && candidate.basis == MemoryBasis::Explicit {
                let before = memory.clone();
                memory.basis = MemoryBasis::Explicit;
                change.save(&before, &memory).await?;
            }
            return Ok(memory.id);
        }
        let mut memory = Memory {
            id: spare,
            workspace: self.group.workspace,
            kind: candidate.kind,
            scope: sound.scope,
            basis: candidate.basis,
            state: MemoryState::Active,
            current: None,
            versions: 0,
            words: None,
            confirmations: 0,
            for_profile: candidate.for_profile,
            created_at: self.at,
            updated_at: self.at,
        };
        let version = new_version(candidate, &sound.evidence, EvidenceRole::Origin);
        change.add_version(&mut memory, version).await?;
        Ok(memory.id)
    }

    async fn refine(
        &self,
        change: &mut MemoryChange<'_>,
        mut memory: Memory,
        (candidate, sound): (&Candidate, &Sound),
    ) -> Result<MemoryId, Verdict> {
        if memory.scope != sound.scope {
            let text = "it changes a memory that reaches elsewhere";
            return Err(refused(RejectionReason::WrongScope, text).into());
        }
        if memory.basis == MemoryBasis::Explicit && candidate.basis == MemoryBasis::Inferred {
            let text = "what was inferred takes the place of nothing that was said";
            return Err(refused(RejectionReason::Conflict, text).into());
        }
        if self.is_older(change, &memory, &sound.evidence).await? {
            let text = "what holds was said later";
            return Err(refused(RejectionReason::Conflict, text).into());
        }
        let words = key_of(self.group.workspace, &candidate.content);
        if memory.words == Some(words) {
            confirm(change, &mut memory, &sound.evidence).await?;
            return Ok(memory.id);
        }
        let other = change
            .tx
            .find_memory_by_words(self.group.workspace, memory.scope, words)
            .await?;
        if let Some(other) = other {
            let text = format!("{} says so already", other.id);
            return Err(Verdict::Rejected((RejectionReason::Duplicate, text)));
        }
        let mut version = new_version(candidate, &sound.evidence, EvidenceRole::Refine);
        version.derived_from = memory
            .current
            .map(|number| (memory.id, number))
            .into_iter()
            .collect();
        memory.for_profile |= candidate.for_profile;
        change.add_version(&mut memory, version).await?;
        Ok(memory.id)
    }

    /// Whether everything that holds was said after all of this.
    async fn is_older(
        &self,
        change: &MemoryChange<'_>,
        memory: &Memory,
        evidence: &[Message],
    ) -> Result<bool, Verdict> {
        let edges = change.tx.list_evidence(&[memory.id]).await?;
        let of_current = edges.iter().filter(|edge| {
            Some(edge.number) == memory.current && edge.role != EvidenceRole::Confirm
        });
        let ids: Vec<MessageId> = of_current.map(|edge| edge.message).collect();
        let holds = change.tx.list_messages_by_id(&ids).await?;
        let first = holds.iter().map(|message| message.created_at).min();
        let last = evidence.iter().map(|message| message.created_at).max();
        Ok(first.is_some_and(|first| last.is_some_and(|last| last < first)))
    }

    /// A memory whose words were scrubbed says what is left to say.
    async fn derive(
        &self,
        change: &mut MemoryChange<'_>,
        mut memory: Memory,
        (candidate, sound): (&Candidate, &Sound),
    ) -> Result<MemoryId, Verdict> {
        let words = key_of(self.group.workspace, &candidate.content);
        if memory.words == Some(words) {
            confirm(change, &mut memory, &sound.evidence).await?;
            return Ok(memory.id);
        }
        let other = change
            .tx
            .find_memory_by_words(self.group.workspace, memory.scope, words)
            .await?;
        if let Some(mut other) = other {
            confirm(change, &mut other, &sound.evidence).await?;
            return Ok(other.id);
        }
        let role = match memory.current {
            Some(_) => EvidenceRole::Refine,
            None => EvidenceRole::Origin,
        };
        let version = new_version(candidate, &sound.evidence, role);
        change.add_version(&mut memory, version).await?;
        Ok(memory.id)
    }

    /// What is kept of a candidate that was not taken: no secret, and nothing that was forgotten.
    fn rejection(
        &self,
        judge: &Judge<'_>,
        candidate: &Result<Candidate, CandidateError>,
        (id, (reason, detail)): (Uuid, Refusal),
    ) -> MemoryRejection {
        let (content, named) = match candidate {
            Ok(candidate) => (candidate.content.as_str(), &candidate.evidence),
            Err(error) => (error.content.as_str(), &error.evidence),
        };
        let messages: Vec<MessageId> = named
            .iter()
            .filter_map(|id| id.parse().ok())
            .filter(|id| {
                judge
                    .messages
                    .get(id)
                    .is_some_and(|one| one.is_visible_to(self.group.user))
            })
            .collect();
        let is_kept = !matches!(reason, RejectionReason::Secret | RejectionReason::Forgotten)
            && !super::secrets::has_secret(content);
        MemoryRejection {
            id,
            user: self.group.user,
            content: if is_kept {
                content.to_owned()
            } else {
                String::new()
            },
            reason,
            detail,
            messages,
            at: self.at,
        }
    }
}

fn no_target() -> Refusal {
    refused(RejectionReason::Conflict, "it names no memory that holds")
}

/// Every message that is no evidence yet supports what holds.
async fn confirm(
    change: &mut MemoryChange<'_>,
    memory: &mut Memory,
    evidence: &[Message],
) -> Result<(), Verdict> {
    let mut is_new = false;
    for message in evidence {
        is_new |= change.confirm(memory, (message.id, None)).await?;
    }
    if is_new {
        return Ok(());
    }
    Err(refused(
        RejectionReason::Duplicate,
        "it is known from the same message",
    )
    .into())
}

fn new_version(candidate: &Candidate, evidence: &[Message], role: EvidenceRole) -> NewVersion {
    let quote_of = |message: &Message| {
        let quote = candidate.quote.clone()?;
        let stands = super::normal(&message.text).contains(&super::normal(&quote));
        stands.then_some(quote)
    };
    NewVersion {
        content: candidate.content.clone(),
        basis: candidate.basis,
        valid_from: candidate
            .valid_from
            .or_else(|| evidence.first().map(|message| message.created_at)),
        derived_from: Vec::new(),
        evidence: evidence
            .iter()
            .map(|message| (message.id, role, quote_of(message)))
            .collect(),
    }
}
