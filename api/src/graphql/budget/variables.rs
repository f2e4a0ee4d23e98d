//! Checks the variables of a request against their declared types, before anything runs.
//!
//! Invariants
//! - A value that does not fit is a request error here; without this the executor finds some of them only inside a field,
//!   when other fields have already run.
//! - Values of custom scalars are not looked into: their own parsers decide.

use async_graphql::parser::types::{BaseType, OperationDefinition, Type};
use async_graphql::{Value, Variables};

use super::types::{SchemaTypes, TypeShape};
use super::{Limits, shortened};
use crate::graphql::error::{Code, Refusal};

/// Refuses variables that do not fit their declarations.
pub(super) fn check(
    operation: &OperationDefinition,
    variables: &Variables,
    types: &SchemaTypes,
    limits: &Limits,
) -> Result<(), Refusal> {
    for definition in &operation.variable_definitions {
        let variable = &definition.node;
        let refuse = |problem: String| {
            let message = format!(
                "variable `${}` of type `{}`: {problem}",
                variable.name.node, variable.var_type.node
            );
            Refusal::document(Code::BadUserInput, message).at(definition.pos)
        };
        match variables.get(&variable.name.node) {
            Some(value) => fits(value, &variable.var_type.node, types, limits).map_err(refuse)?,
            None if variable.var_type.node.nullable || variable.default_value.is_some() => {}
            None => return Err(refuse("a value is needed".into())),
        }
    }
    Ok(())
}

fn fits(value: &Value, ty: &Type, types: &SchemaTypes, limits: &Limits) -> Result<(), String> {
    match (value, &ty.base) {
        (Value::Null, _) if ty.nullable => Ok(()),
        (Value::Null, _) => Err("null is not allowed".into()),
        (Value::List(items), BaseType::List(_)) if items.len() > limits.array => Err(format!(
            "a list may have {} elements, this one has {}",
            limits.array,
            items.len()
        )),
        (Value::List(items), BaseType::List(element)) => {
            let mut checks = items.iter().enumerate();
            checks.try_for_each(|(index, item)| {
                fits(item, element, types, limits)
                    .map_err(|problem| format!("element {index}: {problem}"))
            })
        }
        // A single value stands for a list of one.
        (single, BaseType::List(element)) => fits(single, element, types, limits),
        (value, BaseType::Named(name)) => fits_named(value, name, types, limits),
    }
}

fn fits_named(
    value: &Value,
    name: &str,
    types: &SchemaTypes,
    limits: &Limits,
) -> Result<(), String> {
    let wrong = || {
        Err(format!(
            "{} is not of type `{name}`",
            shortened(&value.to_string())
        ))
    };
    let is_good = match (name, value) {
        ("Int", Value::Number(number)) => number
            .as_i64()
            .is_some_and(|number| i32::try_from(number).is_ok()),
        ("Float", Value::Number(_))
        | ("String" | "ID", Value::String(_))
        | ("Boolean", Value::Boolean(_)) => true,
        ("ID", Value::Number(number)) => number.is_i64() || number.is_u64(),
        ("Int" | "Float" | "String" | "Boolean" | "ID", _) => false,
        _ => match (types.get(name), value) {
            (Some(TypeShape::Enum(values)), Value::String(text)) => values.contains(text),
            (Some(TypeShape::Enum(values)), Value::Enum(text)) => values.contains(text.as_str()),
            (Some(TypeShape::Input(fields)), Value::Object(object)) => {
                if let Some(unknown) = object.keys().find(|key| !fields.contains_key(key.as_str()))
                {
                    return Err(format!("`{name}` has no field `{}`", shortened(unknown)));
                }
                for (field, input) in fields {
                    match object.get(field.as_str()) {
                        Some(value) => fits(value, &input.ty, types, limits)
                            .map_err(|problem| format!("`{field}`: {problem}"))?,
                        None if input.is_required => return Err(format!("`{field}` is needed")),
                        None => {}
                    }
                }
                true
            }
            (Some(TypeShape::Enum(_) | TypeShape::Input(_)), _) => false,
            // Custom scalars, and types that the executor will not know.
            _ => true,
        },
    };
    if is_good { Ok(()) } else { wrong() }
}
