//! What came of a tool, as programs read it: structured, and the same as text.
//!
//! Invariants
//! - What did not come about is marked as an error of the tool, says in `message` what to do next, and carries what helps.
//!
//! Not here: which outcomes there are (`crate::graphql`).

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

use crate::graphql::error::{Code, Told};

/// What came of a tool.
#[derive(Debug)]
pub(super) enum Shown {
    /// It had its effect, or this was read.
    Done(Value),
    /// It had no effect.
    Refused {
        /// Why, and what to do next.
        message: String,
        /// What helps: an object.
        result: Value,
    },
}

impl Shown {
    /// Arguments that do not fit.
    pub(super) fn misfit(problem: &str) -> Self {
        Self::Refused {
            message: format!("the arguments do not fit: {problem}"),
            result: json!({"code": Code::BadUserInput.as_str()}),
        }
    }

    /// Something that is not there, for this caller.
    pub(super) fn missing(what: &str) -> Self {
        Self::Refused {
            message: format!(
                "{what} was not found; list_works, list_tasks and search show what is there"
            ),
            result: json!({"code": Code::NotFound.as_str()}),
        }
    }

    /// A defect; the log says more.
    pub(super) fn broken() -> Self {
        Self::Refused {
            message: "Internal error".to_owned(),
            result: json!({"code": Code::Internal.as_str()}),
        }
    }

    /// An error as GraphQL tells it.
    pub(super) fn error(told: Told) -> Self {
        let mut result = json!({"code": told.code.as_str()});
        if let Some(seconds) = told.retry_after {
            result["retry_after_seconds"] = json!(seconds);
        }
        if let Some(id) = told.request_id {
            result["request_id"] = json!(id);
        }
        Self::Refused {
            message: told.message,
            result,
        }
    }

    /// Its kind, for figures.
    pub(super) fn outcome(&self) -> &'static str {
        match self {
            Self::Done(_) => "done",
            Self::Refused { result, .. } if result["__typename"].is_string() => "conflict",
            Self::Refused { .. } => "refused",
        }
    }
}

/// It in the protocol's form. Clients show a model either part, so both say all.
pub(super) fn result(shown: Shown) -> CallToolResult {
    match shown {
        Shown::Done(value) => CallToolResult::structured(value),
        Shown::Refused {
            message,
            mut result,
        } => {
            let text = format!("{message}\n{result}");
            result["message"] = json!(message);
            let mut refused = CallToolResult::structured_error(result);
            refused.content = vec![ContentBlock::text(text)];
            refused
        }
    }
}
