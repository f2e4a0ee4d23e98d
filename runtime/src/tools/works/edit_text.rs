//! `edit_text`: replacements in a text document, each at the one place that its fragment names, all or none (W3).

use async_trait::async_trait;
use domain::document::{EditText, TextReplacement};
use domain::error::Result;
use domain::task::Task;
use serde::Deserialize;
use serde_json::{Value, json};

use super::editing::{Editing, forgotten};
use crate::tools::arguments::{object, read, summary, text};
use crate::tools::{Invocation, Ran, Tool, ToolSpec};

pub(super) struct EditTextOfWork(ToolSpec);

#[derive(Deserialize)]
struct Arguments {
    work_id: String,
    replacements: Vec<Replacement>,
    summary: Option<String>,
}

#[derive(Deserialize)]
struct Replacement {
    find: String,
    replace: String,
}

impl Default for EditTextOfWork {
    fn default() -> Self {
        let replacement = object(
            &["find", "replace"],
            json!({"find": {"type": "string"}, "replace": {"type": "string"}}),
        );
        let properties = json!({
            "work_id": text("The text document."),
            "replacements": {"type": "array", "items": replacement, "description":
                "Each `find` must stand exactly once in the text as it is; all are carried out, or none."},
            "summary": summary(),
        });
        Self(ToolSpec::works(
            "edit_text",
            "Replaces pieces of a text.",
            object(&["work_id", "replacements"], properties),
        ))
    }
}

#[async_trait]
impl Tool for EditTextOfWork {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn objection(&self, _task: &Task, arguments: &Value) -> Option<String> {
        let arguments: Arguments = read(arguments).ok()?;
        if arguments.replacements.is_empty() {
            return Some("`replacements` is empty; there is nothing to do".to_owned());
        }
        let mut fragments = arguments.replacements.iter();
        let empty = fragments.position(|replacement| replacement.find.is_empty())?;
        Some(format!(
            "`replacements[{empty}].find` is empty; name the fragment to replace"
        ))
    }

    async fn run(&self, invocation: &Invocation<'_>) -> Result<Ran> {
        let arguments: Arguments = read(&invocation.call.arguments)?;
        if let Some(forgotten) = forgotten(invocation) {
            return Ok(forgotten);
        }
        let editing = Editing::begin(invocation, &arguments.work_id, "editText").await?;
        editing.show(None).await;
        let replacements = arguments.replacements.into_iter();
        let edit = EditText {
            work: editing.work,
            editor: editing.editor.clone(),
            replacements: replacements
                .map(|given| TextReplacement {
                    find: given.find,
                    replace: given.replace,
                })
                .collect(),
            summary: arguments.summary,
        };
        let outcome = invocation.services.documents.edit_text(edit).await?;
        Ok(editing.finish(outcome))
    }
}
