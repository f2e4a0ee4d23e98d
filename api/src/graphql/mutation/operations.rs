//! Operations on structured works, as clients write them.

use async_graphql::{ID, InputObject, OneofObject};
use domain::document::{self, Placement};
use domain::{Error, Result};
use serde_json::{Map, Value};

use crate::graphql::scalars::Json;

/// A node to add. `id` may be left out: the server makes one. `after`: the node it follows; left out: at the end; empty string: first.
#[derive(InputObject)]
pub(super) struct NodeInput {
    /// Its id; unique in its work.
    pub(super) id: Option<ID>,
    /// Its type.
    #[graphql(name = "type")]
    pub(super) kind: Option<String>,
    /// Its fields: an object. `type` and the order are not among them.
    pub(super) fields: Json,
    /// The node it follows.
    pub(super) after: Option<ID>,
}

/// An edge to add.
#[derive(InputObject)]
pub(super) struct EdgeInput {
    /// Its id; the server makes one where it is left out.
    id: Option<ID>,
    /// The node it starts at.
    source: ID,
    /// The node it ends at.
    target: ID,
    /// The port it starts at.
    source_port: Option<String>,
    /// The port it ends at.
    target_port: Option<String>,
}

/// Fields to merge into a node; null deletes a field.
#[derive(InputObject)]
pub(super) struct SetFields {
    /// The node.
    node_id: ID,
    /// The fields: an object.
    fields: Json,
}

/// A node to move.
#[derive(InputObject)]
pub(super) struct MoveNode {
    /// The node.
    node_id: ID,
    /// The node it follows; left out: at the end; empty string: first.
    after: Option<ID>,
}

/// Exactly one member is set. `set` merges the given fields (null deletes a field); `put` adds a node.
#[derive(OneofObject)]
pub(super) enum NodeOperation {
    /// Adds a node.
    Put(NodeInput),
    /// Merges fields into a node.
    Set(SetFields),
    /// Removes a node, and the edges at it.
    Remove(ID),
    /// Moves a node.
    Move(MoveNode),
    /// Adds an edge.
    Connect(EdgeInput),
    /// Removes an edge.
    Disconnect(ID),
}

impl NodeInput {
    /// The node as the domain takes it.
    pub(super) fn to_domain(&self) -> Result<document::NodeInput> {
        Ok(document::NodeInput {
            id: self.id.clone().map(String::from),
            kind: self.kind.clone(),
            fields: object(&self.fields)?,
            placement: placement(self.after.as_ref()),
        })
    }
}

impl EdgeInput {
    /// The edge as the domain takes it.
    pub(super) fn to_domain(&self) -> document::EdgeInput {
        document::EdgeInput {
            id: self.id.clone().map(String::from),
            source: self.source.to_string(),
            target: self.target.to_string(),
            source_port: self.source_port.clone(),
            target_port: self.target_port.clone(),
        }
    }
}

impl NodeOperation {
    /// The operation as the domain takes it.
    pub(super) fn to_domain(&self) -> Result<document::NodeOperation> {
        Ok(match self {
            Self::Put(node) => document::NodeOperation::Put(node.to_domain()?),
            Self::Set(set) => document::NodeOperation::Set {
                node: set.node_id.to_string(),
                fields: object(&set.fields)?,
            },
            Self::Remove(id) => document::NodeOperation::Remove(id.to_string()),
            Self::Move(moved) => document::NodeOperation::Move {
                node: moved.node_id.to_string(),
                placement: placement(moved.after.as_ref()),
            },
            Self::Connect(edge) => document::NodeOperation::Connect(edge.to_domain()),
            Self::Disconnect(id) => document::NodeOperation::Disconnect(id.to_string()),
        })
    }
}

fn placement(after: Option<&ID>) -> Placement {
    match after.map(|id| id.as_str()) {
        None => Placement::End,
        Some("") => Placement::First,
        Some(id) => Placement::After(id.to_owned()),
    }
}

fn object(fields: &Json) -> Result<Map<String, Value>> {
    match &fields.0 {
        Value::Object(members) => Ok(members.clone()),
        _ => Err(Error::Invalid(
            "`fields` is an object, from names of fields to their values".to_owned(),
        )),
    }
}
