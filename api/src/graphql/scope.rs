//! One execution: who asks, and what was loaded for it.
//!
//! Invariants
//! - A scope lives as long as one request, or one event of a subscription, and belongs to one caller.
//! - What its loaders give out, the caller may see: works and workspaces of others look as if they were not there.
//! - A command makes everything that was loaded stale, so [`Scope::run`] and [`Scope::renew`] throw it away.
//!
//! Not here: the rules of who may change what (commands check those themselves), what belongs to tasks (`tasks`).

mod memories;
mod tasks;

use std::sync::{Arc, Mutex, PoisonError};

use async_graphql::{Context, Data, Result};
use domain::Error;
use domain::document::{Content, Editor, NodeState, Version};
use domain::idempotency::IdempotencyKey;
use domain::ids::{TokenId, UserId, WorkId, WorkspaceId};
use domain::people::{ApiToken, Caller, Member, Role, User};
use domain::store::{Command, Reads, StoreExt as _};
use domain::time::Timestamp;
use domain::work::{Revision, Work};
use futures_util::future::{try_join, try_join_all};

use super::loader::PerExecution;
use super::loaders::{Loaders, WorkspaceRow};
use super::services::Services;

/// Who asks, and what was loaded.
pub(crate) struct Scope {
    /// Who asks.
    pub(crate) caller: Caller,
    /// The services of the server.
    pub(crate) services: Arc<Services>,
    loaders: Mutex<Arc<Loaders>>,
}

/// Gives each execution a scope of its own.
pub(crate) fn per_execution(
    services: Arc<Services>,
) -> PerExecution<impl Fn(Caller) -> Data + Send + Sync + 'static> {
    PerExecution::new(move |caller| {
        let mut data = Data::default();
        data.insert(Scope::new(services.clone(), caller));
        data
    })
}

impl Scope {
    fn new(services: Arc<Services>, caller: Caller) -> Self {
        let loaders = Mutex::new(Arc::new(Loaders::new(&services, caller)));
        Self {
            caller,
            services,
            loaders,
        }
    }

    /// The scope of this execution; without a caller there is none, and nothing is answered.
    pub(crate) fn of<'a>(context: &Context<'a>) -> Result<&'a Self> {
        context
            .data_opt::<Self>()
            .ok_or_else(|| Error::Unauthenticated("a token is needed".to_owned()).into())
    }

    /// The present time, for a command.
    pub(crate) fn now(&self) -> Timestamp {
        self.services.clock.now()
    }

    /// What is committed.
    pub(crate) fn reads(&self) -> &dyn Reads {
        self.services.store.reads()
    }

    /// Runs a command; what is read after it sees what it did.
    pub(crate) async fn run<C: Command>(&self, command: C) -> Result<C::Output> {
        let output = self.services.store.run(command).await;
        self.renew();
        Ok(output?)
    }

    /// Forgets what was loaded, because something was changed.
    pub(crate) fn renew(&self) {
        let fresh = Arc::new(Loaders::new(&self.services, self.caller));
        *self.loaders.lock().unwrap_or_else(PoisonError::into_inner) = fresh;
    }

    fn loaders(&self) -> Arc<Loaders> {
        self.loaders
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The caller as the editor of a document.
    pub(crate) fn editor(&self, idempotency: Option<IdempotencyKey>) -> Editor {
        Editor {
            actor: self.caller.actor(),
            idempotency,
            fence: None,
        }
    }

    /// The caller's role; `NotFound` for those who are no member.
    pub(crate) async fn role(&self, id: WorkspaceId) -> Result<Role> {
        let role = self.loaders().roles.load(id).await?;
        Ok(role.ok_or_else(|| Error::not_found("workspace", id))?)
    }

    /// A workspace that the caller is a member of.
    pub(crate) async fn find_workspace(&self, id: WorkspaceId) -> Result<Option<WorkspaceRow>> {
        if self.loaders().roles.load(id).await?.is_none() {
            return Ok(None);
        }
        Ok(self.loaders().workspaces.load(id).await?)
    }

    /// The same, where it must be there.
    pub(crate) async fn workspace(&self, id: WorkspaceId) -> Result<WorkspaceRow> {
        let found = self.find_workspace(id).await?;
        Ok(found.ok_or_else(|| Error::not_found("workspace", id))?)
    }

    /// The members of a workspace that the caller is a member of.
    pub(crate) async fn members(&self, id: WorkspaceId) -> Result<Arc<Vec<Member>>> {
        self.role(id).await?;
        Ok(self.loaders().members.load(id).await?.unwrap_or_default())
    }

    /// A person who did something that the caller sees, or is a member beside the caller.
    pub(crate) async fn user(&self, id: UserId) -> Result<User> {
        let found = self.loaders().users.load(id).await?;
        Ok(found.ok_or_else(|| Error::internal(format!("{id} is named and not stored")))?)
    }

    /// What the owner of a token calls the program that shows it; once the token was revoked, nobody knows any more.
    pub(crate) async fn program(&self, id: TokenId) -> Result<String> {
        let found = self.loaders().programs.load(id).await?;
        Ok(found.map_or_else(|| "program".to_owned(), |token| token.label))
    }

    /// What people call a program that acts for a person.
    pub(crate) async fn label_of_program(&self, user: UserId, token: TokenId) -> Result<String> {
        let (user, program) = try_join(self.user(user), self.program(token)).await?;
        Ok(format!("{} ({program})", user.name))
    }

    /// Shows a program where it edits, as an editor would be seen; people are seen through their editors.
    pub(crate) async fn show_program(&self, work: WorkId, node: Option<String>) -> Result<()> {
        let (user, token) = (self.caller.user, self.caller.token);
        if !self.caller.acts_as_program || self.find_work(work).await?.is_none() {
            return Ok(());
        }
        let label = self.label_of_program(user, token).await?;
        let documents = &self.services.documents;
        let shown = documents.show_presence(work, self.caller.actor(), &label, node);
        if let Err(error) = shown.await {
            // Being seen is a courtesy; the edit says itself what is wrong.
            tracing::debug!(work.id = %work, %error, "the program is not shown");
        }
        Ok(())
    }

    /// A person whom the caller knows: the caller, or somebody in a workspace of the caller.
    pub(crate) async fn find_acquainted(&self, id: UserId) -> Result<Option<User>> {
        if id != self.caller.user && self.loaders().acquainted.load(id).await?.is_none() {
            return Ok(None);
        }
        Ok(self.loaders().users.load(id).await?)
    }

    /// The caller's own tokens, oldest first.
    pub(crate) async fn tokens(&self) -> Result<Arc<Vec<ApiToken>>> {
        let own = self.loaders().tokens.load(self.caller.user).await?;
        Ok(own.unwrap_or_default())
    }

    /// A work that the caller may see, those in the bin included.
    pub(crate) async fn find_work(&self, id: WorkId) -> Result<Option<Arc<Work>>> {
        Ok(self.loaders().works.load(id).await?)
    }

    /// The same, where it must be there.
    pub(crate) async fn work(&self, id: WorkId) -> Result<Arc<Work>> {
        let found = self.find_work(id).await?;
        Ok(found.ok_or_else(|| Error::not_found("work", id))?)
    }

    /// Those of these works that the caller may see, in their order.
    pub(crate) async fn works(&self, ids: &[WorkId]) -> Result<Vec<Arc<Work>>> {
        let found = try_join_all(ids.iter().map(|id| self.find_work(*id))).await?;
        Ok(found.into_iter().flatten().collect())
    }

    /// What a visible work holds, at a version that it has reached.
    pub(crate) async fn content(&self, work: &Work, at: Option<Version>) -> Result<Arc<Content>> {
        check_reached(work, at)?;
        let found = self.loaders().contents.load((work.id, at)).await?;
        Ok(found.ok_or_else(|| Error::internal(format!("{} has no content", work.id)))?)
    }

    /// The nodes of a visible work with their last change, at a version that it has reached.
    pub(crate) async fn nodes(
        &self,
        work: &Work,
        at: Option<Version>,
    ) -> Result<Arc<Vec<NodeState>>> {
        check_reached(work, at)?;
        let found = self.loaders().nodes.load((work.id, at)).await?;
        Ok(found.ok_or_else(|| Error::internal(format!("{} has no nodes", work.id)))?)
    }

    /// The newest revisions of a visible work, at most `limit`, newest first.
    pub(crate) async fn newest_revisions(
        &self,
        work: WorkId,
        limit: u32,
    ) -> Result<Arc<Vec<Revision>>> {
        let found = self.loaders().revisions.load((work, limit)).await?;
        Ok(found.unwrap_or_default())
    }
}

/// One version too high would fail the whole batch, so each is checked before it joins one.
fn check_reached(work: &Work, at: Option<Version>) -> Result<()> {
    match at {
        Some(at) if at > work.version => Err(Error::Invalid(format!(
            "work {} is at version {}, and has no version {at} yet",
            work.id, work.version
        ))
        .into()),
        _ => Ok(()),
    }
}
