//! Workspaces: their members, tasks, works and event log.
//!
//! Invariants
//! - Each list asks for the membership again: a workspace can still be in hand after its caller has left it.
//! - `eventCursor` is older than everything that is read beneath the workspace.

use async_graphql::{Context, ID, Object, Result};
use domain::people::CreatedPosition;

use super::card::Card;
use super::event::{WorkspaceEventConnection, log_of, page_of_events};
use super::job::{Capability, Guide};
use super::memory::{
    Chosen as ChosenMemories, MemoryConnection, MemoryRejectionConnection, MemoryScope,
    MemoryState, Profile, page_of_memories, page_of_rejections,
};
use super::message::{MessageConnection, page_of_main_thread};
use super::money::{Budget, LedgerConnection, page_of_ledger};
use super::people::{Member, Role};
use super::task::{TaskKind, TaskStatus};
use super::task_list::{Chosen, TaskConnection, page_of_tasks};
use super::work::{WorkConnection, WorkKind, page_of_works};
use crate::graphql::connection::{Asked, connection};
use crate::graphql::cursor::{Kind, List};
use crate::graphql::loaders::{WorkspaceRow, event_heads, with_heads};
use crate::graphql::scalars::{Cursor, DateTime, int};
use crate::graphql::scope::Scope;

/// A place where people and the agent work together; nothing crosses its border.
#[derive(Debug, Clone)]
pub(crate) struct Workspace(pub(crate) WorkspaceRow);

/// A place where people and the agent work together; nothing crosses its border.
#[Object]
impl Workspace {
    /// The id of the workspace.
    pub(crate) async fn id(&self) -> ID {
        self.0.workspace.id.into()
    }

    /// Its name.
    async fn name(&self) -> &str {
        &self.0.workspace.name
    }

    /// When it was made.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.workspace.created_at)
    }

    /// What the caller may do here.
    async fn viewer_role(&self, ctx: &Context<'_>) -> Result<Role> {
        Ok(Scope::of(ctx)?.role(self.0.workspace.id).await?.into())
    }

    /// All members, in the order they joined.
    async fn members(&self, ctx: &Context<'_>) -> Result<Vec<Member>> {
        let members = Scope::of(ctx)?.members(self.0.workspace.id).await?;
        Ok(members.iter().cloned().map(Member).collect())
    }

    /// What the caller wrote without naming a task, and the answers to it, oldest first. Each member has their own.
    async fn main_thread(
        &self,
        ctx: &Context<'_>,
        first: Option<i32>,
        after: Option<Cursor>,
        last: Option<i32>,
        before: Option<Cursor>,
    ) -> Result<MessageConnection> {
        let scope = Scope::of(ctx)?;
        scope.role(self.0.workspace.id).await?;
        let asked = Asked {
            first,
            after,
            last,
            before,
        };
        page_of_main_thread(scope, self.0.workspace.id, &asked).await
    }

    /// Tasks, newest first; `kinds` (PERSISTENT, where none are given) and `statuses` leave out all others.
    async fn tasks(
        &self,
        ctx: &Context<'_>,
        kinds: Option<Vec<TaskKind>>,
        statuses: Option<Vec<TaskStatus>>,
        first: Option<i32>,
        after: Option<Cursor>,
    ) -> Result<TaskConnection> {
        let scope = Scope::of(ctx)?;
        scope.role(self.0.workspace.id).await?;
        let chosen = Chosen::new(kinds, statuses);
        page_of_tasks(scope, self.0.workspace.id, chosen, first, after.as_ref()).await
    }

    /// Cards that wait for an answer, oldest first, at most 100.
    async fn open_cards(&self, ctx: &Context<'_>) -> Result<Vec<Card>> {
        let cards = Scope::of(ctx)?.open_cards(self.0.workspace.id).await?;
        Ok(cards.into_iter().map(Card::from).collect())
    }

    /// Works, newest first, without those in the bin; `kinds` leaves out all others.
    async fn works(
        &self,
        ctx: &Context<'_>,
        kinds: Option<Vec<WorkKind>>,
        first: Option<i32>,
        after: Option<Cursor>,
    ) -> Result<WorkConnection> {
        let scope = Scope::of(ctx)?;
        scope.role(self.0.workspace.id).await?;
        page_of_works(scope, self.0.workspace.id, kinds, first, after.as_ref()).await
    }

    /// What may be spent on orders, and was.
    async fn budget(&self, ctx: &Context<'_>) -> Result<Budget> {
        let scope = Scope::of(ctx)?;
        scope.role(self.0.workspace.id).await?;
        Ok(scope.budget(self.0.workspace.id).await?.into())
    }

    /// What was booked for orders, oldest first; it is only ever appended to.
    async fn ledger(
        &self,
        ctx: &Context<'_>,
        first: Option<i32>,
        after: Option<Cursor>,
    ) -> Result<LedgerConnection> {
        let scope = Scope::of(ctx)?;
        page_of_ledger(scope, self.0.workspace.id, (first, after.as_ref())).await
    }

    /// What can be made here, the preferred providers first.
    #[expect(
        clippy::unused_self,
        reason = "every workspace of an installation has the same"
    )]
    fn capabilities(&self, ctx: &Context<'_>) -> Result<Vec<Capability>> {
        let capabilities = Scope::of(ctx)?.services.media.capabilities();
        Ok(capabilities.into_iter().map(Capability).collect())
    }

    /// How things are done well, in every language there is.
    #[expect(
        clippy::unused_self,
        reason = "every workspace of an installation has the same"
    )]
    fn guides(&self, ctx: &Context<'_>) -> Result<Vec<Guide>> {
        let guides = Scope::of(ctx)?.services.media.guides();
        Ok(guides.into_iter().map(Guide).collect())
    }

    /// What is remembered here and the caller may see, newest first; `states` and `scopes` leave out all others.
    async fn memories(
        &self,
        ctx: &Context<'_>,
        states: Option<Vec<MemoryState>>,
        scopes: Option<Vec<MemoryScope>>,
        first: Option<i32>,
        after: Option<Cursor>,
    ) -> Result<MemoryConnection> {
        let scope = Scope::of(ctx)?;
        scope.role(self.0.workspace.id).await?;
        let chosen = ChosenMemories::new(states, scopes);
        let page = (first, after.as_ref());
        page_of_memories(scope, self.0.workspace.id, chosen, page).await
    }

    /// What is always known when something is done for the caller here.
    async fn profile(&self, ctx: &Context<'_>) -> Result<Profile> {
        let profile = Scope::of(ctx)?.profile(self.0.workspace.id).await?;
        Ok(Profile(profile))
    }

    /// Candidates that were not taken into memory, newest first, each with its reason: those of the caller's messages.
    async fn memory_rejections(
        &self,
        ctx: &Context<'_>,
        first: Option<i32>,
        after: Option<Cursor>,
    ) -> Result<MemoryRejectionConnection> {
        let scope = Scope::of(ctx)?;
        scope.role(self.0.workspace.id).await?;
        page_of_rejections(scope, self.0.workspace.id, (first, after.as_ref())).await
    }

    /// Cursor of the newest event: subscribe from here and miss nothing.
    fn event_cursor(&self, ctx: &Context<'_>) -> Result<Cursor> {
        let cursors = &Scope::of(ctx)?.services.cursors;
        Ok(cursors.seal(&log_of(self.0.workspace.id), &self.0.head))
    }

    /// The log that the subscriptions read, oldest first.
    async fn events(
        &self,
        ctx: &Context<'_>,
        first: Option<i32>,
        after: Option<Cursor>,
    ) -> Result<WorkspaceEventConnection> {
        let scope = Scope::of(ctx)?;
        scope.role(self.0.workspace.id).await?;
        page_of_events(scope, &self.0, first, after.as_ref()).await
    }
}

connection!(
    WorkspaceConnection,
    WorkspaceEdge,
    Workspace,
    [],
    "A page of workspaces.",
    "A workspace in a page.",
    {
        /// How many workspaces the whole list has.
        async fn total_count(&self, ctx: &Context<'_>) -> Result<i32> {
            let scope = Scope::of(ctx)?;
            let count = scope.reads().count_workspaces_of(scope.caller.user).await?;
            Ok(int(count))
        }
    }
);

/// The workspaces that the caller is a member of, newest first.
pub(crate) async fn list_own(
    scope: &Scope,
    first: Option<i32>,
    after: Option<&Cursor>,
) -> Result<WorkspaceConnection> {
    let list = List::of(Kind::Workspaces, scope.caller.user.uuid());
    let page = scope
        .services
        .cursors
        .page::<CreatedPosition>(&list, first, after)?;
    let found = scope
        .reads()
        .list_workspaces_of(scope.caller.user, page)
        .await?;
    let ids: Vec<_> = found.rows.iter().map(|row| row.id).collect();
    let heads = event_heads(&scope.services, &ids).await?;
    let edge = |row: WorkspaceRow| {
        let position = CreatedPosition {
            at: row.workspace.created_at,
            id: row.workspace.id.uuid(),
        };
        let cursor = scope.services.cursors.seal(&list, &position);
        WorkspaceEdge {
            node: Workspace(row),
            cursor,
        }
    };
    Ok(WorkspaceConnection {
        edges: with_heads(found.rows, &heads)
            .into_iter()
            .map(edge)
            .collect(),
        has_next: found.has_next,
        has_previous: page.after.is_some(),
    })
}
