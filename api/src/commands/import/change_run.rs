//! Changes of an archive, gathered so that many are stored in one transaction.

use anyhow::Result;
use domain::actor::Actor;
use domain::archive::ImportChanges;
use domain::document::Version;
use domain::ids::{WorkId, WorkspaceId};
use domain::store::StoreExt as _;
use domain::work::PendingChange;

use super::super::archive::rows::ChangeRow;
use super::super::installation::Installation;

/// Changes that are stored at once.
const CHANGES: usize = 500;
/// Their bytes, about.
const BYTES: usize = 8 << 20;

/// Consecutive changes of one work that are stored together.
#[derive(Default)]
pub(super) struct ChangeRun {
    work: Option<WorkId>,
    after: Version,
    changes: Vec<PendingChange>,
    bytes: usize,
}

impl ChangeRun {
    /// Whether the change can still be stored with these.
    pub(super) fn takes(&self, row: &ChangeRow) -> bool {
        self.changes.is_empty()
            || (self.work == Some(row.work) && self.changes.len() < CHANGES && self.bytes < BYTES)
    }

    /// Adds a change.
    pub(super) fn push(&mut self, row: ChangeRow, actor: Actor) {
        if self.changes.is_empty() {
            self.work = Some(row.work);
            self.after = Version(row.version.0 - 1);
            self.bytes = 0;
        }
        self.bytes += row.update.len();
        self.changes.push(row.into_pending(actor));
    }

    /// Stores what was added, and begins anew.
    pub(super) async fn store(
        &mut self,
        installation: &Installation,
        workspace: WorkspaceId,
    ) -> Result<()> {
        let Some(work) = self.work.filter(|_| !self.changes.is_empty()) else {
            return Ok(());
        };
        let command = ImportChanges {
            workspace,
            work,
            after: self.after,
            changes: std::mem::take(&mut self.changes),
        };
        installation.store.run(command).await?;
        Ok(())
    }
}
