//! What inputs have in common: ids, idempotency keys, texts that may be absent.

use std::str::FromStr;

use async_graphql::{ID, InputType, MaybeUndefined};
use aws_lc_rs::digest;
use domain::idempotency::IdempotencyKey;
use domain::ids::IdError;
use domain::{Error, Result};
use serde_json::Value;

use crate::graphql::scope::Scope;

/// The longest idempotency key, in characters.
const KEY_LIMIT: usize = 255;
/// The longest summary, in characters.
const SUMMARY_LIMIT: usize = 500;
/// Members of an input that say nothing about what is asked for.
const CORRELATION: [&str; 2] = ["clientMutationId", "idempotencyKey"];

/// An id of a noun; malformed ones are refused with the form that was expected.
pub(super) fn id<T: FromStr<Err = IdError>>(given: &ID) -> Result<T> {
    Ok(given.parse()?)
}

/// The key of a request in its place; none where the client gave none.
pub(super) fn idempotency(
    scope: &Scope,
    mutation: &'static str,
    key: Option<&str>,
    input: &impl InputType,
) -> Result<Option<IdempotencyKey>> {
    let Some(key) = key else { return Ok(None) };
    if !(1..=KEY_LIMIT).contains(&key.chars().count()) {
        return Err(Error::Invalid(format!(
            "`idempotencyKey` has 1 to {KEY_LIMIT} characters"
        )));
    }
    Ok(Some(IdempotencyKey {
        actor: scope.caller.actor(),
        mutation,
        key: key.to_owned(),
        input_hash: hash_of(input)?,
        at: scope.now(),
    }))
}

/// A member that may be left out, and can not be emptied.
pub(super) fn present<T>(member: &str, given: MaybeUndefined<T>) -> Result<Option<T>> {
    match given {
        MaybeUndefined::Undefined => Ok(None),
        MaybeUndefined::Null => Err(Error::Invalid(format!("`{member}` can not be emptied"))),
        MaybeUndefined::Value(value) => Ok(Some(value)),
    }
}

/// An editor's own words for the history; blank ones are none.
pub(super) fn summary(given: Option<String>) -> Result<Option<String>> {
    match given {
        Some(text) if text.chars().count() > SUMMARY_LIMIT => Err(Error::Invalid(format!(
            "`summary` can have {SUMMARY_LIMIT} characters"
        ))),
        text => Ok(text.filter(|text| !text.trim().is_empty())),
    }
}

/// SHA-256 of what an input asks for: its members by name, without those that only correlate.
fn hash_of(input: &impl InputType) -> Result<[u8; 32]> {
    let json = input.to_value().into_json();
    let mut json: Value = json.map_err(|error| Error::Internal(error.into()))?;
    if let Value::Object(members) = &mut json {
        members.retain(|name, _| !CORRELATION.contains(&name.as_str()));
    }
    json.sort_all_objects();
    let hash = digest::digest(&digest::SHA256, json.to_string().as_bytes());
    Ok(hash.as_ref().try_into().expect("a SHA-256 has 32 bytes"))
}

#[cfg(test)]
mod tests {
    use async_graphql::InputObject;

    use super::*;
    use crate::graphql::scalars::Json;

    #[derive(InputObject)]
    struct Input {
        fields: Json,
        client_mutation_id: Option<String>,
        idempotency_key: Option<String>,
    }

    fn hash(fields: &str, client_mutation_id: &str, key: &str) -> [u8; 32] {
        let input = Input {
            fields: Json(serde_json::from_str(fields).expect("JSON")),
            client_mutation_id: Some(client_mutation_id.to_owned()),
            idempotency_key: Some(key.to_owned()),
        };
        hash_of(&input).expect("hashes")
    }

    #[test]
    fn inputs_that_ask_for_the_same_have_one_hash() {
        let first = hash(r#"{"a": 1, "b": {"c": 2, "d": null}}"#, "one", "key");
        let second = hash(r#"{"b": {"d": null, "c": 2}, "a": 1}"#, "two", "other");
        assert_eq!(first, second);
    }

    #[test]
    fn inputs_that_ask_for_something_else_have_another_hash() {
        assert_ne!(
            hash(r#"{"a": [1, 2]}"#, "one", "key"),
            hash(r#"{"a": [2, 1]}"#, "one", "key")
        );
    }
}
