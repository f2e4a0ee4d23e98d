//! Rows of both databases, as the ports of the domain promise them.
//!
//! Each test runs on SQLite, and on PostgreSQL where `ATELIER_TEST_POSTGRES_URL` names a server: there in a database of
//! its own.

mod databases;
mod documents;
mod events;
mod faults;
mod schema;
mod seeds;
mod works;
