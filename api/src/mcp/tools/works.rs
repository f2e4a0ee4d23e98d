//! Tools that find works and read them.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::schema::{after, object, page, text, texts, whole, words};
use super::{Asked, Effect, Place, Tool, all_shouted, arguments};
use crate::mcp::outcome::Shown;

/// Nodes of a page where nothing is said.
const NODES: usize = 100;
/// Characters of a page of text where nothing is said.
const CHARACTERS: usize = 20_000;
/// Characters of a title in an outline.
const TITLE: usize = 200;
const KINDS: [&str; 5] = ["storyboard", "flow", "text", "collection", "asset"];

/// The workspaces of the person.
pub(in crate::mcp) const WORKSPACES: &str = "query Workspaces { viewer { user { id name }
  workspaces(first: 50) { nodes { id name viewerRole } pageInfo { hasNextPage } } } }";

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "list_workspaces",
        title: "List workspaces",
        description: "The workspaces that the person whose token you carry is a member of, and the person's role in each.",
        effect: Effect::Reads,
        place: Place::Named,
        parameters: || object(&[], json!({})),
        document: WORKSPACES,
        read: |given| {
            arguments::<Nothing>(given)?;
            Ok(Asked::new(json!({}), |data| {
                Shown::Done(json!({
                    "you_act_for": data["viewer"]["user"],
                    "workspaces": data["viewer"]["workspaces"]["nodes"],
                }))
            }))
        },
    },
    Tool {
        name: "list_works",
        title: "List works",
        description: "Works of a workspace, newest first: id, kind, title, version, who changed it last.",
        effect: Effect::Reads,
        place: Place::Workspace,
        parameters: || {
            let kinds = words(&KINDS, "Only these; all by default.");
            object(&[], json!({"kinds": kinds, "first": page(50), "after": after()}))
        },
        document: "query Works($workspace: ID!, $kinds: [WorkKind!], $first: Int!, $after: Cursor) { workspace(id: $workspace) {
          works(kinds: $kinds, first: $first, after: $after) { totalCount pageInfo { hasNextPage endCursor }
            nodes { id kind title version updatedAt updatedBy { label } } } } }",
        read: |given| {
            let given: Listed = arguments(given)?;
            let variables = json!({
                "workspace": given.workspace_id, "kinds": all_shouted(given.kinds.as_deref()),
                "first": given.first.unwrap_or(50), "after": given.after,
            });
            Ok(Asked::new(variables, |mut data| {
                match data["workspace"]["works"].take() {
                    Value::Null => Shown::missing("the workspace"),
                    works => Shown::Done(works),
                }
            }))
        },
    },
    Tool {
        name: "read_work",
        title: "Read a work",
        description: "Reads a work. `at_version` of the result is the version that you have seen, for `base_version` of edits. `outline` shows what there \
                      is without the contents; `node_ids`, or `offset` and `limit`, read a part. `presence` is who is at it now.",
        effect: Effect::Reads,
        place: Place::Named,
        parameters: || {
            object(&["work_id"], json!({
                "work_id": text("The work."),
                "node_ids": texts("Only these nodes, and the edges at them."),
                "at_version": whole(0, "As it was then; now by default."),
                "outline": {"type": "boolean", "default": false, "description": "Only ids, types and titles of nodes; only the headings of a text."},
                "offset": whole(0, "Leaves out this many nodes, or characters of a text: the `next_offset` of the part before."),
                "limit": whole(1, "How many nodes at most (100 by default), or characters of a text (20000)."),
            }))
        },
        document: "query Work($id: ID!, $nodes: [ID!], $at: Int) { node(id: $id) { __typename
          ... on Work { id kind title version updatedAt deletedAt updatedBy { label program } linkedTasks { id title status } presence { label nodeId } }
          ... on StructuredWork { nodes(ids: $nodes, atVersion: $at) { id type fields changedAtVersion changedBy { label program } } }
          ... on Flow { edges(atVersion: $at) { id source target sourcePort targetPort } }
          ... on TextDocument { text(atVersion: $at) }
          ... on Asset { mediaType byteSize sha256 url previewUrl } } }",
        read: |given| {
            let given: Reading = arguments(given)?;
            let variables = json!({"id": given.work_id, "nodes": given.node_ids, "at": given.at_version});
            Ok(Asked::new(variables, move |mut data| {
                match data["node"].take() {
                    Value::Object(work) if work.contains_key("version") => Shown::Done(given.show(work)),
                    _ => Shown::missing(&format!("work {}", given.work_id)),
                }
            }))
        },
    },
    Tool {
        name: "read_history",
        title: "Read a work's history",
        description: "What was changed in a work, newest first: versions, by whom, which nodes, in words. read_work shows it as it was at a version.",
        effect: Effect::Reads,
        place: Place::Named,
        parameters: || {
            object(&["work_id"], json!({"work_id": text("The work."), "first": page(20), "after": after()}))
        },
        document: "query History($id: ID!, $first: Int!, $after: Cursor) { node(id: $id) { ... on Work { id title version
          history(first: $first, after: $after) { pageInfo { hasNextPage endCursor }
            nodes { fromVersion toVersion at summary nodeIds by { kind label program task { id title } } } } } } }",
        read: |given| {
            let given: Paging = arguments(given)?;
            let variables =
                json!({"id": given.work_id, "first": given.first.unwrap_or(20), "after": given.after});
            Ok(Asked::new(variables, move |mut data| {
                match data["node"].take() {
                    Value::Object(work) if work.contains_key("history") => Shown::Done(Value::Object(work)),
                    _ => Shown::missing(&format!("work {}", given.work_id)),
                }
            }))
        },
    },
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    workspace_id: String,
    kinds: Option<Vec<String>>,
    first: Option<i32>,
    after: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Paging {
    work_id: String,
    first: Option<i32>,
    after: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reading {
    work_id: String,
    node_ids: Option<Vec<String>>,
    at_version: Option<i32>,
    #[serde(default)]
    outline: bool,
    #[serde(default)]
    offset: usize,
    limit: Option<usize>,
}

impl Reading {
    /// The work as it was asked for. What stands in it is never newer than its version, so that an edit based on that overwrites nothing unseen.
    fn show(&self, mut work: Map<String, Value>) -> Value {
        let version = self
            .at_version
            .map_or_else(|| work["version"].clone(), Value::from);
        work.insert("at_version".to_owned(), version);
        work.remove("__typename");
        work.retain(|_, value| !value.is_null());
        if let Some(Value::Array(nodes)) = work.remove("nodes") {
            self.show_nodes(&mut work, nodes);
        }
        if let Some(Value::String(whole)) = work.remove("text") {
            self.show_text(&mut work, &whole);
        }
        Value::Object(work)
    }

    fn show_nodes(&self, work: &mut Map<String, Value>, nodes: Vec<Value>) {
        let asked = self.node_ids.iter().flatten();
        let missing: Vec<_> = asked
            .filter(|id| !nodes.iter().any(|node| node["id"] == **id))
            .collect();
        if !missing.is_empty() {
            work.insert("missing_node_ids".to_owned(), json!(missing));
        }
        let (count, limit) = (nodes.len(), self.limit.unwrap_or(NODES));
        let part = nodes.into_iter().skip(self.offset).take(limit);
        let part: Vec<Value> = if self.outline {
            part.map(|node| outlined(&node)).collect()
        } else {
            part.collect()
        };
        if let Some(Value::Array(edges)) = work.get_mut("edges") {
            let is_shown = |id: &Value| part.iter().any(|node| node["id"] == *id);
            edges.retain(|edge| is_shown(&edge["source"]) || is_shown(&edge["target"]));
        }
        work.insert("node_count".to_owned(), json!(count));
        let next = self.offset + part.len();
        if next < count {
            work.insert("next_offset".to_owned(), json!(next));
        }
        work.insert("nodes".to_owned(), Value::Array(part));
    }

    fn show_text(&self, work: &mut Map<String, Value>, whole: &str) {
        let count = whole.chars().count();
        work.insert("character_count".to_owned(), json!(count));
        if self.outline {
            let headings: Vec<_> = whole.lines().filter(|line| line.starts_with('#')).collect();
            work.insert("headings".to_owned(), json!(headings));
            return;
        }
        let limit = self.limit.unwrap_or(CHARACTERS);
        let part: String = whole.chars().skip(self.offset).take(limit).collect();
        let next = self.offset + part.chars().count();
        if next < count {
            work.insert("next_offset".to_owned(), json!(next));
        }
        work.insert("text".to_owned(), json!(part));
    }
}

/// A node without its contents.
fn outlined(node: &Value) -> Value {
    let mut shown = json!({"id": node["id"], "type": node["type"], "changedAtVersion": node["changedAtVersion"]});
    let fields = &node["fields"];
    let titled = ["title", "name", "label"]
        .iter()
        .find_map(|name| fields[*name].as_str());
    if let Some(title) = titled {
        shown["title"] = title.chars().take(TITLE).collect::<String>().into();
    }
    shown
}
