//! People: members of a workspace with a token each.

use serde_json::{Value, json};

use super::tasks::{each, list};
use super::{Client, Server, Work};

/// A person in a workspace.
#[derive(Debug, Clone)]
pub(crate) struct Person {
    /// The person's access.
    pub(crate) client: Client,
    /// The person's id.
    pub(crate) user: String,
    /// The id of the person's token.
    pub(crate) token: String,
    /// The workspace.
    pub(crate) workspace: String,
}

/// What the tests want to know of the caller.
const VIEWER: &str = "{ viewer { user { id } tokens { id } } }";

impl Person {
    /// The person behind a client, in a new workspace of their own.
    pub(crate) async fn with_workspace(client: Client, name: &str) -> Self {
        let input = json!({"name": name});
        let made = client
            .change("createWorkspace", input, "{ workspace { id } }")
            .await;
        Self::of(client, text(&made["workspace"]["id"])).await
    }

    /// The person behind a client, in a workspace.
    pub(crate) async fn of(client: Client, workspace: String) -> Self {
        let viewer = client.run(VIEWER, Value::Null).await;
        let viewer = &viewer["viewer"];
        Self {
            user: text(&viewer["user"]["id"]),
            token: text(&viewer["tokens"][0]["id"]),
            client,
            workspace,
        }
    }

    /// The same person at another server.
    pub(crate) fn at(&self, server: &Server) -> Self {
        Self {
            client: self.client.at(server.address()),
            ..self.clone()
        }
    }

    /// Adds somebody to the workspace, with a token of their own.
    pub(crate) async fn invite(&self, name: &str, role: &str) -> Self {
        self.invite_until(name, role, None).await
    }

    /// Adds somebody whose token expires.
    pub(crate) async fn invite_until(
        &self,
        name: &str,
        role: &str,
        expires_at: Option<&str>,
    ) -> Self {
        let input = json!({
            "workspaceId": self.workspace, "role": role, "name": name,
            "email": format!("{}@example.com", uuid::Uuid::new_v4().simple()),
        });
        let added = self
            .client
            .change("addMember", input, "{ member { user { id email } } }")
            .await;
        let user = text(&added["member"]["user"]["id"]);
        let input = json!({
            "label": "first", "kind": "PERSONAL", "userId": user,
            "workspaceId": self.workspace, "expiresAt": expires_at,
        });
        let made = self
            .client
            .change("createToken", input, "{ secret token { id } }")
            .await;
        Self {
            client: Client::new(self.client.address(), &text(&made["secret"])),
            user,
            token: text(&made["token"]["id"]),
            workspace: self.workspace.clone(),
        }
    }

    /// Makes a work of nodes: ids and fields.
    pub(crate) async fn create_nodes(&self, kind: &str, nodes: Value) -> Work {
        self.create(json!({"kind": kind, "title": kind, "nodes": nodes}))
            .await
    }

    /// Makes a text.
    pub(crate) async fn create_text(&self, text: &str) -> Work {
        self.create(json!({"kind": "TEXT", "title": "Text", "text": text}))
            .await
    }

    /// Makes a work from its input without the workspace.
    pub(crate) async fn create(&self, mut input: Value) -> Work {
        input["workspaceId"] = json!(self.workspace);
        let made = self
            .client
            .change("createWork", input, "{ work { id } }")
            .await;
        Work {
            id: text(&made["work"]["id"]),
            client: self.client.clone(),
        }
    }

    /// How many works of the workspace have this title, among the newest hundred.
    pub(crate) async fn count_titled(&self, title: &str) -> usize {
        let titles = self.titles().await;
        titles.iter().filter(|known| *known == title).count()
    }

    /// The titles of all works of the workspace.
    pub(crate) async fn titles(&self) -> Vec<String> {
        let query = "query ($id: ID!, $after: Cursor) { workspace(id: $id) { works(first: 100, after: $after) { nodes { title }
          pageInfo { hasNextPage endCursor } } } }";
        let mut titles = Vec::new();
        let mut after = Value::Null;
        loop {
            let variables = json!({"id": self.workspace, "after": after});
            let data = self.client.run(query, variables).await;
            let works = &data["workspace"]["works"];
            titles.extend(each(&list(&works["nodes"]), "title"));
            if works["pageInfo"]["hasNextPage"] != true {
                return titles;
            }
            after = works["pageInfo"]["endCursor"].clone();
        }
    }

    /// The cursor of the workspace's newest event.
    pub(crate) async fn event_cursor(&self) -> String {
        let query = "query ($id: ID!) { workspace(id: $id) { eventCursor } }";
        let data = self.client.run(query, json!({"id": self.workspace})).await;
        text(&data["workspace"]["eventCursor"])
    }
}

/// The text of a JSON string.
#[track_caller]
pub(crate) fn text(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_else(|| panic!("no text: {value}"))
        .to_owned()
}
