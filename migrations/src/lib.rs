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

use sea_orm_migration::prelude::*;

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
        ]
    }
}
