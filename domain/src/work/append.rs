//! Storing what was validated: changes of documents, snapshots, and what was refused.
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
use crate::store::{Command, Scope, Transaction};
use crate::task::{NoticedChange, mark_after_change};
use crate::time::Timestamp;
use crate::turn::{Fence, check_fence};
use crate::work::{AssetFile, QuarantinedUpdate, Snapshot};

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
    /// Where the agent writes: the fence of its turn.
    pub fence: Option<Fence>,
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
        if let Some(fence) = self.fence {
            check_fence(tx, fence).await?;
        }
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
        self.notice(tx, first).await?;
        tx.emit(self.workspace, events).await?;
        Ok(Appended::Stored(first))
    }
}

impl AppendChanges {
    /// Tasks that refer to the work, but the one that wrote, find a change notice (W2).
    async fn notice(&self, tx: &dyn Transaction, first: Version) -> Result<()> {
        let linked = tx.list_linked_tasks(self.workspace, &[self.work]).await?;
        // An edit of the agent is alone in its command.
        let writer = match self.changes.last().map(|change| &change.actor) {
            Some(Actor::Agent { task, .. }) => Some(*task),
            _ => None,
        };
        let tasks: Vec<_> = linked
            .iter()
            .map(|linked| linked.task)
            .filter(|task| Some(*task) != writer)
            .collect();
        let Some(newest) = self.changes.last().filter(|_| !tasks.is_empty()) else {
            return Ok(());
        };
        let mut noticed = NoticedChange {
            work: self.work,
            from_version: Version(first.0 - 1),
            to_version: Version(first.0 + self.changes.len() as u64 - 1),
            touched: Touched::default(),
            changed_by: Vec::new(),
            at: newest.at,
        };
        for change in &self.changes {
            noticed.touched.merge(change.touched.clone());
            if !noticed.changed_by.contains(&change.actor) {
                noticed.changed_by.push(change.actor.clone());
            }
        }
        tx.merge_change_notices(self.workspace, &tasks, &noticed)
            .await?;
        mark_after_change(tx, &tasks, &noticed).await
    }

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

pub(crate) fn change_event(work: WorkId, version: Version, change: &PendingChange) -> NewEvent {
    let data = json!({"version": version, "nodeIds": change.touched.node_ids(), "summary": change.touched.summary()});
    NewEvent {
        kind: EventKind::WorkChanged,
        subject: Subject::Work(work),
        task: None,
        actor: change.actor.clone(),
        at: change.at,
        data,
    }
}
