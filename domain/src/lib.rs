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
pub mod document;
pub mod error;
pub mod event;
pub mod idempotency;
pub mod ids;
pub mod installation;
pub mod page;
pub mod people;
pub mod secret;
pub mod store;
pub mod time;
pub mod work;

pub use error::{Error, Result};
