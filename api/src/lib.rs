//! The outside of Atelier: GraphQL, sockets, assets, configuration; everything that is spoken over a network.
//!
//! Invariants
//! - Nothing but the health checks and the studio's static files is served without a token.
//!
//! Not here: rules (`domain`), SQL (`storage`).

pub mod assets;
pub mod auth;
pub mod bootstrap;
pub mod callbacks;
pub mod config;
pub mod cross_origin;
pub mod graphql;
pub mod health;
pub mod mcp;
pub mod server;
pub mod studio;
pub mod sync;
pub mod telemetry;
#[cfg(feature = "test-support")]
pub mod test_support;
#[cfg(test)]
mod testing;
pub mod tokens;
