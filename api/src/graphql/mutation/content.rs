//! The content of a work that is made: nodes put in their places, edges, text.
//!
//! Not here: what a kind may hold, and what fields may look like (`domain`'s seed checks that).

use domain::document::{Content, Edge, Node, Placement};
use domain::{Error, Result};

use super::operations::{EdgeInput, NodeInput};
use super::works::CreateWorkInput;

/// What the input says shall be in the work.
pub(super) fn content_of(input: &CreateWorkInput) -> Result<Content> {
    Ok(Content {
        nodes: in_places(input.nodes.as_deref().unwrap_or_default())?,
        edges: input.edges.iter().flatten().map(edge).collect(),
        text: input.text.clone().unwrap_or_default(),
        ..Content::default()
    })
}

/// Puts each node where it wants to stand among those before it in the list.
fn in_places(inputs: &[NodeInput]) -> Result<Vec<Node>> {
    let mut nodes: Vec<Node> = Vec::with_capacity(inputs.len());
    for input in inputs {
        let input = input.to_domain()?;
        let place = match &input.placement {
            Placement::First => 0,
            Placement::End => nodes.len(),
            Placement::After(other) => nodes
                .iter()
                .position(|node| node.id == *other)
                .map_or(nodes.len(), |place| place + 1),
        };
        let node = Node {
            id: input.id.unwrap_or_else(new_id),
            kind: input.kind.unwrap_or_default(),
            order: None,
            fields: input.fields,
        };
        if nodes.iter().any(|other| other.id == node.id) {
            return Err(Error::Invalid(format!(
                "two nodes have the id `{}`",
                node.id
            )));
        }
        nodes.insert(place, node);
    }
    Ok(nodes)
}

fn edge(input: &EdgeInput) -> Edge {
    let input = input.to_domain();
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

#[cfg(test)]
mod tests {
    use async_graphql::ID;
    use serde_json::json;

    use super::*;
    use crate::graphql::scalars::Json;

    fn node(id: &str, after: Option<&str>) -> NodeInput {
        NodeInput {
            id: Some(ID::from(id)),
            kind: None,
            fields: Json(json!({})),
            after: after.map(ID::from),
        }
    }

    fn order(inputs: &[NodeInput]) -> Vec<String> {
        let nodes = in_places(inputs).expect("fits");
        nodes.into_iter().map(|node| node.id).collect()
    }

    #[test]
    fn nodes_stand_where_they_want_to() {
        let inputs = [
            node("a", None),
            node("b", None),
            node("c", Some("")),
            node("d", Some("a")),
            node("e", Some("gone")),
        ];
        assert_eq!(order(&inputs), ["c", "a", "d", "b", "e"]);
    }

    #[test]
    fn two_nodes_with_one_id_are_refused() {
        let error = in_places(&[node("a", None), node("a", None)]).expect_err("twice");
        assert!(error.to_string().contains("`a`"));
    }

    #[test]
    fn fields_that_are_no_object_are_refused() {
        let mut input = node("a", None);
        input.fields = Json(json!([1]));
        assert!(matches!(in_places(&[input]), Err(Error::Invalid(_))));
    }
}
