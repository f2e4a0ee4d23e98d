//! What may stand in an edit, whatever the document holds.

use serde_json::{Map, Value};

use super::Refusal;
use crate::document::layout::is_prose;

/// Ids and names have at most this many characters.
pub(crate) const MAX_NAME: usize = 200;
/// Values are at most this deep, as in updates of editors.
const MAX_DEPTH: usize = 32;

pub(super) fn invalid<T>(text: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Invalid(text.into()))
}

/// An id that an editor chose.
pub(crate) fn check_id(id: &str) -> Result<(), Refusal> {
    if id.is_empty() || id.chars().count() > MAX_NAME || id.contains('\0') {
        return invalid(format!(
            "an id has 1 to {MAX_NAME} characters, and no U+0000"
        ));
    }
    Ok(())
}

/// Fields to set; null deletes one.
pub(crate) fn check_fields(fields: &Map<String, Value>) -> Result<(), Refusal> {
    for (name, value) in fields {
        check_name(name)?;
        if is_prose(name) && !value.is_string() && !value.is_null() {
            return invalid(format!("`{name}` holds prose; give it a string"));
        }
        if !is_shallow(value, MAX_DEPTH) {
            return invalid(format!("`{name}` is nested deeper than {MAX_DEPTH} levels"));
        }
        if !is_exact(value) {
            return invalid(format!(
                "`{name}` holds an integer beyond \u{b1}2^53, which editors would round; give it as a string"
            ));
        }
        if !is_storable(value) {
            return invalid(format!("`{name}` holds the character U+0000; leave it out"));
        }
    }
    Ok(())
}

/// Whether editors, whose numbers are 64-bit floats, show every integer of a value as it was given.
fn is_exact(value: &Value) -> bool {
    const LARGEST: u64 = 1 << 53;
    match value {
        Value::Number(number) => {
            number.is_f64()
                || number
                    .as_i64()
                    .map_or_else(|| number.as_u64(), |number| Some(number.unsigned_abs()))
                    .is_some_and(|number| number <= LARGEST)
        }
        Value::Array(items) => items.iter().all(is_exact),
        Value::Object(entries) => entries.values().all(is_exact),
        _ => true,
    }
}

/// Whether no text of a value holds U+0000: `PostgreSQL` can store it in no table, and updates of editors may not hold it.
fn is_storable(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.contains('\0'),
        Value::Array(items) => items.iter().all(is_storable),
        Value::Object(entries) => entries
            .iter()
            .all(|(name, value)| !name.contains('\0') && is_storable(value)),
        _ => true,
    }
}

fn check_name(name: &str) -> Result<(), Refusal> {
    match name {
        "type" => invalid("`type` is not a field; give it beside `fields` when the node is put"),
        "order" => invalid("`order` is not a field; use `move`, or `after` when the node is put"),
        "" => invalid("a field needs a name"),
        _ if name.chars().count() > MAX_NAME || name.contains('\0') => invalid(format!(
            "a field name has at most {MAX_NAME} characters, and no U+0000"
        )),
        _ => Ok(()),
    }
}

fn is_shallow(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(items) => depth > 0 && items.iter().all(|item| is_shallow(item, depth - 1)),
        Value::Object(entries) => {
            depth > 0 && entries.values().all(|value| is_shallow(value, depth - 1))
        }
        _ => true,
    }
}
