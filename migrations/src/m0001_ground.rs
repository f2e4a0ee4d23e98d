//! People, events, works and their history.

use sea_orm_migration::prelude::*;

use crate::execute_all;

/// The first tables.
#[derive(Debug, DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        execute_all(manager, &TABLES).await
    }

    fn use_transaction(&self) -> Option<bool> {
        // A process that dies halfway leaves no half of the tables.
        Some(true)
    }
}

const TABLES: [&str; 23] = [
    "create table installation (name text primary key, value BYTES not null)",
    "create table users (id BYTES primary key, name text not null, email text unique, created_in BYTES, created_at bigint not null)",
    "create table tokens (id BYTES primary key, user_id BYTES not null references users (id), label text not null, kind text not null, \
     hash_prefix BYTES not null, secret_hash BYTES not null unique, created_at bigint not null, last_used_at bigint, expires_at bigint)",
    "create index tokens_by_prefix on tokens (hash_prefix)",
    "create index tokens_by_user on tokens (user_id, created_at)",
    "create table workspaces (id BYTES primary key, name text not null, created_at bigint not null, event_sequence bigint not null)",
    "create table members (workspace_id BYTES not null references workspaces (id), user_id BYTES not null references users (id), \
     role text not null, joined_at bigint not null, primary key (workspace_id, user_id))",
    "create index members_by_user on members (user_id)",
    "create table events (workspace_id BYTES not null references workspaces (id), sequence bigint not null, kind text not null, \
     work_id BYTES, user_id BYTES, actor text not null, at bigint not null, data text not null, primary key (workspace_id, sequence))",
    "create table works (workspace_id BYTES not null references workspaces (id), id BYTES not null unique, kind text not null, \
     title text not null, version bigint not null, created_at bigint not null, updated_at bigint not null, updated_by text not null, \
     deleted_at bigint, sha256 text, media_type text, byte_size bigint, primary key (workspace_id, id))",
    "create index works_by_age on works (workspace_id, created_at, id)",
    "create table changes (workspace_id BYTES not null, work_id BYTES not null, version bigint not null, actor text not null, \
     at bigint not null, body BYTES not null, touched text not null, primary key (workspace_id, work_id, version))",
    "create index changes_by_work on changes (work_id, version)",
    "create table snapshots (workspace_id BYTES not null, work_id BYTES not null, version bigint not null, state BYTES not null, \
     primary key (workspace_id, work_id, version))",
    "create index snapshots_by_work on snapshots (work_id, version)",
    "create table node_versions (workspace_id BYTES not null, work_id BYTES not null, path text not null, version bigint not null, \
     actor text not null, primary key (workspace_id, work_id, path, version))",
    "create index node_versions_by_work on node_versions (work_id, path, version)",
    "create table revisions (workspace_id BYTES not null, work_id BYTES not null, from_version bigint not null, \
     to_version bigint not null, at bigint not null, actor text not null, touched text not null, \
     primary key (workspace_id, work_id, from_version))",
    "create index revisions_by_work on revisions (work_id, from_version)",
    "create table quarantine (workspace_id BYTES not null, id BYTES not null, work_id BYTES not null, actor text not null, \
     reason text not null, body BYTES not null, at bigint not null, primary key (workspace_id, id))",
    "create table uploads (workspace_id BYTES not null, id BYTES not null unique, work_id BYTES not null, user_id BYTES not null, \
     media_type text not null, byte_size bigint not null, created_at bigint not null, finished_at bigint, \
     primary key (workspace_id, id))",
    "create table files (workspace_id BYTES not null, sha256 text not null, media_type text not null, byte_size bigint not null, \
     primary key (workspace_id, sha256))",
    "create table idempotency (actor text not null, mutation text not null, request_key text not null, input_hash BYTES not null, \
     result text not null, at bigint not null, primary key (actor, mutation, request_key))",
];
