//! The main thread: where its messages go, and how a wrong place is corrected.

mod corrections;
mod doubles;
mod isolation;
mod outcomes;

use serde_json::{Value, json};

use crate::harness::model::{decision, title_of};
use crate::harness::people::text;
use crate::harness::tasks::list;
use crate::harness::{Installation, Person, Planner, Server, eventually};

/// What is read of a message that went through the router.
const ROUTED: &str = "id text language state author { kind task { id } } task { id title goal language kind origin { id } }
  routing { stage outcome rationale decidedAt candidates { score reasons task { id } } correctedFrom { id } }
  consumedBy { turnNumber stepNumber }";

/// What is read of each message of the main thread.
const SAID: &str = "id text language state author { kind task { id } }";

/// A server whose router is this function of the request's text, and whose tasks end with their first step, but for those that speak
/// of a whale: these ask, and stay in work.
async fn open_with_router<G>(installation: &Installation, route: G) -> (Server, Person, Planner)
where
    G: Fn(&str, &str) -> Value + Send + Sync + 'static,
{
    let planner = Planner::start_with_router(|_, _, text| decide(text), route).await;
    let (server, owner) = installation.open_with(&planner.settings()).await;
    (server, owner, planner)
}

fn decide(text: &str) -> Value {
    let ask =
        json!([{"tool": "ask", "arguments": {"prompt": "Like this?", "kind": "clarification"}}]);
    if title_of(text).contains("a whale") {
        return decision(false, &ask);
    }
    decision(true, &json!([]))
}

impl Person {
    /// Writes in the main thread; the message's id.
    async fn say(&self, words: &str) -> String {
        let posted = self.ask_post(json!({"text": words})).await.data();
        let message = &posted["postMessage"]["message"];
        text(&message["id"])
    }

    /// A message as this person sees it; null where it is not there.
    async fn message(&self, id: &str) -> Value {
        let query =
            format!("query ($id: ID!) {{ node(id: $id) {{ ... on Message {{ {ROUTED} }} }} }}");
        self.client.run(&query, json!({"id": id})).await["node"].clone()
    }

    /// A message of the main thread once it has left the states of waiting.
    async fn placed(&self, id: &str) -> Value {
        let waits = ["RECEIVED", "ROUTING"];
        eventually("the message has a place", async || {
            let state = text(&self.message(id).await["state"]);
            !waits.contains(&state.as_str())
        })
        .await;
        self.message(id).await
    }

    /// The main thread, oldest first.
    async fn main_thread(&self) -> Vec<Value> {
        let query = format!(
            "query ($id: ID!) {{ workspace(id: $id) {{ mainThread(first: 50) {{ nodes {{ {SAID} }} }} }} }}"
        );
        let data = self.client.run(&query, json!({"id": self.workspace})).await;
        list(&data["workspace"]["mainThread"]["nodes"])
    }

    /// Answers a card.
    async fn answer(&self, card: &Value, option: &str) -> Value {
        let input = json!({"cardId": card["id"], "optionId": option});
        self.client
            .change("answerCard", input, "{ __typename }")
            .await
    }
}
