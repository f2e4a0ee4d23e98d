//! The log of changes and the snapshots of documents.
//!
//! Invariants
//! - Changes are only ever appended; their versions have no gap.
//! - Appending costs the same few statements for one change as for many.

use std::collections::{BTreeSet, HashMap};

use bytes::Bytes;
use domain::Error;
use domain::Result;
use domain::document::Version;
use domain::ids::{WorkId, WorkspaceId};
use domain::work::{Change, PendingChange, Revision, Snapshot, StoredDocument};

use super::history::last_revision;
use super::{Row, Session, WORKSPACE, at, id, json, number, placeholders};
use crate::link::Link;

/// A column of the newest revision of the work that is moved on.
macro_rules! of_last_revision {
    ($column:literal) => {
        concat!(
            "(select ",
            $column,
            " from revisions where workspace_id = $1 and work_id = $2 order by from_version desc limit 1) as last_",
            $column
        )
    };
}

/// Moves a work on, and reads in the same statement the revision that may be extended.
const ADVANCE: &str = concat!(
    "update works set version = version + $3, updated_at = $4, updated_by = $5 where workspace_id = $1 and id = $2 returning version, ",
    of_last_revision!("from_version"),
    ", ",
    of_last_revision!("at"),
    ", ",
    of_last_revision!("actor"),
    ", ",
    of_last_revision!("touched")
);

impl<C: Link> Session<C> {
    pub(super) async fn append(
        &self,
        work: WorkId,
        workspace: WorkspaceId,
        changes: &[PendingChange],
    ) -> Result<Version> {
        let Some(last) = changes.last() else {
            return Err(Error::internal("no change to append"));
        };
        let (first, last_revision) = self.advance(work, workspace, changes.len(), last).await?;
        self.insert_changes(work, workspace, first, changes).await?;
        self.insert_node_versions(work, workspace, first, changes)
            .await?;
        self.extend_revisions((workspace, work), last_revision, first, changes)
            .await?;
        Ok(first)
    }

    /// Moves the work's version on; the version of the first change, and the revision that it may run on.
    async fn advance(
        &self,
        work: WorkId,
        workspace: WorkspaceId,
        count: usize,
        last: &PendingChange,
    ) -> Result<(Version, Option<Revision>)> {
        let values = vec![
            id(workspace.uuid()),
            id(work.uuid()),
            number(count as u64),
            at(last.at),
            last.actor.to_string().into(),
        ];
        let row = self
            .rows_written(ADVANCE, values)
            .await?
            .pop()
            .ok_or_else(|| Error::not_found("work", work))?;
        let row = Row::of("works", &row);
        let first = Version(row.number("version")? + 1 - count as u64);
        Ok((first, last_revision(work, first, &row)?))
    }

    async fn insert_changes(
        &self,
        work: WorkId,
        workspace: WorkspaceId,
        first: Version,
        changes: &[PendingChange],
    ) -> Result<()> {
        let mut values = Vec::with_capacity(changes.len() * 7);
        for (version, change) in (first.0..).zip(changes) {
            values.extend([
                id(workspace.uuid()),
                id(work.uuid()),
                number(version),
                change.actor.to_string().into(),
                at(change.at),
                change.update.to_vec().into(),
                json(&change.touched)?,
            ]);
        }
        self.insert(
            "changes (workspace_id, work_id, version, actor, at, body, touched)",
            7,
            values,
        )
        .await
    }

    async fn insert_node_versions(
        &self,
        work: WorkId,
        workspace: WorkspaceId,
        first: Version,
        changes: &[PendingChange],
    ) -> Result<()> {
        let mut values = Vec::new();
        for (version, change) in (first.0..).zip(changes) {
            for path in change.touched.nodes.keys() {
                values.extend([
                    id(workspace.uuid()),
                    id(work.uuid()),
                    path.as_str().into(),
                    number(version),
                    change.actor.to_string().into(),
                ]);
            }
        }
        self.insert(
            "node_versions (workspace_id, work_id, path, version, actor)",
            5,
            values,
        )
        .await
    }

    pub(super) async fn documents(
        &self,
        ids: &[WorkId],
        at: Option<Version>,
    ) -> Result<Vec<StoredDocument>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut snapshots = self.snapshots(ids, at).await?;
        let mut changes = self.changes_after(ids, &snapshots, at).await?;
        let document = |work: &WorkId| StoredDocument {
            work: *work,
            snapshot: snapshots.remove(work),
            changes: changes.remove(work).unwrap_or_default(),
        };
        Ok(ids.iter().map(document).collect())
    }

    async fn snapshots(
        &self,
        ids: &[WorkId],
        at: Option<Version>,
    ) -> Result<HashMap<WorkId, Snapshot>> {
        let sql = format!(
            "select s.work_id, s.version, s.state from works w \
             join snapshots s on s.workspace_id = w.workspace_id and s.work_id = w.id where w.id in ({}) and s.version = \
             (select max(n.version) from snapshots n where n.workspace_id = w.workspace_id and n.work_id = w.id and n.version <= $1)",
            placeholders(2, ids.len())
        );
        let values = std::iter::once(bound(at)).chain(ids.iter().map(|work| id(work.uuid())));
        let rows = self.rows(&sql, values.collect()).await?;
        rows.iter()
            .map(|row| {
                let row = Row::of("snapshots", row);
                let work = WorkId::from_uuid(row.uuid("work_id")?);
                let state = Bytes::from(row.get::<Vec<u8>>("state")?);
                Ok((
                    work,
                    Snapshot {
                        work,
                        version: Version(row.number("version")?),
                        state,
                    },
                ))
            })
            .collect()
    }

    /// Changes after the snapshots that were read. The newest snapshot by now may be another one, stored in between, so it
    /// is not asked for again: the changes before it would be missed.
    async fn changes_after(
        &self,
        ids: &[WorkId],
        snapshots: &HashMap<WorkId, Snapshot>,
        at: Option<Version>,
    ) -> Result<HashMap<WorkId, Vec<(Version, Bytes)>>> {
        let distinct: BTreeSet<WorkId> = ids.iter().copied().collect();
        let wanted: Vec<String> = (0..distinct.len())
            .map(|place| format!("({})", placeholders(place * 2 + 2, 2)))
            .collect();
        let sql = format!(
            "with wanted (id, after) as (values {}) select c.work_id, c.version, c.body from wanted join works w on w.id = wanted.id \
             join changes c on c.workspace_id = w.workspace_id and c.work_id = w.id and c.version > wanted.after and c.version <= $1 \
             order by c.work_id, c.version",
            wanted.join(", ")
        );
        let mut values = vec![bound(at)];
        for work in distinct {
            let after = snapshots
                .get(&work)
                .map_or(0, |snapshot| snapshot.version.0);
            values.extend([id(work.uuid()), number(after)]);
        }
        let mut changes: HashMap<WorkId, Vec<_>> = HashMap::new();
        for row in self.rows(&sql, values).await? {
            let row = Row::of("changes", &row);
            let update = Bytes::from(row.get::<Vec<u8>>("body")?);
            changes
                .entry(WorkId::from_uuid(row.uuid("work_id")?))
                .or_default()
                .push((Version(row.number("version")?), update));
        }
        Ok(changes)
    }

    pub(super) async fn changes(
        &self,
        work: WorkId,
        after: Version,
        limit: u32,
    ) -> Result<Vec<Change>> {
        let sql = format!(
            "select * from changes where {WORKSPACE} and work_id = $1 and version > $2 order by version limit $3"
        );
        let rows = self
            .rows(
                &sql,
                vec![id(work.uuid()), number(after.0), number(u64::from(limit))],
            )
            .await?;
        rows.iter()
            .map(|row| {
                let row = Row::of("changes", row);
                Ok(Change {
                    work,
                    version: Version(row.number("version")?),
                    actor: row.parsed("actor")?,
                    at: row.time("at")?,
                    update: Bytes::from(row.get::<Vec<u8>>("body")?),
                    touched: row.json("touched")?,
                })
            })
            .collect()
    }
}

/// The highest version that is wanted.
pub(super) fn bound(at: Option<Version>) -> sea_orm::Value {
    number(at.map_or(i64::MAX as u64, |version| version.0))
}
