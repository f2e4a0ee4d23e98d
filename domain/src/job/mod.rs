//! Jobs: orders at media providers, slow and paid (spec G).
//!
//! Invariants
//! - An order is stored before it is sent, under the id of the call that asked for it: one call, one order, one charge.
//! - States only move forward; what comes twice, late or in the wrong order changes nothing (G3).
//! - An order whose fate is unknown is never sent again by itself (G5).
//! - Orders are guarded by their own state, not by a turn's epoch: what an upstream proves may be stored by any worker.
//!
//! Not here: who makes the media (`runtime`), what money does (`money`).

mod approve;
mod cancel;
mod claim;
mod machine;
mod order;
mod outputs;
mod take;
mod waking;

use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Result;
use crate::ids::{JobId, TaskId, WorkId, WorkspaceId};
use crate::media::MediaKind;
use crate::names::named;
use crate::store::Command;
use crate::time::Timestamp;
use crate::turn::CallId;
use crate::work::AppendChanges;

pub(crate) use approve::{answer_cost, go_on_after_cost, withdraw_orders};
pub use cancel::CancelJob;
pub use claim::{Act, ClaimJob};
pub use machine::{Moved, News};
pub use order::{OrderJob, Ordered, Price, order_id};
pub use outputs::{MadeAsset, NotePlaced, StoreOutputs};
pub use take::{TakeNews, Taken};
pub use waking::{is_ready, waits, wakes};

named! {
    /// Where an order stands.
    JobState {
        /// A person must say whether it may be paid.
        AwaitingApproval = "AWAITING_APPROVAL",
        /// It will be sent, or is being sent.
        Submitting = "SUBMITTING",
        /// The upstream has it.
        Running = "RUNNING",
        /// What was ordered is stored.
        Succeeded = "SUCCEEDED",
        /// Nothing comes of it.
        Failed = "FAILED",
        /// It was sent, and nobody knows whether the upstream has it.
        SubmissionUnknown = "SUBMISSION_UNKNOWN",
        /// It was given up.
        Cancelled = "CANCELLED",
        /// A person did not want it to be paid.
        Declined = "DECLINED",
    }
}

impl JobState {
    /// Whether nothing will change it any more.
    pub const fn is_over(self) -> bool {
        matches!(
            self,
            Self::Succeeded | Self::Failed | Self::Cancelled | Self::Declined
        )
    }
}

/// Every command with which an order is moved on: the places at which a process can die with something stored. Each has a case in the
/// tests of generation.
pub const WRITE_POINTS: [&str; 7] = [
    <OrderJob as Command>::NAME,
    <ClaimJob as Command>::NAME,
    <TakeNews as Command>::NAME,
    <StoreOutputs as Command>::NAME,
    <AppendChanges as Command>::NAME,
    <NotePlaced as Command>::NAME,
    <CancelJob as Command>::NAME,
];

/// Where a result is put when it is there: a field of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobPlace {
    /// The work.
    pub work: WorkId,
    /// The node.
    pub node: String,
    /// The field.
    pub field: String,
}

/// A file that an upstream says it has made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpstreamFile {
    /// Where it can be fetched; empty where the provider gives the bytes themselves.
    pub url: String,
}

/// An order at a media provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// Where it belongs.
    pub workspace: WorkspaceId,
    /// The task that ordered it.
    pub task: TaskId,
    /// The call that ordered it: with the workspace the key of the order (G4).
    pub call: CallId,
    /// Who makes it.
    pub provider: String,
    /// What is made.
    pub kind: MediaKind,
    /// What it should be.
    pub prompt: String,
    /// Works that it should look like.
    pub references: Vec<WorkId>,
    /// What else the provider takes.
    pub parameters: Value,
    /// The item of the plan that it is for.
    pub item: Option<String>,
    /// Where the result is put.
    pub place: Option<JobPlace>,
    /// Where it stands.
    pub state: JobState,
    /// How much of it is done, in thousandths.
    pub progress: u32,
    /// Its id at the upstream.
    pub upstream: Option<String>,
    /// What it costs, or at most costs, in micros.
    pub price: u64,
    /// Of that, set aside.
    pub reserved: u64,
    /// Of that, spent.
    pub spent: u64,
    /// When it was begun to be sent.
    pub submitted_at: Option<Timestamp>,
    /// What the upstream says it has made, and is not fetched yet.
    pub made: Option<Vec<UpstreamFile>>,
    /// What it brought: assets.
    pub outputs: Vec<WorkId>,
    /// Why nothing came of it, in words for a person.
    pub error: Option<String>,
    /// How often its present stage was tried.
    pub attempts: u32,
    /// When to look after it; none where nothing is to be done.
    pub due_at: Option<Timestamp>,
    /// When it was given up as unknown, and its money came back.
    pub settled_at: Option<Timestamp>,
    /// Whether a person wants it to be given up.
    pub is_cancel_asked: bool,
    /// When it was ordered.
    pub created_at: Timestamp,
    /// When anything of it changed last.
    pub updated_at: Timestamp,
}

impl Job {
    /// Whether it may still bring something.
    pub const fn is_under_way(&self) -> bool {
        !self.state.is_over() && self.settled_at.is_none()
    }
}

/// How long orders are waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobTiming {
    /// Until an upstream is asked about an order for the first time; each further time is later.
    pub poll: Duration,
    /// Until whoever sends an order is taken for lost.
    pub sending: Duration,
    /// Until an unknown order is settled.
    pub submission: Duration,
}

impl Default for JobTiming {
    fn default() -> Self {
        Self {
            poll: Duration::from_secs(15),
            sending: Duration::from_secs(35),
            submission: Duration::from_mins(1),
        }
    }
}

/// Reading jobs. Lists by ids leave out what is not there and promise no order.
#[async_trait]
pub trait JobReads {
    /// Jobs by id.
    async fn list_jobs_by_id(&self, ids: &[JobId]) -> Result<Vec<Job>>;
    /// Jobs of these tasks, oldest first.
    async fn list_jobs(&self, tasks: &[TaskId]) -> Result<Vec<Job>>;
    /// Jobs that may still bring something, of one task, oldest first.
    async fn list_jobs_under_way(&self, workspace: WorkspaceId, task: TaskId) -> Result<Vec<Job>>;
    /// Jobs that are to be looked after now, the longest waiting first.
    async fn list_due_jobs(&self, now: Timestamp, limit: u32) -> Result<Vec<(WorkspaceId, JobId)>>;
    /// When the next job is to be looked after.
    async fn next_due_job(&self) -> Result<Option<Timestamp>>;
    /// The job that a provider knows under this id.
    async fn find_job_by_upstream(&self, provider: &str, upstream: &str) -> Result<Option<JobId>>;
}

/// Writing jobs.
#[async_trait]
pub trait JobWrites {
    /// Inserts a job; `Conflict` where its call has one.
    async fn insert_job(&self, job: &Job) -> Result<()>;
    /// Writes everything of a job that can change.
    async fn update_job(&self, job: &Job) -> Result<()>;
    /// Remembers that a notice of a provider about a job was seen; whether it is the first time.
    async fn note_job_notice(
        &self,
        workspace: WorkspaceId,
        job: JobId,
        notice: &str,
        at: Timestamp,
    ) -> Result<bool>;
    /// Wakes those who look after jobs, in every process, once this is committed.
    async fn announce_jobs(&self) -> Result<()>;
}
