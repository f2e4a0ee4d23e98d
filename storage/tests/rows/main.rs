//! Rows of both databases, as the ports of the domain promise them.
//!
//! Each test runs on SQLite, and on PostgreSQL where `ATELIER_TEST_POSTGRES_URL` names a server: there in a database of
//! its own.

mod cards;
mod databases;
mod documents;
mod episodes;
mod events;
mod execution;
mod faults;
mod forgetting;
mod groups;
mod histories;
mod jobs;
mod journal;
mod made;
mod many_tasks;
mod memories;
mod memory_seeds;
mod messages;
mod notices;
mod people_in_tasks;
mod schema;
mod seeds;
mod steps;
mod task_events;
mod task_seeds;
mod tasks;
mod turns;
mod works;
