//! Tests of the whole program, from outside: the real binary as a child process, the public contract as its only door.
//!
//! Invariants
//! - A test shares nothing with another: its server listens on a port that the system chose, and has a data folder and a
//!   database of its own.
//! - Where storage is concerned a test runs on both databases; PostgreSQL is the one that `ATELIER_TEST_POSTGRES_URL` names,
//!   and is left out, with a line that says so, where the variable is not set.
//!
//! Not here: what one crate can show by itself; that stands beside its code.

mod harness;

mod agent;
mod assets;
mod documents;
mod faults;
mod generation;
mod graphql;
mod hostile;
mod mcp;
mod memory;
mod operations;
mod people;
mod randomized;
mod routing;
mod search;
mod sync;
mod tasks;
