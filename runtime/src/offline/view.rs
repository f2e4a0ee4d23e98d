//! A work as `read_work` showed it.

use std::str::FromStr as _;

use domain::document::Version;
use domain::ids::WorkId;
use serde_json::{Map, Value};

use super::place::{Outcome, Place};

/// A work as it was read.
#[derive(Debug, Clone, Default)]
pub(super) struct View {
    /// The version that was read.
    pub(super) version: Version,
    /// Its nodes, in order; those that were asked for, where some were.
    pub(super) nodes: Vec<ViewNode>,
    /// Its edges, as (id, source, target).
    pub(super) edges: Vec<(String, String, String)>,
    /// Its text.
    pub(super) text: String,
}

/// A node as it was read.
#[derive(Debug, Clone)]
pub(super) struct ViewNode {
    pub(super) id: String,
    pub(super) fields: Map<String, Value>,
}

impl ViewNode {
    /// A field of prose; empty where there is none.
    pub(super) fn prose(&self, field: &str) -> &str {
        self.fields
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }
}

/// What a reading brought.
pub(super) enum Reading {
    /// The work.
    View(View),
    /// More than one answer holds.
    TooLarge,
}

/// What the last decision read of a work; none where it did not read it, or could not.
pub(super) fn reading(place: &Place<'_>, work: WorkId) -> Option<Reading> {
    let is_of = |outcome: &&Outcome<'_>| {
        let named = outcome.arguments["work_id"].as_str();
        outcome.tool == "read_work"
            && outcome.is_done()
            && named.is_some_and(|id| WorkId::from_str(id) == Ok(work))
    };
    let mut readings = place
        .outcomes
        .iter()
        .filter(is_of)
        .map(|outcome| outcome.result);
    let mut view = match readings.next()? {
        result if is_digest(result) => return Some(Reading::TooLarge),
        result => view_of(result),
    };
    // A large work is read in several pieces; a piece that is missing makes the rest worth nothing.
    for result in readings {
        if is_digest(result) {
            return Some(Reading::TooLarge);
        }
        let more = view_of(result);
        view.version = view.version.min(more.version);
        view.nodes.extend(more.nodes);
    }
    Some(Reading::View(view))
}

fn is_digest(result: &Value) -> bool {
    result["handle"].is_string() && result["beginning"].is_string()
}

fn view_of(result: &Value) -> View {
    let list = |key: &str| {
        result[key]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default()
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    View {
        version: Version(result["version"].as_u64().unwrap_or_default()),
        nodes: list("nodes")
            .iter()
            .map(|node| ViewNode {
                id: text(&node["id"]),
                fields: node["fields"].as_object().cloned().unwrap_or_default(),
            })
            .collect(),
        edges: list("edges")
            .iter()
            .map(|edge| {
                (
                    text(&edge["id"]),
                    text(&edge["source"]),
                    text(&edge["target"]),
                )
            })
            .collect(),
        text: text(&result["text"]),
    }
}
