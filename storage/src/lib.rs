//! The ports of the domain on SQLite and PostgreSQL, and blobs in a folder or S3.
//!
//! Invariants
//! - `store` alone begins, commits and retries transactions.
//! - Both databases behave alike; what only one can do stays inside this crate.
//!
//! Not here: the schema (`migrations`), rules of any kind (`domain`).

mod blobs;
mod error;
#[cfg(feature = "test-support")]
pub mod faults;
mod link;
mod open;
mod session;
mod store;
#[cfg(feature = "test-support")]
pub mod test_support;
mod wake;

pub use open::{Storage, StorageOptions, open, open_beside};
