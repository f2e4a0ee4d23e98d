//! One index for each table of a work's history: its key, which starts with the workspace. A second one by work alone cost a
//! write with each change, and finding the workspace of a work costs one look.

use sea_orm_migration::prelude::*;

/// Drops the second indexes.
#[derive(Debug, DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for index in INDEXES {
            let statement = format!("drop index {index}");
            manager
                .get_connection()
                .execute_unprepared(&statement)
                .await?;
        }
        Ok(())
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

const INDEXES: [&str; 4] = [
    "changes_by_work",
    "snapshots_by_work",
    "node_versions_by_work",
    "revisions_by_work",
];
