//! GraphQL: what lies before, around and behind the executor.
//!
//! Invariants
//! - Every document passes [`budget`] before the executor sees it, on every transport.
//! - Every error passes [`error::present`] before a client sees it: a contract code, or masked.
//! - Only the transports know HTTP and sockets; only this crate knows the executor.
//!
//! Not here: the schema's types and resolvers.

pub mod budget;
pub mod error;
pub mod loader;
pub mod transport;
