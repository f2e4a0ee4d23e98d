//! The history of a work: its revisions, newest first.

use async_graphql::{ID, Object, Result};
use domain::document::Version;
use domain::ids::WorkId;
use domain::page::{Page, PageRequest};
use domain::work;

use super::actor::Actor;
use crate::graphql::connection::connection;
use crate::graphql::cursor::{Kind, List};
use crate::graphql::scalars::{Cursor, DateTime, int};
use crate::graphql::scope::Scope;

/// A run of versions by one actor without a pause over a minute.
#[derive(Debug, Clone)]
pub(crate) struct Revision(pub(crate) work::Revision);

/// A run of versions by one actor without a pause over a minute.
#[Object]
impl Revision {
    /// First version of the run.
    async fn from_version(&self) -> i32 {
        int(self.0.from_version.0)
    }

    /// Last version of the run.
    async fn to_version(&self) -> i32 {
        int(self.0.to_version.0)
    }

    /// When the last version was made.
    async fn at(&self) -> DateTime {
        DateTime(self.0.at)
    }

    /// Who made it.
    async fn by(&self) -> Actor {
        Actor(self.0.actor.clone())
    }

    /// What changed, in words for people.
    async fn summary(&self) -> String {
        self.0.touched.summary()
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
}

connection!(
    RevisionConnection,
    RevisionEdge,
    Revision,
    [],
    "A page of a work's history.",
    "A revision in a page.",
    {}
);

/// The history of a visible work.
pub(crate) async fn page_of_history(
    scope: &Scope,
    work: WorkId,
    first: Option<i32>,
    after: Option<&Cursor>,
) -> Result<RevisionConnection> {
    let list = List::of(Kind::Revisions, work.uuid());
    let page = scope
        .services
        .cursors
        .page::<Version>(&list, first, after)?;
    let found = read_page(scope, work, page).await?;
    let edge = |revision: work::Revision| RevisionEdge {
        cursor: scope.services.cursors.seal(&list, &revision.from_version),
        node: Revision(revision),
    };
    Ok(RevisionConnection {
        edges: found.rows.into_iter().map(edge).collect(),
        has_next: found.has_next,
        has_previous: page.after.is_some(),
    })
}

/// First pages come in one batch for all works of a request; later ones are asked for one work at a time.
async fn read_page(
    scope: &Scope,
    work: WorkId,
    page: PageRequest<Version>,
) -> Result<Page<work::Revision>> {
    if page.after.is_some() {
        return Ok(scope.reads().list_revisions(work, page).await?);
    }
    let rows = scope.newest_revisions(work, page.first + 1).await?;
    Ok(Page::from_overread(rows.to_vec(), page.first))
}
