//! `create_work`: a storyboard, flow, text document or collection, with content where some is given.

use async_trait::async_trait;
use domain::document::{Content, Version};
use domain::error::{Error, Result};
use domain::ids::WorkId;
use domain::store::StoreExt as _;
use domain::task::Task;
use domain::turn::Effect;
use domain::work::{CreateWork, PendingChange, Work, WorkKind};
use serde::Deserialize;
use serde_json::{Value, json};

use super::operations::{edge_schema, named_edges, named_nodes, node_schema};
use crate::tools::arguments::{object, read, text};
use crate::tools::identity::{idempotency, work_id};
use crate::tools::{Invocation, Ran, Tool, ToolSpec};

pub(super) struct CreateNewWork(ToolSpec);

#[derive(Deserialize)]
struct Arguments {
    kind: String,
    title: String,
    #[serde(default)]
    nodes: Vec<Value>,
    #[serde(default)]
    edges: Vec<Value>,
    #[serde(default)]
    text: String,
}

impl Default for CreateNewWork {
    fn default() -> Self {
        let properties = json!({
            "kind": {"type": "string", "enum": ["storyboard", "flow", "text", "collection"]},
            "title": {"type": "string", "maxLength": 500},
            "nodes": {"type": "array", "items": node_schema(), "description":
                "storyboard, flow, collection: in order. title, description, prompt, dialogue, notes and caption hold prose."},
            "edges": {"type": "array", "items": edge_schema(), "description": "flow only; ends are ids of the nodes."},
            "text": text("text only: Markdown."),
        });
        Self(ToolSpec::works(
            "create_work",
            "Makes a work.",
            object(&["kind", "title"], properties),
        ))
    }
}

#[async_trait]
impl Tool for CreateNewWork {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn objection(&self, _task: &Task, arguments: &Value) -> Option<String> {
        let title = arguments["title"].as_str().unwrap_or_default();
        title
            .trim()
            .is_empty()
            .then(|| "`title` is empty; give the work a name".to_owned())
    }

    async fn run(&self, invocation: &Invocation<'_>) -> Result<Ran> {
        let arguments: Arguments = read(&invocation.call.arguments)?;
        let content = arguments.content(invocation)?;
        let node_ids: Vec<_> = content.nodes.iter().map(|node| node.id.clone()).collect();
        let has_content = !(content.nodes.is_empty() && content.text.is_empty());
        let version = Version(u64::from(has_content));
        let id = match made_before(invocation).await? {
            Some(work) => work.id,
            None => arguments.make(invocation, &content).await?,
        };
        let result = json!({"work_id": id, "version": version, "nodeIds": node_ids});
        Ok(Ran::done(result).with(Effect::Wrote(id, version)))
    }
}

/// The work that an earlier attempt made; its id tells.
async fn made_before(invocation: &Invocation<'_>) -> Result<Option<Work>> {
    let reads = invocation.services.store.reads();
    let id = work_id(invocation.call.id);
    Ok(reads.list_works_by_id(&[id]).await?.pop())
}

impl Arguments {
    fn content(&self, invocation: &Invocation<'_>) -> Result<Content> {
        let call = invocation.call.id;
        let nodes = named_nodes(call, &self.nodes).map_err(Error::Invalid)?;
        let edges = named_edges(call, &self.edges).map_err(Error::Invalid)?;
        Content::of_inputs(nodes, edges, self.text.clone())
    }

    /// Makes the work, at version 0, or 1 where it has content.
    async fn make(&self, invocation: &Invocation<'_>, content: &Content) -> Result<WorkId> {
        let kind = WorkKind::from_name(&self.kind.to_uppercase())
            .ok_or_else(|| Error::Invalid(format!("`{}` is no kind of work", self.kind)))?;
        let services = invocation.services;
        let (update, touched) = services.documents.seed(content, kind)?;
        let content = (!touched.is_empty()).then(|| PendingChange {
            actor: invocation.actor(),
            at: invocation.at,
            update,
            touched,
        });
        let command = CreateWork {
            user: invocation.task.created_by,
            fence: Some(invocation.fence),
            work: Work {
                id: work_id(invocation.call.id),
                workspace: invocation.task.workspace,
                kind,
                title: self.title.clone(),
                version: Version(0),
                created_at: invocation.at,
                updated_at: invocation.at,
                updated_by: invocation.actor(),
                deleted_at: None,
                asset: None,
            },
            content,
            idempotency: Some(idempotency(invocation, "createWork")),
        };
        services.store.run(command).await
    }
}
