//! Memories: what people said that is worth knowing later, each as a chain of versions that know their evidence (M1 to M5).
//!
//! Invariants
//! - A version rests on messages that people wrote; without one it is not there. A confirmation adds evidence, and never words.
//! - At most one version of a memory holds, and no two active memories of one scope say the same.
//! - What is scoped to a person is read and used for that person alone: every reading names its reader.
//! - What was forgotten has no words left anywhere but in the conversation and the journal, and is not learned again from them.
//!
//! Not here: how candidates are found (`runtime`), searching (`search`).

mod candidate;
mod change;
mod correct;
mod dependents;
mod episode;
mod extract;
mod forget;
mod judge;
mod ports;
mod remember;
mod rescope;
mod scrub;
mod secrets;
mod store_extraction;
mod words;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::ids::{MemoryId, MessageId, TaskId, UserId, WorkspaceId};
use crate::names::named;
use crate::people::{CreatedPosition, PeopleReads, Role, role_in};
use crate::store::{Command, Scope, Transaction};
use crate::time::Timestamp;

pub use candidate::{Candidate, CandidateError, Relation};
pub use correct::{CorrectMemory, UndoCorrection};
pub use episode::episode_of;
pub(crate) use episode::note_milestone;
pub use extract::{
    Claim, ClaimExtraction, ExtractionGroup, FailExtraction, MOST_ATTEMPTS, Shown, Waiting,
};
pub(crate) use extract::{queue, queue_read};
pub use forget::{Forget, ForgetTarget, Forgotten};
pub use ports::{MemoryReads, MemoryWrites};
pub use remember::Remember;
pub use rescope::RescopeMemory;
pub use store_extraction::{Extracted, StoreExtraction};
pub use words::{Echo, normal};

/// Every command that extraction and forgetting write with: the places at which a process can die with something stored. Each has a case
/// in the tests of kills.
pub const WRITE_POINTS: [&str; 4] = [
    <ClaimExtraction as Command>::NAME,
    <StoreExtraction as Command>::NAME,
    <FailExtraction as Command>::NAME,
    <Forget as Command>::NAME,
];

/// The longest memory, in characters.
pub const CONTENT_LENGTH: usize = 1_000;
/// Entries of a profile at most: few and stable (M1).
pub const PROFILE_ENTRIES: u32 = 40;

named! {
    /// Where a memory, or one version of it, stands.
    MemoryState {
        /// It holds.
        Active = "ACTIVE",
        /// Another one holds in its place.
        Superseded = "SUPERSEDED",
        /// Its words are gone.
        Forgotten = "FORGOTTEN",
    }
}

named! {
    /// What is remembered.
    MemoryKind {
        /// Something that is so.
        Fact = "FACT",
        /// Something that is wanted so.
        Preference = "PREFERENCE",
        /// What happened in a stretch of work.
        Episode = "EPISODE",
    }
}

named! {
    /// How far a memory reaches, without saying whose it is.
    ScopeKind {
        /// One person.
        Person = "PERSON",
        /// The workspace.
        Workspace = "WORKSPACE",
        /// One task.
        Task = "TASK",
    }
}

named! {
    /// Whether it was said, or follows from what was said (M3).
    MemoryBasis {
        /// A person said it.
        Explicit = "EXPLICIT",
        /// A model concluded it.
        Inferred = "INFERRED",
    }
}

named! {
    /// What a message is to a version (M2).
    EvidenceRole {
        /// It made the first version.
        Origin = "ORIGIN",
        /// It made a later one.
        Refine = "REFINE",
        /// It supports it, and made nothing.
        Confirm = "CONFIRM",
    }
}

named! {
    /// Why a candidate was not taken (M6).
    RejectionReason {
        /// It is no candidate at all.
        Malformed = "MALFORMED",
        /// It names no message, or one that is not there.
        NoEvidence = "NO_EVIDENCE",
        /// The message it rests on was not written by a person.
        NotAPerson = "NOT_A_PERSON",
        /// The message does not say so.
        NotSaid = "NOT_SAID",
        /// It is in another language than the message.
        WrongLanguage = "WRONG_LANGUAGE",
        /// It may not reach so far.
        WrongScope = "WRONG_SCOPE",
        /// It contradicts what holds, or names what does not.
        Conflict = "CONFLICT",
        /// It holds a secret.
        Secret = "SECRET",
        /// It was forgotten.
        Forgotten = "FORGOTTEN",
        /// It is known already from the same message.
        Duplicate = "DUPLICATE",
    }
}

/// How far a memory reaches, and whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryScope {
    /// One person: for nobody else.
    Person(UserId),
    /// Every member of the workspace.
    Workspace,
    /// One task.
    Task(TaskId),
}

impl MemoryScope {
    /// How far, without whose.
    pub const fn kind(self) -> ScopeKind {
        match self {
            Self::Person(_) => ScopeKind::Person,
            Self::Workspace => ScopeKind::Workspace,
            Self::Task(_) => ScopeKind::Task,
        }
    }

    /// What tells it apart from every other scope of the workspace.
    pub const fn key(self, workspace: WorkspaceId) -> Uuid {
        match self {
            Self::Person(user) => user.uuid(),
            Self::Workspace => workspace.uuid(),
            Self::Task(task) => task.uuid(),
        }
    }

    /// The scope of this kind and key.
    pub const fn from_key(kind: ScopeKind, key: Uuid) -> Self {
        match kind {
            ScopeKind::Person => Self::Person(UserId::from_uuid(key)),
            ScopeKind::Workspace => Self::Workspace,
            ScopeKind::Task => Self::Task(TaskId::from_uuid(key)),
        }
    }

    /// The only person who may see it; none for every member.
    pub const fn owner(self) -> Option<UserId> {
        match self {
            Self::Person(user) => Some(user),
            Self::Workspace | Self::Task(_) => None,
        }
    }
}

/// A memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Its id.
    pub id: MemoryId,
    /// Where it belongs.
    pub workspace: WorkspaceId,
    /// What it is.
    pub kind: MemoryKind,
    /// How far it reaches.
    pub scope: MemoryScope,
    /// Whether it was said.
    pub basis: MemoryBasis,
    /// Where it stands.
    pub state: MemoryState,
    /// The version that holds; none while nothing does.
    pub current: Option<u32>,
    /// How many versions there have been.
    pub versions: u32,
    /// The key of what holds: two memories of a scope that say the same have the same.
    pub words: Option<Uuid>,
    /// Messages of people that confirm what holds.
    pub confirmations: u32,
    /// Whether it is one of the few things to know always.
    pub for_profile: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
}

impl Memory {
    /// Whether this person may see it.
    pub fn is_visible_to(&self, user: UserId) -> bool {
        self.scope.owner().is_none_or(|owner| owner == user)
    }

    /// Whether it stands in profiles: what was said, and what was inferred and then confirmed.
    pub fn is_in_profile(&self) -> bool {
        self.state == MemoryState::Active
            && self.for_profile
            && self.scope.kind() != ScopeKind::Task
            && (self.basis == MemoryBasis::Explicit || self.confirmations > 0)
    }

    /// Its place in lists: newest first.
    pub const fn position(&self) -> CreatedPosition {
        CreatedPosition {
            at: self.created_at,
            id: self.id.uuid(),
        }
    }
}

/// A version of a memory, by its number.
pub type VersionRef = (MemoryId, u32);

/// One version of a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryVersion {
    /// The memory.
    pub memory: MemoryId,
    /// Its number, from 1 on.
    pub number: u32,
    /// What it says; none once it was forgotten.
    pub content: Option<String>,
    /// The key of its words.
    pub words: Option<Uuid>,
    /// Where it stands.
    pub state: MemoryState,
    /// Whether it was said.
    pub basis: MemoryBasis,
    /// Since when it is so.
    pub valid_from: Option<Timestamp>,
    /// Until when it was so.
    pub valid_to: Option<Timestamp>,
    /// Versions that it was made of besides its evidence.
    pub derived_from: Vec<VersionRef>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What a message is to a version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The memory.
    pub memory: MemoryId,
    /// The number of the version.
    pub number: u32,
    /// The message.
    pub message: MessageId,
    /// What it is to it.
    pub role: EvidenceRole,
    /// The words in the message, where some were named.
    pub quote: Option<String>,
    /// Whether it may be used: it was neither forgotten nor taken back.
    pub is_usable: bool,
}

/// A candidate that was not taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryRejection {
    /// Its id.
    pub id: Uuid,
    /// Whose messages it was made of: nobody else sees it.
    pub user: UserId,
    /// What it said; empty where that must not be kept.
    pub content: String,
    /// Why.
    pub reason: RejectionReason,
    /// Why, in words.
    pub detail: String,
    /// The messages that it named and that are there.
    pub messages: Vec<MessageId>,
    /// When.
    pub at: Timestamp,
}

/// The receipt of something forgotten: nothing of its words, but what is needed to know them again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tombstone {
    /// Its id.
    pub id: Uuid,
    /// The scope it was in.
    pub scope: Uuid,
    /// The key of its words.
    pub words: Uuid,
    /// The memory.
    pub memory: MemoryId,
    /// The version.
    pub number: u32,
    /// Who forgot it.
    pub by: UserId,
    /// When.
    pub at: Timestamp,
}

/// A message that may not be used any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgottenMessage {
    /// The message.
    pub message: MessageId,
    /// Who said so.
    pub by: UserId,
    /// When.
    pub at: Timestamp,
}

/// How often memory has changed, as whoever uses it compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct MemoryMark {
    /// The version of a person's profile.
    pub profile: u64,
    /// How often something of the workspace was forgotten.
    pub forgets: u64,
}

/// What is always known when something is done for a person (M1, C6).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Profile {
    /// Rises with every change.
    pub version: u64,
    /// Its entries, oldest first.
    pub entries: Vec<(Memory, String)>,
}

impl Profile {
    /// The profile of a person in a workspace, as it is now.
    pub async fn read(
        reads: &(impl MemoryReads + ?Sized),
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Self> {
        // The version first: what is read after it is at least as new.
        let mark = reads.memory_mark(workspace, user).await?;
        let entries = reads.list_profile(workspace, user, PROFILE_ENTRIES).await?;
        Ok(Self {
            version: mark.profile,
            entries,
        })
    }

    /// The entries in words, one a line; the same entries are the same text.
    pub fn text(&self) -> String {
        let line = |(_, content): &(Memory, String)| format!("- {}\n", content.trim());
        self.entries.iter().map(line).collect()
    }
}

/// Which memories a list shows; empty filters show all.
#[derive(Debug, Clone, Default)]
pub struct MemoryFilter {
    /// Only these states.
    pub states: Vec<MemoryState>,
    /// Only these scopes.
    pub scopes: Vec<ScopeKind>,
}

/// A memory that this person may see, with the person's role; `NotFound` elsewhere.
pub async fn visible_memory<R>(reads: &R, id: MemoryId, user: UserId) -> Result<(Memory, Role)>
where
    R: MemoryReads + PeopleReads + ?Sized,
{
    let found = reads.list_memories_by_id(&[id]).await?.pop();
    let memory = found
        .filter(|memory| memory.is_visible_to(user))
        .ok_or_else(|| Error::not_found("memory", id))?;
    match role_in(reads, memory.workspace, user).await {
        Ok(role) => Ok((memory, role)),
        Err(Error::NotFound(_)) => Err(Error::not_found("memory", id)),
        Err(error) => Err(error),
    }
}

/// The same, where the person may change it.
pub(super) async fn own_memory(
    tx: &dyn Transaction,
    id: MemoryId,
    (workspace, user): (WorkspaceId, UserId),
) -> Result<Memory> {
    let (memory, role) = visible_memory(tx, id, user).await?;
    if memory.workspace != workspace {
        return Err(Error::not_found("memory", id));
    }
    if role >= Role::Editor || memory.scope == MemoryScope::Person(user) {
        return Ok(memory);
    }
    Err(Error::Forbidden(format!(
        "this needs the role editor; you are {}",
        role.name().to_lowercase()
    )))
}

/// Brings memories in from an archive: nothing that was forgotten here comes back with it.
#[derive(Debug, Clone)]
pub struct ImportMemories {
    /// The workspace that is being brought in.
    pub workspace: WorkspaceId,
    /// Memories, each with its versions and their evidence.
    pub memories: Vec<(Memory, Vec<MemoryVersion>, Vec<Evidence>)>,
    /// Receipts.
    pub tombstones: Vec<Tombstone>,
    /// Messages that may not be used.
    pub forgotten: Vec<ForgottenMessage>,
}

#[async_trait]
impl Command for ImportMemories {
    type Output = ();
    const NAME: &'static str = "import.memories";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        if !tx.list_members(&[self.workspace]).await?.is_empty() {
            let text = format!("workspace {} is here already", self.workspace);
            return Err(Error::Conflict(text));
        }
        tx.insert_tombstones(self.workspace, &self.tombstones)
            .await?;
        tx.forget_messages(self.workspace, &self.forgotten).await?;
        for (memory, versions, evidence) in &self.memories {
            let known = tx.list_memories_by_id(&[memory.id]).await?;
            if !known.is_empty() {
                continue;
            }
            let memory = Memory {
                workspace: self.workspace,
                ..memory.clone()
            };
            let key = memory.scope.key(self.workspace);
            let words: Vec<Uuid> = versions.iter().filter_map(|one| one.words).collect();
            if tx
                .find_tombstone(self.workspace, &[key], &words)
                .await?
                .is_some()
            {
                continue;
            }
            tx.put_memory(&memory).await?;
            for version in versions {
                tx.put_memory_version(self.workspace, version).await?;
            }
            tx.insert_evidence(self.workspace, evidence).await?;
        }
        Ok(())
    }
}
