//! What may stand in an edit, whatever the document holds.

use serde_json::{Map, Value};

use super::Refusal;
use crate::document::layout::is_prose;

/// Ids and names have at most this many characters.
const MAX_NAME: usize = 200;
/// Values are at most this deep, as in updates of editors.
const MAX_DEPTH: usize = 32;

pub(super) fn invalid<T>(text: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Invalid(text.into()))
}

/// An id that an editor chose.
pub(super) fn check_id(id: &str) -> Result<(), Refusal> {
    if id.is_empty() || id.chars().count() > MAX_NAME {
        return invalid(format!("an id has 1 to {MAX_NAME} characters"));
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
    }
    Ok(())
}

fn check_name(name: &str) -> Result<(), Refusal> {
    match name {
        "type" => invalid("`type` is not a field; give it beside `fields` when the node is put"),
        "order" => invalid("`order` is not a field; use `move`, or `after` when the node is put"),
        "" => invalid("a field needs a name"),
        _ if name.chars().count() > MAX_NAME => {
            invalid(format!("a field name has at most {MAX_NAME} characters"))
        }
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
