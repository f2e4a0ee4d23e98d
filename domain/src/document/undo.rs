//! Taking back what one change did, as an edit of the present content.
//!
//! Invariants
//! - Only what the change did is taken back, and of that only what still stands: later work of others is left alone. Whether
//!   others were at the same nodes since is judged where the edit is carried out.
//! - A piece of text is found again by what stands around it, and only where it is the one such place.
//!
//! Not here: whose change may be taken back (the service).

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use crate::document::text_edit::{occurrences, smallest_edit};
use crate::document::{
    Content, Edge, EdgeInput, Node, NodeInput, NodeOperation, Placement, TextReplacement,
};

/// Characters around a piece of text that must be as they were, the most wanted first; then more where that names several places.
const AROUND: [usize; 5] = [16, 32, 64, 128, 256];
/// The same where less than that still stands around it.
const CLOSER: [usize; 3] = [8, 4, 0];
/// A shorter piece says too little to be found again where its surroundings have changed.
const TELLING: usize = 12;

/// A piece of text that does not stand at exactly one place any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Moved {
    /// The piece.
    pub(crate) find: String,
    /// At how many places it stands.
    pub(crate) occurrences: u64,
}

/// Operations that take back what led from `before` to `after`, as far as it still stands in `now`.
pub(crate) fn undo_nodes(before: &Content, after: &Content, now: &Content) -> Vec<NodeOperation> {
    let undo = Undo {
        before: Shown::of(before),
        after: Shown::of(after),
        now: Shown::of(now),
    };
    let mut operations = undo.disconnect(after);
    for node in &before.nodes {
        undo.restore(node, &mut operations);
    }
    operations.extend(undo.connect(before));
    let added = after
        .nodes
        .iter()
        .filter(|node| !undo.before.has(&node.id) && undo.now.has(&node.id));
    operations.extend(added.map(|node| NodeOperation::Remove(node.id.clone())));
    operations
}

/// One content, by ids.
struct Shown<'content> {
    nodes: HashMap<&'content str, &'content Node>,
    edges: HashMap<&'content str, &'content Edge>,
    sequence: Vec<&'content str>,
}

impl<'content> Shown<'content> {
    fn of(content: &'content Content) -> Self {
        Self {
            nodes: content
                .nodes
                .iter()
                .map(|node| (node.id.as_str(), node))
                .collect(),
            edges: content
                .edges
                .iter()
                .map(|edge| (edge.id.as_str(), edge))
                .collect(),
            sequence: content.nodes.iter().map(|node| node.id.as_str()).collect(),
        }
    }

    fn has(&self, id: &str) -> bool {
        self.nodes.contains_key(id)
    }

    /// The nearest node before this one that is one of these.
    fn predecessor(&self, id: &str, among: impl Fn(&str) -> bool) -> Option<&'content str> {
        let end = self.sequence.iter().position(|known| *known == id)?;
        let earlier = self.sequence[..end].iter().rev();
        earlier.copied().find(|known| among(known))
    }
}

struct Undo<'content> {
    before: Shown<'content>,
    after: Shown<'content>,
    now: Shown<'content>,
}

impl Undo<'_> {
    /// Takes back what became of a node that was there before.
    fn restore(&self, node: &Node, operations: &mut Vec<NodeOperation>) {
        let id = node.id.as_str();
        match (self.after.nodes.get(id), self.now.nodes.get(id)) {
            (None, None) => operations.push(NodeOperation::Put(NodeInput {
                id: Some(node.id.clone()),
                kind: (!node.kind.is_empty()).then(|| node.kind.clone()),
                fields: node.fields.clone(),
                placement: self.former_place(id),
            })),
            (Some(after), Some(now)) => {
                let fields = fields_back(&node.fields, &after.fields, &now.fields);
                if !fields.is_empty() {
                    let node = node.id.clone();
                    operations.push(NodeOperation::Set { node, fields });
                }
                if self.was_moved(node, after) && now.order == after.order {
                    operations.push(NodeOperation::Move {
                        node: node.id.clone(),
                        placement: self.former_place(id),
                    });
                }
            }
            // What was removed and is there again, or was kept and is gone by now, is somebody's later work.
            (None, Some(_)) | (Some(_), None) => {}
        }
    }

    /// A node that got another order only to make room for others has the same one before it.
    fn was_moved(&self, before: &Node, after: &Node) -> bool {
        let id = before.id.as_str();
        let is_common = |id: &str| self.before.has(id) && self.after.has(id);
        before.order != after.order
            && self.before.predecessor(id, is_common) != self.after.predecessor(id, is_common)
    }

    fn former_place(&self, id: &str) -> Placement {
        // What the same undo brings back stands before it already.
        let is_there = |id: &str| self.now.has(id) || !self.after.has(id);
        match self.before.predecessor(id, is_there) {
            Some(earlier) => Placement::After(earlier.to_owned()),
            None => Placement::First,
        }
    }

    /// Edges that came, or came to lead elsewhere.
    fn disconnect(&self, after: &Content) -> Vec<NodeOperation> {
        let is_own = |edge: &&Edge| {
            self.before.edges.get(edge.id.as_str()) != Some(edge)
                && self.now.edges.get(edge.id.as_str()) == Some(edge)
        };
        let own = after.edges.iter().filter(is_own);
        own.map(|edge| NodeOperation::Disconnect(edge.id.clone()))
            .collect()
    }

    /// Edges that went, or led elsewhere before.
    fn connect(&self, before: &Content) -> Vec<NodeOperation> {
        let ends: HashSet<&str> = self
            .before
            .sequence
            .iter()
            .copied()
            .filter(|id| self.now.has(id) || !self.after.has(id))
            .collect();
        let is_wanted = |edge: &&Edge| {
            let after = self.after.edges.get(edge.id.as_str());
            let now = self.now.edges.get(edge.id.as_str());
            after != Some(edge)
                && now == after
                && ends.contains(edge.source.as_str())
                && ends.contains(edge.target.as_str())
        };
        let wanted = before.edges.iter().filter(is_wanted);
        wanted
            .map(|edge| {
                NodeOperation::Connect(EdgeInput {
                    id: Some(edge.id.clone()),
                    source: edge.source.clone(),
                    target: edge.target.clone(),
                    source_port: edge.source_port.clone(),
                    target_port: edge.target_port.clone(),
                })
            })
            .collect()
    }
}

/// Fields with their former values, where the change's value still stands; null for one that was not there.
fn fields_back(
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    now: &Map<String, Value>,
) -> Map<String, Value> {
    let names: HashSet<&String> = before.keys().chain(after.keys()).collect();
    names
        .into_iter()
        .filter(|name| before.get(*name) != after.get(*name) && now.get(*name) == after.get(*name))
        .map(|name| {
            let former = before.get(name).cloned().unwrap_or(Value::Null);
            (name.clone(), former)
        })
        .collect()
}

/// A piece that the change put into the text, and what stood there before; places are bytes of the text after it.
#[derive(Debug, Clone)]
struct Piece {
    start: usize,
    end: usize,
    former: String,
}

/// Replacements that take back what led from `before` to `after`, in a text that reads `now`.
pub(crate) fn undo_text(
    before: &str,
    after: &str,
    now: &str,
) -> Result<Vec<TextReplacement>, Moved> {
    let mut pieces = pieces(before, after);
    loop {
        let found: Vec<_> = pieces
            .iter()
            .map(|piece| around(piece, after, now))
            .collect::<Result<_, _>>()?;
        let overlap = found.windows(2).position(|pair| pair[0].1 > pair[1].0);
        let Some(first) = overlap else {
            let replacement = |(piece, (start, end)): (&Piece, &(usize, usize))| TextReplacement {
                find: after[*start..*end].to_owned(),
                replace: format!(
                    "{}{}{}",
                    &after[*start..piece.start],
                    piece.former,
                    &after[piece.end..*end]
                ),
            };
            return Ok(pieces.iter().zip(&found).map(replacement).collect());
        };
        join(&mut pieces, first, after);
    }
}

fn pieces(before: &str, after: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let (mut units, mut bytes) = (0_usize, 0_usize);
    let mut to_bytes = |wanted: usize| {
        while units < wanted {
            let Some(character) = after[bytes..].chars().next() else {
                break;
            };
            units += character.len_utf16();
            bytes += character.len_utf8();
        }
        bytes
    };
    for splice in smallest_edit(after, before) {
        let start = to_bytes(splice.at as usize);
        let end = to_bytes((splice.at + splice.remove) as usize);
        pieces.push(Piece {
            start,
            end,
            former: splice.insert,
        });
    }
    pieces
}

/// Makes one of a piece and the next.
fn join(pieces: &mut Vec<Piece>, first: usize, after: &str) {
    let next = pieces.remove(first + 1);
    let piece = &mut pieces[first];
    piece.former.push_str(&after[piece.end..next.start]);
    piece.former.push_str(&next.former);
    piece.end = next.end;
}

/// The stretch around a piece, in bytes, that names its one place in the present text.
fn around(piece: &Piece, after: &str, now: &str) -> Result<(usize, usize), Moved> {
    let stretch = |characters: usize| {
        let before = after[..piece.start].char_indices().rev();
        let start = before
            .take(characters)
            .last()
            .map_or(piece.start, |(at, _)| at);
        let behind = after[piece.end..].char_indices();
        let end = behind
            .take(characters)
            .last()
            .map_or(piece.end, |(at, last)| piece.end + at + last.len_utf8());
        (start, end)
    };
    let mut refused = None;
    let mut ways = AROUND.to_vec();
    while let Some(characters) = (!ways.is_empty()).then(|| ways.remove(0)) {
        let (start, end) = stretch(characters);
        let find = &after[start..end];
        let count = if find.is_empty() {
            0
        } else {
            occurrences(now, find).0
        };
        let says_enough = characters >= AROUND[0] || find.chars().count() >= TELLING;
        match count {
            1 if says_enough => return Ok((start, end)),
            // Others have written next to it: less may still stand there.
            0 if characters == AROUND[0] => ways = CLOSER.to_vec(),
            _ => {}
        }
        refused.get_or_insert_with(|| Moved {
            find: find.to_owned(),
            occurrences: count,
        });
    }
    Err(refused.unwrap_or(Moved {
        find: String::new(),
        occurrences: 0,
    }))
}

#[cfg(test)]
mod tests;
