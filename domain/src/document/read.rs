//! Reads a document into plain values.
//!
//! Invariants
//! - Whatever an editor stored, reading gives an answer: what has no JSON form shows as null, what is no node is left out.
//! - Nodes are sorted by (order, id), compared by bytes; a node without order comes last.
//! - An edge is shown only while both its ends are.

use std::collections::HashSet;

use serde_json::{Map as Object, Number, Value};
use yrs::{Any, GetString, Map, MapRef, Out, ReadTxn};

use crate::document::layout::Roots;
use crate::document::{Content, Edge, Node, Version};

/// Deeper values show as null; the gate in front of the document lets nothing come near this.
const MAX_DEPTH: usize = 100;

/// Reads everything; the version is for the caller to fill in.
pub(crate) fn read_content<T: ReadTxn>(txn: &T, roots: &Roots) -> Content {
    Content {
        version: Version::default(),
        nodes: read_nodes(txn, roots),
        edges: read_edges(txn, roots),
        text: roots
            .text
            .as_ref()
            .map(|text| text.get_string(txn))
            .unwrap_or_default(),
        asset: roots
            .asset
            .as_ref()
            .map(|asset| read_fields(txn, asset, MAX_DEPTH))
            .unwrap_or_default(),
    }
}

/// Reads all nodes.
pub(crate) fn read_nodes<T: ReadTxn>(txn: &T, roots: &Roots) -> Vec<Node> {
    let Some(map) = &roots.nodes else {
        return Vec::new();
    };
    let mut nodes: Vec<Node> = map
        .iter(txn)
        .filter_map(|(id, value)| Some(node(txn, id, &as_map(value)?)))
        .collect();
    nodes.sort_by(|one, other| {
        sort_key(one.order.as_deref(), &one.id).cmp(&sort_key(other.order.as_deref(), &other.id))
    });
    nodes
}

/// Reads one node, if it is there.
pub(crate) fn read_node<T: ReadTxn>(txn: &T, roots: &Roots, id: &str) -> Option<Node> {
    Some(node(txn, id, &find_node(txn, roots, id)?))
}

/// The shared type of a node, if it is there.
pub(crate) fn find_node<T: ReadTxn>(txn: &T, roots: &Roots, id: &str) -> Option<MapRef> {
    as_map(roots.nodes.as_ref()?.get(txn, id)?)
}

/// The order of a node.
pub(crate) fn order_of<T: ReadTxn>(txn: &T, node: &MapRef) -> Option<String> {
    text_at(txn, node, "order")
}

/// What nodes are sorted by.
pub(crate) fn sort_key<'a>(order: Option<&'a str>, id: &'a str) -> (bool, &'a str, &'a str) {
    (order.is_none(), order.unwrap_or_default(), id)
}

/// Reads the edges that are shown, sorted by id.
pub(crate) fn read_edges<T: ReadTxn>(txn: &T, roots: &Roots) -> Vec<Edge> {
    let (Some(nodes), Some(edges)) = (&roots.nodes, &roots.edges) else {
        return Vec::new();
    };
    let ids: HashSet<&str> = nodes
        .iter(txn)
        .filter(|(_, value)| matches!(value, Out::YMap(_)))
        .map(|(id, _)| id)
        .collect();
    let mut shown: Vec<Edge> = edges
        .iter(txn)
        .filter_map(|(id, value)| edge(txn, id, &as_map(value)?))
        .filter(|edge| ids.contains(edge.source.as_str()) && ids.contains(edge.target.as_str()))
        .collect();
    shown.sort_by(|one, other| one.id.cmp(&other.id));
    shown
}

/// Reads an edge, whether or not its ends are there; none where it does not name two.
pub(crate) fn edge<T: ReadTxn>(txn: &T, id: &str, map: &MapRef) -> Option<Edge> {
    Some(Edge {
        id: id.to_owned(),
        source: text_at(txn, map, "source")?,
        target: text_at(txn, map, "target")?,
        source_port: text_at(txn, map, "sourcePort"),
        target_port: text_at(txn, map, "targetPort"),
    })
}

/// What people call a node of a flow: its title, or its id where it has none.
pub(crate) fn name_of<T: ReadTxn>(txn: &T, node: &MapRef, id: &str) -> String {
    let title = text_at(txn, node, "title").filter(|title| !title.trim().is_empty());
    title.unwrap_or_else(|| id.to_owned())
}

/// The JSON form of a stored value.
pub(crate) fn json_of<T: ReadTxn>(txn: &T, value: &Out) -> Value {
    json_of_out(txn, value, MAX_DEPTH)
}

fn as_map(value: Out) -> Option<MapRef> {
    match value {
        Out::YMap(map) => Some(map),
        _ => None,
    }
}

fn node<T: ReadTxn>(txn: &T, id: &str, map: &MapRef) -> Node {
    let mut fields = read_fields(txn, map, MAX_DEPTH);
    fields.remove("type");
    fields.remove("order");
    Node {
        id: id.to_owned(),
        kind: text_at(txn, map, "type").unwrap_or_default(),
        order: order_of(txn, map),
        fields,
    }
}

fn text_at<T: ReadTxn>(txn: &T, map: &MapRef, key: &str) -> Option<String> {
    match map.get(txn, key)? {
        Out::Any(Any::String(text)) => Some(text.to_string()),
        Out::YText(text) => Some(text.get_string(txn)),
        _ => None,
    }
}

fn read_fields<T: ReadTxn>(txn: &T, map: &MapRef, depth: usize) -> Object<String, Value> {
    map.iter(txn)
        .filter(|(_, value)| !matches!(value, Out::Any(Any::Undefined)))
        .map(|(key, value)| (key.to_owned(), json_of_out(txn, &value, depth)))
        .collect()
}

fn json_of_out<T: ReadTxn>(txn: &T, value: &Out, depth: usize) -> Value {
    if depth == 0 {
        return Value::Null;
    }
    match value {
        Out::Any(any) => json_of_any(any, depth),
        Out::YText(text) => Value::String(text.get_string(txn)),
        Out::YMap(map) => Value::Object(read_fields(txn, map, depth - 1)),
        _ => Value::Null,
    }
}

fn json_of_any(any: &Any, depth: usize) -> Value {
    if depth == 0 {
        return Value::Null;
    }
    match any {
        // Bytes have no JSON form.
        Any::Null | Any::Undefined | Any::Buffer(_) => Value::Null,
        Any::Bool(value) => Value::Bool(*value),
        Any::Number(yrs::Number::Int(value)) => Value::from(*value),
        Any::Number(yrs::Number::Float(value)) => json_of_float(*value),
        Any::String(text) => Value::String(text.to_string()),
        Any::Array(items) => items
            .iter()
            .map(|item| json_of_any(item, depth - 1))
            .collect(),
        Any::Map(entries) => entries
            .iter()
            .filter(|(_, value)| !matches!(value, Any::Undefined))
            .map(|(key, value)| (key.clone(), json_of_any(value, depth - 1)))
            .collect::<Object<_, _>>()
            .into(),
    }
}

/// Whole numbers become integers, because JavaScript does not tell 5 from 5.0.
fn json_of_float(value: f64) -> Value {
    match yrs::Number::try_i64(value) {
        yrs::Number::Int(value) => Value::from(value),
        yrs::Number::Float(value) => Number::from_f64(value).map_or(Value::Null, Value::Number),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use yrs::{MapPrelim, TextPrelim, Transact};

    use super::*;
    use crate::document::layout::open_document;
    use crate::work::WorkKind;

    #[test]
    fn nodes_come_by_order_then_id_and_those_without_order_last() {
        let (doc, roots) = open_document(WorkKind::Storyboard);
        let nodes = roots.nodes.clone().expect("nodes");
        let mut txn = doc.transact_mut();
        for (id, order) in [
            ("c", Some("Z")),
            ("b", Some("a")),
            ("a", Some("a")),
            ("0", None),
        ] {
            let node = nodes.insert(&mut txn, id, MapPrelim::default());
            if let Some(order) = order {
                node.insert(&mut txn, "order", order);
            }
        }
        let ids: Vec<String> = read_nodes(&txn, &roots)
            .into_iter()
            .map(|node| node.id)
            .collect();
        assert_eq!(ids, ["c", "a", "b", "0"]);
    }

    #[test]
    fn values_of_editors_show_as_json_and_garbage_does_no_harm() {
        let (doc, roots) = open_document(WorkKind::Flow);
        let nodes = roots.nodes.clone().expect("nodes");
        let mut txn = doc.transact_mut();
        nodes.insert(&mut txn, "garbage", "no map");
        let node = nodes.insert(&mut txn, "n", MapPrelim::default());
        node.insert(&mut txn, "type", 7);
        node.insert(&mut txn, "title", TextPrelim::new("Hill"));
        node.insert(&mut txn, "whole", 5.0);
        node.insert(&mut txn, "half", 0.5);
        node.insert(&mut txn, "infinite", f64::INFINITY);
        node.insert(&mut txn, "empty", Any::Null);
        node.insert(&mut txn, "undefined", Any::Undefined);
        node.insert(&mut txn, "bytes", vec![1_u8]);
        node.insert(&mut txn, "position", MapPrelim::from([("x", 1)]));
        let read = read_nodes(&txn, &roots);
        assert_eq!(read.len(), 1);
        assert_eq!(read[0].kind, "");
        let fields = json!({"title": "Hill", "whole": 5, "half": 0.5, "infinite": null, "empty": null, "bytes": null,
            "position": {"x": 1}});
        assert_eq!(Value::Object(read[0].fields.clone()), fields);
    }

    #[test]
    fn an_edge_without_both_ends_is_not_shown() {
        let (doc, roots) = open_document(WorkKind::Flow);
        let (nodes, edges) = (
            roots.nodes.clone().expect("nodes"),
            roots.edges.clone().expect("edges"),
        );
        let mut txn = doc.transact_mut();
        nodes.insert(&mut txn, "a", MapPrelim::default());
        edges.insert(
            &mut txn,
            "loop",
            MapPrelim::from([("source", "a"), ("target", "a")]),
        );
        edges.insert(
            &mut txn,
            "hanging",
            MapPrelim::from([("source", "a"), ("target", "b")]),
        );
        edges.insert(&mut txn, "half", MapPrelim::from([("source", "a")]));
        let ids: Vec<String> = read_edges(&txn, &roots)
            .into_iter()
            .map(|edge| edge.id)
            .collect();
        assert_eq!(ids, ["loop"]);
    }
}
