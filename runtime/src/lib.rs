//! The agent: the loop that moves tasks on, what it tells a model, what a model may do, and who is behind the models.
//!
//! Invariants
//! - What happens next follows from stored state alone; a process that dies at any point loses nothing but time.
//! - Everything is done through the services and commands that people use, with the turn's epoch on every write.
//!
//! Not here: the rules of tasks, turns and calls (`domain`), SQL (`storage`), wiring (`api`).

mod clean;
pub mod context;
mod decision;
pub mod engine;
pub mod executors;
pub mod media;
pub mod memory;
pub mod model;
pub mod offline;
mod prompt_lint;
pub mod router;
pub mod tools;
pub mod worker;
