//! What is remembered, through the public API: said, extracted, used, corrected, forgotten.

mod extracting;
mod forgetting;
mod kills;
mod outages;
mod people;

use serde_json::{Value, json};

use crate::harness::people::text;
use crate::harness::tasks::list;
use crate::harness::{Answer, Person};

/// What is read of a memory.
const MEMORY: &str = "id kind scope basis state inProfile current { version content validFrom evidence { role usable quote message { id text } } }
  versions { version content state validFrom validTo derivedFrom { version } }";

impl Person {
    /// What this person sees of what is remembered, newest first.
    async fn memories(&self) -> Vec<Value> {
        let query = format!(
            "query ($id: ID!) {{ workspace(id: $id) {{ memories(first: 20) {{ totalCount nodes {{ {MEMORY} }} }} }} }}"
        );
        let data = self.client.run(&query, json!({"id": self.workspace})).await;
        let memories = &data["workspace"]["memories"];
        // Counted and listed one after the other: what a task has made meanwhile stands in one of them alone.
        assert!(memories["totalCount"].is_u64(), "{memories}");
        list(&memories["nodes"])
    }

    /// The same but for episodes, which are written beside whatever a test does.
    async fn facts(&self) -> Vec<Value> {
        let mut memories = self.memories().await;
        memories.retain(|memory| memory["kind"] != "EPISODE");
        memories
    }

    /// What those of them say that hold.
    async fn contents(&self) -> Vec<String> {
        let facts = self.facts().await;
        let holding = facts.iter().filter(|memory| !memory["current"].is_null());
        holding
            .map(|memory| text(&memory["current"]["content"]))
            .collect()
    }

    /// Version and text of the person's profile.
    async fn profile(&self) -> (u64, String) {
        let query =
            "query ($id: ID!) { workspace(id: $id) { profile { version text entries { id } } } }";
        let data = self.client.run(query, json!({"id": self.workspace})).await;
        let profile = &data["workspace"]["profile"];
        (
            profile["version"].as_u64().expect("a number"),
            text(&profile["text"]),
        )
    }

    /// What was not taken into memory, newest first.
    async fn rejections(&self) -> Vec<Value> {
        let query = "query ($id: ID!) { workspace(id: $id) { memoryRejections(first: 50) {
          nodes { content reason detail messages { id } at } } } }";
        let data = self.client.run(query, json!({"id": self.workspace})).await;
        list(&data["workspace"]["memoryRejections"]["nodes"])
    }

    /// Remembers something from its input without the workspace.
    async fn remember(&self, mut input: Value) -> Value {
        input["workspaceId"] = json!(self.workspace);
        let selection = format!("{{ memory {{ {MEMORY} }} }}");
        let made = self.client.change("remember", input, &selection).await;
        made["memory"].clone()
    }

    /// Forgets, and returns the whole answer.
    async fn ask_to_forget(&self, input: Value) -> Answer {
        let selection = "{ scrubbed { id state current { content } } reextracted { id } unlinked { id } profileVersion }";
        self.client.mutate("forget", input, selection).await
    }
}
