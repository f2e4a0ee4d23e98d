//! What a document holds, as plain values.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::actor::Actor;
use crate::document::{EdgeInput, NodeInput, Placement, Version};
use crate::error::{Error, Result};

/// Bytes of prose after which no further node is read.
const PROSE_BYTES: usize = 1_000_000;

/// The whole content of a document; parts that its kind does not have are empty.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Content {
    /// The version it is of.
    pub version: Version,
    /// Nodes, sorted by (order, id).
    pub nodes: Vec<Node>,
    /// Edges whose two ends are there, sorted by id.
    pub edges: Vec<Edge>,
    /// The text.
    pub text: String,
    /// The asset's fields: `sha256`, `mediaType`, `byteSize`, `caption`, `tags`.
    pub asset: Map<String, Value>,
}

impl Content {
    /// What a new work shall hold: each node where it wants to stand among those before it, edges, a text.
    pub fn of_inputs(nodes: Vec<NodeInput>, edges: Vec<EdgeInput>, text: String) -> Result<Self> {
        Ok(Self {
            nodes: in_places(nodes)?,
            edges: edges.into_iter().map(edge).collect(),
            text,
            ..Self::default()
        })
    }
}

impl Content {
    /// All words in it that people read: the text, strings in nodes, an asset's caption and tags; at most about a million
    /// bytes.
    pub fn prose(&self) -> String {
        let mut prose = self.text.clone();
        for node in &self.nodes {
            let fields = node.fields.iter().filter(|(name, _)| *name != "position");
            fields.for_each(|(_, value)| add_strings(value, &mut prose));
            if prose.len() > PROSE_BYTES {
                break;
            }
        }
        for field in ["caption", "tags"] {
            if let Some(value) = self.asset.get(field) {
                add_strings(value, &mut prose);
            }
        }
        prose
    }
}

fn add_strings(value: &Value, prose: &mut String) {
    match value {
        Value::String(string) if !string.is_empty() => {
            if !prose.is_empty() {
                prose.push('\n');
            }
            prose.push_str(string);
        }
        Value::Array(values) => values.iter().for_each(|value| add_strings(value, prose)),
        Value::Object(fields) => fields.values().for_each(|value| add_strings(value, prose)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn in_places(inputs: Vec<NodeInput>) -> Result<Vec<Node>> {
    let mut nodes: Vec<Node> = Vec::with_capacity(inputs.len());
    let mut ids = HashSet::new();
    for input in inputs {
        let id = input.id.unwrap_or_else(new_id);
        if !ids.insert(id.clone()) {
            return Err(Error::Invalid(format!("two nodes have the id `{id}`")));
        }
        let end = nodes.len();
        let place = match &input.placement {
            Placement::First => 0,
            Placement::End => end,
            Placement::After(other) => {
                let found = nodes.iter().position(|node| node.id == *other);
                found.map_or(end, |place| place + 1)
            }
        };
        let node = Node {
            id,
            kind: input.kind.unwrap_or_default(),
            order: None,
            fields: input.fields,
        };
        nodes.insert(place, node);
    }
    Ok(nodes)
}

fn edge(input: EdgeInput) -> Edge {
    Edge {
        id: input.id.unwrap_or_else(new_id),
        source: input.source,
        target: input.target,
        source_port: input.source_port,
        target_port: input.target_port,
    }
}

fn new_id() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}

/// A shot, flow node or item.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Node {
    /// Chosen by whoever made it; unique in its work.
    pub id: String,
    /// Its type; empty where an editor set none.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its fractional index; none where an editor set none, and then it sorts last.
    pub order: Option<String>,
    /// All other fields; prose as strings.
    pub fields: Map<String, Value>,
}

/// A node with what is known of its last change.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeState {
    /// The node.
    pub node: Node,
    /// The last version whose change touched it or anything inside it.
    pub changed_at: Version,
    /// Who made that change.
    pub changed_by: Actor,
}

/// A connection between two nodes of a flow.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Edge {
    /// Unique among the edges of its work.
    pub id: String,
    /// The node it starts at.
    pub source: String,
    /// The node it ends at.
    pub target: String,
    /// The port it starts at.
    pub source_port: Option<String>,
    /// The port it ends at.
    pub target_port: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: &str, placement: Placement) -> NodeInput {
        NodeInput {
            id: Some(id.to_owned()),
            kind: None,
            fields: Map::new(),
            placement,
        }
    }

    #[test]
    fn nodes_stand_where_they_want_to() {
        let inputs = vec![
            node("a", Placement::End),
            node("b", Placement::End),
            node("c", Placement::First),
            node("d", Placement::After("a".to_owned())),
            node("e", Placement::After("gone".to_owned())),
        ];
        let nodes = in_places(inputs).expect("fits");
        let ids: Vec<_> = nodes.into_iter().map(|node| node.id).collect();
        assert_eq!(ids, ["c", "a", "d", "b", "e"]);
    }

    #[test]
    fn two_nodes_with_one_id_are_refused() {
        let inputs = vec![node("a", Placement::End), node("a", Placement::End)];
        let error = in_places(inputs).expect_err("twice");
        assert!(error.to_string().contains("`a`"));
    }
}
