//! The search over real storage: what is found, by whom, how soon, and what is left of what was deleted.
//!
//! Invariants
//! - Tests wait for conditions; each has a database and a folder of its own, and runs on both databases.

mod acceptance;
mod found;
mod house;
mod isolation;
mod keeping;
mod meanings;
mod memories;
