//! Texts from outside that can be stored: no U+0000, which `PostgreSQL` holds in no text.

use serde_json::Value;

/// A JSON value without U+0000 in any of its texts; a mark stands in its place.
pub(crate) fn clean(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(clean_text(text)),
        Value::Array(items) => items.into_iter().map(clean).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| (clean_text(name), clean(value)))
            .collect(),
        other => other,
    }
}

/// The same for one text.
pub(crate) fn clean_text(text: String) -> String {
    if text.contains('\0') {
        return text.replace('\0', "\u{fffd}");
    }
    text
}
