//! The document budget: what a document may cost, decided before the executor sees it.
//!
//! Invariants
//! - Nothing here takes more time or stack than the document's size and the limits allow: nesting is bounded by a scan of
//!   the text before it is parsed, expansions are counted once per fragment before anything is expanded.
//! - The text is parsed once; the executor is handed the same parsed document.
//!
//! Not here: validation against the schema (the executor's), page sizes (the resolvers').

mod bucket;
mod cost;
mod scan;
mod selections;
mod texts;
mod types;
mod variables;

pub use bucket::{Buckets, RateLimit, Throttle};
pub use cost::Shape;
pub use selections::introspects;
pub use types::SchemaTypes;

use async_graphql::parser::types::{
    DocumentOperations, ExecutableDocument, OperationDefinition, OperationType,
};
use async_graphql::parser::{self, parse_query};
use async_graphql::{Positioned, Variables};

use super::error::{Code, Refusal};

/// What one document may ask for.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Lexical tokens of the text.
    pub tokens: usize,
    /// Brackets of any kind open at once.
    pub nesting: usize,
    /// Fields inside fields.
    pub depth: usize,
    /// Selections with every fragment expanded, over the whole document.
    pub selections: usize,
    /// Aliases with every fragment expanded.
    pub aliases: usize,
    /// Fields of an operation's root with every fragment expanded.
    pub root_fields: usize,
    /// Directives in one place.
    pub directives: usize,
    /// Elements of one list in arguments and variables.
    pub array: usize,
    /// Requested cost of one operation.
    pub cost: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            tokens: 10_000,
            nesting: 64,
            depth: 12,
            selections: 5_000,
            aliases: 30,
            root_fields: 20,
            directives: 5,
            array: 250,
            cost: 1_000,
        }
    }
}

/// A document that may be executed.
#[derive(Debug)]
pub struct Budgeted {
    /// The parsed document, for the executor.
    pub document: ExecutableDocument,
    /// What the chosen operation is.
    pub kind: OperationType,
    /// The most objects that it can ask for, as priced before execution; at least 1.
    pub requested_cost: u64,
    /// Which places of the response cost something, to price what was really sent.
    pub shape: Shape,
}

/// Parses the text, measures it against the limits, and prices the operation that will run.
pub fn check(
    text: &str,
    operation_name: Option<&str>,
    variables: &Variables,
    types: &SchemaTypes,
    limits: &Limits,
) -> Result<Budgeted, Refusal> {
    scan::scan(text, limits)?;
    texts::check(text, variables)?;
    let document = parse_query(text).map_err(|error| unparsable(&error))?;
    selections::measure(&document, limits)?;
    let operation = select(&document, operation_name)?;
    let kind = operation.node.ty;
    if kind == OperationType::Subscription {
        selections::single_root_field(&operation.node)?;
    }
    variables::check(&operation.node, variables, types, limits)?;
    let requested_cost = cost::requested(&document, &operation.node, variables, types).max(1);
    if requested_cost > limits.cost {
        let message = format!(
            "the operation may cost {requested_cost} points and {} are allowed: an object costs 1, a connection `first` times \
             its node, another list {} times its element, inside a page or a list {} times, or {} times where it holds parts of \
             its object; ask for fewer or smaller pages",
            limits.cost,
            cost::ASSUMED_LIST_LENGTH,
            cost::ASSUMED_INNER_LIST_LENGTH,
            cost::ASSUMED_PARTS
        );
        return Err(Refusal::document(Code::QueryTooComplex, message));
    }
    let shape = cost::shape(&document, &operation.node, types);
    Ok(Budgeted {
        document,
        kind,
        requested_cost,
        shape,
    })
}

/// The operation that the request names, or the only one.
pub fn select<'a>(
    document: &'a ExecutableDocument,
    name: Option<&str>,
) -> Result<&'a Positioned<OperationDefinition>, Refusal> {
    let refuse = |message: String| Err(Refusal::document(Code::OperationResolution, message));
    match (&document.operations, name) {
        (DocumentOperations::Single(operation), None) => Ok(operation),
        (DocumentOperations::Multiple(operations), Some(name)) if operations.contains_key(name) => {
            Ok(&operations[name])
        }
        (DocumentOperations::Multiple(operations), None) if operations.len() == 1 => {
            Ok(operations.values().next().expect("there is exactly one"))
        }
        (_, Some(name)) => refuse(format!(
            "the document has no operation called `{}`",
            shortened(name)
        )),
        (_, None) => {
            refuse("the document has several operations; name one in `operationName`".into())
        }
    }
}

/// The parser repeats the whole offending line, which may be the whole document: keep the place and what was expected.
fn unparsable(error: &parser::Error) -> Refusal {
    let position = error.positions().next();
    let message = match error {
        parser::Error::Syntax { message, start, .. } => {
            let expected = message.rsplit("= ").next().unwrap_or_default();
            format!(
                "the document does not parse at line {}, column {}: {}",
                start.line,
                start.column,
                shortened(expected)
            )
        }
        other => shortened(&other.to_string()),
    };
    let refusal = Refusal::document(Code::ParseFailed, message);
    match position {
        Some(position) => refusal.at(position),
        None => refusal,
    }
}

fn shortened(text: &str) -> String {
    text.trim().chars().take(200).collect()
}

#[cfg(test)]
mod tests;
