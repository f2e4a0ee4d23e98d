//! Calls of tools, and what came of them.

use std::sync::Arc;

use async_graphql::{Context, Enum, ID, Object, Result};
use domain::turn::{self, CallId};

use super::step::Step;
use crate::graphql::error::{Nullable, nullable};
use crate::graphql::scalars::{DateTime, Json, int};
use crate::graphql::scope::Scope;

/// Where a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "turn::CallState")]
pub(crate) enum CallState {
    /// Decided, and not begun.
    Pending,
    /// Begun; perhaps it had its effect.
    Started,
    /// It had its effect, and the result is stored.
    Done,
    /// It had no effect, and the reason is stored.
    Failed,
    /// Begun by a worker that is gone, and not to be repeated blindly.
    OutcomeUnknown,
    /// Never begun: it may not, or can not be.
    Refused,
}

/// What a tool can do to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "turn::Risk")]
pub(crate) enum Risk {
    /// Nothing.
    Read,
    /// Changes a work.
    Write,
    /// Costs money.
    Paid,
    /// Can not be undone.
    Irreversible,
}

/// A call of a tool.
#[derive(Debug, Clone)]
pub(crate) struct ToolCall(pub(crate) Arc<turn::Call>);

impl ToolCall {
    /// The call with this id, where the caller may see its task; a text that is no id is the id of nothing.
    pub(crate) async fn find(scope: &Scope, id: &str) -> Result<Option<Self>> {
        let Ok(id) = id.parse::<CallId>() else {
            return Ok(None);
        };
        let turn = scope.reads().list_turns_by_id(&[id.turn]).await?.pop();
        let Some(turn) = turn else { return Ok(None) };
        if scope.find_task(turn.task).await?.is_none() {
            return Ok(None);
        }
        let calls = scope.calls(id.turn).await?;
        let found = calls.iter().find(|call| call.id == id);
        Ok(found.cloned().map(Self))
    }
}

/// A call of a tool.
#[Object]
impl ToolCall {
    /// turn id / step number / index: stable over retries and executors.
    async fn id(&self) -> ID {
        ID(self.0.id.to_string())
    }

    /// The tool's name.
    async fn tool(&self) -> &str {
        &self.0.tool
    }

    /// What it can do.
    async fn risk(&self) -> Risk {
        self.0.risk.into()
    }

    /// Whether it may run again under the same id.
    async fn idempotent(&self) -> bool {
        self.0.idempotent
    }

    /// Its arguments.
    async fn arguments(&self) -> Json {
        Json(self.0.arguments.clone())
    }

    /// Where it stands.
    async fn state(&self) -> CallState {
        self.0.state.into()
    }

    /// How often it was begun.
    async fn attempts(&self) -> i32 {
        int(self.0.attempts.into())
    }

    /// What came of it; a digest where the whole is large.
    async fn result(&self) -> Option<Json> {
        self.0.result.clone().map(Json)
    }

    /// Why it failed or was refused.
    async fn error(&self) -> Option<&str> {
        self.0.error.as_deref()
    }

    /// When it was begun last.
    async fn started_at(&self) -> Option<DateTime> {
        self.0.started_at.map(DateTime)
    }

    /// When it was over.
    async fn ended_at(&self) -> Option<DateTime> {
        self.0.ended_at.map(DateTime)
    }

    /// The step that decided it.
    async fn step(&self, ctx: &Context<'_>) -> Nullable<Step> {
        nullable(self.find_step(ctx).await)
    }
}

impl ToolCall {
    async fn find_step(&self, ctx: &Context<'_>) -> Result<Option<Step>> {
        let steps = Scope::of(ctx)?.steps(self.0.id.turn).await?;
        let mut steps = steps.into_iter();
        Ok(steps.find(|step| step.at.step == self.0.id.step).map(Step))
    }
}
