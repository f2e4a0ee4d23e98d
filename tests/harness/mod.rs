//! What the tests stand on: installations, servers, and clients of every door.
//!
//! Invariants
//! - Waiting is for a condition, with a limit; nothing waits for time to pass.
//! - Whatever a test started ends with it; what a failed test leaves behind is its folder, which is named.

pub(crate) mod client;
pub(crate) mod cluster;
pub(crate) mod database;
pub(crate) mod editor;
pub(crate) mod installation;
pub(crate) mod mcp;
pub(crate) mod model;
pub(crate) mod people;
pub(crate) mod random;
pub(crate) mod server;
pub(crate) mod socket;
pub(crate) mod sse;
pub(crate) mod subscription;
pub(crate) mod tasks;
pub(crate) mod worker;
pub(crate) mod works;

use std::time::{Duration, Instant};

pub(crate) use client::{Answer, Client};
pub(crate) use database::Database;
pub(crate) use editor::{Editor, Protocol};
pub(crate) use installation::Installation;
pub(crate) use model::Planner;
pub(crate) use people::Person;
pub(crate) use random::Random;
pub(crate) use server::Server;
pub(crate) use tasks::Task;
pub(crate) use worker::Worker;
pub(crate) use works::Work;

/// How long anything may take that should happen soon. Generous: the machine may be busy with other tests.
pub(crate) const SOON: Duration = Duration::from_secs(30);

/// Waits until a condition holds, asking again every few milliseconds; fails after [`SOON`] with what was waited for.
pub(crate) async fn eventually<F>(what: &str, mut condition: F)
where
    F: AsyncFnMut() -> bool,
{
    let began = Instant::now();
    while !condition().await {
        assert!(began.elapsed() < SOON, "it did not come about: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A number from the environment.
pub(crate) fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    let number = text.parse();
    Some(number.unwrap_or_else(|_| panic!("{name} is no number: {text}")))
}

/// Makes tests of functions that take an `&Installation`: each runs on SQLite and on PostgreSQL.
macro_rules! on_both_databases {
    ($($name:ident),* $(,)?) => {$(
        mod $name {
            use crate::harness::{Database, Installation};

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() {
                let installation = Installation::new(Database::Sqlite);
                Box::pin(super::$name(&installation)).await;
                installation.remove().await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_postgres() {
                let Some(database) = Database::postgres().await else {
                    return;
                };
                let installation = Installation::new(database);
                Box::pin(super::$name(&installation)).await;
                installation.remove().await;
            }
        }
    )*};
}

/// Makes tests of functions that take an `&Installation`, for what does not depend on the database: each runs on SQLite.
macro_rules! on_sqlite {
    ($($name:ident),* $(,)?) => {$(
        mod $name {
            use crate::harness::{Database, Installation};

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() {
                let installation = Installation::new(Database::Sqlite);
                Box::pin(super::$name(&installation)).await;
                installation.remove().await;
            }
        }
    )*};
}

/// Makes tests of functions that take an `&Installation`, for what only several processes show: each runs on PostgreSQL.
macro_rules! on_postgres {
    ($($name:ident),* $(,)?) => {$(
        mod $name {
            use crate::harness::{Database, Installation};

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_postgres() {
                let Some(database) = Database::postgres().await else {
                    return;
                };
                let installation = Installation::new(database);
                Box::pin(super::$name(&installation)).await;
                installation.remove().await;
            }
        }
    )*};
}

pub(crate) use {on_both_databases, on_postgres, on_sqlite};
