//! Bringing a workspace with its history in from an archive: commands that each store a part of it.
//!
//! Invariants
//! - Nobody sees the workspace before the last command, [`FinishImport`], gives it members.
//! - Each command leaves out what is stored already, so that an import that broke off can be run again.
//! - Versions and sequences come out as they were, because changes and events are appended in their order.
//! - What comes from an archive is as untrusted as what comes from a socket: see [`check_change`].
//!
//! Not here: the form of archives (`api`).

mod tasks;

use async_trait::async_trait;
use yrs::StateVector;

use crate::document::{UpdateLimits, Version, validate_update};
use crate::error::{Error, Result};
use crate::event::{NewEvent, Sequence};
use crate::ids::{WorkId, WorkspaceId};
use crate::people::{ApiToken, Member, Role, User, Workspace};
use crate::store::{Command, Scope, Transaction};
use crate::work::{AssetFile, PendingChange, QuarantinedUpdate, Work, WorkKind};

pub use tasks::{ImportMessages, ImportTask, StoredTask, TaskPart};

/// Refuses bytes of an archive that are no change of a document of this kind.
pub fn check_change(kind: WorkKind, update: &[u8]) -> Result<()> {
    let limits = UpdateLimits {
        // A new work's content is one change, and may be larger than a frame.
        bytes: 64 << 20,
        ..UpdateLimits::default()
    };
    // Whether it builds on what is there is found out when the document is opened.
    validate_update(update, kind, &StateVector::default(), &limits)
        .map(|_| ())
        .map_err(|rejection| Error::Invalid(rejection.reason))
}

/// Makes the workspace, without members, and the people who are new here.
#[derive(Debug, Clone)]
pub struct StartImport {
    /// The workspace; refused where it is there and has members.
    pub workspace: Workspace,
    /// People of the archive who have no counterpart here.
    pub users: Vec<User>,
}

#[async_trait]
impl Command for StartImport {
    type Output = ();
    const NAME: &'static str = "import.start";

    fn scope(&self) -> Scope {
        Scope::Installation
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        let id = self.workspace.id;
        if !tx.list_members(&[id]).await?.is_empty() {
            return Err(Error::Conflict(format!("workspace {id} is here already")));
        }
        if tx.list_workspaces(&[id]).await?.is_empty() {
            tx.insert_workspace(&self.workspace).await?;
        }
        let ids: Vec<_> = self.users.iter().map(|user| user.id).collect();
        let known = tx.list_users(&ids).await?;
        for user in &self.users {
            if known.iter().all(|known| known.id != user.id) {
                tx.insert_user(user).await?;
            }
        }
        Ok(())
    }
}

/// Makes a work at version 0.
#[derive(Debug, Clone)]
pub struct ImportWork {
    /// The work.
    pub work: Work,
}

#[async_trait]
impl Command for ImportWork {
    /// The version that it has reached here: above 0 where an earlier import broke off.
    type Output = Version;
    const NAME: &'static str = "import.work";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.work.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<Version> {
        check_unfinished(tx, self.work.workspace).await?;
        match tx.list_works_by_id(&[self.work.id]).await?.pop() {
            Some(work) if work.workspace != self.work.workspace => Err(Error::Conflict(format!(
                "work {} is in another workspace here",
                work.id
            ))),
            Some(work) => Ok(work.version),
            None => {
                let mut work = self.work.clone();
                work.version = Version(0);
                tx.insert_work(&work).await?;
                Ok(work.version)
            }
        }
    }
}

/// Appends changes to a work.
#[derive(Debug, Clone)]
pub struct ImportChanges {
    /// The work's workspace.
    pub workspace: WorkspaceId,
    /// The work.
    pub work: WorkId,
    /// The version before the first of the changes, which the work must have reached.
    pub after: Version,
    /// Changes that passed [`check_change`].
    pub changes: Vec<PendingChange>,
}

#[async_trait]
impl Command for ImportChanges {
    type Output = ();
    const NAME: &'static str = "import.changes";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        check_unfinished(tx, self.workspace).await?;
        let found = tx.list_works_by_id(&[self.work]).await?.pop();
        let work = found.ok_or_else(|| Error::not_found("work", self.work))?;
        if work.version != self.after {
            let text = format!("work {} lacks the change after {}", work.id, work.version);
            return Err(Error::Invalid(text));
        }
        tx.append_changes(self.work, self.workspace, &self.changes)
            .await?;
        Ok(())
    }
}

/// Gives a work, whose changes are all there, the rest of what the archive says about it.
#[derive(Debug, Clone)]
pub struct SettleWork {
    /// The work as it was.
    pub work: Work,
}

#[async_trait]
impl Command for SettleWork {
    type Output = ();
    const NAME: &'static str = "import.settle_work";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.work.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        check_unfinished(tx, self.work.workspace).await?;
        tx.update_work(&self.work).await
    }
}

/// Appends events to the log of the workspace.
#[derive(Debug, Clone)]
pub struct ImportEvents {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// The sequence before the first of the events.
    pub after: Sequence,
    /// The events, in order.
    pub events: Vec<NewEvent>,
}

#[async_trait]
impl Command for ImportEvents {
    type Output = ();
    const NAME: &'static str = "import.events";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        check_unfinished(tx, self.workspace).await?;
        let head = tx.event_head(self.workspace).await?;
        let known = head.0.saturating_sub(self.after.0) as usize;
        if head < self.after {
            let text = format!("the archive lacks the event after {}", head.0);
            return Err(Error::Invalid(text));
        }
        let events: Vec<NewEvent> = self.events.iter().skip(known).cloned().collect();
        if events.is_empty() {
            return Ok(());
        }
        tx.emit(self.workspace, events).await
    }
}

/// Makes files, whose blobs are stored, the workspace's own.
#[derive(Debug, Clone)]
pub struct ImportFiles {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// The files.
    pub files: Vec<AssetFile>,
}

#[async_trait]
impl Command for ImportFiles {
    type Output = ();
    const NAME: &'static str = "import.files";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        check_unfinished(tx, self.workspace).await?;
        for file in &self.files {
            tx.insert_file(self.workspace, file).await?;
        }
        Ok(())
    }
}

/// Gives the workspace its members: from then on it is there.
#[derive(Debug, Clone)]
pub struct FinishImport {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// Its members; one of them is an owner.
    pub members: Vec<Member>,
    /// Updates that were refused once.
    pub quarantined: Vec<QuarantinedUpdate>,
    /// A token for an owner who has none.
    pub token: Option<ApiToken>,
}

#[async_trait]
impl Command for FinishImport {
    type Output = ();
    const NAME: &'static str = "import.finish";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        check_unfinished(tx, self.workspace).await?;
        if !self.members.iter().any(|member| member.role == Role::Owner) {
            return Err(Error::Invalid("the workspace needs an owner".to_owned()));
        }
        for update in &self.quarantined {
            tx.insert_quarantined(update).await?;
        }
        for member in &self.members {
            tx.upsert_member(member).await?;
        }
        if let Some(token) = &self.token {
            tx.insert_token(token).await?;
        }
        tx.announce_access_change().await
    }
}

async fn check_unfinished(tx: &dyn Transaction, workspace: WorkspaceId) -> Result<()> {
    if tx.list_members(&[workspace]).await?.is_empty() {
        return Ok(());
    }
    Err(Error::Conflict(format!(
        "workspace {workspace} is here already"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_change_are_refused() {
        assert!(check_change(WorkKind::Text, b"\xff\xff\xff").is_err());
        assert!(check_change(WorkKind::Text, b"\x00\x00").is_ok());
    }
}
