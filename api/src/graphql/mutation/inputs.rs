//! Inputs that several mutations share, and how they become values of the domain.
//!
//! Invariants
//! - An absent `after` means the end, an empty one the beginning.

use async_graphql::{ID, InputObject, OneofObject};
use domain::document::{
    EdgeInput as DomainEdge, NodeInput as DomainNode, NodeOperation as Operation, Placement,
    TextReplacement,
};
use domain::{Error, Result};
use serde_json::{Map, Value};

use super::super::scalars::Json;

/// A node to add. `id` may be left out: the server makes one. `after`: the node it follows; left out: at the end; empty
/// string: first.
#[derive(InputObject, Debug, Clone)]
pub(super) struct NodeInput {
    /// Its id.
    pub(super) id: Option<ID>,
    /// Its type.
    #[graphql(name = "type")]
    pub(super) kind: Option<String>,
    /// Its fields.
    pub(super) fields: Json,
    /// The node it follows.
    pub(super) after: Option<ID>,
}

/// An edge to add.
#[derive(InputObject, Debug, Clone)]
pub(super) struct EdgeInput {
    /// Its id; the server makes one where none is given.
    pub(super) id: Option<ID>,
    /// The node it starts at.
    pub(super) source: ID,
    /// The node it ends at.
    pub(super) target: ID,
    /// The port it starts at.
    pub(super) source_port: Option<String>,
    /// The port it ends at.
    pub(super) target_port: Option<String>,
}

/// Fields to merge into a node; null deletes a field.
#[derive(InputObject, Debug, Clone)]
pub(super) struct SetFields {
    /// Which node.
    pub(super) node_id: ID,
    /// The fields.
    pub(super) fields: Json,
}

/// Where a node goes.
#[derive(InputObject, Debug, Clone)]
pub(super) struct MoveNode {
    /// Which node.
    pub(super) node_id: ID,
    /// The node it follows; left out: at the end; empty string: first.
    pub(super) after: Option<ID>,
}

/// One operation: exactly one member is set.
#[derive(OneofObject, Debug, Clone)]
pub(super) enum NodeOperation {
    /// Adds a node.
    Put(NodeInput),
    /// Merges fields into a node.
    Set(SetFields),
    /// Removes a node and its edges.
    Remove(ID),
    /// Moves a node.
    Move(MoveNode),
    /// Adds an edge.
    Connect(EdgeInput),
    /// Removes an edge.
    Disconnect(ID),
}

/// One replacement in a text.
#[derive(InputObject, Debug, Clone)]
#[graphql(name = "TextReplacement")]
pub(super) struct TextReplacementInput {
    /// Must occur exactly once in the present text.
    pub(super) find: String,
    /// What stands there afterwards.
    pub(super) replace: String,
}

impl TryFrom<NodeInput> for DomainNode {
    type Error = Error;

    fn try_from(input: NodeInput) -> Result<Self> {
        Ok(Self {
            id: input.id.map(text),
            kind: input.kind,
            fields: fields(input.fields)?,
            placement: placement(input.after),
        })
    }
}

impl From<EdgeInput> for DomainEdge {
    fn from(input: EdgeInput) -> Self {
        Self {
            id: input.id.map(text),
            source: text(input.source),
            target: text(input.target),
            source_port: input.source_port,
            target_port: input.target_port,
        }
    }
}

impl TryFrom<NodeOperation> for Operation {
    type Error = Error;

    fn try_from(operation: NodeOperation) -> Result<Self> {
        Ok(match operation {
            NodeOperation::Put(node) => Self::Put(node.try_into()?),
            NodeOperation::Set(set) => Self::Set {
                node: text(set.node_id),
                fields: fields(set.fields)?,
            },
            NodeOperation::Remove(id) => Self::Remove(text(id)),
            NodeOperation::Move(place) => Self::Move {
                node: text(place.node_id),
                placement: placement(place.after),
            },
            NodeOperation::Connect(edge) => Self::Connect(edge.into()),
            NodeOperation::Disconnect(id) => Self::Disconnect(text(id)),
        })
    }
}

impl From<TextReplacementInput> for TextReplacement {
    fn from(input: TextReplacementInput) -> Self {
        Self {
            find: input.find,
            replace: input.replace,
        }
    }
}

fn text(id: ID) -> String {
    id.0
}

fn fields(json: Json) -> Result<Map<String, Value>> {
    match json.0 {
        Value::Object(fields) => Ok(fields),
        other => Err(Error::Invalid(format!(
            "`fields` is an object of field names and values, and was {other}"
        ))),
    }
}

fn placement(after: Option<ID>) -> Placement {
    match after {
        None => Placement::End,
        Some(after) if after.is_empty() => Placement::First,
        Some(after) => Placement::After(text(after)),
    }
}
