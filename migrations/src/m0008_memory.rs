//! Memories: chains of versions, what they rest on, what waits to be extracted, and what was forgotten.

use sea_orm_migration::prelude::*;

use crate::execute_all;

/// Tables of memories.
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

const STATEMENTS: [&str; 20] = [
    "alter table events add column memory_id BYTES",
    "create table memories (workspace_id BYTES not null references workspaces (id), id BYTES not null unique, kind text not null, \
     scope text not null, scope_key BYTES not null, basis text not null, state text not null, head bigint, versions bigint not null, \
     words BYTES, confirmations bigint not null, for_profile boolean not null, in_profile boolean not null, created_at bigint not null, \
     updated_at bigint not null, primary key (workspace_id, id))",
    // Lists and counts of a person's page are answered from it alone.
    "create index memories_by_age on memories (workspace_id, created_at, id, scope, scope_key, state)",
    "create unique index memories_by_words on memories (workspace_id, scope_key, words) where state = 'ACTIVE'",
    "create index memories_holding on memories (workspace_id, scope_key, updated_at) where state = 'ACTIVE'",
    "create index memories_in_profile on memories (workspace_id, scope_key, created_at) where in_profile",
    "create table memory_versions (workspace_id BYTES not null, memory_id BYTES not null, number bigint not null, content text, \
     words BYTES, state text not null, basis text not null, valid_from bigint, valid_to bigint, created_at bigint not null, \
     primary key (workspace_id, memory_id, number), foreign key (workspace_id, memory_id) references memories (workspace_id, id))",
    "create table derivations (workspace_id BYTES not null, memory_id BYTES not null, number bigint not null, \
     from_memory BYTES not null, from_number bigint not null, \
     primary key (workspace_id, memory_id, number, from_memory, from_number))",
    "create index derivations_forward on derivations (workspace_id, from_memory, from_number)",
    "create table evidence (workspace_id BYTES not null, memory_id BYTES not null, number bigint not null, \
     message_id BYTES not null, role text not null, quote text, primary key (workspace_id, memory_id, number, message_id))",
    "create index evidence_by_message on evidence (workspace_id, message_id)",
    "create table forgotten_messages (workspace_id BYTES not null, message_id BYTES not null, user_id BYTES not null, \
     at bigint not null, primary key (workspace_id, message_id))",
    "create table tombstones (workspace_id BYTES not null, id BYTES not null, scope_key BYTES not null, words BYTES not null, \
     memory_id BYTES not null, number bigint not null, user_id BYTES not null, at bigint not null, primary key (workspace_id, id))",
    "create index tombstones_by_words on tombstones (workspace_id, words, scope_key)",
    "create table memory_rejections (workspace_id BYTES not null, id BYTES not null, user_id BYTES not null, content text not null, \
     reason text not null, detail text not null, messages text not null, at bigint not null, primary key (workspace_id, id))",
    "create index memory_rejections_by_age on memory_rejections (workspace_id, user_id, at, id)",
    "create table profiles (workspace_id BYTES not null, owner BYTES not null, version bigint not null, forgets bigint not null, \
     primary key (workspace_id, owner))",
    "create table extractions (workspace_id BYTES not null, memory_id BYTES not null, message_id BYTES not null, user_id BYTES not null, \
     task_id BYTES not null, is_stated boolean not null, state text not null, attempts bigint not null, not_before bigint not null, \
     queued_at bigint not null, primary key (workspace_id, memory_id, message_id))",
    "create index extractions_waiting on extractions (workspace_id, user_id, task_id, memory_id) where state = 'WAITING'",
    "create table left_out (workspace_id BYTES not null, subject BYTES not null, number bigint not null, \
     primary key (workspace_id, subject, number))",
];
