//! The history of the database schema: forward only, the same for SQLite and PostgreSQL.
//!
//! Invariants
//! - A migration that has landed never changes; a new one follows it.
//! - `workspace_id` comes first in the key of every row that belongs to a workspace.
//! - Ids are 16 bytes, times microseconds, JSON and enumerations text: both databases give back what was written.
//!
//! Not here: reading and writing rows (`storage`).

mod m0001_ground;
mod m0002_aging;
mod m0003_one_key;
mod m0004_tasks;
mod m0005_embeddings;
mod m0006_main;
mod m0007_generation;
mod m0008_memory;
mod m0009_one_tree;

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend};

/// All migrations, oldest first.
#[derive(Debug)]
pub struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(m0001_ground::Migration),
            Box::new(m0002_aging::Migration),
            Box::new(m0003_one_key::Migration),
            Box::new(m0004_tasks::Migration),
            Box::new(m0005_embeddings::Migration),
            Box::new(m0006_main::Migration),
            Box::new(m0007_generation::Migration),
            Box::new(m0008_memory::Migration),
            Box::new(m0009_one_tree::Migration),
        ]
    }
}

/// Carries out statements in which `BYTES` stands for the one type whose name the two databases do not share.
async fn execute_all(manager: &SchemaManager<'_>, statements: &[&str]) -> Result<(), DbErr> {
    let bytes = if manager.get_database_backend() == DbBackend::Postgres {
        "bytea"
    } else {
        "blob"
    };
    for statement in statements {
        manager
            .get_connection()
            .execute_unprepared(&statement.replace("BYTES", bytes))
            .await?;
    }
    Ok(())
}
