//! Refuses texts that no database here stores alike: the character U+0000, which `PostgreSQL` has in no text.
//!
//! Invariants
//! - A request either holds it nowhere, or nothing of it runs.
//!
//! Not here: blank and overlong texts (the commands of `domain`), bytes of documents (the document service).

use async_graphql::{Value, Variables};

use crate::graphql::error::{Code, Refusal};

/// How GraphQL writes the character inside a string.
const ESCAPED: [&str; 2] = ["\\u0000", "\\u{0}"];

/// Refuses a document or variables with U+0000 in a text.
pub(super) fn check(document: &str, variables: &Variables) -> Result<(), Refusal> {
    if document.contains('\0') || ESCAPED.iter().any(|escaped| document.contains(escaped)) {
        return Err(refusal("a text of the document".to_owned()));
    }
    match variables.iter().find(|(_, value)| holds_it(value)) {
        Some((name, _)) => Err(refusal(format!("variable `${name}`"))),
        None => Ok(()),
    }
}

fn refusal(place: String) -> Refusal {
    let message =
        format!("{place} holds the character U+0000, which can not be stored; leave it out");
    Refusal::document(Code::BadUserInput, message)
}

fn holds_it(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::List(items) => items.iter().any(holds_it),
        Value::Object(fields) => fields
            .iter()
            .any(|(name, value)| name.contains('\0') || holds_it(value)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(document: &str, variables: serde_json::Value) -> bool {
        check(document, &Variables::from_json(variables)).is_err()
    }

    #[test]
    fn the_character_is_found_wherever_it_stands() {
        assert!(!refused("{ a(b: \"x\") }", json!({"c": ["y", {"d": "z"}]})));
        assert!(refused("{ a(b: \"\\u0000\") }", json!({})));
        assert!(refused("{ a(b: \"\0\") }", json!({})));
        assert!(refused("{ a }", json!({"c": ["y", {"d": "z\0"}]})));
        assert!(refused("{ a }", json!({"c": {"fields": {"x\0": 1}}})));
    }
}
