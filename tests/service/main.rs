//! The document service over real storage, as the tools of the agent call it: no process, no socket, no GraphQL between.
//!
//! Invariants
//! - Each test has a database of its own: SQLite always, PostgreSQL where `ATELIER_TEST_POSTGRES_URL` names a server.
//! - Several processes are several services; what stands between them and the database can hold a command back or lose it.
//!
//! Not here: what the whole program shows (`main.rs` beside this folder).

mod conflicts;
mod editing;
mod place;
#[expect(
    dead_code,
    reason = "the tests of the whole program need more of an editor's replica"
)]
#[path = "../harness/editor/replica.rs"]
mod replica;
mod rest;
mod snapshots;
mod store;
mod studio;
mod texts;
mod unplaced;
