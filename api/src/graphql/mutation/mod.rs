//! Writing: each mutation parses its input, builds one command or edit, and converts what came of it.

mod edits;
mod inputs;
mod people;
mod works;

use async_graphql::{ID, MergedObject};
use aws_lc_rs::digest;
use domain::idempotency::IdempotencyKey;
use domain::people::Caller;
use domain::time::Timestamp;
use domain::{Error, Result};

/// Writing.
#[derive(MergedObject, Default)]

pub struct Mutation(
    people::PeopleMutation,
    works::WorkMutation,
    edits::EditMutation,
);

/// The key of a request, with a hash of the rest of its input.
fn idempotency(
    caller: Caller,
    mutation: &'static str,
    key: Option<String>,
    input: &impl std::fmt::Debug,
    at: Timestamp,
) -> Result<Option<IdempotencyKey>> {
    let Some(key) = key else { return Ok(None) };
    if key.is_empty() || key.chars().count() > 255 {
        return Err(Error::Invalid(
            "`idempotencyKey` has 1 to 255 characters".to_owned(),
        ));
    }
    let hash = digest::digest(&digest::SHA256, format!("{input:?}").as_bytes());
    let input_hash = hash
        .as_ref()
        .try_into()
        .map_err(|_| Error::internal("SHA-256 has 32 bytes"))?;
    Ok(Some(IdempotencyKey {
        actor: caller.actor(),
        mutation,
        key,
        input_hash,
        at,
    }))
}

/// An id of a noun; one that is none is the client's mistake.
fn parse<T: std::str::FromStr<Err = domain::ids::IdError>>(id: &ID) -> Result<T> {
    id.parse::<T>().map_err(Error::from)
}
