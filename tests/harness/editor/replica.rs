//! The document that an editor holds.

use serde_json::{Map, Value, json};
use yrs::types::ToJson as _;
use yrs::updates::decoder::Decode as _;
use yrs::{
    Any, Doc, GetString as _, Map as _, MapPrelim, MapRef, OffsetKind, Options, Out, ReadTxn as _,
    StateVector, Text as _, TextPrelim, TextRef, Transact as _, TransactionMut, Update,
};

/// The shared types of all kinds of works; those that a work does not have stay empty.
#[derive(Clone)]
pub(crate) struct Roots {
    pub(crate) nodes: MapRef,
    pub(crate) edges: MapRef,
    pub(crate) text: TextRef,
}

/// A document with its shared types.
pub(crate) struct Replica {
    pub(crate) doc: Doc,
    pub(crate) roots: Roots,
}

impl Replica {
    /// An empty one.
    pub(crate) fn new() -> Self {
        let doc = Doc::with_options(Options {
            offset_kind: OffsetKind::Utf16,
            ..Options::default()
        });
        let roots = Roots {
            nodes: doc.get_or_insert_map("nodes"),
            edges: doc.get_or_insert_map("edges"),
            text: doc.get_or_insert_text("text"),
        };
        Self { doc, roots }
    }

    /// Changes it, and returns the update.
    pub(crate) fn change(&self, edit: impl FnOnce(&mut TransactionMut<'_>, &Roots)) -> Vec<u8> {
        let mut txn = self.doc.transact_mut();
        edit(&mut txn, &self.roots);
        txn.encode_update_v1()
    }

    /// Takes an update of the server.
    pub(crate) fn apply(&self, update: &[u8]) {
        let update = Update::decode_v1(update).expect("the server sends updates");
        self.doc
            .transact_mut()
            .apply_update(update)
            .expect("updates of the server apply");
    }

    /// What it holds, encoded.
    pub(crate) fn state_vector(&self) -> Vec<u8> {
        use yrs::updates::encoder::Encode as _;
        self.doc.transact().state_vector().encode_v1()
    }

    /// What somebody with this state vector lacks.
    pub(crate) fn difference(&self, state_vector: &[u8]) -> Vec<u8> {
        let known = StateVector::decode_v1(state_vector).expect("the server sends state vectors");
        self.doc.transact().encode_state_as_update_v1(&known)
    }

    /// The text.
    pub(crate) fn text(&self) -> String {
        self.roots.text.get_string(&self.doc.transact())
    }

    /// Everything as JSON: `{nodes, edges, text}`.
    pub(crate) fn content(&self) -> Value {
        let txn = self.doc.transact();
        let map = |map: &MapRef| serde_json::to_value(map.to_json(&txn)).expect("JSON");
        json!({"nodes": map(&self.roots.nodes), "edges": map(&self.roots.edges), "text": self.roots.text.get_string(&txn)})
    }

    /// The fields of a node; none where it is not there.
    pub(crate) fn node(&self, id: &str) -> Option<Map<String, Value>> {
        let content = self.content();
        content["nodes"][id].as_object().cloned()
    }
}

/// A node of the replica, for edits.
pub(crate) fn node(txn: &mut TransactionMut<'_>, roots: &Roots, id: &str) -> MapRef {
    match roots.nodes.get(txn, id) {
        Some(Out::YMap(node)) => node,
        other => panic!("{id} is no node: {other:?}"),
    }
}

/// The text of a field that prose is typed into.
pub(crate) fn prose(txn: &mut TransactionMut<'_>, roots: &Roots, id: &str, field: &str) -> TextRef {
    let node = node(txn, roots, id);
    match node.get(txn, field) {
        Some(Out::YText(text)) => text,
        other => panic!("{field} of {id} is no text: {other:?}"),
    }
}

/// Adds a node as an editor does: a type, an order, a description to type into.
pub(crate) fn put(
    txn: &mut TransactionMut<'_>,
    roots: &Roots,
    id: &str,
    order: &str,
    description: &str,
) {
    let fields = MapPrelim::from([("type", Any::from("shot")), ("order", Any::from(order))]);
    let node = roots.nodes.insert(txn, id, fields);
    node.insert(txn, "description", TextPrelim::new(description));
}

/// Sets a field that is no prose.
pub(crate) fn set(
    txn: &mut TransactionMut<'_>,
    roots: &Roots,
    id: &str,
    field: &str,
    value: impl Into<Any>,
) {
    let node = node(txn, roots, id);
    node.insert(txn, field, value.into());
}

/// Types at the end of the text.
pub(crate) fn append(txn: &mut TransactionMut<'_>, roots: &Roots, text: &str) {
    let end = roots.text.len(txn);
    roots.text.insert(txn, end, text);
}
