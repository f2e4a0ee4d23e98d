//! Tools that talk to the workspace's own agent, and search.

use serde::Deserialize;
use serde_json::{Value, json};

use super::schema::{after, idempotency_key, object, page, text, texts, words};
use super::{Asked, Effect, Place, Tool, all_shouted, arguments};
use crate::mcp::outcome::Shown;

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "post_message",
        title: "Post a message",
        description: "Posts a message for your person: to a task (`task_id`), about a work (`about_work_id`), or to the person's main thread, where the router finds \
                      its place. read_message shows what became of it.",
        effect: Effect::Writes,
        place: Place::Workspace,
        parameters: || {
            object(&["text"], json!({
                "text": {"type": "string", "maxLength": 20_000},
                "task_id": text("The task it is for."),
                "about_work_id": text("The work it is about: it goes to the task that works on it."),
                "attachment_ids": texts("Works that come with it."),
                "idempotency_key": idempotency_key(),
            }))
        },
        document: "mutation PostMessage($input: PostMessageInput!) { postMessage(input: $input) {
          message { id state language task { id title status } routing { outcome rationale } } } }",
        read: |given| {
            let given: Post = arguments(given)?;
            let variables = json!({"input": {
                "workspaceId": given.workspace_id, "text": given.text, "taskId": given.task_id,
                "aboutWorkId": given.about_work_id, "attachmentIds": given.attachment_ids,
                "idempotencyKey": given.idempotency_key,
            }});
            Ok(Asked::new(variables, |mut data| {
                let mut message = data["postMessage"]["message"].take();
                message["message_id"] = message["id"].take();
                Shown::Done(message)
            }))
        },
    },
    Tool {
        name: "read_message",
        title: "Read a message",
        description: "A message and where it stands: delivered, read at a step, answered, or why it could not be delivered.",
        effect: Effect::Reads,
        place: Place::Named,
        parameters: || object(&["message_id"], json!({"message_id": text("The message.")})),
        document: "query Message($id: ID!) { node(id: $id) { ... on Message { id text state createdAt byProgram author { kind label } task { id title status }
          routing { outcome rationale } consumedBy { turnNumber stepNumber } attachments { id title } } } }",
        read: |given| {
            let given: Reading = arguments(given)?;
            Ok(Asked::new(json!({"id": given.message_id}), move |mut data| {
                match data["node"].take() {
                    message if message["text"].is_string() => Shown::Done(message),
                    _ => Shown::missing(&format!("message {}", given.message_id)),
                }
            }))
        },
    },
    Tool {
        name: "read_main_thread",
        title: "Read the main thread",
        description: "The newest messages of your person's main thread, the agent's answers among them, oldest first. `before` reads older ones.",
        effect: Effect::Reads,
        place: Place::Workspace,
        parameters: || {
            object(&[], json!({
                "last": page(20),
                "before": text("Messages before this place: the `startCursor` of the part after."),
            }))
        },
        document: "query MainThread($workspace: ID!, $last: Int!, $before: Cursor) { workspace(id: $workspace) { mainThread(last: $last, before: $before) {
          pageInfo { hasPreviousPage startCursor } nodes { id text state createdAt byProgram author { kind label } task { id title status } } } } }",
        read: |given| {
            let given: Thread = arguments(given)?;
            let variables = json!({
                "workspace": given.workspace_id, "last": given.last.unwrap_or(20), "before": given.before,
            });
            Ok(Asked::new(variables, |mut data| {
                match data["workspace"]["mainThread"].take() {
                    Value::Null => Shown::missing("the workspace"),
                    thread => Shown::Done(thread),
                }
            }))
        },
    },
    Tool {
        name: "search",
        title: "Search",
        description: "Finds tasks, memories, works and messages of a workspace by words and by meaning, best first.",
        effect: Effect::Reads,
        place: Place::Workspace,
        parameters: || {
            object(&["query"], json!({
                "query": {"type": "string", "maxLength": 200},
                "kinds": words(&["task", "memory", "work", "message"], "All by default."),
                "first": page(20),
                "after": after(),
            }))
        },
        document: "query Search($workspace: ID!, $query: String!, $kinds: [SearchKind!], $first: Int!, $after: Cursor) {
          search(workspaceId: $workspace, query: $query, kinds: $kinds, first: $first, after: $after) { pageInfo { hasNextPage endCursor }
            edges { score snippet node { __typename ... on Work { id kind title version } ... on Task { id title status }
              ... on Message { id task { id title } } ... on Memory { id scope current { content } } } } } }",
        read: |given| {
            let given: Search = arguments(given)?;
            let variables = json!({
                "workspace": given.workspace_id, "query": given.query, "kinds": all_shouted(given.kinds.as_deref()),
                "first": given.first.unwrap_or(20), "after": given.after,
            });
            Ok(Asked::new(variables, |mut data| Shown::Done(data["search"].take())))
        },
    },
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Post {
    workspace_id: String,
    text: String,
    task_id: Option<String>,
    about_work_id: Option<String>,
    attachment_ids: Option<Vec<String>>,
    idempotency_key: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reading {
    message_id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Thread {
    workspace_id: String,
    last: Option<i32>,
    before: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    workspace_id: String,
    query: String,
    kinds: Option<Vec<String>>,
    first: Option<i32>,
    after: Option<String>,
}
