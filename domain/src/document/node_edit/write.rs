//! Writes checked values into an open transaction, touching only what differs.
//!
//! Invariants
//! - Prose stays one Y.Text as long as it is there, and is changed by the smallest edit.
//! - Shared maps of editors are kept when an object is set over them: they come to show the object, key by key.
//! - A value that is there already is not written again, so it is no touch.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map as Object, Value};
use yrs::{Any, Map, MapPrelim, MapRef, Number, Out, TextPrelim, TransactionMut};

use super::{Plan, PlanStep};
use crate::document::layout::{Roots, is_prose};
use crate::document::{Edge, read, text_edit};

/// Writes a plan; the document has to be as it was when the plan was made.
pub(crate) fn apply_plan(txn: &mut TransactionMut<'_>, roots: &Roots, plan: &Plan) {
    for step in &plan.steps {
        apply_step(txn, roots, step);
    }
}

fn apply_step(txn: &mut TransactionMut<'_>, roots: &Roots, step: &PlanStep) {
    let Some(nodes) = &roots.nodes else {
        return;
    };
    match step {
        PlanStep::Add {
            id,
            kind,
            order,
            fields,
        } => {
            let node = nodes.insert(txn, id.as_str(), MapPrelim::default());
            if let Some(kind) = kind {
                node.insert(txn, "type", kind.as_str());
            }
            node.insert(txn, "order", order.as_str());
            set_fields(txn, &node, fields);
        }
        PlanStep::Set { id, fields } => {
            if let Some(node) = read::find_node(txn, roots, id) {
                set_fields(txn, &node, fields);
            }
        }
        PlanStep::Order { id, order } => {
            if let Some(node) = read::find_node(txn, roots, id) {
                node.insert(txn, "order", order.as_str());
            }
        }
        PlanStep::Remove(id) => drop(nodes.remove(txn, id)),
        PlanStep::Connect(edge) => write_edge(txn, roots, edge),
        PlanStep::Disconnect(id) => {
            if let Some(edges) = &roots.edges {
                edges.remove(txn, id);
            }
        }
    }
}

/// Merges fields into a map; null deletes one.
fn set_fields(txn: &mut TransactionMut<'_>, map: &MapRef, fields: &Object<String, Value>) {
    for (name, value) in fields {
        if value.is_null() {
            if map.contains_key(txn, name) {
                map.remove(txn, name);
            }
        } else {
            set_field(txn, map, name, value);
        }
    }
}

/// Makes a field of a node or asset show a value.
pub(crate) fn set_field(txn: &mut TransactionMut<'_>, map: &MapRef, name: &str, value: &Value) {
    match (map.get(txn, name), value) {
        (Some(Out::YText(_)), Value::String(_)) => set_value(txn, map, name, value),
        (_, Value::String(new)) if is_prose(name) => {
            map.insert(txn, name, TextPrelim::new(new.as_str()));
        }
        _ => set_value(txn, map, name, value),
    }
}

fn set_value(txn: &mut TransactionMut<'_>, map: &MapRef, name: &str, value: &Value) {
    match (map.get(txn, name), value) {
        (Some(Out::YText(text)), Value::String(new)) => {
            text_edit::set_text(txn, &text, new);
        }
        (Some(Out::YMap(present)), Value::Object(object)) => set_object(txn, &present, object),
        (Some(Out::Any(any)), _) if shows(txn, &any, value) => {}
        _ => {
            map.insert(txn, name, any_of(value));
        }
    }
}

/// Writes a new edge, or makes an edge read as this one.
pub(crate) fn write_edge(txn: &mut TransactionMut<'_>, roots: &Roots, edge: &Edge) {
    let Some(edges) = &roots.edges else {
        return;
    };
    let map = match edges.get(txn, &edge.id) {
        Some(Out::YMap(map)) => map,
        _ => edges.insert(txn, edge.id.as_str(), MapPrelim::default()),
    };
    let text = |text: &Option<String>| text.clone().map_or(Value::Null, Value::String);
    let fields = [
        ("source", Value::String(edge.source.clone())),
        ("target", Value::String(edge.target.clone())),
        ("sourcePort", text(&edge.source_port)),
        ("targetPort", text(&edge.target_port)),
    ];
    let fields = fields.map(|(name, value)| (name.to_owned(), value));
    set_fields(txn, &map, &fields.into_iter().collect());
}

fn set_object(txn: &mut TransactionMut<'_>, map: &MapRef, object: &Object<String, Value>) {
    let gone: Vec<String> = map
        .keys(txn)
        .filter(|key| !object.contains_key(*key))
        .map(ToOwned::to_owned)
        .collect();
    for key in gone {
        map.remove(txn, &key);
    }
    for (key, value) in object {
        set_value(txn, map, key, value);
    }
}

fn shows(txn: &TransactionMut<'_>, any: &Any, value: &Value) -> bool {
    // What has no JSON form shows as null too, and is not the same.
    let is_lost = matches!(any, Any::Undefined | Any::Buffer(_));
    let json = |any: Any| read::json_of(txn, &Out::Any(any));
    // Both as they would be read: 4 and 4.0 are one number.
    !is_lost && json(any.clone()) == json(any_of(value))
}

fn any_of(value: &Value) -> Any {
    match value {
        Value::Null => Any::Null,
        Value::Bool(value) => Any::Bool(*value),
        Value::Number(number) => Any::Number(number_of(number)),
        Value::String(text) => Any::String(Arc::from(text.as_str())),
        Value::Array(items) => Any::Array(items.iter().map(any_of).collect()),
        Value::Object(entries) => {
            let entries = entries
                .iter()
                .map(|(key, value)| (key.clone(), any_of(value)));
            Any::Map(Arc::new(entries.collect::<HashMap<_, _>>()))
        }
    }
}

/// Whole numbers that JavaScript holds exactly stay whole; everything else is a float, as it would be there.
fn number_of(number: &serde_json::Number) -> Number {
    number.as_f64().map_or(Number::Int(0), Number::try_i64)
}
