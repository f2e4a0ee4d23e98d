//! `read_work`: a work as it is, or was at a version, whole or some of its nodes.

use async_trait::async_trait;
use domain::document::{Content, Edge, Node, Version};
use domain::error::{Error, Result};
use domain::turn::Effect;
use domain::work::{Work, WorkKind};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::tools::arguments::{object, read, text, texts, whole, work};
use crate::tools::{Invocation, Ran, Tool, ToolSpec};

pub(super) struct ReadWork(ToolSpec);

#[derive(Deserialize)]
struct Arguments {
    work_id: String,
    #[serde(default)]
    node_ids: Vec<String>,
    at_version: Option<u64>,
}

impl Default for ReadWork {
    fn default() -> Self {
        let properties = json!({
            "work_id": text("The work."),
            "node_ids": texts("Only these nodes, and the edges at them."),
            "at_version": whole(0, "As it was then; now by default."),
        });
        Self(ToolSpec::core(
            "read_work",
            "Reads a work: `at_version` of the result is the version that you have seen, for `base_version` of edits.",
            object(&["work_id"], properties),
        ))
    }
}

#[async_trait]
impl Tool for ReadWork {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn run(&self, invocation: &Invocation<'_>) -> Result<Ran> {
        let arguments: Arguments = read(&invocation.call.arguments)?;
        let work = work(invocation, &arguments.work_id).await?;
        let documents = &invocation.services.documents;
        let at = arguments.at_version.map(Version);
        let content = documents.contents(&[work.id], at).await?.pop();
        let content = content.ok_or_else(|| Error::not_found("work", work.id))?;
        let result = shown(&work, &content, &arguments.node_ids);
        Ok(Ran::done(result).with(Effect::Read(work.id, content.version)))
    }
}

/// What is read; the version stands first, where it is seen of a result that is cut as well.
fn shown(work: &Work, content: &Content, only: &[String]) -> Value {
    let mut shown = Map::new();
    shown.insert("at_version".into(), json!(content.version));
    shown.insert("id".into(), json!(work.id));
    shown.insert("kind".into(), json!(work.kind));
    shown.insert("title".into(), json!(work.title));
    shown.insert("version".into(), json!(content.version));
    let is_wanted = |id: &String| only.is_empty() || only.contains(id);
    match work.kind {
        WorkKind::Text => drop(shown.insert("text".into(), json!(content.text))),
        WorkKind::Asset => drop(shown.insert("asset".into(), json!(content.asset))),
        WorkKind::Storyboard | WorkKind::Flow | WorkKind::Collection => {
            let nodes = content.nodes.iter().filter(|node| is_wanted(&node.id));
            shown.insert("nodes".into(), nodes.map(node).collect());
            let missing: Vec<_> = only
                .iter()
                .filter(|id| !content.nodes.iter().any(|node| node.id == **id))
                .collect();
            if !missing.is_empty() {
                shown.insert("missing_node_ids".into(), json!(missing));
            }
        }
    }
    if work.kind == WorkKind::Flow {
        let edges = content
            .edges
            .iter()
            .filter(|edge| is_wanted(&edge.source) || is_wanted(&edge.target));
        shown.insert("edges".into(), edges.map(edge).collect());
    }
    Value::Object(shown)
}

fn node(node: &Node) -> Value {
    json!({"id": node.id, "type": node.kind, "fields": node.fields})
}

fn edge(edge: &Edge) -> Value {
    let mut shown = json!({"id": edge.id, "source": edge.source, "target": edge.target});
    if let Some(port) = &edge.source_port {
        shown["sourcePort"] = json!(port);
    }
    if let Some(port) = &edge.target_port {
        shown["targetPort"] = json!(port);
    }
    shown
}
