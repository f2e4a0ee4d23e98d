//! The commands that change works: one struct each.
//!
//! `AppendChanges` is the one way to write a document; the document service alone builds it.

use async_trait::async_trait;
use bytes::Bytes;
use serde_json::{Value, json};

use crate::actor::Actor;
use crate::document::{Touched, Version};
use crate::error::{Error, Result};
use crate::event::{EventKind, NewEvent, Subject};
use crate::idempotency::IdempotencyKey;
use crate::ids::{UploadId, WorkId, WorkspaceId};
use crate::people::{Caller, Role, require, role_in};
use crate::store::{Command, Scope, Transaction};
use crate::time::Timestamp;
use crate::work::{AssetFile, QuarantinedUpdate, Snapshot, Upload, Work, WorkReads};

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

/// A change that was validated and waits to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingChange {
    /// Who made it.
    pub actor: Actor,
    /// When.
    pub at: Timestamp,
    /// The Yjs update, encoding v1.
    pub update: Bytes,
    /// What it touched.
    pub touched: Touched,
}

/// Makes a work, with its first change where it is not empty.
#[derive(Debug, Clone)]
pub struct CreateWork {
    /// Who asks.
    pub caller: Caller,
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
        require(tx, self.work.workspace, self.caller.user, Role::Editor).await?;
        check_text("a work's title", &self.work.title, 500)?;
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
        tx.emit(self.work.workspace, events).await?;
        Ok(self.work.id)
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
        let (mut work, role) = visible_work(tx, self.work, self.caller.user).await?;
        require_editor(role)?;
        if work.deleted_at.is_some() {
            return Ok(work);
        }
        work.deleted_at = Some(self.at);
        tx.announce_access_change().await?;
        store_work(
            tx,
            work,
            &self.caller,
            self.at,
            Some(EventKind::WorkDeleted),
        )
        .await
    }
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

/// Stores validated changes of one document.
#[derive(Debug, Clone)]
pub struct AppendChanges {
    /// The work's workspace.
    pub workspace: WorkspaceId,
    /// The work.
    pub work: WorkId,
    /// The changes, in order.
    pub changes: Vec<PendingChange>,
    /// The version that the changes were built on, where they hold only there; a document that moved on stores nothing.
    pub expected: Option<Version>,
    /// The key of the request, and what it gives.
    pub idempotency: Option<(IdempotencyKey, Value)>,
    /// The upload whose file the changes describe.
    pub upload: Option<FinishedUpload>,
}

/// An upload whose bytes are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedUpload {
    /// The upload.
    pub upload: UploadId,
    /// What came.
    pub file: AssetFile,
    /// When.
    pub at: Timestamp,
}

/// What became of [`AppendChanges`].
#[derive(Debug, Clone, PartialEq)]
pub enum Appended {
    /// Stored; the first change has this version.
    Stored(Version),
    /// Nothing was stored: the document is at this version, not at the expected one.
    Behind(Version),
    /// Nothing was stored: the same key gave this before.
    Repeated(Value),
}

#[async_trait]
impl Command for AppendChanges {
    type Output = Appended;
    const NAME: &'static str = "document.append_changes";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<Appended> {
        if let Some((key, _)) = &self.idempotency
            && let Some(first) = crate::idempotency::first_result(tx, key).await?
        {
            return Ok(Appended::Repeated(first));
        }
        if let Some(behind) = self.behind(tx).await? {
            return Ok(Appended::Behind(behind));
        }
        if let Some((key, result)) = &self.idempotency {
            tx.remember_idempotency(key, result).await?;
        }
        if let Some(finished) = &self.upload {
            self.finish_upload(tx, finished).await?;
        }
        if self.changes.is_empty() {
            // A file that is the same as before: the upload is finished, and nothing else changed.
            let present = self.expected.unwrap_or_default();
            return Ok(Appended::Stored(Version(present.0 + 1)));
        }
        let first = tx
            .append_changes(self.work, self.workspace, &self.changes)
            .await?;
        let events = (first.0..)
            .zip(&self.changes)
            .map(|(version, change)| change_event(self.work, Version(version), change))
            .collect();
        tx.emit(self.workspace, events).await?;
        Ok(Appended::Stored(first))
    }
}

impl AppendChanges {
    /// The present version, where it is not the expected one.
    async fn behind(&self, tx: &dyn Transaction) -> Result<Option<Version>> {
        let Some(expected) = self.expected else {
            return Ok(None);
        };
        let work = tx
            .list_works_by_id(&[self.work])
            .await?
            .pop()
            .ok_or_else(|| Error::not_found("work", self.work))?;
        Ok((work.version != expected).then_some(work.version))
    }

    async fn finish_upload(&self, tx: &dyn Transaction, finished: &FinishedUpload) -> Result<()> {
        if !tx
            .finish_upload(finished.upload, &finished.file, finished.at)
            .await?
        {
            return Err(Error::Conflict(
                "the bytes of this upload are there already".to_owned(),
            ));
        }
        let mut work = tx
            .list_works_by_id(&[self.work])
            .await?
            .pop()
            .ok_or_else(|| Error::not_found("work", self.work))?;
        work.asset = Some(finished.file.clone());
        tx.update_work(&work).await
    }
}

/// Stores the whole state of a document, so that opening it is fast.
#[derive(Debug, Clone)]
pub struct SaveSnapshot {
    /// The work's workspace.
    pub workspace: WorkspaceId,
    /// The state.
    pub snapshot: Snapshot,
}

#[async_trait]
impl Command for SaveSnapshot {
    type Output = ();
    const NAME: &'static str = "document.save_snapshot";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        tx.insert_snapshot(self.workspace, &self.snapshot).await
    }
}

/// Keeps refused bytes with actor and reason.
#[derive(Debug, Clone)]
pub struct Quarantine(pub QuarantinedUpdate);

#[async_trait]
impl Command for Quarantine {
    type Output = ();
    const NAME: &'static str = "document.quarantine";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.0.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        tx.insert_quarantined(&self.0).await
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

fn work_event(kind: EventKind, work: &Work, data: Value) -> NewEvent {
    NewEvent {
        kind,
        subject: Subject::Work(work.id),
        actor: work.updated_by.clone(),
        at: work.updated_at,
        data,
    }
}

fn change_event(work: WorkId, version: Version, change: &PendingChange) -> NewEvent {
    let data = json!({"version": version, "nodeIds": change.touched.node_ids(), "summary": change.touched.summary()});
    NewEvent {
        kind: EventKind::WorkChanged,
        subject: Subject::Work(work),
        actor: change.actor.clone(),
        at: change.at,
        data,
    }
}
