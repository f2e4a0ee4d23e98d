//! `replace_text`: a whole new text, refused if the work moved on since it was read (W3).

use async_trait::async_trait;
use domain::document::{ReplaceText, Version};
use domain::error::Result;
use serde::Deserialize;
use serde_json::json;

use super::editing::{Editing, forgotten};
use crate::tools::arguments::{object, read, summary, text, whole};
use crate::tools::{Invocation, Ran, Tool, ToolSpec};

pub(super) struct ReplaceTextOfWork(ToolSpec);

#[derive(Deserialize)]
struct Arguments {
    work_id: String,
    base_version: u64,
    text: String,
    summary: Option<String>,
}

impl Default for ReplaceTextOfWork {
    fn default() -> Self {
        let properties = json!({
            "work_id": text("The text document."),
            "base_version": whole(0, "The version that you read."),
            "text": text("The whole new text."),
            "summary": summary(),
        });
        Self(ToolSpec::works(
            "replace_text",
            "Replaces a whole text. Refused if anything changed since `base_version`; prefer edit_text where others write too.",
            object(&["work_id", "base_version", "text"], properties),
        ))
    }
}

#[async_trait]
impl Tool for ReplaceTextOfWork {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn run(&self, invocation: &Invocation<'_>) -> Result<Ran> {
        let arguments: Arguments = read(&invocation.call.arguments)?;
        if let Some(forgotten) = forgotten(invocation) {
            return Ok(forgotten);
        }
        let editing = Editing::begin(invocation, &arguments.work_id, "replaceText").await?;
        editing.show(None).await;
        let edit = ReplaceText {
            work: editing.work,
            editor: editing.editor.clone(),
            base: Version(arguments.base_version),
            text: arguments.text,
            summary: arguments.summary,
        };
        let outcome = invocation.services.documents.replace_text(edit).await?;
        Ok(editing.finish(outcome))
    }
}
