//! The outside of Atelier: GraphQL, sockets, assets, configuration; everything that is spoken over a network.
//!
//! Invariants
//! - Nothing but the health checks and the studio's static files is served without a token.
//!
//! Not here: rules (`domain`), SQL (`storage`).

pub mod auth;
pub mod graphql;
pub mod sync;
#[cfg(feature = "test-support")]
pub mod test_support;
