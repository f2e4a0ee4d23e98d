//! What a document holds, as plain values.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::actor::Actor;
use crate::document::Version;

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
