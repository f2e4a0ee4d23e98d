//! Storing what an order brought, as assets of its workspace.
//!
//! Invariants
//! - An asset's bytes are stored before this command; its id follows from the order, so that a second run makes nothing twice.

use async_trait::async_trait;
use serde_json::json;

use super::take::stored;
use super::{Job, JobState};
use crate::document::Version;
use crate::error::Result;
use crate::event::EventKind;
use crate::ids::{JobId, TaskId, WorkId, WorkspaceId};
use crate::store::{Command, Scope, Transaction};
use crate::task::LinkedWork;
use crate::time::Timestamp;
use crate::work::{PendingChange, Work, change_event, work_event};

/// An asset, and the change that makes its first version.
#[derive(Debug, Clone)]
pub struct MadeAsset {
    /// The asset at version 0, with its file.
    pub work: Work,
    /// What describes the file.
    pub content: PendingChange,
}

/// Stores the outputs of a running job.
#[derive(Debug, Clone)]
pub struct StoreOutputs {
    /// The job's workspace.
    pub workspace: WorkspaceId,
    /// The job.
    pub job: JobId,
    /// What it brought.
    pub assets: Vec<MadeAsset>,
    /// The present time.
    pub at: Timestamp,
}

#[async_trait]
impl Command for StoreOutputs {
    /// The job as it is now; its outputs are those of the first run.
    type Output = Job;
    const NAME: &'static str = "job.outputs";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<Job> {
        let mut job = stored(tx, self.workspace, self.job).await?;
        if job.state != JobState::Running || !job.outputs.is_empty() {
            return Ok(job);
        }
        let mut events = Vec::new();
        for asset in &self.assets {
            let work = &asset.work;
            tx.insert_work(work).await?;
            if let Some(file) = &work.asset {
                tx.insert_file(self.workspace, file).await?;
            }
            let change = std::slice::from_ref(&asset.content);
            tx.append_changes(work.id, self.workspace, change).await?;
            let data = json!({"kind": work.kind, "title": work.title, "job": job.id});
            events.push(work_event(EventKind::WorkCreated, work, data));
            events.push(change_event(work.id, Version(1), &asset.content));
            tx.put_linked_work(&LinkedWork {
                workspace: self.workspace,
                task: job.task,
                work: work.id,
                seen_version: Version(1),
                last_read_at: None,
                last_written_at: Some(self.at),
            })
            .await?;
            job.outputs.push(work.id);
        }
        tx.update_job(&job).await?;
        tx.emit(self.workspace, events).await?;
        Ok(job)
    }
}

/// Notes that a result stands in a work: the task has seen what it wrote.
#[derive(Debug, Clone)]
pub struct NotePlaced {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// The task whose order it was.
    pub task: TaskId,
    /// The work it was placed in.
    pub work: WorkId,
    /// The version that placing made.
    pub version: Version,
    /// The present time.
    pub at: Timestamp,
}

#[async_trait]
impl Command for NotePlaced {
    type Output = ();
    const NAME: &'static str = "job.placed";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        tx.put_linked_work(&LinkedWork {
            workspace: self.workspace,
            task: self.task,
            work: self.work,
            seen_version: self.version,
            last_read_at: None,
            last_written_at: Some(self.at),
        })
        .await
    }
}
