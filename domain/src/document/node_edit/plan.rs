//! Plans an edit on a draft of the document: its nodes in order and its edges, without their fields.
//!
//! Invariants
//! - The draft after an operation is what the document will show after it, so later operations see it.
//! - Wrong input is told before conflicts where it can be seen without the document, else after them: a conflict is often
//!   the reason why something seems wrong.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value};
use yrs::{Map as _, Out, ReadTxn};

use super::check::{check_fields, check_id, invalid};
use super::{Clash, MAX_NODES, Plan, PlanStep, Refusal, Standpoint};
use crate::document::attribution::Attribution;
use crate::document::layout::Roots;
use crate::document::touched::{EDGES, NODES};
use crate::document::{Edge, EdgeInput, NodeInput, NodeOperation, Placement, order, read};

/// Checks an edit wholly and plans what is to be written.
pub(crate) fn plan_edit<T: ReadTxn>(
    txn: &T,
    roots: &Roots,
    attribution: &Attribution,
    standpoint: Standpoint<'_>,
    operations: &[NodeOperation],
) -> Result<Plan, Refusal> {
    check_input(roots, operations)?;
    let mut planner = Planner {
        draft: Draft::read(txn, roots),
        attribution,
        standpoint,
        own: HashSet::new(),
        clashes: Vec::new(),
        plan: Plan::default(),
    };
    let mut wrong = None;
    for operation in operations {
        match planner.operation(operation) {
            Ok(()) => {}
            Err(refusal) => {
                wrong.get_or_insert(refusal);
            }
        }
    }
    if !planner.clashes.is_empty() {
        return Err(Refusal::Conflict(planner.clashes));
    }
    wrong.map_or(Ok(planner.plan), Err)
}

/// What is wrong with any document.
fn check_input(roots: &Roots, operations: &[NodeOperation]) -> Result<(), Refusal> {
    if roots.nodes.is_none() {
        return invalid("this work has no nodes; edit it with the mutation for its kind");
    }
    for operation in operations {
        match operation {
            NodeOperation::Put(node) => {
                node.id.as_deref().map_or(Ok(()), check_id)?;
                check_fields(&node.fields)?;
            }
            NodeOperation::Set { fields, .. } => check_fields(fields)?,
            NodeOperation::Connect(edge) => {
                check_edges(roots)?;
                edge.id.as_deref().map_or(Ok(()), check_id)?;
            }
            NodeOperation::Disconnect(_) => check_edges(roots)?,
            NodeOperation::Remove(_) | NodeOperation::Move { .. } => {}
        }
    }
    Ok(())
}

fn check_edges(roots: &Roots) -> Result<(), Refusal> {
    if roots.edges.is_none() {
        return invalid("only flows have edges");
    }
    Ok(())
}

/// The document as it will be.
struct Draft {
    /// Ids and orders, sorted.
    nodes: Vec<(String, Option<String>)>,
    edges: BTreeMap<String, (String, String)>,
}

impl Draft {
    fn read<T: ReadTxn>(txn: &T, roots: &Roots) -> Self {
        let mut nodes: Vec<(String, Option<String>)> = Vec::new();
        for (id, value) in roots.nodes.iter().flat_map(|map| map.iter(txn)) {
            if let Out::YMap(node) = value {
                nodes.push((id.to_owned(), read::order_of(txn, &node)));
            }
        }
        nodes.sort_by(|(one, one_order), (other, other_order)| {
            read::sort_key(one_order.as_deref(), one)
                .cmp(&read::sort_key(other_order.as_deref(), other))
        });
        let edges = read::read_edges(txn, roots)
            .into_iter()
            .map(|edge| (edge.id, (edge.source, edge.target)))
            .collect();
        Self { nodes, edges }
    }

    fn index_of(&self, id: &str) -> Option<usize> {
        self.nodes.iter().position(|(node, _)| node == id)
    }
}

struct Planner<'edit> {
    draft: Draft,
    attribution: &'edit Attribution,
    standpoint: Standpoint<'edit>,
    /// Paths that this edit made or removed itself.
    own: HashSet<String>,
    clashes: Vec<Clash>,
    plan: Plan,
}

impl Planner<'_> {
    fn operation(&mut self, operation: &NodeOperation) -> Result<(), Refusal> {
        match operation {
            NodeOperation::Put(node) => self.put(node),
            NodeOperation::Set { node, fields } => self.set(node, fields),
            NodeOperation::Remove(node) => self.remove(node),
            NodeOperation::Move { node, placement } => self.move_node(node, placement),
            NodeOperation::Connect(edge) => self.connect(edge),
            NodeOperation::Disconnect(edge) => self.disconnect(edge),
        }
    }

    fn put(&mut self, node: &NodeInput) -> Result<(), Refusal> {
        let id = node.id.clone().unwrap_or_else(new_id);
        if self.draft.index_of(&id).is_some() {
            self.clash(NODES, &id);
            return invalid(format!(
                "the id `{id}` is in use; change that node with `set`, or choose another id"
            ));
        }
        if self.draft.nodes.len() >= MAX_NODES {
            return invalid(format!("a work holds at most {MAX_NODES} nodes"));
        }
        self.own.insert(format!("{NODES}{id}"));
        let index = self.index_for(&node.placement);
        let order = self.make_place(index);
        self.draft
            .nodes
            .insert(index, (id.clone(), Some(order.clone())));
        self.plan.steps.push(PlanStep::Add {
            id,
            kind: node.kind.clone(),
            order,
            fields: node.fields.clone(),
        });
        Ok(())
    }

    fn set(&mut self, id: &str, fields: &Map<String, Value>) -> Result<(), Refusal> {
        self.find_node(id)?;
        self.plan.steps.push(PlanStep::Set {
            id: id.to_owned(),
            fields: fields.clone(),
        });
        Ok(())
    }

    fn remove(&mut self, id: &str) -> Result<(), Refusal> {
        let index = self.find_node(id)?;
        self.draft.nodes.remove(index);
        self.own.insert(format!("{NODES}{id}"));
        let hanging: Vec<String> = self
            .draft
            .edges
            .iter()
            .filter(|(_, (source, target))| source == id || target == id)
            .map(|(edge, _)| edge.clone())
            .collect();
        for edge in hanging {
            self.take_edge(&edge);
        }
        self.plan.steps.push(PlanStep::Remove(id.to_owned()));
        Ok(())
    }

    fn move_node(&mut self, id: &str, placement: &Placement) -> Result<(), Refusal> {
        let index = self.find_node(id)?;
        if *placement == Placement::After(id.to_owned()) {
            return Ok(());
        }
        let (node, order) = self.draft.nodes.remove(index);
        let index_after = self.index_for(placement);
        if index_after == index && order.is_some() {
            self.draft.nodes.insert(index, (node, order));
            return Ok(());
        }
        let order = self.make_place(index_after);
        self.draft
            .nodes
            .insert(index_after, (node, Some(order.clone())));
        self.plan.steps.push(PlanStep::Order {
            id: id.to_owned(),
            order,
        });
        Ok(())
    }

    fn connect(&mut self, edge: &EdgeInput) -> Result<(), Refusal> {
        let id = edge.id.clone().unwrap_or_else(new_id);
        // Both ends are looked at, so that an editor learns of both at once.
        let ends = [self.find_end(&edge.source), self.find_end(&edge.target)];
        if self.draft.edges.contains_key(&id) {
            self.clash(EDGES, &id);
            return invalid(format!("the id `{id}` is in use by another edge"));
        }
        ends.into_iter().collect::<Result<(), Refusal>>()?;
        self.own.insert(format!("{EDGES}{id}"));
        let ends = (edge.source.clone(), edge.target.clone());
        self.draft.edges.insert(id.clone(), ends);
        self.plan.steps.push(PlanStep::Connect(Edge {
            id,
            source: edge.source.clone(),
            target: edge.target.clone(),
            source_port: edge.source_port.clone(),
            target_port: edge.target_port.clone(),
        }));
        Ok(())
    }

    fn disconnect(&mut self, id: &str) -> Result<(), Refusal> {
        let clashes = self.clash(EDGES, id);
        if !self.draft.edges.contains_key(id) {
            return invalid(format!("there is no edge `{id}`"));
        }
        if !clashes {
            self.take_edge(id);
        }
        Ok(())
    }

    fn take_edge(&mut self, id: &str) {
        self.draft.edges.remove(id);
        self.own.insert(format!("{EDGES}{id}"));
        self.plan.steps.push(PlanStep::Disconnect(id.to_owned()));
    }

    /// The place of a node that the edit touches; notes a clash where others touched it.
    fn find_node(&mut self, id: &str) -> Result<usize, Refusal> {
        self.clash(NODES, id);
        self.existing(id)
    }

    /// The end of an edge: it is not touched, but it has to be there.
    fn find_end(&mut self, id: &str) -> Result<(), Refusal> {
        if self.draft.index_of(id).is_none() {
            self.clash(NODES, id);
        }
        self.existing(id).map(drop)
    }

    fn existing(&self, id: &str) -> Result<usize, Refusal> {
        self.draft
            .index_of(id)
            .map_or_else(|| invalid(format!("there is no node `{id}`")), Ok)
    }

    /// Notes a clash where somebody else touched a path since the base, unless the edit itself made or removed it.
    fn clash(&mut self, prefix: &str, id: &str) -> bool {
        let path = format!("{prefix}{id}");
        if self.own.contains(&path) {
            return false;
        }
        let touch = self
            .attribution
            .last_by_other_than(self.standpoint.actor, &path)
            .filter(|touch| touch.version > self.standpoint.base);
        let Some(touch) = touch else {
            return false;
        };
        if !self.clashes.iter().any(|clash| clash.path == path) {
            self.clashes.push(Clash {
                path,
                touch: touch.clone(),
            });
        }
        true
    }

    fn index_for(&self, placement: &Placement) -> usize {
        let end = self.draft.nodes.len();
        match placement {
            Placement::End => end,
            Placement::First => 0,
            Placement::After(id) => self.draft.index_of(id).map_or(end, |index| index + 1),
        }
    }

    /// Makes an order key for a place; nodes that leave no room move over.
    fn make_place(&mut self, index: usize) -> String {
        let orders: Vec<Option<&str>> = self
            .draft
            .nodes
            .iter()
            .map(|(_, order)| order.as_deref())
            .collect();
        let placed = order::place(&orders, index);
        for (place, order) in placed.others {
            let (id, present) = &mut self.draft.nodes[place];
            *present = Some(order.clone());
            self.plan.steps.push(PlanStep::Order {
                id: id.clone(),
                order,
            });
        }
        placed.key
    }
}

fn new_id() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}
