//! Lines: persistent working contexts of executors (J6), and summaries of a task's old history (C2).
//!
//! Invariants
//! - A line belongs to one task for ever; no other task can continue it.
//! - Exchanges and segments are only ever appended.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::ids::{LineId, TaskId, WorkspaceId};
use crate::time::Timestamp;
use crate::turn::StepRef;

/// A persistent working context of an executor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Its id.
    pub id: LineId,
    /// Where it belongs.
    pub workspace: WorkspaceId,
    /// The task it belongs to.
    pub task: TaskId,
    /// Who works in it.
    pub executor: String,
    /// What for.
    pub purpose: String,
    /// Since when.
    pub opened_at: Timestamp,
}

/// One prompt on a line, and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineExchange {
    /// The line.
    pub line: LineId,
    /// Its place on the line, from 1 on.
    pub number: u32,
    /// What the executor was told: only what is new.
    pub prompt: String,
    /// What it answered.
    pub answer: String,
    /// When it answered.
    pub at: Timestamp,
    /// The step that asked.
    pub step: StepRef,
}

/// A summary of a span of a task's journal; the source stays readable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextSegment {
    /// Its place, from 1 on.
    pub number: u32,
    /// First journal entry of the span.
    pub from_sequence: u64,
    /// Last journal entry of the span.
    pub to_sequence: u64,
    /// The span in short.
    pub summary: String,
    /// Estimated tokens of the summary.
    pub tokens: u32,
}

/// Reading lines and segments.
#[async_trait]
pub trait LineReads {
    /// Lines of these tasks, in the order they were opened.
    async fn list_lines(&self, tasks: &[TaskId]) -> Result<Vec<Line>>;
    /// A line by id.
    async fn find_line(&self, id: LineId) -> Result<Option<Line>>;
    /// Exchanges of these lines, by line and then oldest first.
    async fn list_exchanges(&self, lines: &[LineId]) -> Result<Vec<LineExchange>>;
    /// The newest segments of a task, oldest first, at most `limit`.
    async fn list_segments(&self, task: TaskId, limit: u32) -> Result<Vec<ContextSegment>>;
}

/// Writing lines and segments.
#[async_trait]
pub trait LineWrites {
    /// Inserts a line; one that is there already stays.
    async fn insert_line(&self, line: &Line) -> Result<()>;
    /// Appends an exchange; `number` is its place.
    async fn insert_exchange(&self, workspace: WorkspaceId, exchange: &LineExchange) -> Result<()>;
    /// Appends a segment.
    async fn insert_segment(
        &self,
        workspace: WorkspaceId,
        task: TaskId,
        segment: &ContextSegment,
    ) -> Result<()>;
}

/// A line of this task; a line of another task is not there.
pub async fn line_of_task(
    reads: &(impl LineReads + ?Sized),
    task: TaskId,
    id: LineId,
) -> Result<Line> {
    let line = reads.find_line(id).await?;
    line.filter(|line| line.task == task)
        .ok_or_else(|| Error::not_found("line", id))
}
