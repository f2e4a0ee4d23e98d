//! GraphQL over HTTP, as a program of somebody would use it.

use reqwest::StatusCode;
use serde_json::{Value, json};

/// A caller of one server with one token.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    address: String,
    secret: String,
}

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The HTTP status.
    pub(crate) status: StatusCode,
    /// The body.
    pub(crate) body: Value,
}

impl Answer {
    /// The data; fails where there are errors.
    #[track_caller]
    pub(crate) fn data(self) -> Value {
        assert!(self.body.get("errors").is_none(), "{}", self.body);
        self.body["data"].clone()
    }

    /// The code of the first error; fails where there is none.
    #[track_caller]
    pub(crate) fn code(&self) -> &str {
        let code = self.body["errors"][0]["extensions"]["code"].as_str();
        code.unwrap_or_else(|| panic!("no error with a code: {}", self.body))
    }

    /// The text of the first error.
    #[track_caller]
    pub(crate) fn message(&self) -> &str {
        let message = self.body["errors"][0]["message"].as_str();
        message.unwrap_or_else(|| panic!("no error with a text: {}", self.body))
    }
}

impl Client {
    /// A caller with this token.
    pub(crate) fn new(address: &str, secret: &str) -> Self {
        Self {
            http: reqwest::Client::new(),
            address: address.to_owned(),
            secret: secret.to_owned(),
        }
    }

    /// The same caller at another server.
    pub(crate) fn at(&self, address: &str) -> Self {
        Self {
            address: address.to_owned(),
            ..self.clone()
        }
    }

    /// The server's address.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// The server's address for sockets.
    pub(crate) fn socket_address(&self) -> String {
        self.address.replacen("http", "ws", 1)
    }

    /// The token.
    pub(crate) fn secret(&self) -> &str {
        &self.secret
    }

    /// The HTTP client behind it.
    pub(crate) fn http(&self) -> &reqwest::Client {
        &self.http
    }

    /// Sends a document and returns the answer; fails where the server can not be reached.
    pub(crate) async fn ask(&self, document: &str, variables: Value) -> Answer {
        let answer = self.try_ask(document, variables).await;
        answer.unwrap_or_else(|error| panic!("{document}: {error}"))
    }

    /// Sends a document; an error where the server can not be reached.
    pub(crate) async fn try_ask(
        &self,
        document: &str,
        variables: Value,
    ) -> Result<Answer, reqwest::Error> {
        let response = self
            .http
            .post(format!("{}/graphql", self.address))
            .bearer_auth(&self.secret)
            .json(&json!({"query": document, "variables": variables}))
            .send()
            .await?;
        let status = response.status();
        let body = response.json().await?;
        Ok(Answer { status, body })
    }

    /// The data of a document without errors.
    pub(crate) async fn run(&self, document: &str, variables: Value) -> Value {
        let answer = self.ask(document, variables).await;
        assert!(
            answer.body.get("errors").is_none(),
            "{document}: {}",
            answer.body
        );
        answer.data()
    }

    /// Sends one mutation with its input; `selection` is what is read of its payload.
    pub(crate) async fn mutate(&self, field: &str, input: Value, selection: &str) -> Answer {
        self.ask(&mutation(field, selection), json!({"input": input}))
            .await
    }

    /// The same, where the server may be gone.
    pub(crate) async fn try_mutate(
        &self,
        field: &str,
        input: Value,
        selection: &str,
    ) -> Result<Answer, reqwest::Error> {
        self.try_ask(&mutation(field, selection), json!({"input": input}))
            .await
    }

    /// The payload of a mutation without errors.
    pub(crate) async fn change(&self, field: &str, input: Value, selection: &str) -> Value {
        let answer = self.mutate(field, input, selection).await;
        assert!(
            answer.body.get("errors").is_none(),
            "{field}: {}",
            answer.body
        );
        answer.data()[field].clone()
    }
}

/// Mutations that share one input type.
const TASK_ACTIONS: [&str; 6] = [
    "pauseTask",
    "resumeTask",
    "stopTask",
    "archiveTask",
    "promoteTask",
    "rebuildProjections",
];

/// A document with one mutation; other input types are named after their mutations.
fn mutation(field: &str, selection: &str) -> String {
    let (first, rest) = field.split_at(1);
    let input = if TASK_ACTIONS.contains(&field) {
        "TaskActionInput".to_owned()
    } else {
        format!("{}{rest}Input", first.to_uppercase())
    };
    format!("mutation ($input: {input}!) {{ {field}(input: $input) {selection} }}")
}
