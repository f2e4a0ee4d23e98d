//! Listening: readers of the log, and of presence.
//!
//! Invariants
//! - What is stored comes first and what happens later follows, from one log, so nothing is lost between the two.
//! - Membership is looked at before each batch; a stream ends when it is gone.

use std::collections::VecDeque;
use std::time::Duration;

use async_graphql::{Context, ID, Result, Subscription as GraphqlSubscription};
use domain::Error;
use domain::document::Version;
use domain::event::{Event, Sequence};
use domain::ids::{WorkId, WorkspaceId};
use domain::people::{Caller, role_in};
use domain::work::{Change, visible_work};
use futures_util::stream::{Stream, try_unfold};
use tokio::sync::watch;

use super::cursor::{Kind, List};
use super::model::{PresenceObject, WorkChange, WorkspaceEvent, presence_objects};
use super::scalars::{Cursor, version};
use super::services::Services;

/// Rows that are read at once.
const BATCH: u32 = 200;
/// How often the log is looked at without being woken.
const LOG_INTERVAL: Duration = Duration::from_secs(5);

/// Listening. Each event carries its cursor; `after` gives everything later than that cursor, stored events first, then
/// live ones, in order, none lost and none twice.
#[derive(Debug, Default)]
pub struct Subscription;

#[GraphqlSubscription]
impl Subscription {
    /// Everything that happens in a workspace. Without `after`: from now on.
    async fn workspace_events(
        &self,
        ctx: &Context<'_>,
        workspace_id: ID,
        after: Option<Cursor>,
    ) -> Result<impl Stream<Item = Result<WorkspaceEvent>>> {
        let (services, caller) = (services(ctx)?, caller(ctx)?);
        let workspace: WorkspaceId = workspace_id.parse().map_err(Error::from)?;
        role_in(services.store.reads(), workspace, caller.user).await?;
        let position = match &after {
            Some(after) => services
                .cursors
                .open(&List::of(Kind::Events, workspace.uuid()), after)?,
            None => services.store.reads().event_head(workspace).await?,
        };
        let wake = services.store.follow(workspace);
        let log = EventLog {
            services,
            caller,
            workspace,
            position,
            wake,
            waiting: VecDeque::new(),
        };
        Ok(try_unfold(log, |mut log| async move {
            let event = log.next().await?;
            Ok(Some((WorkspaceEvent::new(&log.services, event), log)))
        }))
    }

    /// Changes of a work; `afterVersion`: changes later than that version, without a gap. Without it: from now on.
    async fn work_changes(
        &self,
        ctx: &Context<'_>,
        work_id: ID,
        after_version: Option<i32>,
    ) -> Result<impl Stream<Item = Result<WorkChange>>> {
        let (services, caller) = (services(ctx)?, caller(ctx)?);
        let work: WorkId = work_id.parse().map_err(Error::from)?;
        let (row, _) = visible_work(services.store.reads(), work, caller.user).await?;
        let position = match after_version {
            Some(given) => version("afterVersion", given)?,
            None => row.version,
        };
        if position > row.version {
            let text = format!(
                "`afterVersion` is {position}, and the work is at version {}",
                row.version
            );
            return Err(Error::Invalid(text).into());
        }
        let wake = services.store.follow(row.workspace);
        let log = ChangeLog {
            services,
            caller,
            work,
            position,
            wake,
            waiting: VecDeque::new(),
        };
        Ok(try_unfold(log, |mut log| async move {
            let change = log.next().await?;
            Ok(Some((WorkChange::from(change), log)))
        }))
    }

    /// Who is at a work: now, and whenever that changes.
    async fn presence(
        &self,
        ctx: &Context<'_>,
        work_id: ID,
    ) -> Result<impl Stream<Item = Result<Vec<PresenceObject>>>> {
        let (services, caller) = (services(ctx)?, caller(ctx)?);
        let work: WorkId = work_id.parse().map_err(Error::from)?;
        visible_work(services.store.reads(), work, caller.user).await?;
        let mut presence = services.documents.follow_presence(work).await?;
        presence.mark_changed();
        Ok(try_unfold(
            (services, presence),
            move |(services, mut presence)| async move {
                if presence.changed().await.is_err() {
                    // The document was closed under us: a live one is opened again.
                    presence = services.documents.follow_presence(work).await?;
                }
                visible_work(services.store.reads(), work, caller.user).await?;
                let present = presence_objects(&presence.borrow_and_update());
                Ok(Some((present, (services, presence))))
            },
        ))
    }
}

struct EventLog {
    services: Services,
    caller: Caller,
    workspace: WorkspaceId,
    position: Sequence,
    wake: watch::Receiver<Sequence>,
    waiting: VecDeque<Event>,
}

impl EventLog {
    async fn next(&mut self) -> Result<Event> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                self.position = event.sequence;
                return Ok(event);
            }
            // Seen before the log is read, so that what comes meanwhile wakes the next wait.
            self.wake.mark_unchanged();
            let reads = self.services.store.reads();
            role_in(reads, self.workspace, self.caller.user).await?;
            self.waiting = reads
                .list_events(self.workspace, self.position, BATCH)
                .await?
                .into();
            if self.waiting.is_empty() {
                wait(&mut self.wake).await;
            }
        }
    }
}

struct ChangeLog {
    services: Services,
    caller: Caller,
    work: WorkId,
    position: Version,
    wake: watch::Receiver<Sequence>,
    waiting: VecDeque<Change>,
}

impl ChangeLog {
    async fn next(&mut self) -> Result<Change> {
        loop {
            if let Some(change) = self.waiting.pop_front() {
                self.position = change.version;
                return Ok(change);
            }
            self.wake.mark_unchanged();
            let reads = self.services.store.reads();
            visible_work(reads, self.work, self.caller.user).await?;
            self.waiting = reads
                .list_changes(self.work, self.position, BATCH)
                .await?
                .into();
            if self.waiting.is_empty() {
                wait(&mut self.wake).await;
            }
        }
    }
}

/// Waits for a wake-up, or for some seconds: both mean that the log is worth a look.
async fn wait(wake: &mut watch::Receiver<Sequence>) {
    let _ = tokio::time::timeout(LOG_INTERVAL, wake.changed()).await;
}

fn services(ctx: &Context<'_>) -> Result<Services> {
    Ok(ctx.data::<Services>()?.clone())
}

fn caller(ctx: &Context<'_>) -> Result<Caller> {
    Ok(*ctx.data::<Caller>()?)
}
