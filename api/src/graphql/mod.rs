//! GraphQL: the schema, and what lies before, around and behind the executor.
//!
//! Invariants
//! - Every document passes [`budget`] before the executor sees it, on every transport.
//! - Every error passes [`error::present`] before a client sees it: a contract code, or masked.
//! - Only the transports know HTTP and sockets; only this crate knows the executor.
//! - What the caller may not see looks as if it were not there.
//!
//! Not here: rules and permissions of changes (`domain`).

pub mod budget;
mod choice;
mod connection;
mod cursor;
pub mod error;
pub mod loader;
mod loaders;
mod model;
mod mutation;
mod query;
mod scalars;
mod schema;
mod scope;
mod services;
mod subscription;
#[cfg(test)]
mod tests;
pub mod transport;

pub use cursor::CursorKey;
pub use mutation::Mutation;
pub use query::Query;
pub use schema::{AtelierSchema, schema, sdl};
pub use services::{AssetUrls, Services};
pub use subscription::Subscription;
