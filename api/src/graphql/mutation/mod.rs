//! The mutation root: each field parses its input, runs one command or one edit, and converts what came of it.
//!
//! Invariants
//! - Ids that are malformed are the client's mistake (`BAD_USER_INPUT`); ids of what the caller may not see are `NOT_FOUND`.
//! - What a payload shows was read after the change.
//!
//! Not here: permissions and rules (`domain`'s commands and document service).

mod content;
mod edits;
mod input;
mod operations;
mod outcome;
mod people;
mod uploads;
mod works;

pub(crate) use edits::EditMutation;
pub(crate) use people::PeopleMutation;
pub(crate) use uploads::UploadMutation;
pub(crate) use works::WorkMutation;
