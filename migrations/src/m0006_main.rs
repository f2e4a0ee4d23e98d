//! Main: the hidden task that reads what a person writes to nobody in particular, and the index over tasks by their last activity.

use sea_orm_migration::prelude::*;

use crate::execute_all;

/// What the router needs of tasks and messages.
#[derive(Debug, DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        execute_all(manager, &STATEMENTS).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

const STATEMENTS: [&str; 5] = [
    "alter table tasks add column main_of BYTES",
    "create unique index tasks_mains on tasks (workspace_id, main_of) where main_of is not null",
    "create index tasks_by_activity on tasks (workspace_id, updated_at, id) where main_of is null",
    "drop index messages_in_inbox",
    "create index messages_in_inbox on messages (workspace_id, task_id) where state in ('DELIVERED', 'RECEIVED', 'ROUTING')",
];
