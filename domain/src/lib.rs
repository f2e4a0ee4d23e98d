//! The model and the rules of Atelier: every noun, the commands that change it, and the document service.
//!
//! Invariants
//! - No I/O of its own: storage, blobs and the clock are ports (`store`, `blob`, `time`).
//! - A command is a plain value, run in one transaction and perhaps more than once; see [`store::Command`].
//! - What a caller may not see is [`Error::NotFound`], the same as what does not exist.
//!
//! Not here: SQL (`storage`), GraphQL and sockets (`api`).

pub mod actor;
pub mod archive;
pub mod blob;
pub mod card;
pub mod document;
pub mod embedding;
pub mod error;
pub mod event;
pub mod idempotency;
pub mod ids;
pub mod installation;
pub mod job;
pub mod journal;
pub mod line;
pub mod media;
pub mod memory;
pub mod message;
pub mod money;
mod names;
pub mod page;
pub mod people;
pub mod routing;
pub mod search;
pub mod secret;
pub mod store;
pub mod task;
pub mod time;
pub mod turn;
pub mod work;

pub use error::{Error, Result};
