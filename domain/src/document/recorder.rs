//! Records what transactions touch, and keeps what people call the things in a document.
//!
//! Invariants
//! - Callbacks run inside the commit of the library: they take no transaction, lock only the record, and do not panic.
//! - Labels come from an index that follows the changes, so that a change costs what it touched and not what there is.
//! - Removed things are called what they were called before.
//!
//! Not here: who did it (`attribution`), wording (`touched`).

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use yrs::types::{EntryChange, Event, Events, PathSegment};
use yrs::{DeepObservable, Doc, IdSet, Map, Out, ReadTxn, Transact, TransactionMut};

use crate::document::labels::Labels;
use crate::document::layout::{FILE_FIELDS, Roots};
use crate::document::node_edit::{MAX_NODES, Refusal, check_id};
use crate::document::touched::{EDGES, How, NODES, TouchedNode, id_of};
use crate::document::{Touched, read};
use crate::work::WorkKind;

/// The key under which observers are registered: one set per document.
const KEY: &str = "recorder";

/// What was touched since the last time it was asked for.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Recorded {
    /// What was touched, with labels.
    pub(crate) touched: Touched,
    /// The deepest place that was touched: 1 is a node or asset field, 2 a node's field, and so on.
    pub(crate) depth: usize,
    /// Whether fields of an asset were touched that only the server writes.
    pub(crate) touched_file: bool,
    /// Whether edges of a flow hang now: see [`remove_hanging_edges`].
    pub(crate) has_hanging_edges: bool,
    /// What was put there and no edit of nodes could have put there, in words.
    pub(crate) misplaced: Option<String>,
}

/// Observes a document for as long as that lives.
#[derive(Debug)]
pub(crate) struct Recorder {
    record: Arc<Mutex<Record>>,
    roots: Roots,
    labels: Labels,
}

#[derive(Debug, Default)]
struct Record {
    touched: Touched,
    depth: usize,
}

#[derive(Debug, Clone, Copy)]
enum Root {
    Nodes,
    Edges,
    Asset,
}

impl Recorder {
    /// Begins to observe; no transaction may be open on this thread. What is there already is known, not recorded.
    pub(crate) fn attach(doc: &Doc, roots: &Roots, kind: WorkKind) -> Self {
        let record = Arc::new(Mutex::new(Record::default()));
        let maps = [
            (&roots.nodes, Root::Nodes),
            (&roots.edges, Root::Edges),
            (&roots.asset, Root::Asset),
        ];
        for (map, root) in maps {
            let Some(map) = map else {
                continue;
            };
            let record = Arc::clone(&record);
            map.observe_deep(KEY, move |txn, events| {
                lock(&record).note(root, txn, events);
            });
        }
        if let Some(text) = &roots.text {
            let record = Arc::clone(&record);
            text.observe_deep(KEY, move |txn, _| lock(&record).note_text(txn));
        }
        Self {
            record,
            labels: Labels::read(&doc.transact(), roots, kind),
            roots: roots.clone(),
        }
    }

    /// What was touched since the last call, labelled as it is called now.
    pub(crate) fn take<T: ReadTxn>(&mut self, txn: &T) -> Recorded {
        let Record { mut touched, depth } = std::mem::take(&mut *lock(&self.record));
        self.labels.follow(txn, &self.roots, &mut touched);
        Recorded {
            touched_file: touched
                .asset
                .iter()
                .any(|field| FILE_FIELDS.contains(&field.as_str())),
            has_hanging_edges: has_hanging_edges(txn, &self.roots, &touched),
            misplaced: misplaced(&touched, self.labels.nodes()),
            touched,
            depth,
        }
    }
}

/// What breaks a rule that structured edits keep: ids that are empty or too long, more nodes than a work holds.
fn misplaced(touched: &Touched, nodes: usize) -> Option<String> {
    let there = touched
        .nodes
        .iter()
        .filter(|(_, node)| node.how != How::Removed);
    let mut has_grown = false;
    for (path, node) in there {
        if let Err(Refusal::Invalid(reason)) = check_id(id_of(path)) {
            return Some(reason);
        }
        has_grown |= node.how == How::Added && path.starts_with(NODES);
    }
    (has_grown && nodes > MAX_NODES).then(|| format!("a work holds at most {MAX_NODES} nodes"))
}

/// Removes edges that lack an end, or are none; returns their ids. For a change of its own, by the system.
pub(crate) fn remove_hanging_edges(txn: &mut TransactionMut<'_>, roots: &Roots) -> Vec<String> {
    let hanging = hanging_edges(txn, roots);
    if let Some(edges) = &roots.edges {
        for id in &hanging {
            edges.remove(txn, id);
        }
    }
    hanging
}

fn hanging_edges<T: ReadTxn>(txn: &T, roots: &Roots) -> Vec<String> {
    let Some(edges) = &roots.edges else {
        return Vec::new();
    };
    let hanging = edges
        .iter(txn)
        .filter(|(id, value)| hangs(txn, roots, id, value));
    let mut hanging: Vec<String> = hanging.map(|(id, _)| id.to_owned()).collect();
    hanging.sort();
    hanging
}

/// Whether an edge lacks an end, or is none.
fn hangs<T: ReadTxn>(txn: &T, roots: &Roots, id: &str, value: &Out) -> bool {
    let edge = match value {
        Out::YMap(map) => read::edge(txn, id, map),
        _ => None,
    };
    let is_there = |id: &str| read::find_node(txn, roots, id).is_some();
    !edge.is_some_and(|edge| is_there(&edge.source) && is_there(&edge.target))
}

/// Whether what was touched leaves an edge hanging: a node that went or was replaced can do that to any edge, and
/// otherwise an edge can only do it to itself.
fn has_hanging_edges<T: ReadTxn>(txn: &T, roots: &Roots, touched: &Touched) -> bool {
    let Some(edges) = &roots.edges else {
        return false;
    };
    let lost_a_node = touched.nodes.iter().any(|(path, node)| {
        let is_replaced = node.how == How::Changed && node.fields.is_empty();
        path.starts_with(NODES) && (node.how == How::Removed || is_replaced)
    });
    if lost_a_node {
        return !hanging_edges(txn, roots).is_empty();
    }
    let ids = touched
        .nodes
        .keys()
        .filter_map(|path| path.strip_prefix(EDGES));
    let mut present = ids.filter_map(|id| Some((id, edges.get(txn, id)?)));
    present.any(|(id, value)| hangs(txn, roots, id, &value))
}

fn lock(record: &Mutex<Record>) -> MutexGuard<'_, Record> {
    // A record is whole between any two statements, so a panic elsewhere does not spoil it.
    record.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Record {
    fn note(&mut self, root: Root, txn: &TransactionMut<'_>, events: &Events) {
        for event in events.iter() {
            let path: Vec<PathSegment> = event.path().into_iter().collect();
            self.depth = self.depth.max(path.len() + 1);
            match root {
                Root::Nodes => self.note_entry(NODES, &path, txn, event),
                Root::Edges => self.note_entry(EDGES, &path, txn, event),
                Root::Asset => self.note_asset(&path, txn, event),
            }
        }
    }

    fn note_entry(
        &mut self,
        prefix: &str,
        path: &[PathSegment],
        txn: &TransactionMut<'_>,
        event: &Event,
    ) {
        match path {
            [] => {
                for (id, how) in changes(txn, event) {
                    self.note_node(prefix, &id, how, None);
                }
            }
            [PathSegment::Key(id)] => {
                for (field, _) in changes(txn, event) {
                    self.note_node(prefix, id, How::Changed, Some(&field));
                }
            }
            [PathSegment::Key(id), PathSegment::Key(field), ..] => {
                self.note_node(prefix, id, How::Changed, Some(field));
            }
            _ => {}
        }
    }

    fn note_node(&mut self, prefix: &str, id: &str, how: How, field: Option<&str>) {
        let node = TouchedNode {
            label: String::new(),
            how,
            fields: field.map(ToOwned::to_owned).into_iter().collect(),
        };
        let mut touched = Touched::default();
        touched.nodes.insert(format!("{prefix}{id}"), node);
        self.touched.merge(touched);
    }

    fn note_asset(&mut self, path: &[PathSegment], txn: &TransactionMut<'_>, event: &Event) {
        let fields: BTreeSet<String> = match path {
            [] => changes(txn, event)
                .into_iter()
                .map(|(field, _)| field)
                .collect(),
            [PathSegment::Key(field), ..] => BTreeSet::from([field.to_string()]),
            _ => BTreeSet::new(),
        };
        self.touched.asset.extend(fields);
    }

    /// A text document is one text, so its characters are counted by the sets of the transaction: describing the change
    /// would walk the whole text.
    fn note_text(&mut self, txn: &TransactionMut<'_>) {
        let both = length(&txn.insert_set().intersect(txn.delete_set()));
        self.touched.inserted += length(txn.insert_set()).saturating_sub(both);
        self.touched.removed += length(txn.delete_set()).saturating_sub(both);
        self.depth = self.depth.max(1);
    }
}

fn changes(txn: &TransactionMut<'_>, event: &Event) -> Vec<(String, How)> {
    let Event::Map(event) = event else {
        return Vec::new();
    };
    let how = |change: &EntryChange| match change {
        EntryChange::Inserted(_) => How::Added,
        EntryChange::Updated(..) => How::Changed,
        EntryChange::Removed(_) => How::Removed,
    };
    event
        .keys(txn)
        .iter()
        .map(|(key, change)| (key.to_string(), how(change)))
        .collect()
}

/// How many characters and values a set holds.
pub(crate) fn length(set: &IdSet) -> u64 {
    set.iter()
        .flat_map(|(_, ranges)| ranges.iter())
        .map(|range| u64::from(range.end - range.start))
        .sum()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use yrs::types::Attrs;
    use yrs::{Any, MapPrelim, Text, TextPrelim};

    use super::*;
    use crate::document::layout::open_document;
    use crate::document::node_edit::{set_field, write_edge};
    use crate::document::{Content, Edge, Node, restore};

    fn open(kind: WorkKind, ids: &[&str]) -> (Doc, Roots, Recorder) {
        let (doc, roots) = open_document(kind);
        let nodes = ids.iter().enumerate().map(|(place, id)| Node {
            id: (*id).into(),
            order: Some(format!("V{}", place + 1)),
            fields: [("title".to_owned(), json!(format!("Node {id}")))]
                .into_iter()
                .collect(),
            ..Node::default()
        });
        let content = Content {
            nodes: nodes.collect(),
            ..Content::default()
        };
        restore::become_content(&mut doc.transact_mut(), &roots, &content);
        let recorder = Recorder::attach(&doc, &roots, kind);
        (doc, roots, recorder)
    }

    #[test]
    fn a_summary_names_shots_by_their_place_and_what_changed_in_them() {
        let (doc, roots, mut recorder) = open(WorkKind::Storyboard, &["a", "b", "c"]);
        assert!(recorder.take(&doc.transact()).touched.is_empty());
        {
            let mut txn = doc.transact_mut();
            let node = read::find_node(&txn, &roots, "b").expect("is there");
            set_field(&mut txn, &node, "duration", &json!(4));
            node.insert(&mut txn, "description", TextPrelim::new("A hill"));
            set_field(&mut txn, &node, "title", &json!("Node B"));
        }
        let seen = recorder.take(&doc.transact());
        assert_eq!(
            seen.touched.summary(),
            "shot 2: description, duration, title"
        );
        assert_eq!(seen.depth, 3);
        assert!(recorder.take(&doc.transact()).touched.is_empty());
    }

    #[test]
    fn removed_and_moved_shots_are_called_what_people_saw() {
        let (doc, roots, mut recorder) = open(WorkKind::Storyboard, &["a", "b", "c"]);
        let nodes = roots.nodes.clone().expect("nodes");
        nodes.remove(&mut doc.transact_mut(), "b");
        assert_eq!(
            recorder.take(&doc.transact()).touched.summary(),
            "shot 2 removed"
        );
        {
            let mut txn = doc.transact_mut();
            let node = nodes.insert(&mut txn, "d", MapPrelim::default());
            node.insert(&mut txn, "order", "A");
        }
        assert_eq!(
            recorder.take(&doc.transact()).touched.summary(),
            "shot 1 added"
        );
        let node = read::find_node(&doc.transact(), &roots, "c").expect("is there");
        node.insert(&mut doc.transact_mut(), "order", "0V");
        let moved = recorder.take(&doc.transact()).touched;
        assert_eq!(moved.nodes["nodes/c"].label, "shot 1");
        node.insert(&mut doc.transact_mut(), "x", 1);
        assert_eq!(
            recorder.take(&doc.transact()).touched.summary(),
            "shot 1: x"
        );
    }

    #[test]
    fn labels_stay_right_over_many_random_changes() {
        let (doc, roots, mut recorder) = open(WorkKind::Collection, &[]);
        let nodes = roots.nodes.clone().expect("nodes");
        let seed = uuid::Uuid::new_v4().as_u128() as u64 | 1;
        eprintln!("seed {seed}");
        let mut random = seed;
        for _ in 0..400 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let id = format!("n{}", random % 12);
            {
                let mut txn = doc.transact_mut();
                match (read::find_node(&txn, &roots, &id), random >> 8 & 7) {
                    (Some(_), 0) => drop(nodes.remove(&mut txn, &id)),
                    (Some(node), 1) => drop(node.remove(&mut txn, "order")),
                    (Some(node), _) => {
                        node.insert(&mut txn, "order", format!("V{}", random >> 16 & 15));
                    }
                    (None, _) => drop(nodes.insert(&mut txn, id.as_str(), MapPrelim::default())),
                }
            }
            let txn = doc.transact();
            let touched = recorder.take(&txn).touched;
            let shown = read::read_nodes(&txn, &roots);
            for (path, node) in &touched.nodes {
                let place = shown
                    .iter()
                    .position(|shown| path.ends_with(&format!("/{}", shown.id)));
                if let Some(place) = place {
                    assert_eq!(node.label, format!("item {}", place + 1));
                }
            }
        }
    }

    #[test]
    fn flows_name_nodes_and_edges_by_title_and_tell_of_hanging_edges() {
        let (doc, roots, mut recorder) = open(WorkKind::Flow, &["a", "b"]);
        let edge = Edge {
            id: "e".into(),
            source: "a".into(),
            target: "b".into(),
            ..Edge::default()
        };
        write_edge(&mut doc.transact_mut(), &roots, &edge);
        let seen = recorder.take(&doc.transact());
        assert_eq!(seen.touched.summary(), "edge Node a → Node b added");
        assert!(!seen.has_hanging_edges);
        roots
            .nodes
            .clone()
            .expect("nodes")
            .remove(&mut doc.transact_mut(), "b");
        let seen = recorder.take(&doc.transact());
        assert_eq!(seen.touched.summary(), "node Node b removed");
        assert!(seen.has_hanging_edges);
        assert_eq!(remove_hanging_edges(&mut doc.transact_mut(), &roots), ["e"]);
        let seen = recorder.take(&doc.transact());
        assert_eq!(seen.touched.summary(), "edge Node a → Node b removed");
        assert!(!seen.has_hanging_edges);
    }

    #[test]
    fn a_text_counts_characters_that_stay_and_go() {
        let (doc, roots, mut recorder) = open(WorkKind::Text, &[]);
        let text = roots.text.expect("a text");
        text.insert(&mut doc.transact_mut(), 0, "The red hill");
        let bold = Attrs::from([("bold".into(), Any::from(true))]);
        recorder.take(&doc.transact());
        {
            let mut txn = doc.transact_mut();
            text.remove_range(&mut txn, 4, 3);
            text.insert(&mut txn, 4, "bluest");
            text.remove_range(&mut txn, 8, 2);
        }
        let touched = recorder.take(&doc.transact()).touched;
        assert_eq!((touched.inserted, touched.removed), (4, 3));
        text.format(&mut doc.transact_mut(), 0, 3, bold);
        assert!(!recorder.take(&doc.transact()).touched.is_empty());
    }

    #[test]
    fn fields_of_an_asset_that_describe_its_file_are_told_apart() {
        let (doc, roots, mut recorder) = open(WorkKind::Asset, &[]);
        let asset = roots.asset.expect("an asset");
        asset.insert(&mut doc.transact_mut(), "tags", Any::from(vec!["hill"]));
        let seen = recorder.take(&doc.transact());
        assert_eq!(seen.touched.summary(), "file: tags");
        assert!(!seen.touched_file);
        asset.insert(&mut doc.transact_mut(), "sha256", "00");
        assert!(recorder.take(&doc.transact()).touched_file);
    }
}
