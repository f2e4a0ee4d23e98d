//! Steps of turns: one decision each, with what it read and what it set going.

use std::sync::Arc;

use async_graphql::{Context, Object, Result, SimpleObject};
use domain::ids::TaskId;
use domain::turn;

use super::call::ToolCall;
use super::journal::JournalEntry;
use super::message::Message;
use super::task::Task;
use crate::graphql::error::{Nullable, nullable};
use crate::graphql::scalars::{DateTime, int};
use crate::graphql::scope::Scope;

/// A step, by its numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepRef {
    task: TaskId,
    step: turn::StepRef,
}

impl StepRef {
    /// A step of a visible task.
    pub(crate) fn new(task: TaskId, step: turn::StepRef) -> Self {
        Self { task, step }
    }
}

/// A step, by its numbers.
#[Object]
impl StepRef {
    /// The turn, by its number in the task.
    async fn turn_number(&self) -> i32 {
        int(self.step.turn.into())
    }

    /// The step, by its number in the turn.
    async fn step_number(&self) -> i32 {
        int(self.step.step.into())
    }

    /// The step; null until it is decided.
    async fn step(&self, ctx: &Context<'_>) -> Nullable<Step> {
        nullable(Step::find(ctx, self.task, self.step).await)
    }
}

/// A decided step.
#[derive(Debug, Clone)]
pub(crate) struct Step(pub(crate) Arc<turn::Step>);

impl Step {
    /// A decided step, where the caller may see its task.
    pub(super) async fn find(
        ctx: &Context<'_>,
        task: TaskId,
        step: turn::StepRef,
    ) -> Result<Option<Self>> {
        Ok(Scope::of(ctx)?.find_step(task, step).await?.map(Self))
    }
}

/// A decided step.
#[Object]
impl Step {
    /// Its number in the turn, from 1 on.
    async fn number(&self) -> i32 {
        int(self.0.at.step.into())
    }

    /// The number of its turn in the task.
    async fn turn_number(&self) -> i32 {
        int(self.0.at.turn.into())
    }

    /// The task that it moved on.
    async fn task(&self, ctx: &Context<'_>) -> Result<Task> {
        Ok(Task(Scope::of(ctx)?.task(self.0.task).await?))
    }

    /// When its decision was stored.
    fn decided_at(&self) -> Result<DateTime> {
        let missing = || domain::Error::internal(format!("{:?} is not decided", self.0.at));
        Ok(DateTime(self.0.decided_at.ok_or_else(missing)?))
    }

    /// The turn's epoch in which it was decided.
    async fn epoch(&self) -> i32 {
        int(self.0.epoch.0.into())
    }

    /// Why, in the model's words.
    async fn rationale(&self) -> &str {
        &self.0.rationale
    }

    /// The messages that it has read, oldest first.
    async fn consumed(&self, ctx: &Context<'_>) -> Result<Vec<Message>> {
        let found = Scope::of(ctx)?.consumed(self.0.task, self.0.at).await?;
        Ok(found.iter().cloned().map(Message::from).collect())
    }

    /// What it set going, in order.
    async fn calls(&self, ctx: &Context<'_>) -> Result<Vec<ToolCall>> {
        let found = Scope::of(ctx)?.calls(self.0.turn).await?;
        let own = found.iter().filter(|call| call.id.step == self.0.at.step);
        Ok(own.cloned().map(ToolCall).collect())
    }

    /// The prompts that it gave to executors, whole.
    async fn prompts(&self, ctx: &Context<'_>) -> Result<Vec<JournalEntry>> {
        let task = self.0.task;
        let found = Scope::of(ctx)?.prompts(task, self.0.at).await?;
        let entries = found.iter().cloned();
        Ok(entries
            .map(|entry| JournalEntry::new(task, entry))
            .collect())
    }

    /// What its request was made of, in tokens.
    async fn context(&self) -> ContextUsage {
        ContextUsage::from(self.0.context.clone().unwrap_or_default())
    }
}

/// Tokens of one model request by layer, as sent, and what the provider reported.
#[derive(Debug, Clone, SimpleObject)]
pub(crate) struct ContextUsage {
    /// The model that answered.
    model: String,
    /// Tokens of the stable prefix, estimated.
    stable_prefix: i32,
    /// Tokens of the segment summaries, estimated.
    summaries: i32,
    /// Tokens of the recent history, estimated.
    recent: i32,
    /// Tokens of the dynamic tail, estimated.
    dynamic_tail: i32,
    /// Tokens of the request, as reported.
    input_tokens: i32,
    /// Of these, read from the provider's cache, as reported.
    cached_tokens: i32,
    /// Tokens of the reply, as reported.
    output_tokens: i32,
    /// SHA-256 of the stable prefix, 64 hexadecimal digits.
    stable_prefix_hash: String,
}

impl From<turn::ContextUsage> for ContextUsage {
    fn from(usage: turn::ContextUsage) -> Self {
        Self {
            model: usage.model,
            stable_prefix: int(usage.stable_prefix.into()),
            summaries: int(usage.summaries.into()),
            recent: int(usage.recent.into()),
            dynamic_tail: int(usage.dynamic_tail.into()),
            input_tokens: int(usage.input_tokens),
            cached_tokens: int(usage.cached_tokens),
            output_tokens: int(usage.output_tokens),
            stable_prefix_hash: usage.stable_prefix_hash,
        }
    }
}
