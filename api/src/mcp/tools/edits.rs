//! Tools that make works and change them, by the same rules of conflicts as everybody's edits (W3).

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::schema::{edge, idempotency_key, node, object, operations, summary, text, whole, word};
use super::{Asked, Effect, Place, Tool, arguments, shouted};
use crate::mcp::outcome::Shown;

/// A mutation whose outcome is an edit's.
macro_rules! edit {
    ($name:literal, $field:literal) => {
        concat!(
            "mutation ", $name, "($input: ", $name, "Input!) { result: ", $field,
            "(input: $input) { __typename
              ... on EditApplied { version nodeIds concurrent { ...revision } }
              ... on VersionConflict { baseVersion currentVersion changes { ...revision } }
              ... on NodeConflict { baseVersion currentVersion conflicts { nodeId changedAtVersion changedBy { label program }
                current { id type fields changedAtVersion } } }
              ... on TextNotUnique { find occurrences currentVersion } } }
            fragment revision on Revision { fromVersion toVersion summary nodeIds by { label program } }"
        )
    };
}

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "create_work",
        title: "Make a work",
        description: "Makes a work. Its first version holds what you give; the result names it.",
        effect: Effect::Writes,
        place: Place::Workspace,
        parameters: || {
            object(&["kind", "title"], json!({
                "kind": word(&["storyboard", "flow", "text", "collection"], "What it is."),
                "title": {"type": "string", "maxLength": 500},
                "nodes": {"type": "array", "items": node(), "description": "storyboard, flow, collection: in order."},
                "edges": {"type": "array", "items": edge(), "description": "flow only; ends are ids of the nodes."},
                "text": text("text only: Markdown."),
                "idempotency_key": idempotency_key(),
            }))
        },
        document: "mutation CreateWork($input: CreateWorkInput!) { createWork(input: $input) { work { id kind title version
          ... on StructuredWork { nodes { id } } } } }",
        read: |given| {
            let given: New = arguments(given)?;
            let variables = json!({"input": {
                "workspaceId": given.workspace_id, "kind": shouted(&given.kind), "title": given.title, "text": given.text,
                "nodes": given.nodes.map(|nodes| nodes.into_iter().map(with_fields).collect::<Vec<_>>()),
                "edges": given.edges, "idempotencyKey": given.idempotency_key,
            }});
            Ok(Asked::new(variables, |mut data| {
                let mut work = data["createWork"]["work"].take();
                let nodes = work["nodes"].take();
                let node_ids = nodes.as_array().into_iter().flatten().map(|node| node["id"].clone());
                Shown::Done(json!({
                    "work_id": work["id"], "kind": work["kind"], "title": work["title"], "version": work["version"],
                    "nodeIds": node_ids.collect::<Vec<_>>(),
                }))
            }))
        },
    },
    Tool {
        name: "edit_nodes",
        title: "Edit nodes",
        description: "Changes nodes and edges of a storyboard, flow or collection. Refused where others changed the same nodes since `base_version`: then \
                      nothing is changed, and the result shows those nodes as they are now. Changes elsewhere are reported in `concurrent`.",
        effect: Effect::Writes,
        place: Place::Named,
        parameters: || {
            object(&["work_id", "base_version", "operations"], json!({
                "work_id": text("The storyboard, flow or collection."),
                "base_version": whole(0, "The version that you read."),
                "operations": operations(),
                "summary": summary(),
                "idempotency_key": idempotency_key(),
            }))
        },
        document: edit!("EditNodes", "editNodes"),
        read: |given| {
            let given: Nodes = arguments(given)?;
            let operations = given.operations.into_iter().map(|mut operation| {
                if let Some(put) = operation.get_mut("put") {
                    *put = with_fields(put.take());
                }
                operation
            });
            let variables = json!({"input": {
                "workId": given.work_id, "baseVersion": given.base_version, "operations": operations.collect::<Vec<_>>(),
                "summary": given.summary, "idempotencyKey": given.idempotency_key,
            }});
            Ok(Asked::new(variables, edited))
        },
    },
    Tool {
        name: "edit_text",
        title: "Edit a text",
        description: "Replaces pieces of a text document as it is now, whoever else writes in it.",
        effect: Effect::Writes,
        place: Place::Named,
        parameters: || {
            let replacement = object(
                &["find", "replace"],
                json!({"find": {"type": "string"}, "replace": {"type": "string"}}),
            );
            object(&["work_id", "replacements"], json!({
                "work_id": text("The text document."),
                "replacements": {"type": "array", "minItems": 1, "items": replacement, "description":
                    "Each `find` must stand exactly once in the text as it is; all are carried out, or none."},
                "summary": summary(),
                "idempotency_key": idempotency_key(),
            }))
        },
        document: edit!("EditText", "editText"),
        read: |given| {
            let given: Texts = arguments(given)?;
            let variables = json!({"input": {
                "workId": given.work_id, "replacements": given.replacements,
                "summary": given.summary, "idempotencyKey": given.idempotency_key,
            }});
            Ok(Asked::new(variables, edited))
        },
    },
    Tool {
        name: "replace_text",
        title: "Replace a text",
        description: "Replaces a whole text. Refused if anything changed since `base_version`; prefer edit_text where others write too.",
        effect: Effect::Writes,
        place: Place::Named,
        parameters: || {
            object(&["work_id", "base_version", "text"], json!({
                "work_id": text("The text document."),
                "base_version": whole(0, "The version that you read."),
                "text": text("The whole new text."),
                "summary": summary(),
                "idempotency_key": idempotency_key(),
            }))
        },
        document: edit!("ReplaceText", "replaceText"),
        read: |given| {
            let given: Whole = arguments(given)?;
            let variables = json!({"input": {
                "workId": given.work_id, "baseVersion": given.base_version, "text": given.text,
                "summary": given.summary, "idempotencyKey": given.idempotency_key,
            }});
            Ok(Asked::new(variables, edited))
        },
    },
    Tool {
        name: "undo_own_edit",
        title: "Undo an own edit",
        description: "Takes back what one edit of yours did, and leaves what others did. Refused where others changed the same since.",
        effect: Effect::Writes,
        place: Place::Named,
        parameters: || {
            object(&["work_id", "version"], json!({
                "work_id": text("The work."),
                "version": whole(1, "The version that your edit made."),
            }))
        },
        document: edit!("UndoVersion", "undoVersion"),
        read: |given| {
            let given: Undo = arguments(given)?;
            let variables = json!({"input": {"workId": given.work_id, "version": given.version}});
            Ok(Asked::new(variables, edited))
        },
    },
    Tool {
        name: "restore_version",
        title: "Restore a version",
        description: "Makes the content of an earlier version the present one, as a new version. Refused if anything changed since `base_version`.",
        effect: Effect::Writes,
        place: Place::Named,
        parameters: || {
            object(&["work_id", "version", "base_version"], json!({
                "work_id": text("The work."),
                "version": whole(0, "The version that comes back."),
                "base_version": whole(0, "The present version that you read."),
            }))
        },
        document: edit!("RestoreVersion", "restoreVersion"),
        read: |given| {
            let given: Restore = arguments(given)?;
            let variables = json!({"input": {
                "workId": given.work_id, "version": given.version, "baseVersion": given.base_version,
            }});
            Ok(Asked::new(variables, edited))
        },
    },
    Tool {
        name: "rename_work",
        title: "Rename a work",
        description: "Gives a work another title.",
        effect: Effect::Writes,
        place: Place::Named,
        parameters: || {
            object(&["work_id", "title"], json!({
                "work_id": text("The work."), "title": {"type": "string", "maxLength": 500},
            }))
        },
        document: "mutation RenameWork($input: RenameWorkInput!) { renameWork(input: $input) { work { id kind title version } } }",
        read: |given| {
            let given: Rename = arguments(given)?;
            let variables = json!({"input": {"workId": given.work_id, "title": given.title}});
            Ok(Asked::new(variables, |mut data| Shown::Done(data["renameWork"]["work"].take())))
        },
    },
    Tool {
        name: "delete_work",
        title: "Ask to delete a work",
        description: "Asks the people of the workspace, by a card, whether a work may be moved to the bin. Nothing is deleted by this call: a person's yes moves it.",
        effect: Effect::Asks,
        place: Place::Named,
        parameters: || {
            object(&["work_id"], json!({
                "work_id": text("The work."),
                "reason": {"type": "string", "maxLength": 1_000, "description": "Why, for the people, in their language."},
            }))
        },
        document: "mutation ProposeDeleteWork($input: ProposeDeleteWorkInput!) { proposeDeleteWork(input: $input) {
          card { id kind state prompt options { id label } } } }",
        read: |given| {
            let given: Delete = arguments(given)?;
            let variables = json!({"input": {"workId": given.work_id, "reason": given.reason}});
            Ok(Asked::new(variables, |mut data| {
                let card = data["proposeDeleteWork"]["card"].take();
                Shown::Done(json!({"waiting_for": card["id"], "card": card}))
            }))
        },
    },
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct New {
    workspace_id: String,
    kind: String,
    title: String,
    nodes: Option<Vec<Value>>,
    edges: Option<Vec<Value>>,
    text: Option<String>,
    idempotency_key: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nodes {
    work_id: String,
    base_version: i32,
    operations: Vec<Map<String, Value>>,
    summary: Option<String>,
    idempotency_key: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Texts {
    work_id: String,
    replacements: Vec<Value>,
    summary: Option<String>,
    idempotency_key: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole {
    work_id: String,
    base_version: i32,
    text: String,
    summary: Option<String>,
    idempotency_key: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Undo {
    work_id: String,
    version: i32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Restore {
    work_id: String,
    version: i32,
    base_version: i32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rename {
    work_id: String,
    title: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Delete {
    work_id: String,
    reason: Option<String>,
}

/// A node to add; without fields it has none.
fn with_fields(mut node: Value) -> Value {
    if let Value::Object(members) = &mut node {
        members.entry("fields").or_insert_with(|| json!({}));
    }
    node
}

/// What became of an edit.
fn edited(mut data: Value) -> Shown {
    let mut result = data["result"].take();
    let message = match result["__typename"].as_str() {
        Some("VersionConflict") => format!(
            "the work moved on: your edit is based on version {}, and it is at version {}; nothing was changed. `changes` says what others \
             did. Read the work again, then edit on the version that you read.",
            result["baseVersion"], result["currentVersion"]
        ),
        Some("NodeConflict") => format!(
            "somebody else changed {} since version {}; nothing was changed. `conflicts` shows each as it is now, and who changed it (current \
             null: it was removed). Decide what should stand there beside their change, and edit again with base_version {}.",
            names(&result["conflicts"]),
            result["baseVersion"],
            result["currentVersion"]
        ),
        Some("TextNotUnique") => format!(
            "the fragment stands at {} places in version {}, and must stand at exactly one; nothing was replaced. Read the text again, and name a \
             fragment that stands there once.",
            result["occurrences"], result["currentVersion"]
        ),
        _ => {
            if let Value::Object(members) = &mut result {
                members.remove("__typename");
            }
            return Shown::Done(result);
        }
    };
    Shown::Refused { message, result }
}

fn names(conflicts: &Value) -> String {
    let conflicts = conflicts.as_array().into_iter().flatten();
    let ids: Vec<_> = conflicts
        .filter_map(|conflict| conflict["nodeId"].as_str())
        .collect();
    ids.join(", ")
}
