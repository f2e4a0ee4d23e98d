//! Who touched which node at which version, and the revisions that people see as history.
//!
//! Invariants
//! - A revision is a run of one actor without a pause over a minute; it grows at its end and never changes otherwise.

use domain::Result;
use domain::document::Version;
use domain::ids::{WorkId, WorkspaceId};
use domain::page::{Page, PageRequest};
use domain::work::{NodeVersion, PendingChange, Revision};
use std::time::Duration;

use super::documents::bound;
use super::{Row, Session, WORKSPACE, at, id, json, number, placeholders};
use crate::link::{DatabaseRow, Link};

/// A longer pause ends a run.
const PAUSE: Duration = Duration::from_mins(1);
/// Revisions that conflicts list at most.
const REVISIONS_AFTER: u32 = 100;

fn revision(row: &DatabaseRow) -> Result<Revision> {
    let row = Row::of("revisions", row);
    Ok(Revision {
        work: WorkId::from_uuid(row.uuid("work_id")?),
        from_version: Version(row.number("from_version")?),
        to_version: Version(row.number("to_version")?),
        at: row.time("at")?,
        actor: row.parsed("actor")?,
        touched: row.json("touched")?,
    })
}

/// The newest revision of a work, from the columns `last_…` of the row that moved the work on to `first`.
pub(super) fn last_revision(
    work: WorkId,
    first: Version,
    row: &Row<'_>,
) -> Result<Option<Revision>> {
    let from: Option<i64> = row.get("last_from_version")?;
    if from.is_none() {
        return Ok(None);
    }
    Ok(Some(Revision {
        work,
        from_version: Version(row.number("last_from_version")?),
        to_version: Version(first.0 - 1),
        at: row.time("last_at")?,
        actor: row.parsed("last_actor")?,
        touched: row.json("last_touched")?,
    }))
}

fn node_version(row: &DatabaseRow) -> Result<NodeVersion> {
    let row = Row::of("node_versions", row);
    Ok(NodeVersion {
        work: WorkId::from_uuid(row.uuid("work_id")?),
        node: row.get("path")?,
        version: Version(row.number("version")?),
        actor: row.parsed("actor")?,
    })
}

impl<C: Link> Session<C> {
    /// Extends the newest revision by changes that run on from it, and adds those that begin after it.
    pub(super) async fn extend_revisions(
        &self,
        (workspace, work): (WorkspaceId, WorkId),
        newest: Option<Revision>,
        first: Version,
        changes: &[PendingChange],
    ) -> Result<()> {
        let is_extended = |newest: &Revision| runs_on(newest, &changes[0]);
        let mut runs: Vec<Revision> = Vec::new();
        let mut run = newest.filter(is_extended);
        let extended_from = run.as_ref().map(|run| run.from_version);
        for (version, change) in (first.0..).map(Version).zip(changes) {
            if let Some(run) = run.as_mut().filter(|run| runs_on(run, change)) {
                run.to_version = version;
                run.at = change.at;
                run.touched.merge(change.touched.clone());
                continue;
            }
            runs.extend(run.replace(Revision {
                work,
                from_version: version,
                to_version: version,
                at: change.at,
                actor: change.actor.clone(),
                touched: change.touched.clone(),
            }));
        }
        runs.extend(run);
        self.store_revisions(workspace, &runs, extended_from).await
    }

    async fn store_revisions(
        &self,
        workspace: WorkspaceId,
        runs: &[Revision],
        extended_from: Option<Version>,
    ) -> Result<()> {
        let mut values = Vec::new();
        for run in runs {
            if Some(run.from_version) == extended_from {
                let sql = "update revisions set to_version = $4, at = $5, touched = $6 where workspace_id = $1 and work_id = $2 and from_version = $3";
                let keys = [
                    id(workspace.uuid()),
                    id(run.work.uuid()),
                    number(run.from_version.0),
                ];
                let changed = [number(run.to_version.0), at(run.at), json(&run.touched)?];
                self.execute(sql, keys.into_iter().chain(changed).collect())
                    .await?;
                continue;
            }
            values.extend([
                id(workspace.uuid()),
                id(run.work.uuid()),
                number(run.from_version.0),
                number(run.to_version.0),
                at(run.at),
                run.actor.to_string().into(),
                json(&run.touched)?,
            ]);
        }
        self.insert(
            "revisions (workspace_id, work_id, from_version, to_version, at, actor, touched)",
            7,
            values,
        )
        .await
    }

    pub(super) async fn revisions_page(
        &self,
        work: WorkId,
        page: PageRequest<Version>,
    ) -> Result<Page<Revision>> {
        let sql = format!(
            "select * from revisions where {WORKSPACE} and work_id = $1 and from_version < $2 order by from_version desc limit $3"
        );
        let before = bound(page.after);
        let rows = self
            .rows(
                &sql,
                vec![id(work.uuid()), before, number(u64::from(page.first) + 1)],
            )
            .await?;
        Ok(Page::from_overread(
            rows.iter().map(revision).collect::<Result<_>>()?,
            page.first,
        ))
    }

    pub(super) async fn newest_revisions(
        &self,
        works: &[WorkId],
        limit: u32,
    ) -> Result<Vec<Revision>> {
        if works.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "select * from (select r.*, row_number() over (partition by r.work_id order by r.from_version desc) as place from works w \
             join revisions r on r.workspace_id = w.workspace_id and r.work_id = w.id where w.id in ({})) ranked \
             where place <= $1 order by work_id, from_version desc",
            placeholders(2, works.len())
        );
        let values = std::iter::once(number(u64::from(limit)))
            .chain(works.iter().map(|work| id(work.uuid())));
        let rows = self.rows(&sql, values.collect()).await?;
        rows.iter().map(revision).collect()
    }

    pub(super) async fn revisions_after(
        &self,
        work: WorkId,
        version: Version,
    ) -> Result<Vec<Revision>> {
        let sql = format!(
            "select * from revisions where {WORKSPACE} and work_id = $1 and to_version > $2 order by from_version limit $3"
        );
        let rows = self
            .rows(
                &sql,
                vec![
                    id(work.uuid()),
                    number(version.0),
                    number(u64::from(REVISIONS_AFTER)),
                ],
            )
            .await?;
        rows.iter().map(revision).collect()
    }

    pub(super) async fn node_versions(
        &self,
        works: &[WorkId],
        at: Option<Version>,
    ) -> Result<Vec<NodeVersion>> {
        if works.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "select n.work_id, n.path, n.version, n.actor from node_versions n \
             join (select v.workspace_id, v.work_id, v.path, max(v.version) as version from works w \
             join node_versions v on v.workspace_id = w.workspace_id and v.work_id = w.id where w.id in ({}) and v.version <= $1 \
             group by v.workspace_id, v.work_id, v.path) l \
             on l.workspace_id = n.workspace_id and l.work_id = n.work_id and l.path = n.path and l.version = n.version",
            placeholders(2, works.len())
        );
        let values = std::iter::once(bound(at)).chain(works.iter().map(|work| id(work.uuid())));
        let rows = self.rows(&sql, values.collect()).await?;
        rows.iter().map(node_version).collect()
    }

    pub(super) async fn node_actors(&self, work: WorkId, at: Version) -> Result<Vec<NodeVersion>> {
        let sql = format!(
            "select work_id, path, max(version) as version, actor from node_versions \
             where {WORKSPACE} and work_id = $1 and version <= $2 group by work_id, path, actor"
        );
        let rows = self
            .rows(&sql, vec![id(work.uuid()), bound(Some(at))])
            .await?;
        rows.iter().map(node_version).collect()
    }
}

fn runs_on(run: &Revision, change: &PendingChange) -> bool {
    run.actor == change.actor && change.at.since(run.at) <= PAUSE
}
