//! `edit_nodes`: operations on a structured work, all or none, judged per node against the version that was read (W3).

use async_trait::async_trait;
use domain::document::{EditNodes, NodeOperation, Version};
use domain::error::{Error, Result};
use domain::task::Task;
use serde::Deserialize;
use serde_json::{Value, json};

use super::editing::{Editing, forgotten};
use super::operations::{named_operations, operations_schema, read_operations};
use crate::tools::arguments::{object, read, summary, text, whole};
use crate::tools::{Invocation, Ran, Tool, ToolSpec};

pub(super) struct EditNodesOfWork(ToolSpec);

#[derive(Deserialize)]
struct Arguments {
    work_id: String,
    base_version: u64,
    operations: Value,
    summary: Option<String>,
}

impl Default for EditNodesOfWork {
    fn default() -> Self {
        let properties = json!({
            "work_id": text("The storyboard, flow or collection."),
            "base_version": whole(0, "The version that you read."),
            "operations": operations_schema(),
            "summary": summary(),
        });
        Self(ToolSpec::works(
            "edit_nodes",
            "Changes nodes and edges. Refused where others changed the same nodes since `base_version`; then nothing is changed.",
            object(&["work_id", "base_version", "operations"], properties),
        ))
    }
}

#[async_trait]
impl Tool for EditNodesOfWork {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn objection(&self, _task: &Task, arguments: &Value) -> Option<String> {
        read_operations(&arguments["operations"]).err()
    }

    async fn run(&self, invocation: &Invocation<'_>) -> Result<Ran> {
        let arguments: Arguments = read(&invocation.call.arguments)?;
        if let Some(forgotten) = forgotten(invocation) {
            return Ok(forgotten);
        }
        let operations =
            named_operations(invocation.call.id, &arguments.operations).map_err(Error::Invalid)?;
        let editing = Editing::begin(invocation, &arguments.work_id, "editNodes").await?;
        let node = operations.iter().find_map(NodeOperation::node);
        editing.show(node.map(str::to_owned)).await;
        let edit = EditNodes {
            work: editing.work,
            editor: editing.editor.clone(),
            base: Version(arguments.base_version),
            operations,
            summary: arguments.summary,
        };
        let outcome = invocation.services.documents.edit_nodes(edit).await?;
        Ok(editing.finish(outcome))
    }
}
