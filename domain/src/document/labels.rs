//! What people call the nodes and edges of a document: "shot 2", "item 1", "node Arrival", "edge Arrival → Dawn".
//!
//! Invariants
//! - After each `follow` the index is what the document shows.
//! - Following a change reads only what it touched; a place among nodes is found by binary search.

use std::collections::{HashMap, HashSet};

use yrs::{Map, Out, ReadTxn};

use crate::document::layout::Roots;
use crate::document::touched::{EDGES, How, NODES, id_of};
use crate::document::{Touched, read};
use crate::work::WorkKind;

/// Has no order, order, id: what nodes are sorted by.
type SortKey = (bool, String, String);
/// Where a node was and where it is.
type Move = (Option<SortKey>, Option<SortKey>);

/// Moves that are made one by one; more are cheaper to make by sorting anew.
const FEW_MOVES: usize = 64;

/// The index.
#[derive(Debug)]
pub(crate) struct Labels {
    kind: WorkKind,
    /// Sorted.
    places: Vec<SortKey>,
    nodes: HashMap<String, KnownNode>,
    edges: HashMap<String, (String, String)>,
}

#[derive(Debug)]
struct KnownNode {
    order: Option<String>,
    /// For flows: what its edges call it.
    name: String,
}

impl Labels {
    /// Reads the present document.
    pub(crate) fn read<T: ReadTxn>(txn: &T, roots: &Roots, kind: WorkKind) -> Self {
        let mut labels = Self {
            kind,
            places: Vec::new(),
            nodes: HashMap::new(),
            edges: HashMap::new(),
        };
        for (id, value) in roots.nodes.iter().flat_map(|nodes| nodes.iter(txn)) {
            if let Out::YMap(node) = value {
                let known = labels.known(txn, &node, id);
                labels.places.push(sort_key(known.order.as_deref(), id));
                labels.nodes.insert(id.to_owned(), known);
            }
        }
        labels.places.sort();
        let ids = roots.edges.iter().flat_map(|edges| edges.keys(txn));
        for id in ids {
            labels.follow_edge(txn, roots, id);
        }
        labels
    }

    /// How many nodes there are.
    pub(crate) fn nodes(&self) -> usize {
        self.places.len()
    }

    /// Takes over what a change touched, and labels it.
    pub(crate) fn follow<T: ReadTxn>(&mut self, txn: &T, roots: &Roots, touched: &mut Touched) {
        // Removed things are labelled before anything moves up into their places.
        for (path, node) in &mut touched.nodes {
            if node.how == How::Removed {
                node.label = self.label(path);
            }
        }
        let nodes = touched.nodes.keys().filter(|path| path.starts_with(NODES));
        let moves = nodes
            .map(|path| self.follow_node(txn, roots, id_of(path)))
            .filter(|(before, after)| before != after)
            .collect();
        self.change_places(moves);
        for path in touched.nodes.keys() {
            if path.starts_with(EDGES) && touched.nodes[path].how != How::Removed {
                self.follow_edge(txn, roots, id_of(path));
            }
        }
        for (path, node) in &mut touched.nodes {
            if node.how != How::Removed {
                node.label = self.label(path);
            } else if path.starts_with(EDGES) {
                self.edges.remove(id_of(path));
            }
        }
    }

    fn label(&self, path: &str) -> String {
        let id = id_of(path);
        if path.starts_with(EDGES) {
            return self.edges.get(id).map_or_else(
                || format!("edge {id}"),
                |(source, target)| format!("edge {source} → {target}"),
            );
        }
        let noun = match self.kind {
            WorkKind::Storyboard => "shot",
            WorkKind::Collection => "item",
            _ => return format!("node {}", self.name_of(id)),
        };
        let place = self.nodes.get(id).and_then(|known| {
            let key = sort_key(known.order.as_deref(), id);
            self.places.binary_search(&key).ok()
        });
        place.map_or_else(
            || format!("{noun} {id}"),
            |place| format!("{noun} {}", place + 1),
        )
    }

    fn name_of(&self, id: &str) -> String {
        let known = self.nodes.get(id);
        known.map_or_else(|| id.to_owned(), |known| known.name.clone())
    }

    /// Takes over a node; returns its place before and after.
    fn follow_node<T: ReadTxn>(&mut self, txn: &T, roots: &Roots, id: &str) -> Move {
        let now = read::find_node(txn, roots, id).map(|node| self.known(txn, &node, id));
        let key = |known: &KnownNode| sort_key(known.order.as_deref(), id);
        let after = now.as_ref().map(key);
        let before = match now {
            Some(known) => self.nodes.insert(id.to_owned(), known),
            None => self.nodes.remove(id),
        };
        (before.as_ref().map(key), after)
    }

    fn change_places(&mut self, moves: Vec<Move>) {
        if moves.len() > FEW_MOVES {
            let (before, after): (Vec<_>, Vec<_>) = moves.into_iter().unzip();
            let before: HashSet<SortKey> = before.into_iter().flatten().collect();
            self.places.retain(|place| !before.contains(place));
            self.places.extend(after.into_iter().flatten());
            return self.places.sort_unstable();
        }
        for (before, after) in moves {
            if let Some(Ok(place)) = before.map(|key| self.places.binary_search(&key)) {
                self.places.remove(place);
            }
            if let Some(key) = after
                && let Err(place) = self.places.binary_search(&key)
            {
                self.places.insert(place, key);
            }
        }
    }

    fn follow_edge<T: ReadTxn>(&mut self, txn: &T, roots: &Roots, id: &str) {
        let edge = match roots.edges.as_ref().and_then(|edges| edges.get(txn, id)) {
            Some(Out::YMap(map)) => read::edge(txn, id, &map),
            _ => None,
        };
        if let Some(edge) = edge {
            let ends = (self.name_of(&edge.source), self.name_of(&edge.target));
            self.edges.insert(id.to_owned(), ends);
        }
    }

    fn known<T: ReadTxn>(&self, txn: &T, node: &yrs::MapRef, id: &str) -> KnownNode {
        KnownNode {
            order: read::order_of(txn, node),
            name: match self.kind {
                WorkKind::Flow => read::name_of(txn, node, id),
                _ => String::new(),
            },
        }
    }
}

fn sort_key(order: Option<&str>, id: &str) -> SortKey {
    let (is_last, order, id) = read::sort_key(order, id);
    (is_last, order.to_owned(), id.to_owned())
}
