//! The nouns of the domain as GraphQL objects: thin wrappers that convert, and load what they point to.
//!
//! Invariants
//! - An object exists only for what the caller may see: it was loaded through the scope, or came out of a command.
//! - Fields that can fail on their own are nullable (`Option<Result<T>>`), so that one failure does not empty the answer.
//!
//! Not here: roots (`query`, `mutation`, `subscription`), inputs (`mutation`).

pub(super) mod actor;
pub(super) mod call;
pub(super) mod card;
pub(super) mod event;
pub(super) mod history;
pub(super) mod job;
mod journal;
mod line;
mod linked_work;
pub(super) mod memory;
pub(super) mod message;
pub(super) mod money;
pub(super) mod node;
pub(super) mod people;
pub(super) mod presence;
mod projection;
pub(super) mod routing;
pub(super) mod search;
pub(super) mod step;
pub(super) mod task;
mod task_list;
mod turn;
pub(super) mod work;
pub(super) mod work_node;
pub(super) mod works;
pub(super) mod workspace;
