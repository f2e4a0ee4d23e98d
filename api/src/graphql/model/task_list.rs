//! Lists of tasks.

use std::sync::Arc;

use async_graphql::{Context, Result};
use domain::ids::WorkspaceId;
use domain::page::Page;
use domain::people::CreatedPosition;
use domain::task::{self, TaskFilter};

use super::task::{Task, TaskKind, TaskStatus};
use crate::graphql::choice::Choice;
use crate::graphql::connection::connection;
use crate::graphql::cursor::{Kind, List};
use crate::graphql::scalars::{Cursor, int};
use crate::graphql::scope::Scope;

/// Which tasks a list shows.
#[derive(Debug, Clone)]
pub(super) struct Chosen {
    kinds: Choice<task::TaskKind>,
    statuses: Choice<task::TaskStatus>,
}

impl Chosen {
    /// What a client's arguments let through: light tasks only where they are named.
    pub(super) fn new(kinds: Option<Vec<TaskKind>>, statuses: Option<Vec<TaskStatus>>) -> Self {
        Self {
            kinds: Choice::new(kinds).or(&[task::TaskKind::Persistent]),
            statuses: Choice::new(statuses),
        }
    }

    fn is_nothing(&self) -> bool {
        self.kinds.is_nothing() || self.statuses.is_nothing()
    }

    fn filter(&self) -> TaskFilter {
        TaskFilter {
            kinds: self.kinds.values().to_vec(),
            statuses: self.statuses.values().to_vec(),
        }
    }

    fn text(&self) -> String {
        let kinds = self.kinds.text("kinds", task::TaskKind::name);
        let statuses = self.statuses.text("statuses", task::TaskStatus::name);
        format!("{kinds} {statuses}")
    }
}

/// The list that a page of tasks is cut from.
struct Counted {
    workspace: WorkspaceId,
    chosen: Chosen,
}

connection!(
    TaskConnection,
    TaskEdge,
    Task,
    [counted: Counted],
    "A page of tasks.",
    "A task in a page.",
    {
        /// How many tasks the whole list has.
        async fn total_count(&self, ctx: &Context<'_>) -> Result<i32> {
            let Counted { workspace, chosen } = &self.counted;
            if chosen.is_nothing() {
                return Ok(0);
            }
            let reads = Scope::of(ctx)?.reads();
            Ok(int(reads.count_tasks(*workspace, &chosen.filter()).await?))
        }
    }
);

/// The tasks of a workspace that the caller is a member of, newest first.
pub(super) async fn page_of_tasks(
    scope: &Scope,
    workspace: WorkspaceId,
    chosen: Chosen,
    first: Option<i32>,
    after: Option<&Cursor>,
) -> Result<TaskConnection> {
    let list = List::of(Kind::Tasks, workspace.uuid()).filtered(&chosen.text());
    let page = scope
        .services
        .cursors
        .page::<CreatedPosition>(&list, first, after)?;
    let has_previous = page.after.is_some();
    let found = if chosen.is_nothing() {
        Page::empty()
    } else {
        let reads = scope.reads();
        reads.list_tasks(workspace, &chosen.filter(), page).await?
    };
    let edge = |row: task::Task| {
        let position = CreatedPosition {
            at: row.created_at,
            id: row.id.uuid(),
        };
        TaskEdge {
            node: Task(Arc::new(row)),
            cursor: scope.services.cursors.seal(&list, &position),
        }
    };
    Ok(TaskConnection {
        edges: found.rows.into_iter().map(edge).collect(),
        has_next: found.has_next,
        has_previous,
        counted: Counted { workspace, chosen },
    })
}
