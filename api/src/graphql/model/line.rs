//! Lines: persistent working contexts of executors.

use async_graphql::{Context, ID, Object, Result, SimpleObject};
use domain::line;

use crate::graphql::scalars::{DateTime, int};
use crate::graphql::scope::Scope;

/// A persistent working context of an executor, for one task.
#[derive(Debug, Clone)]
pub(crate) struct Line(pub(crate) line::Line);

/// A persistent working context of an executor, for one task.
#[Object]
impl Line {
    /// The id of the line.
    async fn id(&self) -> ID {
        self.0.id.into()
    }

    /// Who works in it.
    async fn executor(&self) -> &str {
        &self.0.executor
    }

    /// What for.
    async fn purpose(&self) -> &str {
        &self.0.purpose
    }

    /// Since when.
    async fn opened_at(&self) -> DateTime {
        DateTime(self.0.opened_at)
    }

    /// What was asked and answered on it, oldest first.
    async fn exchanges(&self, ctx: &Context<'_>) -> Result<Vec<LineExchange>> {
        let found = Scope::of(ctx)?.exchanges(self.0.id).await?;
        Ok(found.iter().map(LineExchange::from).collect())
    }
}

/// One prompt on a line, and its answer.
#[derive(Debug, Clone, SimpleObject)]
pub(crate) struct LineExchange {
    /// What the executor was told: only what was new.
    prompt: String,
    /// What it answered.
    answer: Option<String>,
    /// When it answered.
    at: DateTime,
    /// The turn that asked, by its number in the task.
    turn_number: i32,
    /// The step that asked, by its number in the turn.
    step_number: i32,
}

impl From<&line::LineExchange> for LineExchange {
    fn from(exchange: &line::LineExchange) -> Self {
        Self {
            prompt: exchange.prompt.clone(),
            answer: Some(exchange.answer.clone()),
            at: DateTime(exchange.at),
            turn_number: int(exchange.step.turn.into()),
            step_number: int(exchange.step.step.into()),
        }
    }
}
