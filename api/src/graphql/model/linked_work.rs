//! Works that a task refers to, and what others changed in them.

use async_graphql::{Context, ID, Object, Result};
use domain::task;

use super::actor::Actor;
use super::work::Work;
use crate::graphql::scalars::{DateTime, int};
use crate::graphql::scope::Scope;

/// A work that a task refers to.
#[derive(Debug, Clone)]
pub(crate) struct LinkedWork(pub(crate) task::LinkedWork);

/// A work that a task refers to.
#[Object]
impl LinkedWork {
    /// The work.
    async fn work(&self, ctx: &Context<'_>) -> Result<Work> {
        Ok(Scope::of(ctx)?.work(self.0.work).await?.into())
    }

    /// The version that the task last saw, by reading or by its own writing; 0 before.
    async fn seen_version(&self) -> i32 {
        int(self.0.seen_version.0)
    }

    /// When it last read it.
    async fn last_read_at(&self) -> Option<DateTime> {
        self.0.last_read_at.map(DateTime)
    }

    /// When it last wrote it.
    async fn last_written_at(&self) -> Option<DateTime> {
        self.0.last_written_at.map(DateTime)
    }
}

/// What others changed in a linked work since the task saw it; one for each work, merged while unread.
#[derive(Debug, Clone)]
pub(crate) struct ChangeNotice(pub(crate) task::ChangeNotice);

/// What others changed in a linked work since the task saw it; one for each work, merged while unread.
#[Object]
impl ChangeNotice {
    /// The work.
    async fn work(&self, ctx: &Context<'_>) -> Result<Work> {
        Ok(Scope::of(ctx)?.work(self.0.work).await?.into())
    }

    /// The version that was there before.
    async fn from_version(&self) -> i32 {
        int(self.0.from_version.0)
    }

    /// The version that is there since.
    async fn to_version(&self) -> i32 {
        int(self.0.to_version.0)
    }

    /// The nodes that were touched, and edges that were connected or disconnected.
    async fn node_ids(&self) -> Vec<ID> {
        let touched = self.0.touched.node_ids();
        touched.into_iter().map(ID::from).collect()
    }

    /// What changed, in words.
    async fn summary(&self) -> String {
        self.0.touched.summary()
    }

    /// Who changed it.
    async fn changed_by(&self) -> Vec<Actor> {
        self.0.changed_by.iter().cloned().map(Actor).collect()
    }

    /// When the first of it happened.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }
}
