//! Makes an open document show given content, as a forward change.
//!
//! Invariants
//! - Only what differs is written; prose and texts take the smallest edit, so that others' concurrent typing survives.
//! - What has no JSON form is left alone where the content shows it as null.
//!
//! Not here: which content (`history`), and which fields of an asset may be written by whom (the service).

use std::collections::{HashMap, HashSet};

use serde_json::{Map as Object, Value};
use yrs::{Map, MapPrelim, MapRef, Out, TransactionMut};

use crate::document::layout::Roots;
use crate::document::node_edit::{set_field, write_edge};
use crate::document::{Content, Node, read, text_edit};

/// Makes the document show `target`; parts that its kind does not have are ignored.
pub(crate) fn become_content(txn: &mut TransactionMut<'_>, roots: &Roots, target: &Content) {
    restore_nodes(txn, roots, &target.nodes);
    restore_edges(txn, roots, target);
    if let Some(text) = &roots.text {
        text_edit::set_text(txn, text, &target.text);
    }
    if let Some(asset) = &roots.asset {
        restore_fields(txn, asset, &target.asset);
    }
}

fn restore_nodes(txn: &mut TransactionMut<'_>, roots: &Roots, target: &[Node]) {
    let Some(nodes) = &roots.nodes else {
        return;
    };
    let kept: HashSet<&str> = target.iter().map(|node| node.id.as_str()).collect();
    let mut present: HashMap<String, Node> = HashMap::new();
    for node in read::read_nodes(txn, roots) {
        if kept.contains(node.id.as_str()) {
            present.insert(node.id.clone(), node);
        } else {
            nodes.remove(txn, &node.id);
        }
    }
    for node in target {
        if present.get(&node.id) != Some(node) {
            restore_node(txn, roots, nodes, node);
        }
    }
}

fn restore_node(txn: &mut TransactionMut<'_>, roots: &Roots, nodes: &MapRef, node: &Node) {
    let map = read::find_node(txn, roots, &node.id)
        .unwrap_or_else(|| nodes.insert(txn, node.id.as_str(), MapPrelim::default()));
    let mut fields = node.fields.clone();
    if !node.kind.is_empty() {
        fields.insert("type".into(), Value::String(node.kind.clone()));
    }
    if let Some(order) = &node.order {
        fields.insert("order".into(), Value::String(order.clone()));
    }
    restore_fields(txn, &map, &fields);
}

fn restore_edges(txn: &mut TransactionMut<'_>, roots: &Roots, target: &Content) {
    let Some(edges) = &roots.edges else {
        return;
    };
    let kept: HashSet<&str> = target.edges.iter().map(|edge| edge.id.as_str()).collect();
    let gone: Vec<String> = edges
        .keys(txn)
        .filter(|id| !kept.contains(id))
        .map(ToOwned::to_owned)
        .collect();
    for id in gone {
        edges.remove(txn, &id);
    }
    for edge in &target.edges {
        let present = match edges.get(txn, &edge.id) {
            Some(Out::YMap(map)) => read::edge(txn, &edge.id, &map),
            _ => None,
        };
        if present.as_ref() != Some(edge) {
            write_edge(txn, roots, edge);
        }
    }
}

/// Makes a map show exactly these fields; a null is a field that shows null.
fn restore_fields(txn: &mut TransactionMut<'_>, map: &MapRef, fields: &Object<String, Value>) {
    let gone: Vec<String> = map
        .keys(txn)
        .filter(|name| !fields.contains_key(*name))
        .map(ToOwned::to_owned)
        .collect();
    for name in gone {
        map.remove(txn, &name);
    }
    for (name, value) in fields {
        let present = map.get(txn, name).map(|out| read::json_of(txn, &out));
        if present.as_ref() != Some(value) {
            set_field(txn, map, name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use yrs::updates::decoder::Decode;
    use yrs::{Doc, ReadTxn, StateVector, Transact, Update};

    use super::*;
    use crate::document::layout::open_document;
    use crate::document::{Edge, seed};
    use crate::work::WorkKind;

    fn node(id: &str, fields: Value) -> Node {
        Node {
            id: id.into(),
            kind: "shot".into(),
            order: None,
            fields: match fields {
                Value::Object(fields) => fields,
                other => panic!("{other} is no object"),
            },
        }
    }

    fn edge(id: &str, source: &str, target: &str) -> Edge {
        Edge {
            id: id.into(),
            source: source.into(),
            target: target.into(),
            ..Edge::default()
        }
    }

    fn open(kind: WorkKind, content: &Content) -> (Doc, Roots, Content) {
        let (update, _) = seed::seed_update(kind, content).expect("is valid");
        let (doc, roots) = open_document(kind);
        let update = Update::decode_v1(&update).expect("decodes");
        doc.transact_mut().apply_update(update).expect("applies");
        let content = read::read_content(&doc.transact(), &roots);
        (doc, roots, content)
    }

    fn flow() -> Content {
        Content {
            nodes: vec![
                node(
                    "a",
                    json!({"title": "Arrival", "duration": 4, "position": {"x": 1, "y": 2}}),
                ),
                node("b", json!({"title": "Dawn", "empty": null})),
                node("c", json!({})),
            ],
            edges: vec![edge("e", "a", "b"), edge("f", "b", "c")],
            ..Content::default()
        }
    }

    #[test]
    fn a_changed_flow_shows_its_earlier_content_again() {
        let (doc, roots, before) = open(WorkKind::Flow, &flow());
        let mut txn = doc.transact_mut();
        let nodes = roots.nodes.clone().expect("nodes");
        nodes.remove(&mut txn, "b");
        let a = read::find_node(&txn, &roots, "a").expect("is there");
        set_field(&mut txn, &a, "title", &json!("Departure"));
        set_field(&mut txn, &a, "extra", &json!([1]));
        set_field(&mut txn, &a, "order", &json!("zz"));
        a.remove(&mut txn, "type");
        nodes.insert(&mut txn, "late", MapPrelim::default());
        write_edge(&mut txn, &roots, &edge("g", "a", "late"));
        become_content(&mut txn, &roots, &before);
        assert_eq!(read::read_content(&txn, &roots), before);
    }

    #[test]
    fn restoring_what_is_shown_already_writes_nothing() {
        let (doc, roots, before) = open(WorkKind::Flow, &flow());
        let state = |doc: &Doc| {
            doc.transact()
                .encode_state_as_update_v1(&StateVector::default())
        };
        let bytes = state(&doc);
        become_content(&mut doc.transact_mut(), &roots, &before);
        assert_eq!(state(&doc), bytes);
    }

    #[test]
    fn texts_and_assets_come_back() {
        let first = Content {
            text: "# Hill\n\nAt dawn 😀.".into(),
            ..Content::default()
        };
        let (doc, roots, before) = open(WorkKind::Text, &first);
        let mut txn = doc.transact_mut();
        let text = roots.text.clone().expect("a text");
        text_edit::set_text(&mut txn, &text, "something else");
        become_content(&mut txn, &roots, &before);
        assert_eq!(read::read_content(&txn, &roots), first);
        let asset = json!({"caption": "A hill", "tags": ["hill"], "byteSize": 5});
        let first = Content {
            asset: node("", asset).fields,
            ..Content::default()
        };
        let (doc, roots, before) = open(WorkKind::Asset, &first);
        let mut txn = doc.transact_mut();
        let asset = roots.asset.clone().expect("an asset");
        set_field(&mut txn, &asset, "caption", &json!("Two hills"));
        asset.remove(&mut txn, "tags");
        become_content(&mut txn, &roots, &before);
        assert_eq!(read::read_content(&txn, &roots), first);
    }
}
