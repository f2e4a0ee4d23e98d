//! Schemas of arguments, in the part of JSON Schema that every client knows.

use serde_json::{Value, json};

/// The schema of an object that takes nothing else.
#[expect(
    clippy::needless_pass_by_value,
    reason = "callers make the value on the spot"
)]
pub(super) fn object(required: &[&str], properties: Value) -> Value {
    json!({"type": "object", "required": required, "properties": properties, "additionalProperties": false})
}

/// The schema of a text.
pub(super) fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

/// The schema of a list of texts.
pub(super) fn texts(description: &str) -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": description})
}

/// The schema of one of some words.
pub(super) fn word(words: &[&str], description: &str) -> Value {
    json!({"type": "string", "enum": words, "description": description})
}

/// The schema of a list of some words.
pub(super) fn words(words: &[&str], description: &str) -> Value {
    json!({"type": "array", "items": {"type": "string", "enum": words}, "description": description})
}

/// The schema of a whole number from `least` on.
pub(super) fn whole(least: i64, description: &str) -> Value {
    json!({"type": "integer", "minimum": least, "description": description})
}

/// The schema of the size of a page.
pub(super) fn page(default: u32) -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": 100, "default": default, "description": "How many at most."})
}

/// The schema of a place in a list.
pub(super) fn after() -> Value {
    text("Goes on behind this place: the `endCursor` of the page before.")
}

/// The schema of what an editor says of a change.
pub(super) fn summary() -> Value {
    json!({"type": "string", "maxLength": 500, "description": "What was changed, for the history."})
}

/// The schema of a key under which a request has its effect once.
pub(super) fn idempotency_key() -> Value {
    json!({"type": "string", "maxLength": 255, "description":
        "The same key gives the first result again, and no second effect: for a request whose answer was lost."})
}

/// The schema of a node to add.
pub(super) fn node() -> Value {
    json!({"type": "object", "properties": {
        "id": {"type": "string", "description": "Unique in its work; made where it is left out."},
        "type": {"type": "string", "description": "Such as shot."},
        "fields": {"type": "object", "description": "title, description, prompt, dialogue, notes and caption hold prose."},
        "after": {"type": "string", "description": "The node before it; left out: last; \"\": first."},
    }})
}

/// The schema of an edge to add.
pub(super) fn edge() -> Value {
    json!({"type": "object", "required": ["source", "target"], "properties": {
        "id": {"type": "string"}, "source": {"type": "string"}, "target": {"type": "string"},
        "sourcePort": {"type": "string"}, "targetPort": {"type": "string"},
    }})
}

/// The schema of operations on a structured work.
pub(super) fn operations() -> Value {
    let set = json!({"type": "object", "required": ["nodeId", "fields"],
        "properties": {"nodeId": {"type": "string"}, "fields": {"type": "object"}}});
    let moved = json!({"type": "object", "required": ["nodeId"],
        "properties": {"nodeId": {"type": "string"}, "after": {"type": "string"}}});
    let operation = json!({"type": "object", "minProperties": 1, "maxProperties": 1, "properties": {
        "put": node(), "set": set, "remove": text("A node, with the edges at it."), "move": moved,
        "connect": edge(), "disconnect": text("An edge."),
    }});
    json!({"type": "array", "minItems": 1, "maxItems": 250, "items": operation, "description":
        "Each has exactly one of put (adds a node), set (merges fields; null deletes one), remove, move, connect, disconnect. All are carried out, or none."})
}
