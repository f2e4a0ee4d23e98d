//! The commands that change works: one struct each.
//!
//! Not here: writing documents (`append`).

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::card::withdraw_about_work;
use crate::document::Version;
use crate::error::{Error, Result};
use crate::event::{EventKind, NewEvent, Subject};
use crate::idempotency::IdempotencyKey;
use crate::ids::{UserId, WorkId, WorkspaceId};
use crate::people::{Caller, Role, require, role_in};
use crate::store::{Command, Scope, Transaction};
use crate::task::LinkedWork;
use crate::time::Timestamp;
use crate::turn::{Fence, check_fence};
use crate::work::append::{PendingChange, change_event};
use crate::work::{Upload, Work, WorkReads};

pub(crate) use crate::people::check_text;

/// A work that the user may see, with the user's role; `NotFound` otherwise. Works in the bin are found.
pub async fn visible_work<R>(
    reads: &R,
    id: WorkId,
    user: crate::ids::UserId,
) -> Result<(Work, Role)>
where
    R: WorkReads + crate::people::PeopleReads + ?Sized,
{
    let work = reads
        .list_works_by_id(&[id])
        .await?
        .pop()
        .ok_or_else(|| Error::not_found("work", id))?;
    match role_in(reads, work.workspace, user).await {
        Ok(role) => Ok((work, role)),
        Err(Error::NotFound(_)) => Err(Error::not_found("work", id)),
        Err(error) => Err(error),
    }
}

/// Makes a work, with its first change where it is not empty.
#[derive(Debug, Clone)]
pub struct CreateWork {
    /// On whose authority it is made.
    pub user: UserId,
    /// Where the agent makes it: the fence of its turn. The task then refers to the work.
    pub fence: Option<Fence>,
    /// What is made, at version 0.
    pub work: Work,
    /// Its content, as the change that makes version 1.
    pub content: Option<PendingChange>,
    /// The key of the request.
    pub idempotency: Option<IdempotencyKey>,
}

#[async_trait]
impl Command for CreateWork {
    /// The work, or the one that the same key made before.
    type Output = WorkId;
    const NAME: &'static str = "work.create";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.work.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<WorkId> {
        require(tx, self.work.workspace, self.user, Role::Editor).await?;
        check_text("a work's title", &self.work.title, 500)?;
        if let Some(fence) = self.fence {
            check_fence(tx, fence).await?;
        }
        if let Some(key) = &self.idempotency {
            if let Some(first) = crate::idempotency::first_result(tx, key).await? {
                return serde_json::from_value(first)
                    .map_err(|error| Error::Internal(error.into()));
            }
            tx.remember_idempotency(key, &json!(self.work.id)).await?;
        }
        tx.insert_work(&self.work).await?;
        let mut events = vec![work_event(
            EventKind::WorkCreated,
            &self.work,
            json!({"kind": self.work.kind, "title": self.work.title}),
        )];
        if let Some(change) = &self.content {
            tx.append_changes(
                self.work.id,
                self.work.workspace,
                std::slice::from_ref(change),
            )
            .await?;
            events.push(change_event(self.work.id, Version(1), change));
        }
        if let Some(fence) = self.fence {
            let version = Version(u64::from(self.content.is_some()));
            self.link(tx, fence, version).await?;
        }
        tx.emit(self.work.workspace, events).await?;
        Ok(self.work.id)
    }
}

impl CreateWork {
    /// The task that made a work refers to it, and has seen what it wrote.
    async fn link(&self, tx: &dyn Transaction, fence: Fence, version: Version) -> Result<()> {
        tx.put_linked_work(&LinkedWork {
            workspace: fence.workspace,
            task: fence.task,
            work: self.work.id,
            seen_version: version,
            last_read_at: None,
            last_written_at: Some(self.work.created_at),
        })
        .await
    }
}

/// Gives a work another title.
#[derive(Debug, Clone)]
pub struct RenameWork {
    /// Who asks.
    pub caller: Caller,
    /// The work's workspace.
    pub workspace: WorkspaceId,
    /// The work.
    pub work: WorkId,
    /// Its new title.
    pub title: String,
    /// The present time.
    pub at: Timestamp,
}

#[async_trait]
impl Command for RenameWork {
    type Output = Work;
    const NAME: &'static str = "work.rename";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<Work> {
        check_text("a work's title", &self.title, 500)?;
        let mut work = editable_work(tx, &self.caller, self.work).await?;
        work.title.clone_from(&self.title);
        store_work(tx, work, &self.caller, self.at, None).await
    }
}

/// Moves a work to the bin; one that lies there stays.
#[derive(Debug, Clone)]
pub struct DeleteWork {
    /// Who asks.
    pub caller: Caller,
    /// The work's workspace.
    pub workspace: WorkspaceId,
    /// The work.
    pub work: WorkId,
    /// The present time.
    pub at: Timestamp,
}

#[async_trait]
impl Command for DeleteWork {
    type Output = Work;
    const NAME: &'static str = "work.delete";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<Work> {
        if self.caller.acts_as_program {
            return Err(Error::Forbidden(
                "a program moves no work to the bin; it asks with `proposeDeleteWork`, and a person answers the card"
                    .to_owned(),
            ));
        }
        let work = delete_by_person(tx, &self.caller, self.work, self.at).await?;
        withdraw_about_work(tx, &work, (self.caller.actor(), self.at)).await?;
        Ok(work)
    }
}

/// Moves a work to the bin at a person's word.
pub(crate) async fn delete_by_person(
    tx: &dyn Transaction,
    caller: &Caller,
    work: WorkId,
    at: Timestamp,
) -> Result<Work> {
    let (mut work, role) = visible_work(tx, work, caller.user).await?;
    require_editor(role)?;
    if work.deleted_at.is_some() {
        return Ok(work);
    }
    work.deleted_at = Some(at);
    tx.announce_access_change().await?;
    store_work(tx, work, caller, at, Some(EventKind::WorkDeleted)).await
}

/// Brings a work back from the bin; one that is not there stays.
#[derive(Debug, Clone)]
pub struct RestoreWork {
    /// Who asks.
    pub caller: Caller,
    /// The work's workspace.
    pub workspace: WorkspaceId,
    /// The work.
    pub work: WorkId,
    /// The present time.
    pub at: Timestamp,
}

#[async_trait]
impl Command for RestoreWork {
    type Output = Work;
    const NAME: &'static str = "work.restore";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<Work> {
        let (mut work, role) = visible_work(tx, self.work, self.caller.user).await?;
        require_editor(role)?;
        if work.deleted_at.take().is_none() {
            return Ok(work);
        }
        store_work(
            tx,
            work,
            &self.caller,
            self.at,
            Some(EventKind::WorkRestored),
        )
        .await
    }
}

/// Registers an upload: of a new asset, or of a new version of one.
#[derive(Debug, Clone)]
pub struct CreateUpload {
    /// Who asks.
    pub caller: Caller,
    /// What is promised.
    pub upload: Upload,
    /// The asset that is made for it; none where `upload.work` is there already.
    pub new_work: Option<Work>,
}

#[async_trait]
impl Command for CreateUpload {
    type Output = Work;
    const NAME: &'static str = "upload.create";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.upload.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<Work> {
        require(tx, self.upload.workspace, self.caller.user, Role::Editor).await?;
        let work = match &self.new_work {
            Some(work) => {
                check_text("a work's title", &work.title, 500)?;
                tx.insert_work(work).await?;
                tx.emit(
                    work.workspace,
                    vec![work_event(
                        EventKind::WorkCreated,
                        work,
                        json!({"kind": work.kind, "title": work.title}),
                    )],
                )
                .await?;
                work.clone()
            }
            None => self.present_asset(tx).await?,
        };
        tx.insert_upload(&self.upload).await?;
        Ok(work)
    }
}

impl CreateUpload {
    async fn present_asset(&self, tx: &dyn Transaction) -> Result<Work> {
        let work = editable_work(tx, &self.caller, self.upload.work).await?;
        if work.workspace != self.upload.workspace {
            return Err(Error::not_found("work", work.id));
        }
        if work.asset.is_none() {
            return Err(Error::Invalid(format!(
                "work {} is no asset; leave `workId` out to make one",
                work.id
            )));
        }
        Ok(work)
    }
}

async fn editable_work(tx: &dyn Transaction, caller: &Caller, id: WorkId) -> Result<Work> {
    let (work, role) = visible_work(tx, id, caller.user).await?;
    require_editor(role)?;
    if work.deleted_at.is_some() {
        return Err(Error::Conflict(format!(
            "work {id} lies in the bin; restore it first"
        )));
    }
    Ok(work)
}

fn require_editor(role: Role) -> Result<()> {
    if role >= Role::Editor {
        Ok(())
    } else {
        Err(Error::Forbidden(
            "this needs the role editor; you are viewer".to_owned(),
        ))
    }
}

async fn store_work(
    tx: &dyn Transaction,
    mut work: Work,
    caller: &Caller,
    at: Timestamp,
    kind: Option<EventKind>,
) -> Result<Work> {
    work.updated_at = at;
    work.updated_by = caller.actor();
    tx.update_work(&work).await?;
    let event = match kind {
        Some(kind) => work_event(kind, &work, json!({"title": work.title})),
        None => work_event(EventKind::WorkRenamed, &work, json!({"title": work.title})),
    };
    tx.emit(work.workspace, vec![event]).await?;
    Ok(work)
}

pub(crate) fn work_event(kind: EventKind, work: &Work, data: Value) -> NewEvent {
    NewEvent {
        kind,
        subject: Subject::Work(work.id),
        task: None,
        actor: work.updated_by.clone(),
        at: work.updated_at,
        data,
    }
}
