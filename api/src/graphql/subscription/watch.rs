//! What every subscription holds on to: who follows which workspace, and when to look again.
//!
//! Invariants
//! - A wake-up is taken note of before the store is read, so what comes while it is read wakes again.
//! - Rights are looked up after each announcement that they changed, and at least every [`POLL`].

use std::sync::Arc;
use std::time::Duration;

use domain::Result;
use domain::event::Sequence;
use domain::ids::{TaskId, WorkId, WorkspaceId};
use domain::people::{Caller, role_in};
use domain::store::Reads;
use domain::task::visible_task;
use domain::work::{Work, visible_work};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::graphql::services::Services;

/// How long a lost wake-up can delay anything.
const POLL: Duration = Duration::from_secs(5);

/// A caller who follows a workspace.
pub(super) struct Watch {
    pub(super) services: Arc<Services>,
    pub(super) workspace: WorkspaceId,
    caller: Caller,
    log: watch::Receiver<Sequence>,
    rights: watch::Receiver<u64>,
    checked_at: Instant,
}

impl Watch {
    /// Follows a workspace that the caller is a member of.
    pub(super) async fn workspace(
        services: Arc<Services>,
        caller: Caller,
        workspace: WorkspaceId,
    ) -> Result<Self> {
        let mut watch = Self {
            log: services.store.follow(workspace),
            rights: services.store.follow_access(),
            services,
            workspace,
            caller,
            checked_at: Instant::now(),
        };
        watch.check().await?;
        Ok(watch)
    }

    /// Follows the workspace of a task that the caller may see.
    pub(super) async fn task(
        services: Arc<Services>,
        caller: Caller,
        task: TaskId,
    ) -> Result<Self> {
        let (task, _) = visible_task(services.store.reads(), task, caller.user).await?;
        Self::workspace(services, caller, task.workspace).await
    }

    /// Follows the workspace of a work that the caller may see.
    pub(super) async fn work(
        services: Arc<Services>,
        caller: Caller,
        work: WorkId,
    ) -> Result<(Self, Work)> {
        let (work, _) = visible_work(services.store.reads(), work, caller.user).await?;
        let watch = Self::workspace(services, caller, work.workspace).await?;
        Ok((watch, work))
    }

    /// What is committed.
    pub(super) fn reads(&self) -> &dyn Reads {
        self.services.store.reads()
    }

    /// Takes note of all wake-ups so far: what is read after this is at least as new as they.
    pub(super) fn note(&mut self) {
        self.log.mark_unchanged();
    }

    /// Refuses a caller who is no member any more; looks only when that may have changed.
    pub(super) async fn permit(&mut self) -> Result<()> {
        let is_old = self.checked_at.elapsed() >= POLL;
        if is_old || self.rights.has_changed().unwrap_or(true) {
            self.check().await?;
        }
        Ok(())
    }

    async fn check(&mut self) -> Result<()> {
        self.rights.mark_unchanged();
        self.checked_at = Instant::now();
        role_in(self.reads(), self.workspace, self.caller.user).await?;
        Ok(())
    }

    /// Waits until there may be something new, or rights may have changed.
    pub(super) async fn wait(&mut self) {
        let poll = Instant::now() + POLL;
        tokio::select! {
            () = changed(&mut self.log) => {}
            () = rights(&mut self.rights) => {}
            () = sleep_until(poll) => {}
        }
    }

    /// Waits until this value changes, or rights may have.
    pub(super) async fn wait_for<T>(&mut self, value: &mut watch::Receiver<T>) {
        let poll = Instant::now() + POLL;
        tokio::select! {
            () = changed(value) => {}
            () = rights(&mut self.rights) => {}
            () = sleep_until(poll) => {}
        }
    }
}

/// Returns at a change; never where the sender is gone, and then the poll alone is left.
async fn changed<T>(receiver: &mut watch::Receiver<T>) {
    if receiver.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Returns once rights have changed, and leaves the change to be seen by [`Watch::permit`].
async fn rights(receiver: &mut watch::Receiver<u64>) {
    changed(receiver).await;
    receiver.mark_changed();
}
