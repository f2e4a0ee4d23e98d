//! What a JSON value has against a schema: the small part of JSON Schema that the schemas of functions and tools are written in.
//!
//! Invariants
//! - Every keyword that is used is checked; tests read the schemas for others.
//! - All problems are counted, the first ones are named, so that a hostile value costs no more text than a wrong one.

use std::fmt;

use serde_json::{Map, Number, Value};

/// How many problems are named.
const NAMED: usize = 20;

/// How many characters of a wrong value are quoted.
const QUOTED: usize = 60;

/// Says whether the arguments of a function or tool fit its schema; the text says everything that is wrong and where.
pub(crate) fn check(name: &str, schema: &Value, arguments: &Value) -> Result<(), String> {
    let problems = Problems::of(schema, arguments);
    if problems.is_empty() {
        return Ok(());
    }
    Err(format!(
        "the arguments of `{name}` do not fit its schema:\n{problems}"
    ))
}

/// Mends what models do to arguments that mean the same: leaves out members that are null and need not be there, and
/// writes whole numbers as whole numbers.
pub(crate) fn tidy(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(members) => {
            let is_required = |name: &str| {
                let names = schema["required"].as_array();
                names.is_some_and(|names| names.iter().any(|one| one == name))
            };
            let is_known = |name: &str| schema["properties"].get(name).is_some();
            members
                .retain(|name, value| !(value.is_null() && is_known(name) && !is_required(name)));
            for (name, value) in members {
                tidy(&schema["properties"][name.as_str()], value);
            }
        }
        Value::Array(items) => {
            for item in items {
                tidy(&schema["items"], item);
            }
        }
        Value::Number(number) if schema["type"] == "integer" => {
            if let Some(whole) = whole(number) {
                *value = whole.into();
            }
        }
        _ => {}
    }
}

/// The whole number that a number is, however it is written.
fn whole(number: &Number) -> Option<i64> {
    let float = || {
        let float = number.as_f64()?;
        (float.fract() == 0.0 && float.abs() <= MOST_EXACT).then_some(float as i64)
    };
    number.as_i64().or_else(float)
}

/// Up to here every whole number has a float of its own.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

/// What is wrong with a value, and where.
#[derive(Debug, Default)]
pub(super) struct Problems {
    named: Vec<String>,
    unnamed: usize,
}

impl Problems {
    /// What this value has against the schema.
    pub(super) fn of(schema: &Value, value: &Value) -> Self {
        let mut problems = Self::default();
        problems.look(schema, value, &Place::Whole);
        problems
    }

    pub(super) fn is_empty(&self) -> bool {
        self.named.is_empty()
    }

    fn add(&mut self, place: &Place<'_>, text: impl fmt::Display) {
        if self.named.len() < NAMED {
            self.named.push(format!("{place} {text}"));
        } else {
            self.unnamed += 1;
        }
    }

    fn look(&mut self, schema: &Value, value: &Value, place: &Place<'_>) {
        match (schema["type"].as_str(), value) {
            (Some("object"), Value::Object(members)) => self.members(schema, members, place),
            (Some("array"), Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    self.look(&schema["items"], item, &Place::Item(place, index));
                }
            }
            (Some("string"), Value::String(text)) => self.text(schema, text, place),
            (Some("integer"), Value::Number(number)) => self.integer(schema, number, place),
            (Some("boolean"), Value::Bool(_)) | (None, _) => {}
            (Some(kind), value) => {
                let text = format!("must be {}, not {}", kind_named(kind), kind_of(value));
                self.add(place, text);
            }
        }
    }

    fn members(&mut self, schema: &Value, members: &Map<String, Value>, place: &Place<'_>) {
        let Some(known) = schema["properties"].as_object() else {
            return;
        };
        let required = schema["required"].as_array();
        for (name, schema) in known {
            let place = Place::Member(place, name);
            match members.get(name) {
                Some(value) => self.look(schema, value, &place),
                None if required.is_some_and(|names| names.iter().any(|one| one == name)) => {
                    self.add(&place, "is missing");
                }
                None => {}
            }
        }
    }

    fn integer(&mut self, schema: &Value, number: &Number, place: &Place<'_>) {
        match (whole(number), schema["minimum"].as_i64()) {
            (None, _) => self.add(place, format!("must be a whole number, not {number}")),
            (Some(whole), Some(least)) if whole < least => {
                self.add(place, format!("must be at least {least}, not {whole}"));
            }
            _ => {}
        }
    }

    fn text(&mut self, schema: &Value, text: &str, place: &Place<'_>) {
        if let Some(choices) = schema["enum"].as_array()
            && !choices.iter().any(|choice| choice == text)
        {
            let choices: Vec<String> = choices.iter().map(Value::to_string).collect();
            let problem = format!("must be one of {}, not {}", choices.join(", "), quote(text));
            self.add(place, problem);
        }
        if let Some(longest) = schema["maxLength"].as_u64() {
            let length = text.chars().count();
            if length as u64 > longest {
                let problem = format!("has {length} characters, and at most {longest} are allowed");
                self.add(place, problem);
            }
        }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.named.iter().map(|line| format!("- {line}")).collect();
        formatter.write_str(&lines.join("\n"))?;
        if self.unnamed > 0 {
            write!(formatter, "\n- and {} more", self.unnamed)?;
        }
        Ok(())
    }
}

/// Where in the value.
enum Place<'a> {
    Whole,
    Member(&'a Place<'a>, &'a str),
    Item(&'a Place<'a>, usize),
}

impl Place<'_> {
    fn path(&self) -> String {
        match self {
            Place::Whole => String::new(),
            Place::Member(Place::Whole, name) => (*name).to_owned(),
            Place::Member(outer, name) => format!("{}.{name}", outer.path()),
            Place::Item(outer, index) => format!("{}[{index}]", outer.path()),
        }
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Whole => formatter.write_str("the arguments"),
            inner => write!(formatter, "`{}`", inner.path()),
        }
    }
}

/// A type of JSON Schema in words.
fn kind_named(kind: &str) -> &str {
    match kind {
        "object" => "an object",
        "array" => "a list",
        "string" => "a text",
        "boolean" => "true or false",
        "integer" => "a whole number",
        other => other,
    }
}

/// What a value is, in words.
fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn quote(text: &str) -> String {
    let mut part: String = text.chars().take(QUOTED).collect();
    if part.len() < text.len() {
        part.push('…');
    }
    Value::String(part).to_string()
}

/// What stands in a schema and is not checked.
#[cfg(test)]
pub(crate) fn unchecked(schema: &Value) -> Vec<String> {
    let checked = [
        // Always true, for servers that make a grammar of the schema and would else let nothing in.
        "additionalProperties",
        "description",
        "enum",
        "items",
        "maxLength",
        "minimum",
        "properties",
        "required",
        "type",
    ];
    let mut found = Vec::new();
    for (keyword, value) in schema.as_object().expect("a schema is an object") {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(members)) => {
                found.extend(members.values().flat_map(unchecked));
            }
            ("items", inner) => found.extend(unchecked(inner)),
            ("type", Value::String(kind)) if !kind_named(kind).contains(' ') => {
                found.push(format!("type {kind}"));
            }
            (keyword, _) if !checked.contains(&keyword) => found.push(keyword.to_owned()),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::functions::Function;
    use super::*;

    #[test]
    fn the_functions_use_only_keywords_that_are_checked() {
        for function in Function::ALL {
            assert_eq!(unchecked(function.parameters()), Vec::<String>::new());
        }
    }
}
