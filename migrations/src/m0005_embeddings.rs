//! What texts mean, as vectors by a model, and how far each workspace has come.

use sea_orm_migration::prelude::*;

use crate::execute_all;

/// Tables of embeddings.
#[derive(Debug, DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        execute_all(manager, &TABLES).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

const TABLES: [&str; 3] = [
    "create table embeddings (workspace_id BYTES not null references workspaces (id), model text not null, id BYTES not null, \
     kind text not null, owner BYTES, at bigint not null, text_hash BYTES not null, vector BYTES, written bigint not null, \
     primary key (workspace_id, model, id))",
    "create index embeddings_by_write on embeddings (workspace_id, model, written, id)",
    "create table embedding_marks (workspace_id BYTES not null references workspaces (id), model text not null, \
     writes bigint not null, sequence bigint, primary key (workspace_id, model))",
];
