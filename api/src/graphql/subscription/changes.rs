//! The changes of a work, read from its log.

use std::collections::VecDeque;

use async_graphql::{ID, Object, Result};
use domain::Error;
use domain::document::Version;
use domain::ids::WorkId;
use domain::work::{Change, Work};
use futures_util::{Stream, stream};

use super::watch::Watch;
use crate::graphql::model::actor::Actor;
use crate::graphql::scalars::{Bytes, DateTime, int};

/// Changes that are read at once: few, because one can be as large as a frame.
const BATCH: u32 = 16;

/// A stored change of a work.
#[derive(Debug, Clone)]
pub(crate) struct WorkChange(Change);

/// A stored change of a work.
#[Object]
impl WorkChange {
    /// The version it made.
    async fn version(&self) -> i32 {
        int(self.0.version.0)
    }

    /// Who made it.
    async fn by(&self) -> Actor {
        Actor(self.0.actor.clone())
    }

    /// When.
    async fn at(&self) -> DateTime {
        DateTime(self.0.at)
    }

    /// The nodes it touched, and edges it connected or disconnected.
    async fn node_ids(&self) -> Vec<ID> {
        self.0
            .touched
            .node_ids()
            .into_iter()
            .map(ID::from)
            .collect()
    }

    /// What changed, in words for people.
    async fn summary(&self) -> String {
        self.0.touched.summary()
    }

    /// The Yjs update, encoding v1.
    async fn update(&self) -> Bytes {
        Bytes(self.0.update.clone())
    }
}

struct Reader {
    watch: Watch,
    work: WorkId,
    /// Everything up to here was read.
    after: Version,
    ready: VecDeque<Change>,
}

/// Changes after a version that the work has reached, or from now on.
pub(super) fn follow(
    watch: Watch,
    work: &Work,
    after: Option<Version>,
) -> domain::Result<impl Stream<Item = Result<WorkChange>> + use<>> {
    let after = after.unwrap_or(work.version);
    if after > work.version {
        return Err(Error::Invalid(format!(
            "work {} is at version {}, and has no version {after} yet",
            work.id, work.version
        )));
    }
    let reader = Reader {
        watch,
        work: work.id,
        after,
        ready: VecDeque::new(),
    };
    Ok(stream::try_unfold(reader, |mut reader| async move {
        let change = reader.next().await?;
        Ok(Some((WorkChange(change), reader)))
    }))
}

impl Reader {
    async fn next(&mut self) -> domain::Result<Change> {
        loop {
            self.watch.permit().await?;
            if let Some(change) = self.ready.pop_front() {
                return Ok(change);
            }
            if !self.read().await? {
                self.watch.wait().await;
            }
        }
    }

    /// Reads what follows; whether there was anything.
    async fn read(&mut self) -> domain::Result<bool> {
        self.watch.note();
        let reads = self.watch.reads();
        let changes = reads.list_changes(self.work, self.after, BATCH).await?;
        if let Some(last) = changes.last() {
            self.after = last.version;
        }
        self.ready.extend(changes);
        Ok(!self.ready.is_empty())
    }
}
