//! The installation as a whole: its secret, and what those who look after the server read across workspaces.
//!
//! Invariants
//! - The secret is made once; every process of an installation gets the same one.
//! - [`InstallationReads`] is never used on behalf of a caller: nothing here asks for permission.
//!
//! Not here: what is signed with keys made from the secret (`api`).

use std::fmt;

use async_trait::async_trait;

use crate::error::Result;
use crate::ids::{MessageId, TaskId, WorkId, WorkspaceId};
use crate::store::{Command, Scope, Transaction};
use crate::work::AssetFile;

/// Random bytes that every process of an installation shares; keys for signatures are made from it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct InstallationSecret(pub [u8; 32]);

impl fmt::Debug for InstallationSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("InstallationSecret(…)")
    }
}

/// Gives the secret of the installation; the candidate becomes it where there is none yet.
#[derive(Debug, Clone)]
pub struct EnsureSecret {
    /// Fresh random bytes.
    pub candidate: InstallationSecret,
}

#[async_trait]
impl Command for EnsureSecret {
    type Output = InstallationSecret;
    const NAME: &'static str = "installation.ensure_secret";

    fn scope(&self) -> Scope {
        Scope::Installation
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<InstallationSecret> {
        tx.ensure_secret(&self.candidate).await
    }
}

/// Writing what belongs to the installation.
#[async_trait]
pub trait InstallationWrites {
    /// Stores the candidate where there is no secret yet, and gives the one that is stored; processes that start at the
    /// same moment get the same one.
    async fn ensure_secret(&self, candidate: &InstallationSecret) -> Result<InstallationSecret>;
}

/// Reading across workspaces, in the order of ids.
#[async_trait]
pub trait InstallationReads {
    /// Ids of workspaces after one, at most `limit`.
    async fn list_workspace_ids(
        &self,
        after: Option<WorkspaceId>,
        limit: u32,
    ) -> Result<Vec<WorkspaceId>>;
    /// Ids of a workspace's works after one, those in the bin included, at most `limit`.
    async fn list_work_ids(
        &self,
        workspace: WorkspaceId,
        after: Option<WorkId>,
        limit: u32,
    ) -> Result<Vec<WorkId>>;
    /// Ids of a workspace's tasks after one, at most `limit`.
    async fn list_task_ids(
        &self,
        workspace: WorkspaceId,
        after: Option<TaskId>,
        limit: u32,
    ) -> Result<Vec<TaskId>>;
    /// Ids of a workspace's messages after one, at most `limit`.
    async fn list_message_ids(
        &self,
        workspace: WorkspaceId,
        after: Option<MessageId>,
        limit: u32,
    ) -> Result<Vec<MessageId>>;
    /// The files that came to a workspace by uploads, by SHA-256 and after one, at most `limit`.
    async fn list_files(
        &self,
        workspace: WorkspaceId,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<AssetFile>>;
    /// How many updates of each work lie in quarantine; works without any are left out.
    async fn count_quarantined(&self, workspace: WorkspaceId) -> Result<Vec<(WorkId, u64)>>;
}
