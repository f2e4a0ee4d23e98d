//! The subscription root.
//!
//! Invariants
//! - Subscriptions read what is stored: a wake-up only says when to look, so nothing is lost or doubled, whatever happens
//!   to wake-ups, sockets or processes.
//! - Rights are looked up again whenever they may have changed; who lost them gets an error, and the stream ends.
//!
//! Not here: sockets and event streams (`transport`).

mod changes;
mod events;
mod presence;
mod watch;

use std::sync::Arc;

use async_graphql::{Context, ID, Result, Subscription as GraphqlSubscription};
use futures_util::Stream;

pub(crate) use changes::WorkChange;

use super::model::event::WorkspaceEvent;
use super::model::presence::Presence;
use super::scalars::{self, Cursor};
use super::services::Services;
use watch::Watch;

/// What can be followed.
#[derive(Debug, Default)]
pub struct Subscription;

/// What can be followed.
#[GraphqlSubscription]
impl Subscription {
    /// Everything that happens in a workspace. `after`: everything later than that cursor, stored events first, then live ones,
    /// in order, none lost and none twice; without it from now on.
    async fn workspace_events(
        &self,
        ctx: &Context<'_>,
        workspace_id: ID,
        after: Option<Cursor>,
    ) -> Result<impl Stream<Item = Result<WorkspaceEvent>> + use<>> {
        let workspace = workspace_id.parse()?;
        let watch = Watch::workspace(services(ctx)?, caller(ctx)?, workspace).await?;
        Ok(events::follow(watch, None, after.as_ref()).await?)
    }

    /// Everything that happens to a task; the cursors are those of its workspace's log. `after`: everything later than that
    /// cursor, stored events first, then live ones, in order, none lost and none twice; without it from now on.
    async fn task_events(
        &self,
        ctx: &Context<'_>,
        task_id: ID,
        after: Option<Cursor>,
    ) -> Result<impl Stream<Item = Result<WorkspaceEvent>> + use<>> {
        let task = task_id.parse()?;
        let watch = Watch::task(services(ctx)?, caller(ctx)?, task).await?;
        Ok(events::follow(watch, Some(task), after.as_ref()).await?)
    }

    /// Changes of a work. `afterVersion`: all changes later than that version, without a gap; without it from now on.
    async fn work_changes(
        &self,
        ctx: &Context<'_>,
        work_id: ID,
        after_version: Option<i32>,
    ) -> Result<impl Stream<Item = Result<WorkChange>> + use<>> {
        let (watch, work) = Watch::work(services(ctx)?, caller(ctx)?, work_id.parse()?).await?;
        let after = after_version
            .map(|version| scalars::version("afterVersion", version))
            .transpose()?;
        Ok(changes::follow(watch, &work, after)?)
    }

    /// Who is at a work: now, and after each change.
    async fn presence(
        &self,
        ctx: &Context<'_>,
        work_id: ID,
    ) -> Result<impl Stream<Item = Result<Vec<Presence>>> + use<>> {
        let (watch, work) = Watch::work(services(ctx)?, caller(ctx)?, work_id.parse()?).await?;
        Ok(presence::follow(watch, work.id).await?)
    }
}

fn services(ctx: &Context<'_>) -> Result<Arc<Services>> {
    Ok(ctx.data::<Arc<Services>>()?.clone())
}

fn caller(ctx: &Context<'_>) -> Result<domain::people::Caller> {
    let missing = || domain::Error::Unauthenticated("a token is needed".to_owned());
    Ok(*ctx.data_opt().ok_or_else(missing)?)
}
