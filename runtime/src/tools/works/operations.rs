//! Nodes, edges and operations as arguments: the form of the API, read into what the domain takes.
//!
//! Invariants
//! - `after` left out or null means the end, empty means first; fields left out are none.
//! - What brings no id gets one that the call decides, so that a second attempt makes the same.
//! - What is wrong is said with the place where it stands.

use domain::document::{EdgeInput, NodeInput, NodeOperation, Placement};
use domain::turn::CallId;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::tools::arguments::{object, text};
use crate::tools::identity::{edge_id, node_id};

/// The members that an operation can have, of which it has exactly one.
const OPERATIONS: [&str; 6] = ["put", "set", "remove", "move", "connect", "disconnect"];

#[derive(Deserialize)]
struct Node {
    id: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    fields: Map<String, Value>,
    after: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Edge {
    id: Option<String>,
    source: String,
    target: String,
    source_port: Option<String>,
    target_port: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Set {
    node_id: String,
    fields: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Move {
    node_id: String,
    after: Option<String>,
}

/// The schema of a node to add.
pub(super) fn node_schema() -> Value {
    object(
        &[],
        json!({
            "id": {"type": "string", "maxLength": 200},
            "type": {"type": "string", "maxLength": 200},
            "fields": {"type": "object"},
            "after": {"type": "string"},
        }),
    )
}

/// The schema of an edge to add.
pub(super) fn edge_schema() -> Value {
    object(
        &["source", "target"],
        json!({
            "id": {"type": "string", "maxLength": 200},
            "source": {"type": "string"},
            "target": {"type": "string"},
            "sourcePort": {"type": "string"},
            "targetPort": {"type": "string"},
        }),
    )
}

/// The schema of a list of operations.
pub(super) fn operations_schema() -> Value {
    let set = object(
        &["nodeId", "fields"],
        json!({"nodeId": {"type": "string"}, "fields": {"type": "object"}}),
    );
    let moved = object(
        &["nodeId"],
        json!({"nodeId": {"type": "string"}, "after": {"type": "string"}}),
    );
    let operation = object(
        &[],
        json!({
            "put": node_schema(),
            "set": set,
            "remove": text("A node, with the edges at it."),
            "move": moved,
            "connect": edge_schema(),
            "disconnect": text("An edge."),
        }),
    );
    json!({
        "type": "array",
        "items": operation,
        "description": "Each has exactly one of put, set, remove, move, connect, disconnect. set merges fields, null deletes one. \
                        `after`: the node before it; left out: last; \"\": first. All are carried out, or none.",
    })
}

/// Operations in their order, or what is wrong with the first that is no operation.
pub(super) fn read_operations(given: &Value) -> Result<Vec<NodeOperation>, String> {
    let given = given.as_array().map(Vec::as_slice).unwrap_or_default();
    if given.is_empty() {
        return Err("`operations` is empty; there is nothing to do".to_owned());
    }
    let read = |(index, given)| read_operation(index, given);
    given.iter().enumerate().map(read).collect()
}

/// The same, and what brings no id has one by the call and its place.
pub(super) fn named_operations(call: CallId, given: &Value) -> Result<Vec<NodeOperation>, String> {
    let mut operations = read_operations(given)?;
    for (place, operation) in operations.iter_mut().enumerate() {
        match operation {
            NodeOperation::Put(node) => name_node(node, call, place),
            NodeOperation::Connect(edge) => name_edge(edge, call, place),
            _ => {}
        }
    }
    Ok(operations)
}

fn read_operation(index: usize, given: &Value) -> Result<NodeOperation, String> {
    let place = format!("`operations[{index}]`");
    let members = given
        .as_object()
        .ok_or_else(|| format!("{place} must be an object"))?;
    let (Some((name, value)), 1) = (members.iter().next(), members.len()) else {
        let names: Vec<_> = members.keys().map(String::as_str).collect();
        return Err(format!(
            "{place} must have exactly one of {}, and has {}",
            OPERATIONS.join(", "),
            if names.is_empty() {
                "none".to_owned()
            } else {
                names.join(", ")
            }
        ));
    };
    match name.as_str() {
        "put" => read_node(value).map(NodeOperation::Put),
        "connect" => read_edge(value).map(NodeOperation::Connect),
        "set" => Set::deserialize(value).map(|set| NodeOperation::Set {
            node: set.node_id,
            fields: set.fields,
        }),
        "move" => Move::deserialize(value).map(|moved| NodeOperation::Move {
            node: moved.node_id,
            placement: placement(moved.after),
        }),
        "remove" => String::deserialize(value).map(NodeOperation::Remove),
        "disconnect" => String::deserialize(value).map(NodeOperation::Disconnect),
        other => {
            let known = OPERATIONS.join(", ");
            return Err(format!("{place} has `{other}`, which is none of {known}"));
        }
    }
    .map_err(|error| format!("`operations[{index}].{name}`: {error}"))
}

/// Nodes of a new work.
pub(super) fn named_nodes(call: CallId, given: &[Value]) -> Result<Vec<NodeInput>, String> {
    let read = |(place, given): (usize, &Value)| {
        let mut node = read_node(given).map_err(|error| format!("`nodes[{place}]`: {error}"))?;
        name_node(&mut node, call, place);
        Ok(node)
    };
    given.iter().enumerate().map(read).collect()
}

/// Edges of a new work.
pub(super) fn named_edges(call: CallId, given: &[Value]) -> Result<Vec<EdgeInput>, String> {
    let read = |(place, given): (usize, &Value)| {
        let mut edge = read_edge(given).map_err(|error| format!("`edges[{place}]`: {error}"))?;
        name_edge(&mut edge, call, place);
        Ok(edge)
    };
    given.iter().enumerate().map(read).collect()
}

fn name_node(node: &mut NodeInput, call: CallId, place: usize) {
    node.id.get_or_insert_with(|| node_id(call, place));
}

fn name_edge(edge: &mut EdgeInput, call: CallId, place: usize) {
    edge.id.get_or_insert_with(|| edge_id(call, place));
}

fn read_node(given: &Value) -> serde_json::Result<NodeInput> {
    let node = Node::deserialize(given)?;
    Ok(NodeInput {
        id: node.id,
        kind: node.kind,
        fields: node.fields,
        placement: placement(node.after),
    })
}

fn read_edge(given: &Value) -> serde_json::Result<EdgeInput> {
    let edge = Edge::deserialize(given)?;
    Ok(EdgeInput {
        id: edge.id,
        source: edge.source,
        target: edge.target,
        source_port: edge.source_port,
        target_port: edge.target_port,
    })
}

fn placement(after: Option<String>) -> Placement {
    match after {
        None => Placement::End,
        Some(id) if id.is_empty() => Placement::First,
        Some(id) => Placement::After(id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(index: u32) -> CallId {
        CallId {
            turn: domain::ids::TurnId::new(),
            step: 1,
            index,
        }
    }

    #[test]
    fn each_operation_is_read_as_the_api_reads_it() {
        let operations = json!([
            {"put": {"id": "a", "type": "shot", "fields": {"title": "Dawn"}, "after": ""}},
            {"put": {"id": "b"}},
            {"set": {"nodeId": "a", "fields": {"title": null}}},
            {"move": {"nodeId": "a", "after": "b"}},
            {"connect": {"id": "e", "source": "a", "target": "b", "sourcePort": "out"}},
            {"disconnect": "e"},
            {"remove": "a"},
        ]);
        let read = read_operations(&operations).expect("fits");
        let NodeOperation::Put(first) = &read[0] else {
            panic!("{read:?}");
        };
        assert_eq!(first.placement, Placement::First);
        assert_eq!(first.kind.as_deref(), Some("shot"));
        assert!(matches!(&read[1], NodeOperation::Put(node) if node.placement == Placement::End));
        assert!(matches!(&read[2], NodeOperation::Set { fields, .. } if fields["title"].is_null()));
        assert!(
            matches!(&read[3], NodeOperation::Move { placement: Placement::After(id), .. } if id == "b")
        );
        assert!(
            matches!(&read[4], NodeOperation::Connect(edge) if edge.source_port.as_deref() == Some("out"))
        );
        assert_eq!(read[5], NodeOperation::Disconnect("e".into()));
        assert_eq!(read[6], NodeOperation::Remove("a".into()));
    }

    #[test]
    fn an_id_that_is_left_out_is_the_same_at_every_attempt_and_another_for_every_place() {
        let operations = json!([{"put": {}}, {"put": {}}]);
        let ids = |call| -> Vec<_> {
            let read = named_operations(call, &operations).expect("fits");
            read.iter()
                .map(|one| one.node().map(str::to_owned))
                .collect()
        };
        let call = call(0);
        assert_eq!(ids(call), ids(call));
        assert_ne!(ids(call)[0], ids(call)[1]);
        let other = CallId { index: 1, ..call };
        assert_ne!(ids(call)[0], ids(other)[0]);
    }

    #[test]
    fn what_is_no_operation_is_told_with_its_place() {
        for (operations, said) in [
            (json!([]), "`operations` is empty"),
            (
                json!([{"remove": "a"}, 3]),
                "`operations[1]` must be an object",
            ),
            (json!([{}]), "and has none"),
            (
                json!([{"remove": "a"}, {"put": {}, "remove": "a"}]),
                "`operations[1]` must have exactly one",
            ),
            (json!([{"replace": "a"}]), "`operations[0]` has `replace`"),
            (
                json!([{"set": {"nodeId": "a", "fields": [1]}}]),
                "`operations[0].set`",
            ),
            (
                json!([{"connect": {"source": "a"}}]),
                "`operations[0].connect`: missing field `target`",
            ),
        ] {
            let objection = read_operations(&operations).expect_err("does not fit");
            assert!(objection.contains(said), "{objection}");
        }
    }
}
