//! Works through GraphQL.

use serde_json::{Value, json};

use super::people::text;
use super::{Answer, Client};

/// A work, as one person sees it.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    /// Its id.
    pub(crate) id: String,
    /// The person's access.
    pub(crate) client: Client,
}

/// Everything that an edit may answer.
pub(crate) const RESULT: &str = "{ __typename
  ... on EditApplied { version nodeIds clientMutationId concurrent { fromVersion toVersion nodeIds summary by { label user { id } } } }
  ... on VersionConflict { baseVersion currentVersion changes { fromVersion toVersion nodeIds summary by { label user { id } } } }
  ... on NodeConflict { baseVersion currentVersion conflicts { nodeId changedAtVersion changedBy { label user { id } } current { id type fields changedAtVersion } } }
  ... on TextNotUnique { find occurrences currentVersion }
}";

/// All that a work shows.
const CONTENT: &str = "query ($id: ID!, $at: Int) { node(id: $id) { __typename ... on Work { version title deletedAt }
  ... on Storyboard { nodes(atVersion: $at) { ...part } }
  ... on Collection { nodes(atVersion: $at) { ...part } }
  ... on Flow { nodes(atVersion: $at) { ...part } edges(atVersion: $at) { id source target sourcePort targetPort } }
  ... on TextDocument { text(atVersion: $at) }
} } fragment part on WorkNode { id type fields changedAtVersion changedBy { kind label user { id } } }";

/// Its history.
const HISTORY: &str = "query ($id: ID!, $first: Int) { node(id: $id) { ... on Work { history(first: $first) {
  nodes { fromVersion toVersion summary nodeIds at by { kind label user { id } } } pageInfo { hasNextPage endCursor } } } } }";

impl Work {
    /// The same work as another caller sees it.
    pub(crate) fn by(&self, client: &Client) -> Self {
        Self {
            client: client.clone(),
            id: self.id.clone(),
        }
    }

    /// What it shows now.
    pub(crate) async fn content(&self) -> Value {
        self.content_at(None).await
    }

    /// What it showed at a version.
    pub(crate) async fn content_at(&self, version: Option<i64>) -> Value {
        let variables = json!({"id": self.id, "at": version});
        self.client.run(CONTENT, variables).await["node"].clone()
    }

    /// The same as an answer, for what may be refused.
    pub(crate) async fn ask_content_at(&self, version: i64) -> Answer {
        self.client
            .ask(CONTENT, json!({"id": self.id, "at": version}))
            .await
    }

    /// Its version.
    pub(crate) async fn version(&self) -> i64 {
        self.content().await["version"].as_i64().expect("a version")
    }

    /// Its text.
    pub(crate) async fn text(&self) -> String {
        text(&self.content().await["text"])
    }

    /// A node as the API shows it; null where it is not there.
    pub(crate) async fn node(&self, id: &str) -> Value {
        let content = self.content().await;
        let nodes = content["nodes"].as_array().expect("nodes");
        nodes
            .iter()
            .find(|node| node["id"] == id)
            .cloned()
            .unwrap_or_default()
    }

    /// The ids of its nodes, in order.
    pub(crate) async fn node_ids(&self) -> Vec<String> {
        let content = self.content().await;
        let nodes = content["nodes"].as_array().expect("nodes");
        nodes.iter().map(|node| text(&node["id"])).collect()
    }

    /// The newest entries of its history.
    pub(crate) async fn history(&self) -> Vec<Value> {
        let data = self
            .client
            .run(HISTORY, json!({"id": self.id, "first": 50}))
            .await;
        data["node"]["history"]["nodes"]
            .as_array()
            .expect("a history")
            .clone()
    }

    /// Edits nodes on a base, and returns the result.
    pub(crate) async fn edit_on(&self, base: i64, operations: Value) -> Value {
        let input = json!({"workId": self.id, "baseVersion": base, "operations": operations});
        self.client.change("editNodes", input, RESULT).await
    }

    /// Edits nodes on the present version; fails where it is not applied. Returns the new version.
    pub(crate) async fn edit(&self, operations: Value) -> i64 {
        let base = self.version().await;
        let result = self.edit_on(base, operations).await;
        applied(&result)
    }

    /// Sends an edit of nodes with whatever input, and returns the answer.
    pub(crate) async fn ask_edit(&self, base: i64, operations: Value) -> Answer {
        let input = json!({"workId": self.id, "baseVersion": base, "operations": operations});
        self.client.mutate("editNodes", input, RESULT).await
    }

    /// Edits passages of a text, and returns the result.
    pub(crate) async fn edit_text(&self, replacements: &[(&str, &str)]) -> Value {
        let replacements: Vec<Value> = replacements
            .iter()
            .map(|(find, replace)| json!({"find": find, "replace": replace}))
            .collect();
        let input = json!({"workId": self.id, "replacements": replacements});
        self.client.change("editText", input, RESULT).await
    }

    /// Replaces a whole text, and returns the result.
    pub(crate) async fn replace_text(&self, base: i64, text: &str) -> Value {
        let input = json!({"workId": self.id, "baseVersion": base, "text": text});
        self.client.change("replaceText", input, RESULT).await
    }

    /// Brings an earlier version back, and returns the result.
    pub(crate) async fn restore(&self, version: i64, base: i64) -> Value {
        let input = json!({"workId": self.id, "version": version, "baseVersion": base});
        self.client.change("restoreVersion", input, RESULT).await
    }
}

/// The version of an applied edit; fails for every other result.
#[track_caller]
pub(crate) fn applied(result: &Value) -> i64 {
    assert_eq!(result["__typename"], "EditApplied", "{result}");
    result["version"].as_i64().expect("a version")
}
