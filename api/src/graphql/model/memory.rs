//! Memories: what is remembered, why, since when, and what was not taken into memory.
//!
//! Invariants
//! - Evidence that the caller may not see, such as another person's main thread, is left out; the memory itself may be shared.

use std::sync::Arc;

use async_graphql::{Context, Enum, ID, Object, Result};
use domain::ids::WorkspaceId;
use domain::memory::{self, MemoryFilter};
use domain::page::Page;
use domain::people::CreatedPosition;
use futures_util::future::try_join_all;

use super::message::Message;
use crate::graphql::choice::Choice;
use crate::graphql::connection::connection;
use crate::graphql::cursor::{Kind, List};
use crate::graphql::scalars::{Cursor, DateTime, int};
use crate::graphql::scope::Scope;

/// Where a memory, or one version of it, stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "memory::MemoryState")]
pub(crate) enum MemoryState {
    /// It holds.
    Active,
    /// Another one holds in its place.
    Superseded,
    /// Its words are gone.
    Forgotten,
}

/// How far a memory reaches: what is scoped to a person is seen by and used for that person only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "memory::ScopeKind")]
pub(crate) enum MemoryScope {
    /// One person.
    Person,
    /// The workspace.
    Workspace,
    /// One task.
    Task,
}

/// What is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "memory::MemoryKind")]
pub(crate) enum MemoryKind {
    /// Something that is so.
    Fact,
    /// Something that is wanted so.
    Preference,
    /// What happened in a stretch of work.
    Episode,
}

/// Whether it was said, or follows from what was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "memory::MemoryBasis")]
pub(crate) enum MemoryBasis {
    /// A person said it.
    Explicit,
    /// A model concluded it.
    Inferred,
}

/// What a message is to a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "memory::EvidenceRole")]
pub(crate) enum EvidenceRole {
    /// It made the first version.
    Origin,
    /// It made a later one.
    Refine,
    /// It supports it, and made nothing.
    Confirm,
}

/// Why a candidate was not taken into memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "memory::RejectionReason")]
pub(crate) enum MemoryRejectionReason {
    /// It is no candidate at all.
    Malformed,
    /// It names no message, or one that is not there.
    NoEvidence,
    /// The message it rests on was not written by a person.
    NotAPerson,
    /// The message does not say so.
    NotSaid,
    /// It is in another language than the message.
    WrongLanguage,
    /// It may not reach so far.
    WrongScope,
    /// It contradicts what holds, or names what does not.
    Conflict,
    /// It holds a secret.
    Secret,
    /// It was forgotten.
    Forgotten,
    /// It is known already from the same message.
    Duplicate,
}

/// Something that is remembered, as a chain of versions.
#[derive(Debug, Clone)]
pub(crate) struct Memory(pub(crate) Arc<memory::Memory>);

impl From<memory::Memory> for Memory {
    fn from(memory: memory::Memory) -> Self {
        Self(Arc::new(memory))
    }
}

/// Something that is remembered, as a chain of versions.
#[Object]
impl Memory {
    /// The id of the memory.
    pub(crate) async fn id(&self) -> ID {
        self.0.id.into()
    }

    /// What it is.
    async fn kind(&self) -> MemoryKind {
        self.0.kind.into()
    }

    /// How far it reaches.
    async fn scope(&self) -> MemoryScope {
        self.0.scope.kind().into()
    }

    /// Whether it was said.
    async fn basis(&self) -> MemoryBasis {
        self.0.basis.into()
    }

    /// Where it stands.
    async fn state(&self) -> MemoryState {
        self.0.state.into()
    }

    /// The version that holds; null while none does.
    async fn current(&self, ctx: &Context<'_>) -> Result<Option<MemoryVersion>> {
        let versions = Scope::of(ctx)?.memory_versions(self.0.id).await?;
        let current = versions
            .iter()
            .find(|version| Some(version.number) == self.0.current);
        Ok(current.cloned().map(MemoryVersion))
    }

    /// All versions, by number.
    async fn versions(&self, ctx: &Context<'_>) -> Result<Vec<MemoryVersion>> {
        let versions = Scope::of(ctx)?.memory_versions(self.0.id).await?;
        Ok(versions.iter().cloned().map(MemoryVersion).collect())
    }

    /// Whether the caller's profile holds it.
    async fn in_profile(&self, ctx: &Context<'_>) -> Result<bool> {
        if !self.0.is_in_profile() {
            return Ok(false);
        }
        let profile = Scope::of(ctx)?.profile(self.0.workspace).await?;
        let mut entries = profile.entries.iter();
        Ok(entries.any(|(memory, _)| memory.id == self.0.id))
    }

    /// When it was made.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    /// When it changed last.
    async fn updated_at(&self) -> DateTime {
        DateTime(self.0.updated_at)
    }
}

/// One version of a memory. A forgotten version keeps its place and links; its content is null.
#[derive(Debug, Clone)]
pub(crate) struct MemoryVersion(memory::MemoryVersion);

/// One version of a memory. A forgotten version keeps its place and links; its content is null.
#[Object]
impl MemoryVersion {
    /// Its number, from 1 on.
    async fn version(&self) -> i32 {
        int(self.0.number.into())
    }

    /// What it says; null once it was forgotten.
    async fn content(&self) -> Option<&str> {
        self.0.content.as_deref()
    }

    /// Where it stands.
    async fn state(&self) -> MemoryState {
        self.0.state.into()
    }

    /// Since when it is so.
    async fn valid_from(&self) -> Option<DateTime> {
        self.0.valid_from.map(DateTime)
    }

    /// Until when it was so; for a superseded version the `validFrom` of the next one.
    async fn valid_to(&self) -> Option<DateTime> {
        self.0.valid_to.map(DateTime)
    }

    /// The messages that it rests on.
    async fn evidence(&self, ctx: &Context<'_>) -> Result<Vec<Evidence>> {
        let scope = Scope::of(ctx)?;
        let edges = scope.evidence(self.0.memory).await?;
        let own = edges.iter().filter(|edge| edge.number == self.0.number);
        let with_message = own.map(|edge| async move {
            let message = scope.find_message(edge.message).await?;
            Ok::<_, async_graphql::Error>(message.map(|message| Evidence {
                edge: edge.clone(),
                message: Message(message),
            }))
        });
        let found = try_join_all(with_message).await?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Versions that it was made of besides its evidence.
    async fn derived_from(&self, ctx: &Context<'_>) -> Result<Vec<MemoryVersion>> {
        let scope = Scope::of(ctx)?;
        let mut found = Vec::new();
        for (id, number) in &self.0.derived_from {
            if scope.find_memory(*id).await?.is_none() {
                continue;
            }
            let versions = scope.memory_versions(*id).await?;
            let version = versions.iter().find(|version| version.number == *number);
            found.extend(version.cloned().map(MemoryVersion));
        }
        Ok(found)
    }

    /// When it was made.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }
}

/// A message that a version rests on.
pub(crate) struct Evidence {
    edge: memory::Evidence,
    message: Message,
}

/// A message that a version rests on.
#[Object]
impl Evidence {
    /// The message.
    async fn message(&self) -> &Message {
        &self.message
    }

    /// What it is to the version.
    async fn role(&self) -> EvidenceRole {
        self.edge.role.into()
    }

    /// Whether it may be used: it was neither forgotten nor taken back.
    async fn usable(&self) -> bool {
        self.edge.is_usable
    }

    /// The words in the message, where some were named; null once they were forgotten.
    async fn quote(&self) -> Option<&str> {
        self.edge.quote.as_deref()
    }
}

/// What is always known when something is done for the caller here.
pub(crate) struct Profile(pub(crate) Arc<memory::Profile>);

/// What is always known when something is done for the caller here.
#[Object]
impl Profile {
    /// Rises with every change.
    async fn version(&self) -> i32 {
        int(self.0.version)
    }

    /// The entries in words, as they stand in every request of the agent.
    async fn text(&self) -> String {
        self.0.text()
    }

    /// The memories that it is made of, oldest first.
    async fn entries(&self) -> Vec<Memory> {
        let memories = self.0.entries.iter();
        memories
            .map(|(memory, _)| Memory::from(memory.clone()))
            .collect()
    }
}

/// A candidate that was not taken into memory.
pub(crate) struct MemoryRejection(memory::MemoryRejection);

/// A candidate that was not taken into memory.
#[Object]
impl MemoryRejection {
    /// What it said; empty where that must not be kept.
    async fn content(&self) -> &str {
        &self.0.content
    }

    /// Why it was not taken.
    async fn reason(&self) -> MemoryRejectionReason {
        self.0.reason.into()
    }

    /// Why, in words.
    async fn detail(&self) -> &str {
        &self.0.detail
    }

    /// The messages that it named and that are there.
    async fn messages(&self, ctx: &Context<'_>) -> Result<Vec<Message>> {
        let scope = Scope::of(ctx)?;
        let messages = self.0.messages.iter().map(|id| scope.find_message(*id));
        let found = try_join_all(messages).await?;
        Ok(found.into_iter().flatten().map(Message).collect())
    }

    /// When.
    async fn at(&self) -> DateTime {
        DateTime(self.0.at)
    }
}

/// The list that a page of memories is cut from.
struct Counted {
    workspace: WorkspaceId,
    chosen: Chosen,
}

/// Which memories a list shows.
#[derive(Debug, Clone)]
pub(super) struct Chosen {
    states: Choice<memory::MemoryState>,
    scopes: Choice<memory::ScopeKind>,
}

impl Chosen {
    /// What a client's arguments let through.
    pub(super) fn new(states: Option<Vec<MemoryState>>, scopes: Option<Vec<MemoryScope>>) -> Self {
        Self {
            states: Choice::new(states),
            scopes: Choice::new(scopes),
        }
    }

    fn is_nothing(&self) -> bool {
        self.states.is_nothing() || self.scopes.is_nothing()
    }

    fn filter(&self) -> MemoryFilter {
        MemoryFilter {
            states: self.states.values().to_vec(),
            scopes: self.scopes.values().to_vec(),
        }
    }

    fn text(&self) -> String {
        let states = self.states.text("states", memory::MemoryState::name);
        let scopes = self.scopes.text("scopes", memory::ScopeKind::name);
        format!("{states} {scopes}")
    }
}

connection!(
    MemoryConnection,
    MemoryEdge,
    Memory,
    [counted: Counted],
    "A page of memories.",
    "A memory in a page.",
    {
        /// How many memories the whole list has.
        async fn total_count(&self, ctx: &Context<'_>) -> Result<i32> {
            let Counted { workspace, chosen } = &self.counted;
            if chosen.is_nothing() {
                return Ok(0);
            }
            let scope = Scope::of(ctx)?;
            let (reader, filter) = (scope.caller.user, chosen.filter());
            let count = scope.reads().count_memories(*workspace, reader, &filter);
            Ok(int(count.await?))
        }
    }
);

connection!(
    MemoryRejectionConnection,
    MemoryRejectionEdge,
    MemoryRejection,
    [],
    "A page of candidates that were not taken into memory.",
    "Such a candidate in a page.",
    {}
);

/// The memories of a workspace that the caller is a member of and may see, newest first.
pub(super) async fn page_of_memories(
    scope: &Scope,
    workspace: WorkspaceId,
    chosen: Chosen,
    (first, after): (Option<i32>, Option<&Cursor>),
) -> Result<MemoryConnection> {
    let reader = scope.caller.user;
    let filter = format!("{reader} {}", chosen.text());
    let list = List::of(Kind::Memories, workspace.uuid()).filtered(&filter);
    let cursors = &scope.services.cursors;
    let page = cursors.page::<CreatedPosition>(&list, first, after)?;
    let has_previous = page.after.is_some();
    let found = if chosen.is_nothing() {
        Page::empty()
    } else {
        let reads = scope.reads();
        let filter = chosen.filter();
        reads
            .list_memories(workspace, reader, &filter, page)
            .await?
    };
    let edge = |row: memory::Memory| MemoryEdge {
        cursor: cursors.seal(&list, &row.position()),
        node: row.into(),
    };
    Ok(MemoryConnection {
        edges: found.rows.into_iter().map(edge).collect(),
        has_next: found.has_next,
        has_previous,
        counted: Counted { workspace, chosen },
    })
}

/// What was not taken into memory of the caller's messages, newest first.
pub(super) async fn page_of_rejections(
    scope: &Scope,
    workspace: WorkspaceId,
    (first, after): (Option<i32>, Option<&Cursor>),
) -> Result<MemoryRejectionConnection> {
    let user = scope.caller.user;
    let list = List::of(Kind::Rejections, workspace.uuid()).filtered(&user.to_string());
    let cursors = &scope.services.cursors;
    let page = cursors.page::<CreatedPosition>(&list, first, after)?;
    let has_previous = page.after.is_some();
    let found = scope.reads().list_rejections(workspace, user, page).await?;
    let edge = |row: memory::MemoryRejection| {
        let position = CreatedPosition {
            at: row.at,
            id: row.id,
        };
        MemoryRejectionEdge {
            cursor: cursors.seal(&list, &position),
            node: MemoryRejection(row),
        }
    };
    Ok(MemoryRejectionConnection {
        edges: found.rows.into_iter().map(edge).collect(),
        has_next: found.has_next,
        has_previous,
    })
}
