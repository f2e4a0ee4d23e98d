//! The first change of a new work: its content as one update.
//!
//! Invariants
//! - Nodes get order keys in their sequence, unless they bring keys that say that sequence already.
//! - The same rules hold as for edits: prose, names, depth, both ends of each edge.

use std::collections::HashSet;

use yrs::{ReadTxn, StateVector, Transact};

use crate::document::layout::open_document;
use crate::document::node_edit::{MAX_NODES, Refusal, check_fields, check_id};
use crate::document::recorder::Recorder;
use crate::document::{Content, Touched, order, restore};
use crate::error::{Error, Result};
use crate::work::WorkKind;

/// The update (encoding v1) that makes an empty document of a kind show this content, and what it touches; empty content
/// touches nothing.
pub(crate) fn seed_update(kind: WorkKind, content: &Content) -> Result<(Vec<u8>, Touched)> {
    check(kind, content)?;
    let mut content = content.clone();
    give_orders(&mut content)?;
    let (doc, roots) = open_document(kind);
    let mut recorder = Recorder::attach(&doc, &roots, kind);
    restore::become_content(&mut doc.transact_mut(), &roots, &content);
    let txn = doc.transact();
    let update = txn.encode_state_as_update_v1(&StateVector::default());
    Ok((update, recorder.take(&txn).touched))
}

fn check(kind: WorkKind, content: &Content) -> Result<()> {
    if content.nodes.len() > MAX_NODES {
        let text = format!("a work holds at most {MAX_NODES} nodes");
        return Err(Error::TooLarge(text));
    }
    let fits = content.nodes.is_empty() || kind.is_structured();
    let fits = fits && (content.edges.is_empty() || kind == WorkKind::Flow);
    let fits = fits && (content.text.is_empty() || kind == WorkKind::Text);
    if !fits || !(content.asset.is_empty() || kind == WorkKind::Asset) {
        return invalid(format!(
            "a work of kind {} has no such content",
            kind.name()
        ));
    }
    let mut nodes = HashSet::new();
    for node in &content.nodes {
        check_id(&node.id).map_err(refused)?;
        if !nodes.insert(node.id.as_str()) {
            return invalid(format!("the node id `{}` is in use", node.id));
        }
        check_fields(&node.fields).map_err(refused)?;
    }
    check_edges(content, &nodes)?;
    check_fields(&content.asset).map_err(refused)
}

fn check_edges(content: &Content, nodes: &HashSet<&str>) -> Result<()> {
    let mut edges = HashSet::new();
    for edge in &content.edges {
        check_id(&edge.id).map_err(refused)?;
        if !edges.insert(edge.id.as_str()) {
            return invalid(format!("the edge id `{}` is in use", edge.id));
        }
        for end in [&edge.source, &edge.target] {
            if !nodes.contains(end.as_str()) {
                return invalid(format!("edge `{}` ends at no node: `{end}`", edge.id));
            }
        }
    }
    Ok(())
}

fn give_orders(content: &mut Content) -> Result<()> {
    let are_rising = content.nodes.is_sorted_by(|one, other| {
        one.order.is_some() && other.order.is_some() && one.order < other.order
    });
    if are_rising
        && content
            .nodes
            .first()
            .is_none_or(|node| node.order.is_some())
    {
        return Ok(());
    }
    let orders = order::spread(None, None, content.nodes.len())
        .ok_or_else(|| Error::internal("no room for order keys in an empty work"))?;
    for (node, order) in content.nodes.iter_mut().zip(orders) {
        node.order = Some(order);
    }
    Ok(())
}

fn invalid<T>(text: String) -> Result<T> {
    Err(Error::Invalid(text))
}

fn refused(refusal: Refusal) -> Error {
    match refusal {
        Refusal::Invalid(text) => Error::Invalid(text),
        Refusal::Conflict(_) => Error::internal("fields alone were in conflict"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use yrs::Update;
    use yrs::updates::decoder::Decode;

    use super::*;
    use crate::document::{Edge, Node, UpdateLimits, read, validate_update};

    fn content() -> Content {
        let node = |id: &str| Node {
            id: id.into(),
            kind: "shot".into(),
            fields: [("title".to_owned(), json!(format!("Shot {id}")))]
                .into_iter()
                .collect(),
            ..Node::default()
        };
        Content {
            nodes: ["z", "y", "x"].map(node).into(),
            ..Content::default()
        }
    }

    #[test]
    fn the_first_change_shows_the_content_in_its_sequence() {
        let (update, touched) = seed_update(WorkKind::Storyboard, &content()).expect("is valid");
        let nothing = StateVector::default();
        let limits = UpdateLimits::default();
        let facts = validate_update(&update, WorkKind::Storyboard, &nothing, &limits);
        assert!(!facts.expect("passes the gate").missing);
        let (doc, roots) = open_document(WorkKind::Storyboard);
        let update = Update::decode_v1(&update).expect("decodes");
        doc.transact_mut().apply_update(update).expect("applies");
        let nodes = read::read_nodes(&doc.transact(), &roots);
        let ids: Vec<&str> = nodes.iter().map(|node| node.id.as_str()).collect();
        assert_eq!(ids, ["z", "y", "x"]);
        assert_eq!(nodes[0].fields["title"], "Shot z");
        assert_eq!(touched.node_ids(), ["x", "y", "z"]);
        assert_eq!(touched.nodes["nodes/y"].label, "shot 2");
    }

    #[test]
    fn content_that_breaks_a_rule_is_refused() {
        let mut twice = content();
        twice.nodes[1].id = "z".into();
        let mut hanging = content();
        hanging.edges.push(Edge {
            id: "e".into(),
            source: "z".into(),
            target: "gone".into(),
            ..Edge::default()
        });
        for (kind, content) in [
            (WorkKind::Text, content()),
            (WorkKind::Storyboard, twice),
            (WorkKind::Storyboard, hanging.clone()),
            (WorkKind::Flow, hanging),
        ] {
            let refused = seed_update(kind, &content);
            assert!(matches!(refused, Err(Error::Invalid(_))), "{kind:?}");
        }
    }
}
