//! Tasks and messages through GraphQL.

use serde_json::{Value, json};

use super::people::text;
use super::{Answer, Client, Person, Server};

/// A task, as one person sees it.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    /// Its id.
    pub(crate) id: String,
    /// The person's access.
    pub(crate) client: Client,
    workspace: String,
}

/// What is read of a message.
pub(crate) const MESSAGE: &str = "id text language state author { kind label user { id } } task { id }
  attachments { id } routing { stage outcome rationale } consumedBy { turnNumber stepNumber } replacedBy { id text }";

/// What is read of a card.
pub(crate) const CARD: &str = "id kind state prompt recommended raisedBy cost { micros }
  options { id label detail task { id } work { id } } works { id } task { id } message { id }
  answer { option comment by { id } }";

impl Person {
    /// Makes a task with this goal.
    pub(crate) async fn create_task(&self, goal: &str) -> Task {
        self.create_task_with(json!({"goal": goal})).await
    }

    /// Makes a task from its input without the workspace.
    pub(crate) async fn create_task_with(&self, mut input: Value) -> Task {
        input["workspaceId"] = json!(self.workspace);
        let made = self.client.change("createTask", input, "{ task { id } }");
        Task {
            id: text(&made.await["task"]["id"]),
            client: self.client.clone(),
            workspace: self.workspace.clone(),
        }
    }

    /// Sends a message from its input without the workspace, and returns the answer.
    pub(crate) async fn ask_post(&self, mut input: Value) -> Answer {
        input["workspaceId"] = json!(self.workspace);
        let selection = format!("{{ message {{ {MESSAGE} }} }}");
        self.client.mutate("postMessage", input, &selection).await
    }

    /// The open cards of the workspace.
    pub(crate) async fn open_cards(&self) -> Vec<Value> {
        let query =
            format!("query ($id: ID!) {{ workspace(id: $id) {{ openCards {{ {CARD} }} }} }}");
        let data = self.client.run(&query, json!({"id": self.workspace})).await;
        list(&data["workspace"]["openCards"])
    }
}

impl Task {
    /// The same task as another person sees it.
    pub(crate) fn by(&self, person: &Person) -> Self {
        self.with(person.client.clone())
    }

    /// The same task through this access.
    pub(crate) fn with(&self, client: Client) -> Self {
        Self {
            client,
            ..self.clone()
        }
    }

    /// The same task at another server.
    pub(crate) fn at(&self, server: &Server) -> Self {
        self.with(self.client.at(server.address()))
    }

    /// What it shows of itself.
    pub(crate) async fn show(&self, selection: &str) -> Value {
        let query =
            format!("query ($id: ID!) {{ node(id: $id) {{ ... on Task {{ {selection} }} }} }}");
        self.client.run(&query, json!({"id": self.id})).await["node"].clone()
    }

    /// Where it stands.
    pub(crate) async fn status(&self) -> String {
        text(&self.show("status").await["status"])
    }

    /// Where it stands, if the server can say so at the moment.
    pub(crate) async fn try_status(&self) -> Option<String> {
        let query = "query ($id: ID!) { node(id: $id) { ... on Task { status } } }";
        let answer = self.client.ask(query, json!({"id": self.id})).await;
        let status = answer.body["data"]["node"]["status"].as_str();
        status.map(str::to_owned)
    }

    /// Does one of the actions to it, and returns where it stands then.
    pub(crate) async fn act(&self, action: &str) -> String {
        let answer = self.ask_to(action).await.data();
        text(&answer[action]["task"]["status"])
    }

    /// The same, with the whole answer.
    pub(crate) async fn ask_to(&self, action: &str) -> Answer {
        let input = json!({"taskId": self.id});
        self.client
            .mutate(action, input, "{ task { status } }")
            .await
    }

    /// Posts a message to it, and returns the message.
    pub(crate) async fn post(&self, text: &str) -> Value {
        let input = json!({"workspaceId": self.workspace, "taskId": self.id, "text": text});
        let selection = format!("{{ message {{ {MESSAGE} }} }}");
        let posted = self.client.change("postMessage", input, &selection).await;
        posted["message"].clone()
    }

    /// What is in its inbox, in these states; none are those that no decision has read yet.
    pub(crate) async fn inbox(&self, states: Option<&[&str]>) -> Vec<Value> {
        let query = format!(
            "query ($id: ID!, $states: [MessageState!]) {{ node(id: $id) {{ ... on Task {{ inbox(states: $states) {{ {MESSAGE} }} }} }} }}"
        );
        let variables = json!({"id": self.id, "states": states});
        let data = self.client.run(&query, variables).await;
        list(&data["node"]["inbox"])
    }

    /// The entries of its journal of these kinds, oldest first.
    pub(crate) async fn journal(&self, kinds: Option<&[&str]>) -> Vec<Value> {
        let query = "query ($id: ID!, $kinds: [JournalKind!]) { node(id: $id) { ... on Task { journal(first: 100, kinds: $kinds) {
          nodes { sequence kind text data turnNumber stepNumber actor { kind label } } } } } }";
        let variables = json!({"id": self.id, "kinds": kinds});
        let data = self.client.run(query, variables).await;
        list(&data["node"]["journal"]["nodes"])
    }

    /// Its cards.
    pub(crate) async fn cards(&self) -> Vec<Value> {
        list(&self.show(&format!("cards {{ {CARD} }}")).await["cards"])
    }
}

/// The members of a JSON list.
#[track_caller]
pub(crate) fn list(value: &Value) -> Vec<Value> {
    value
        .as_array()
        .unwrap_or_else(|| panic!("no list: {value}"))
        .clone()
}

/// One member of each object of a list.
#[track_caller]
pub(crate) fn each(objects: &[Value], member: &str) -> Vec<String> {
    objects.iter().map(|object| text(&object[member])).collect()
}
