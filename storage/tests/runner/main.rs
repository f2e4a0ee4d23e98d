//! The store's runner, as its callers see it: on SQLite always, on PostgreSQL where `ATELIER_TEST_POSTGRES_URL` is set.
//!
//! Invariants
//! - Each test has a database of its own, so tests run side by side.
//!
//! Not here: what single rows look like.

mod commands;
mod failures;
mod place;
mod proxy;
mod rows;
mod shared;
mod single;
mod turns;
