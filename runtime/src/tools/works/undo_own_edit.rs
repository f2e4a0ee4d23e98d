//! `undo_own_edit`: takes back what one change of the task's own did, and leaves what others did since (W4).

use async_trait::async_trait;
use domain::document::{UndoVersion, Version};
use domain::error::Result;
use serde::Deserialize;
use serde_json::json;

use super::editing::{Editing, forgotten};
use crate::tools::arguments::{object, read, text, whole};
use crate::tools::{Invocation, Ran, Tool, ToolSpec};

pub(super) struct UndoOwnEdit(ToolSpec);

#[derive(Deserialize)]
struct Arguments {
    work_id: String,
    version: u64,
}

impl Default for UndoOwnEdit {
    fn default() -> Self {
        let properties = json!({
            "work_id": text("The work."),
            "version": whole(1, "The version that your edit made."),
        });
        Self(ToolSpec::works(
            "undo_own_edit",
            "Takes back what one edit of this task did. Refused where others changed the same since.",
            object(&["work_id", "version"], properties),
        ))
    }
}

#[async_trait]
impl Tool for UndoOwnEdit {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn run(&self, invocation: &Invocation<'_>) -> Result<Ran> {
        let arguments: Arguments = read(&invocation.call.arguments)?;
        if let Some(forgotten) = forgotten(invocation) {
            return Ok(forgotten);
        }
        let editing = Editing::begin(invocation, &arguments.work_id, "undoVersion").await?;
        editing.show(None).await;
        let undo = UndoVersion {
            work: editing.work,
            editor: editing.editor.clone(),
            version: Version(arguments.version),
        };
        let outcome = invocation.services.documents.undo_version(undo).await?;
        Ok(editing.finish(outcome))
    }
}
