//! Resuming a subscription by a cursor that came outside the document: `Last-Event-ID` of an event stream.
//!
//! Invariants
//! - The id of an event is the `cursor` of its root field, or its `version`; the header sets the root field's `after`, or
//!   `afterVersion`. It wins over what the document says, because the document says where the first connection began.

use async_graphql::parser::types::{
    DocumentOperations, ExecutableDocument, Field, OperationDefinition, Selection,
};
use async_graphql::{Positioned, Value, Variables};
use async_graphql_value::Value as Literal;

use crate::graphql::budget::SchemaTypes;

/// The id under which this event can be resumed after.
pub(super) fn event_id(data: &Value) -> Option<String> {
    let Value::Object(root) = data else {
        return None;
    };
    let Value::Object(event) = root.values().next()? else {
        return None;
    };
    match (event.get("cursor"), event.get("version")) {
        (Some(Value::String(cursor)), _) => cursor
            .bytes()
            .all(|byte| byte.is_ascii_graphic())
            .then(|| cursor.clone()),
        (_, Some(Value::Number(version))) => Some(version.to_string()),
        _ => None,
    }
}

/// Makes the operation go on after the event of this id.
pub(super) fn resume(
    document: &mut ExecutableDocument,
    name: Option<&str>,
    variables: &mut Variables,
    types: &SchemaTypes,
    id: &str,
) {
    let Some(field) = operation(document, name).and_then(root_field) else {
        return;
    };
    let (argument, value) = if types.subscription_takes(&field.name.node, "after") {
        ("after", Value::from(id))
    } else if let (true, Ok(version)) = (
        types.subscription_takes(&field.name.node, "afterVersion"),
        id.parse::<i32>(),
    ) {
        ("afterVersion", Value::from(version))
    } else {
        return;
    };
    match field
        .arguments
        .iter_mut()
        .find(|(name, _)| name.node == argument)
    {
        Some((
            _,
            Positioned {
                node: Literal::Variable(variable),
                ..
            },
        )) => {
            variables.insert(variable.clone(), value);
        }
        Some((_, literal)) => literal.node = value.into_value(),
        None => {
            let position = field.name.pos;
            let name = Positioned::new(async_graphql::Name::new(argument), position);
            field
                .arguments
                .push((name, Positioned::new(value.into_value(), position)));
        }
    }
}

fn operation<'a>(
    document: &'a mut ExecutableDocument,
    name: Option<&str>,
) -> Option<&'a mut OperationDefinition> {
    match (&mut document.operations, name) {
        (DocumentOperations::Single(operation), _) => Some(&mut operation.node),
        (DocumentOperations::Multiple(operations), Some(name)) => {
            Some(&mut operations.get_mut(name)?.node)
        }
        (DocumentOperations::Multiple(operations), None) => {
            Some(&mut operations.values_mut().next()?.node)
        }
    }
}

fn root_field(operation: &mut OperationDefinition) -> Option<&mut Field> {
    match &mut operation.selection_set.node.items.first_mut()?.node {
        Selection::Field(field) => Some(&mut field.node),
        _ => None,
    }
}
