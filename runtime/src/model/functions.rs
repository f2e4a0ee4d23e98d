//! The functions that a model can be asked to call: names, descriptions and schemas, and whether a reply fits.
//!
//! Invariants
//! - Names and required members are those of the contract (`model_functions.json` there); members that are not in a schema are let
//!   through, as the contract may add some.
//! - What is wrong with a reply is said at once and in words for the model, which is asked again with them.
//!
//! Not here: whether the arguments of a decision's actions fit their tools (the tools), whether ids exist (the engine).

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

use super::schema;

/// The functions that a model can be asked to call; names are those of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    /// A planner's step.
    Decide,
    /// The router's choice for a message.
    Route,
    /// The router's second look before a new task.
    ConfirmNewTask,
    /// An executor's answer on a line.
    Answer,
    /// What the memory extractor found.
    ExtractMemories,
    /// A span of old history in short.
    SummarizeSegment,
}

/// What `functions.json` says of one function.
#[derive(Debug, Deserialize)]
struct Told {
    description: String,
    parameters: Value,
}

static FUNCTIONS: LazyLock<BTreeMap<String, Told>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("functions.json"))
        .expect("the file is part of the program, and a test reads it")
});

impl Function {
    /// Every function.
    pub const ALL: [Self; 6] = [
        Self::Decide,
        Self::Route,
        Self::ConfirmNewTask,
        Self::Answer,
        Self::ExtractMemories,
        Self::SummarizeSegment,
    ];

    /// The function's name in the contract.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Decide => "decide",
            Self::Route => "route",
            Self::ConfirmNewTask => "confirm_new_task",
            Self::Answer => "answer",
            Self::ExtractMemories => "extract_memories",
            Self::SummarizeSegment => "summarize_segment",
        }
    }

    /// What the function does, for the model.
    #[must_use]
    pub fn description(self) -> &'static str {
        &self.told().description
    }

    /// The JSON Schema of the function's arguments.
    #[must_use]
    pub fn parameters(self) -> &'static Value {
        &self.told().parameters
    }

    fn told(self) -> &'static Told {
        FUNCTIONS
            .get(self.name())
            .expect("a test looks every function up")
    }
}

/// Says whether a reply's arguments fit the function; the text says everything that is wrong and where, for the model.
pub fn check(function: Function, arguments: &Value) -> Result<(), String> {
    schema::check(function.name(), function.parameters(), arguments)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn decision() -> Value {
        json!({
            "rationale": "first the shots", "summary": "Nothing yet.", "short_line": "Planning", "next": "continue",
            "checklist": [{"id": "a", "title": "Six shots", "state": "todo", "depends_on": []}],
            "actions": [{"tool": "create_work", "arguments": {"anything": [1, null]}}],
        })
    }

    #[track_caller]
    fn refused(function: Function, arguments: &Value, expected: &[&str]) {
        let text = check(function, arguments).expect_err("it does not fit");
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(lines, expected);
        assert!(text.contains(function.name()));
    }

    #[test]
    fn every_function_has_a_description_and_the_members_that_the_contract_requires() {
        let required = |function: Function| function.parameters()["required"].clone();
        for function in Function::ALL {
            assert!(function.description().ends_with('.'));
            assert_eq!(function.parameters()["type"], "object");
        }
        assert_eq!(FUNCTIONS.len(), Function::ALL.len());
        assert_eq!(
            required(Function::Decide),
            json!([
                "rationale",
                "summary",
                "short_line",
                "checklist",
                "actions",
                "next"
            ])
        );
        assert_eq!(required(Function::Route), json!(["outcome", "rationale"]));
        assert_eq!(
            required(Function::ConfirmNewTask),
            json!(["decision", "rationale"])
        );
        assert_eq!(required(Function::Answer), json!(["text"]));
        assert_eq!(required(Function::ExtractMemories), json!(["candidates"]));
        assert_eq!(required(Function::SummarizeSegment), json!(["summary"]));
    }

    #[test]
    fn a_fitting_decision_is_let_through_whatever_its_actions_say() {
        assert_eq!(check(Function::Decide, &decision()), Ok(()));
    }

    #[test]
    fn members_that_the_schema_does_not_know_are_let_through() {
        let arguments = json!({"text": "yes", "confidence": 0.9});
        assert_eq!(check(Function::Answer, &arguments), Ok(()));
    }

    #[test]
    fn everything_that_is_wrong_is_said_at_once_with_its_place() {
        let mut arguments = decision();
        arguments["next"] = json!("stop");
        arguments["short_line"] = json!("ж".repeat(141));
        arguments["checklist"] = json!([{"state": "open"}, "item"]);
        arguments["actions"][0]["arguments"] = json!("{}");
        arguments.as_object_mut().expect("object").remove("summary");
        refused(
            Function::Decide,
            &arguments,
            &[
                "- `actions[0].arguments` must be an object, not a text",
                "- `checklist[0].state` must be one of \"todo\", \"in_progress\", \"done\", \"skipped\", \"stale\", not \"open\"",
                "- `checklist[0].title` is missing",
                "- `checklist[1]` must be an object, not a text",
                "- `next` must be one of \"continue\", \"wait\", \"finish\", not \"stop\"",
                "- `short_line` has 141 characters, and at most 140 are allowed",
                "- `summary` is missing",
            ],
        );
    }

    #[test]
    fn a_reply_that_is_no_object_is_told_so() {
        for (arguments, kind) in [
            (json!([]), "a list"),
            (json!("prose"), "a text"),
            (json!(null), "null"),
            (json!(3), "a number"),
        ] {
            let line = format!("- the arguments must be an object, not {kind}");
            refused(Function::Answer, &arguments, &[&line]);
        }
    }

    #[test]
    fn twenty_problems_are_named_and_the_rest_are_counted() {
        let arguments = json!({"candidates": vec![json!(1); 1_000]});
        let text = check(Function::ExtractMemories, &arguments).expect_err("it does not fit");
        assert_eq!(text.lines().count(), 22);
        assert!(text.ends_with("- and 980 more"), "{text}");
    }

    #[test]
    fn a_wrong_value_is_quoted_only_in_part() {
        let arguments = json!({"outcome": "x".repeat(10_000), "rationale": ""});
        let text = check(Function::Route, &arguments).expect_err("it does not fit");
        assert!(text.len() < 400, "{} bytes", text.len());
    }
}
