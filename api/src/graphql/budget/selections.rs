//! Measures how much a document selects with every fragment expanded, visiting each fragment once.
//!
//! Invariants
//! - The time is that of one walk over the document, whatever its fragments multiply to: the executor's own checks walk
//!   every expansion, so a document must pass here first.
//! - A fragment that contains itself is refused here, for the same reason.

use std::collections::HashMap;

use async_graphql::Positioned;
use async_graphql::parser::types::{
    Directive, ExecutableDocument, FragmentSpread, OperationDefinition, Selection, SelectionSet,
};
use async_graphql_value::Value;

use super::Limits;
use crate::graphql::error::{Code, Refusal};

/// Selection sets inside selection sets, fields or not: how deep the executor recurses.
const MAX_LEVELS: usize = 32;

/// Refuses a document that selects more than is allowed.
pub(super) fn measure(document: &ExecutableDocument, limits: &Limits) -> Result<(), Refusal> {
    let mut meter = Meter {
        document,
        limits,
        fragments: HashMap::new(),
    };
    let mut selections = 0_usize;
    for (_, operation) in document.operations.iter() {
        meter.directives(&operation.node.directives)?;
        for variable in &operation.node.variable_definitions {
            meter.directives(&variable.node.directives)?;
        }
        let size = meter.set(&operation.node.selection_set.node, 1)?;
        selections = selections.saturating_add(size.selections);
        within(size.fields, limits.root_fields, "root fields")?;
        within(size.depth, limits.depth, "levels of fields")?;
        within(size.aliases, limits.aliases, "aliases")?;
    }
    // The executor validates each fragment by itself as well, used or not.
    for (name, fragment) in &document.fragments {
        meter.directives(&fragment.node.directives)?;
        selections = selections.saturating_add(meter.fragment(name, 1)?.selections);
        within(
            selections,
            limits.selections,
            "selections, fragments expanded",
        )?;
    }
    within(
        selections,
        limits.selections,
        "selections, fragments expanded",
    )
}

/// Refuses a subscription that has not exactly one root field, written out.
pub(super) fn single_root_field(operation: &OperationDefinition) -> Result<(), Refusal> {
    match operation.selection_set.node.items.as_slice() {
        [
            Positioned {
                node: Selection::Field(_),
                ..
            },
        ] => Ok(()),
        _ => Err(Refusal::document(
            Code::ValidationFailed,
            "a subscription selects exactly one root field, and not through a fragment",
        )),
    }
}

/// Whether an operation asks for the schema itself, fragments included. For a document that was measured. A question after a
/// single type is none: without introspection no type is known, and null says so (audits 2EA1 and 28B9 of graphql-http).
pub fn introspects(document: &ExecutableDocument, set: &SelectionSet) -> bool {
    set.items.iter().any(|item| match &item.node {
        Selection::Field(field) => field.node.name.node == "__schema",
        Selection::InlineFragment(inline) => introspects(document, &inline.node.selection_set.node),
        Selection::FragmentSpread(spread) => {
            let fragment = document.fragments.get(&spread.node.fragment_name.node);
            fragment.is_some_and(|found| introspects(document, &found.node.selection_set.node))
        }
    })
}

fn within(found: usize, limit: usize, what: &str) -> Result<(), Refusal> {
    if found <= limit {
        return Ok(());
    }
    Err(Refusal::document(
        Code::QueryTooComplex,
        format!("the document has more than {limit} {what}"),
    ))
}

#[derive(Clone, Copy, Default)]
struct Size {
    /// Selections at every level, expanded.
    selections: usize,
    /// Fields at this level, expanded.
    fields: usize,
    /// Fields inside fields.
    depth: usize,
    /// Selection sets inside selection sets.
    levels: usize,
    aliases: usize,
}

impl Size {
    fn add(&mut self, other: Self) {
        self.selections = self.selections.saturating_add(other.selections);
        self.fields = self.fields.saturating_add(other.fields);
        self.aliases = self.aliases.saturating_add(other.aliases);
        self.depth = self.depth.max(other.depth);
        self.levels = self.levels.max(other.levels);
    }
}

struct Meter<'a> {
    document: &'a ExecutableDocument,
    limits: &'a Limits,
    /// `None` while the fragment is being measured.
    fragments: HashMap<&'a str, Option<Size>>,
}

impl<'a> Meter<'a> {
    fn set(&mut self, set: &'a SelectionSet, level: usize) -> Result<Size, Refusal> {
        within(level, MAX_LEVELS, "selection sets inside each other")?;
        let mut size = Size::default();
        for item in &set.items {
            self.directives(item.node.directives())?;
            let part = match &item.node {
                Selection::Field(field) => {
                    for (_, value) in &field.node.arguments {
                        self.value(&value.node)?;
                    }
                    let inside = self.set(&field.node.selection_set.node, level + 1)?;
                    let aliases = inside
                        .aliases
                        .saturating_add(usize::from(field.node.alias.is_some()));
                    Size {
                        fields: 1,
                        depth: inside.depth + 1,
                        aliases,
                        ..inside
                    }
                }
                Selection::InlineFragment(inline) => {
                    self.set(&inline.node.selection_set.node, level + 1)?
                }
                Selection::FragmentSpread(spread) => self.spread(spread, level + 1)?,
            };
            size.add(Size {
                selections: part.selections.saturating_add(1),
                ..part
            });
        }
        size.levels += 1;
        Ok(size)
    }

    fn spread(
        &mut self,
        spread: &'a Positioned<FragmentSpread>,
        level: usize,
    ) -> Result<Size, Refusal> {
        self.fragment(&spread.node.fragment_name.node, level)
            .map_err(|refusal| {
                if refusal.locations.is_empty() && refusal.code == Code::ValidationFailed {
                    return refusal.at(spread.pos);
                }
                refusal
            })
    }

    fn fragment(&mut self, name: &'a str, level: usize) -> Result<Size, Refusal> {
        match self.fragments.get(name) {
            Some(Some(size)) => {
                within(
                    level + size.levels - 1,
                    MAX_LEVELS,
                    "selection sets inside each other",
                )?;
                return Ok(*size);
            }
            Some(None) => {
                let message = format!("the fragment `{name}` contains itself");
                return Err(Refusal::document(Code::ValidationFailed, message));
            }
            None => {}
        }
        // An unknown fragment is the executor's to name.
        let Some(fragment) = self.document.fragments.get(name) else {
            return Ok(Size {
                levels: 1,
                ..Size::default()
            });
        };
        self.fragments.insert(name, None);
        let size = self.set(&fragment.node.selection_set.node, level)?;
        self.fragments.insert(name, Some(size));
        Ok(size)
    }

    fn directives(&self, directives: &[Positioned<Directive>]) -> Result<(), Refusal> {
        within(
            directives.len(),
            self.limits.directives,
            "directives in one place",
        )?;
        let mut values = directives
            .iter()
            .flat_map(|directive| &directive.node.arguments);
        values.try_for_each(|(_, value)| self.value(&value.node))
    }

    /// The nesting of values is bounded by the scan of the text.
    fn value(&self, value: &Value) -> Result<(), Refusal> {
        match value {
            Value::List(items) => {
                within(items.len(), self.limits.array, "elements in one list")?;
                items.iter().try_for_each(|item| self.value(item))
            }
            Value::Object(fields) => fields.values().try_for_each(|item| self.value(item)),
            _ => Ok(()),
        }
    }
}
