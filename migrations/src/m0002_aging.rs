//! Finding expired idempotency keys and a work's refused updates without reading all of them.

use sea_orm_migration::prelude::*;

/// Indexes for sweeping and for looking after a work.
#[derive(Debug, DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for statement in INDEXES {
            manager
                .get_connection()
                .execute_unprepared(statement)
                .await?;
        }
        Ok(())
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

const INDEXES: [&str; 2] = [
    "create index idempotency_by_age on idempotency (at)",
    "create index quarantine_by_work on quarantine (work_id, at)",
];
