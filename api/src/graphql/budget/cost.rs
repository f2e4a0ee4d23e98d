//! Prices an operation before it runs, and its response afterwards: one point an object.
//!
//! Invariants
//! - An object costs 1, a scalar 0, a connection `first` (or `last`) times its node, another list its assumed length times
//!   its element, through interfaces and unions too. Of fragments on different object types only the dearest counts,
//!   because one object has one type.
//! - What is assumed of a list is what it holds as a rule, not at most: the price of the response sets it right afterwards.
//! - Called only for documents whose expansion was counted: the walk goes through every expansion.
//!
//! Not here: what is done with the price (`bucket`).

use std::collections::HashMap;

use async_graphql::parser::types::{
    ExecutableDocument, Field, InlineFragment, OperationDefinition, Selection, SelectionSet,
};
use async_graphql::{Name, Value, Variables};

use super::types::{FieldShape, SchemaTypes, Yields};

/// How long a list is assumed to be that is no connection and is not asked for by ids.
pub(super) const ASSUMED_LIST_LENGTH: u64 = 10;
/// The same inside a page or another list: one of them may be long, but not all.
pub(super) const ASSUMED_INNER_LIST_LENGTH: u64 = 5;
/// The same where the list holds parts of its object: a page of turns has a few steps in each, and these a call or two.
pub(super) const ASSUMED_PARTS: u64 = 2;
/// The page of a connection without `first` and `last`.
const DEFAULT_PAGE: u64 = 20;
/// No page is longer, so no page is priced higher.
const MAX_PAGE: u64 = 100;

/// The most points that the operation can cost.
pub(super) fn requested(
    document: &ExecutableDocument,
    operation: &OperationDefinition,
    variables: &Variables,
    types: &SchemaTypes,
) -> u64 {
    let pricer = Pricer {
        document,
        operation,
        variables,
        types,
    };
    let root = types.root(operation.ty);
    pricer.set(&operation.selection_set.node, root, Place::Once)
}

/// How often a selection is made.
#[derive(Clone, Copy)]
enum Place {
    /// For one object.
    Once,
    /// For each of a page or a list.
    Repeated,
}

struct Pricer<'a> {
    document: &'a ExecutableDocument,
    operation: &'a OperationDefinition,
    variables: &'a Variables,
    types: &'a SchemaTypes,
}

impl<'a> Pricer<'a> {
    fn set(&self, set: &'a SelectionSet, parent: &'a str, place: Place) -> u64 {
        let mut always = 0_u64;
        let mut by_type: HashMap<&str, u64> = HashMap::new();
        for item in &set.items {
            let (condition, price) = match &item.node {
                Selection::Field(field) => (parent, self.field(&field.node, parent, place)),
                selection => {
                    let (condition, set) = fragment(self.document, selection, parent);
                    (
                        condition,
                        set.map_or(0, |set| self.set(set, condition, place)),
                    )
                }
            };
            let sum = if condition != parent && self.types.is_object(condition) {
                by_type.entry(condition).or_default()
            } else {
                &mut always
            };
            *sum = sum.saturating_add(price);
        }
        always.saturating_add(by_type.into_values().max().unwrap_or(0))
    }

    fn field(&self, field: &'a Field, parent: &str, place: Place) -> u64 {
        let Some(shape) = self.types.field(parent, &field.name.node) else {
            return 0;
        };
        let inner_place = match shape.yields {
            Yields::Connection | Yields::List | Yields::Parts => Place::Repeated,
            Yields::Scalar | Yields::Object | Yields::Wrapper => place,
        };
        let inside = self.set(&field.selection_set.node, &shape.named, inner_place);
        match shape.yields {
            Yields::Scalar => 0,
            Yields::Wrapper => inside,
            Yields::Object => inside.saturating_add(1),
            Yields::Connection => self.page(field).saturating_mul(inside).max(1),
            Yields::List | Yields::Parts => self
                .length(field, shape, place)
                .saturating_mul(inside.saturating_add(1)),
        }
    }

    fn page(&self, field: &Field) -> u64 {
        let asked =
            ["first", "last"]
                .into_iter()
                .find_map(|name| match self.argument(field, name)? {
                    Value::Number(number) => number.as_f64(),
                    _ => None,
                });
        asked.map_or(DEFAULT_PAGE, |asked| {
            asked.clamp(0.0, MAX_PAGE as f64) as u64
        })
    }

    fn length(&self, field: &Field, shape: &FieldShape, place: Place) -> u64 {
        let listed =
            shape
                .list_arguments
                .iter()
                .filter_map(|name| match self.argument(field, name)? {
                    Value::List(ids) => Some(ids.len() as u64),
                    _ => None,
                });
        listed.max().unwrap_or(match (place, shape.yields) {
            (Place::Once, _) => ASSUMED_LIST_LENGTH,
            (Place::Repeated, Yields::Parts) => ASSUMED_PARTS,
            (Place::Repeated, _) => ASSUMED_INNER_LIST_LENGTH,
        })
    }

    fn argument(&self, field: &Field, name: &str) -> Option<Value> {
        let literal = field.get_argument(name)?.node.clone();
        literal
            .into_const_with(|variable| Ok::<_, ()>(self.variable(&variable)))
            .ok()
    }

    fn variable(&self, name: &Name) -> Value {
        if let Some(given) = self.variables.get(name) {
            return given.clone();
        }
        let definition = self
            .operation
            .variable_definitions
            .iter()
            .find(|variable| variable.node.name.node == *name);
        definition
            .and_then(|variable| variable.node.default_value())
            .cloned()
            .unwrap_or_default()
    }
}

/// The type that a fragment's selections are made on, and those selections; none where the fragment is unknown.
fn fragment<'a>(
    document: &'a ExecutableDocument,
    selection: &'a Selection,
    parent: &'a str,
) -> (&'a str, Option<&'a SelectionSet>) {
    match selection {
        Selection::InlineFragment(inline) => {
            let InlineFragment {
                type_condition,
                selection_set,
                ..
            } = &inline.node;
            let condition = type_condition
                .as_ref()
                .map_or(parent, |condition| condition.node.on.node.as_str());
            (condition, Some(&selection_set.node))
        }
        Selection::FragmentSpread(spread) => {
            match document.fragments.get(&spread.node.fragment_name.node) {
                Some(fragment) => (
                    fragment.node.type_condition.node.on.node.as_str(),
                    Some(&fragment.node.selection_set.node),
                ),
                None => (parent, None),
            }
        }
        Selection::Field(_) => (parent, None),
    }
}

/// Which places of a response are objects that cost.
#[derive(Debug, Default)]
pub struct Shape {
    weight: u64,
    fields: HashMap<Name, Self>,
}

impl Shape {
    /// What a response of this shape cost: its objects.
    pub fn price(&self, data: &Value) -> u64 {
        match data {
            Value::List(items) => items.iter().map(|item| self.price(item)).sum(),
            Value::Object(object) => {
                let parts = object
                    .iter()
                    .filter_map(|(key, value)| Some(self.fields.get(key)?.price(value)));
                self.weight + parts.sum::<u64>()
            }
            _ => 0,
        }
    }

    fn collect(
        &mut self,
        document: &ExecutableDocument,
        set: &SelectionSet,
        parent: &str,
        types: &SchemaTypes,
    ) {
        for item in &set.items {
            let Selection::Field(field) = &item.node else {
                if let (condition, Some(inside)) = fragment(document, &item.node, parent) {
                    self.collect(document, inside, condition, types);
                }
                continue;
            };
            let Some(shape) = types.field(parent, &field.node.name.node) else {
                continue;
            };
            if shape.yields == Yields::Scalar {
                continue;
            }
            let place = self
                .fields
                .entry(field.node.response_key().node.clone())
                .or_default();
            place.weight = u64::from(matches!(
                shape.yields,
                Yields::Object | Yields::List | Yields::Parts
            ));
            place.collect(
                document,
                &field.node.selection_set.node,
                &shape.named,
                types,
            );
        }
    }
}

/// The places of the operation's response that cost something.
pub(super) fn shape(
    document: &ExecutableDocument,
    operation: &OperationDefinition,
    types: &SchemaTypes,
) -> Shape {
    let mut root = Shape::default();
    root.collect(
        document,
        &operation.selection_set.node,
        types.root(operation.ty),
        types,
    );
    root
}
