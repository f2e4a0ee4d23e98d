//! Turns of tasks: runs of steps by one worker at a time.

use std::sync::Arc;

use async_graphql::{Context, Enum, ID, Object, Result};
use domain::ids::TaskId;
use domain::page::{End, Window};
use domain::turn;

use super::step::Step;
use crate::graphql::connection::{Asked, connection};
use crate::graphql::cursor::{Kind, List};
use crate::graphql::scalars::{DateTime, int};
use crate::graphql::scope::Scope;

/// Where a turn stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "turn::TurnState")]
pub(crate) enum TurnState {
    /// It waits for a worker.
    Queued,
    /// A worker has it, or had it when it died.
    Running,
    /// It waits for a time to come.
    Suspended,
    /// It came to its end.
    Completed,
    /// It could not go on.
    Failed,
    /// A person ended it.
    Cancelled,
}

/// One run of a task, step by step, until it has a reason to stand still.
#[derive(Debug, Clone)]
pub(crate) struct Turn(Arc<turn::Turn>);

impl Turn {
    /// The turn of a visible task with this number.
    pub(super) async fn find(ctx: &Context<'_>, task: TaskId, number: i32) -> Result<Option<Self>> {
        let Some(before) = u32::try_from(number)
            .ok()
            .and_then(|number| number.checked_sub(1))
        else {
            return Ok(None);
        };
        let window = Window {
            limit: 1,
            end: End::First,
            after: Some(before),
            before: Some(before.saturating_add(2)),
        };
        let found = Scope::of(ctx)?.turns(task, window).await?.rows.pop();
        Ok(found.map(|turn| Self(Arc::new(turn))))
    }
}

/// One run of a task, step by step, until it has a reason to stand still.
#[Object]
impl Turn {
    /// The id of the turn.
    async fn id(&self) -> ID {
        self.0.id.into()
    }

    /// Its number in the task, from 1 on.
    async fn number(&self) -> i32 {
        int(self.0.number.into())
    }

    /// Where it stands.
    async fn state(&self) -> TurnState {
        self.0.state.into()
    }

    /// Fencing token: rises each time another worker takes the turn over, and at a stop.
    async fn epoch(&self) -> i32 {
        int(self.0.epoch.0.into())
    }

    /// The worker that has it.
    async fn lease_owner(&self) -> Option<String> {
        self.0.lease.map(|lease| lease.owner.to_string())
    }

    /// Until when that worker has it, by the clock of the database.
    async fn lease_expires_at(&self) -> Option<DateTime> {
        self.0.lease.map(|lease| DateTime(lease.expires_at))
    }

    /// When a worker took it first.
    async fn started_at(&self) -> Option<DateTime> {
        self.0.started_at.map(DateTime)
    }

    /// When it was over.
    async fn ended_at(&self) -> Option<DateTime> {
        self.0.ended_at.map(DateTime)
    }

    /// Its decided steps, in order.
    async fn steps(&self, ctx: &Context<'_>) -> Result<Vec<Step>> {
        let steps = Scope::of(ctx)?.steps(self.0.id).await?;
        Ok(steps.into_iter().map(Step).collect())
    }
}

connection!(
    TurnConnection,
    TurnEdge,
    Turn,
    [],
    "A page of a task's turns.",
    "A turn in a page.",
    {}
);

/// The turns of a visible task, by number.
pub(super) async fn page_of_turns(
    scope: &Scope,
    task: TaskId,
    asked: &Asked,
) -> Result<TurnConnection> {
    let list = List::of(Kind::Turns, task.uuid());
    let window = scope.services.cursors.window::<u32>(&list, asked)?;
    let found = scope.turns(task, window).await?;
    let (has_next, has_previous) = window.surroundings(found.has_next);
    let edge = |turn: turn::Turn| TurnEdge {
        cursor: scope.services.cursors.seal(&list, &turn.number),
        node: Turn(Arc::new(turn)),
    };
    Ok(TurnConnection {
        edges: found.rows.into_iter().map(edge).collect(),
        has_next,
        has_previous,
    })
}
