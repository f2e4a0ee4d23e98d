//! The events of a workspace, or of one of its tasks, read from the workspace's log.

use std::collections::VecDeque;

use async_graphql::Result;
use domain::event::{Event, Sequence};
use domain::ids::TaskId;
use futures_util::{Stream, stream};

use super::watch::Watch;
use crate::graphql::model::event::{WorkspaceEvent, check_kept, log_of};
use crate::graphql::scalars::Cursor;

/// Events that are read at once.
const BATCH: u32 = 100;

struct Reader {
    watch: Watch,
    /// The task whose events alone are read.
    task: Option<TaskId>,
    /// Everything up to here was read.
    after: Sequence,
    ready: VecDeque<Event>,
}

/// Events after a cursor, or from now on: all of the workspace, or those of one task in it.
pub(super) async fn follow(
    watch: Watch,
    task: Option<TaskId>,
    after: Option<&Cursor>,
) -> domain::Result<impl Stream<Item = Result<WorkspaceEvent>> + use<>> {
    let head = watch.reads().event_head(watch.workspace).await?;
    let after = match after {
        Some(cursor) => {
            let list = log_of(watch.workspace);
            let position = watch.services.cursors.open(&list, cursor)?;
            check_kept(position, head)?;
            position
        }
        None => head,
    };
    let reader = Reader {
        watch,
        task,
        after,
        ready: VecDeque::new(),
    };
    Ok(stream::try_unfold(reader, |mut reader| async move {
        let event = reader.next().await?;
        Ok(Some((WorkspaceEvent(event), reader)))
    }))
}

impl Reader {
    async fn next(&mut self) -> domain::Result<Event> {
        loop {
            self.watch.permit().await?;
            if let Some(event) = self.ready.pop_front() {
                return Ok(event);
            }
            if !self.read().await? {
                self.watch.wait().await;
            }
        }
    }

    /// Reads what follows; whether there was anything.
    async fn read(&mut self) -> domain::Result<bool> {
        self.watch.note();
        let workspace = self.watch.workspace;
        let reads = self.watch.reads();
        let events = match self.task {
            Some(task) => {
                let events = reads.list_task_events(workspace, task, self.after, BATCH);
                events.await?
            }
            None => reads.list_events(workspace, self.after, BATCH).await?,
        };
        if let Some(last) = events.last() {
            self.after = last.sequence;
        }
        self.ready.extend(events);
        Ok(!self.ready.is_empty())
    }
}
