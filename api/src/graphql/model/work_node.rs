//! What structured works are made of: nodes, and the edges of flows.

use async_graphql::{ID, Object};
use domain::document::{Edge, NodeState};
use serde_json::Value;

use super::actor::Actor;
use crate::graphql::scalars::{Json, int};

/// A shot, flow node or item, with its last change.
#[derive(Debug, Clone)]
pub(crate) struct WorkNode(pub(crate) NodeState);

/// A shot, flow node or item, with its last change.
#[Object]
impl WorkNode {
    /// The id of the node; unique in its work.
    async fn id(&self) -> ID {
        ID(self.0.node.id.clone())
    }

    /// Its type; empty where an editor set none.
    #[graphql(name = "type")]
    async fn kind(&self) -> &str {
        &self.0.node.kind
    }

    /// All its fields but type and order; prose as strings.
    async fn fields(&self) -> Json {
        Json(Value::Object(self.0.node.fields.clone()))
    }

    /// The last version whose change touched the node or anything inside it.
    async fn changed_at_version(&self) -> i32 {
        int(self.0.changed_at.0)
    }

    /// Who made that change.
    async fn changed_by(&self) -> Actor {
        Actor(self.0.changed_by.clone())
    }
}

/// A connection between two nodes of a flow.
#[derive(Debug, Clone)]
pub(crate) struct FlowEdge(pub(crate) Edge);

/// A connection between two nodes of a flow.
#[Object]
impl FlowEdge {
    /// The id of the edge; unique among the edges of its work.
    async fn id(&self) -> ID {
        ID(self.0.id.clone())
    }

    /// The node it starts at.
    async fn source(&self) -> ID {
        ID(self.0.source.clone())
    }

    /// The node it ends at.
    async fn target(&self) -> ID {
        ID(self.0.target.clone())
    }

    /// The port it starts at.
    async fn source_port(&self) -> Option<&str> {
        self.0.source_port.as_deref()
    }

    /// The port it ends at.
    async fn target_port(&self) -> Option<&str> {
        self.0.target_port.as_deref()
    }
}
