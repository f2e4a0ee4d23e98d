//! The mutation root: each field parses its input, runs one command or one edit, and converts what came of it.
//!
//! Invariants
//! - Ids that are malformed are the client's mistake (`BAD_USER_INPUT`); ids of what the caller may not see are `NOT_FOUND`.
//! - What a payload shows was read after the change.
//!
//! Not here: permissions and rules (`domain`'s commands and document service).

mod cards;
mod content;
mod edits;
mod input;
mod jobs;
mod memories;
mod messages;
mod money;
mod operations;
mod outcome;
mod people;
mod tasks;
mod uploads;
mod works;

use async_graphql::MergedObject;

/// What can be changed. Every mutation takes one `input`; `clientMutationId` is echoed.
#[derive(MergedObject, Default)]
pub struct Mutation(
    people::PeopleMutation,
    works::WorkMutation,
    edits::EditMutation,
    uploads::UploadMutation,
    tasks::TaskMutation,
    messages::MessageMutation,
    cards::CardMutation,
    jobs::JobMutation,
    memories::MemoryMutation,
);
