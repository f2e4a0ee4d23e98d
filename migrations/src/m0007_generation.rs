//! Orders at media providers, what providers said about them, the ledger and budgets; questions of cost; who wrote as a program.
//!
//! Invariants
//! - The ledger is only ever appended: below the API too.

use sea_orm_migration::prelude::*;

use crate::execute_all;
use crate::m0004_tasks::refuse_rewriting;

/// What paid work needs.
#[derive(Debug, DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        execute_all(manager, &STATEMENTS).await?;
        refuse_rewriting(manager, "ledger").await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

const STATEMENTS: [&str; 14] = [
    // What changes with each look stands in columns; the order itself is one JSON text.
    "create table jobs (workspace_id BYTES not null references workspaces (id), id BYTES not null unique, task_id BYTES not null, \
     call_id text not null, provider text not null, upstream_id text, is_under_way boolean not null, due_at bigint, \
     created_at bigint not null, body text not null, primary key (workspace_id, id), unique (workspace_id, call_id))",
    "create index jobs_by_task on jobs (workspace_id, task_id, created_at, id)",
    "create index jobs_under_way on jobs (workspace_id, task_id) where is_under_way",
    "create index jobs_due on jobs (due_at, id) where due_at is not null",
    "create index jobs_by_upstream on jobs (provider, upstream_id) where upstream_id is not null",
    "create table job_notices (workspace_id BYTES not null, job_id BYTES not null, notice text not null, at bigint not null, \
     primary key (workspace_id, job_id, notice), foreign key (workspace_id, job_id) references jobs (workspace_id, id))",
    "create table ledger (workspace_id BYTES not null references workspaces (id), sequence bigint not null, id BYTES not null unique, \
     kind text not null, amount_micros bigint not null check (amount_micros > 0), job_id BYTES not null, task_id BYTES not null, \
     at bigint not null, primary key (workspace_id, sequence))",
    "create index ledger_by_age on ledger (workspace_id, at)",
    "create table budgets (workspace_id BYTES not null references workspaces (id) primary key, limit_micros bigint, \
     per_operation_micros bigint not null, daily_micros bigint not null, spent_micros bigint not null, \
     reserved_micros bigint not null, ledger_head bigint not null)",
    "alter table events add column job_id BYTES",
    "alter table cards add column cost_micros bigint",
    "alter table cards add column job_id BYTES",
    "alter table messages add column by_program boolean not null default false",
    "create index cards_by_job on cards (workspace_id, job_id) where job_id is not null",
];
