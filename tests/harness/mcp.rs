//! The Model Context Protocol as a program speaks it: one request each, over HTTP, without a session.

use reqwest::{RequestBuilder, StatusCode};
use serde_json::{Value, json};

use super::Client;

/// A program at the door for programs, with somebody's token.
#[derive(Debug, Clone)]
pub(crate) struct Mcp {
    client: Client,
}

impl Mcp {
    /// A program with the token of this access.
    pub(crate) fn of(client: &Client) -> Self {
        Self {
            client: client.clone(),
        }
    }

    /// A request with the headers that the protocol wants, before its body.
    pub(crate) fn request(&self) -> RequestBuilder {
        let address = format!("{}/mcp", self.client.address());
        self.client
            .http()
            .post(address)
            .bearer_auth(self.client.secret())
            .header("Accept", "application/json, text/event-stream")
            .header("MCP-Protocol-Version", "2025-06-18")
    }

    /// Asks for a method, and returns status and body.
    pub(crate) async fn ask(&self, method: &str, params: Value) -> (StatusCode, Value) {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let response = self.request().json(&body).send().await.expect("an answer");
        let status = response.status();
        (status, response.json().await.expect("JSON"))
    }

    /// What a method gives; fails where it is refused.
    pub(crate) async fn run(&self, method: &str, params: Value) -> Value {
        let (status, body) = self.ask(method, params).await;
        assert!(
            status.is_success() && body["error"].is_null(),
            "{method}: {body}"
        );
        body["result"].clone()
    }

    /// Calls a tool, and returns its whole result.
    pub(crate) async fn try_call(&self, tool: &str, arguments: Value) -> Value {
        self.run("tools/call", json!({"name": tool, "arguments": arguments}))
            .await
    }

    /// What a tool gives; fails where it is refused.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let result = self.try_call(tool, arguments).await;
        assert_ne!(result["isError"], true, "{tool}: {result}");
        result["structuredContent"].clone()
    }

    /// How a tool refuses; fails where it does not. Both parts of the result say it.
    pub(crate) async fn refused(&self, tool: &str, arguments: Value) -> Value {
        let result = self.try_call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{tool}: {result}");
        let refusal = result["structuredContent"].clone();
        let message = refusal["message"].as_str().expect("words");
        let text = result["content"][0]["text"].as_str().expect("a text");
        assert!(text.starts_with(message), "{text}");
        refusal
    }
}
