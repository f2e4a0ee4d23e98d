//! What a change touched, and how that is put into words.
//!
//! Invariants
//! - Keys are paths, `nodes/{id}` or `edges/{id}`, so that a node and an edge with one id stay two things.
//! - Merging the touches of consecutive changes gives the touch of them all.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// Path prefix of nodes.
pub(crate) const NODES: &str = "nodes/";
/// Path prefix of edges.
pub(crate) const EDGES: &str = "edges/";
/// A summary names at most this many nodes.
const NAMED_NODES: usize = 4;

/// What a change touched.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Touched {
    /// By path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub nodes: BTreeMap<String, TouchedNode>,
    /// Characters put into the text of a text document.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub inserted: u64,
    /// Characters taken out of it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub removed: u64,
    /// Fields of an asset.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub asset: BTreeSet<String>,
    /// The editor's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde asks for"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What happened to one node or edge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TouchedNode {
    /// What people call it, such as "shot 2".
    pub label: String,
    /// What happened.
    pub how: How,
    /// Fields that changed.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub fields: BTreeSet<String>,
}

/// What happened to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// It is new.
    Added,
    /// Something in it changed.
    Changed,
    /// It is gone.
    Removed,
}

impl Touched {
    /// Whether nothing was touched.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.inserted == 0 && self.removed == 0 && self.asset.is_empty()
    }

    /// Ids of touched nodes and edges, without doubles.
    pub fn node_ids(&self) -> Vec<&str> {
        let ids: BTreeSet<&str> = self.nodes.keys().map(|path| id_of(path)).collect();
        ids.into_iter().collect()
    }

    /// Adds what a later change touched.
    pub fn merge(&mut self, later: Self) {
        for (path, node) in later.nodes {
            self.merge_node(path, node);
        }
        self.inserted += later.inserted;
        self.removed += later.removed;
        self.asset.extend(later.asset);
        if later.note.is_some() {
            self.note = later.note;
        }
    }

    fn merge_node(&mut self, path: String, later: TouchedNode) {
        let Some(earlier) = self.nodes.get_mut(&path) else {
            self.nodes.insert(path, later);
            return;
        };
        earlier.how = match (earlier.how, later.how) {
            (How::Added, How::Changed) => How::Added,
            (How::Removed, How::Added) => How::Changed,
            (_, how) => how,
        };
        earlier.fields.extend(later.fields);
        if earlier.how != How::Removed {
            earlier.label = later.label;
        }
    }

    /// What happened, in words for people: the editor's own where there are some.
    pub fn summary(&self) -> String {
        if let Some(note) = &self.note {
            return note.clone();
        }
        let mut nodes: Vec<&TouchedNode> = self.nodes.values().collect();
        // As people count: shot 2 before shot 10.
        nodes.sort_by_key(|node| (node.label.len(), &node.label));
        let mut parts: Vec<String> = nodes
            .into_iter()
            .take(NAMED_NODES)
            .map(TouchedNode::summary)
            .collect();
        if self.nodes.len() > NAMED_NODES {
            parts.push(format!("{} more", self.nodes.len() - NAMED_NODES));
        }
        match (self.inserted, self.removed) {
            (0, 0) => {}
            (inserted, 0) => parts.push(format!("text: {inserted} characters added")),
            (0, removed) => parts.push(format!("text: {removed} characters removed")),
            (inserted, removed) => parts.push(format!(
                "text: {inserted} characters added, {removed} removed"
            )),
        }
        if !self.asset.is_empty() {
            parts.push(format!("file: {}", join(&self.asset)));
        }
        parts.join("; ")
    }
}

impl TouchedNode {
    fn summary(&self) -> String {
        match self.how {
            How::Added => format!("{} added", self.label),
            How::Removed => format!("{} removed", self.label),
            How::Changed if self.fields.is_empty() => format!("{} changed", self.label),
            How::Changed if self.fields.iter().eq(["order"]) => format!("{} moved", self.label),
            How::Changed => format!("{}: {}", self.label, join(&self.fields)),
        }
    }
}

fn join(fields: &BTreeSet<String>) -> String {
    fields
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ")
}

/// The id in a path.
pub(crate) fn id_of(path: &str) -> &str {
    path.split_once('/').map_or(path, |(_, id)| id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(label: &str, fields: &[&str]) -> TouchedNode {
        TouchedNode {
            label: label.into(),
            how: How::Changed,
            fields: fields.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn a_summary_names_the_shot_and_its_fields() {
        let mut touched = Touched::default();
        touched.nodes.insert(
            "nodes/a".into(),
            changed("shot 2", &["duration", "description"]),
        );
        assert_eq!(touched.summary(), "shot 2: description, duration");
    }

    #[test]
    fn a_summary_counts_as_people_do_and_says_what_moved() {
        let mut touched = Touched::default();
        for (id, label, fields) in [
            ("a", "shot 10", ["order"]),
            ("b", "shot 2", ["title"]),
            ("c", "shot 1", ["type"]),
        ] {
            touched
                .nodes
                .insert(format!("nodes/{id}"), changed(label, &fields));
        }
        assert_eq!(
            touched.summary(),
            "shot 1: type; shot 2: title; shot 10 moved"
        );
    }

    #[test]
    fn a_node_that_came_and_changed_in_one_run_is_new() {
        let mut touched = Touched::default();
        touched.nodes.insert(
            "nodes/a".into(),
            TouchedNode {
                label: "shot 1".into(),
                how: How::Added,
                fields: BTreeSet::new(),
            },
        );
        let mut later = Touched::default();
        later
            .nodes
            .insert("nodes/a".into(), changed("shot 2", &["title"]));
        touched.merge(later);
        assert_eq!(touched.summary(), "shot 2 added");
    }
}
