//! Tools that read tasks and begin them. What costs money is ordered by tasks alone, and asked of a person each time (A6).

use serde::Deserialize;
use serde_json::{Value, json};

use super::schema::{after, idempotency_key, object, page, text, texts, word, words};
use super::{Asked, Effect, Place, Tool, all_shouted, arguments, shouted};
use crate::mcp::outcome::Shown;

/// Answered cards of a task that are shown, the newest.
const ANSWERED: usize = 10;
/// Orders of a task that are shown, the newest.
const ORDERS: usize = 20;
const STATUSES: [&str; 9] = [
    "queued",
    "running",
    "waiting_external",
    "waiting_for_person",
    "paused",
    "blocked",
    "stopped",
    "delivered",
    "archived",
];

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "list_tasks",
        title: "List tasks",
        description: "Tasks of the workspace's own agent, newest first: title, status, where each is in one line.",
        effect: Effect::Reads,
        place: Place::Workspace,
        parameters: || {
            let statuses = words(&STATUSES, "Only these; all by default.");
            object(&[], json!({"statuses": statuses, "first": page(20), "after": after()}))
        },
        document: "query Tasks($workspace: ID!, $statuses: [TaskStatus!], $first: Int!, $after: Cursor) { workspace(id: $workspace) {
          tasks(statuses: $statuses, first: $first, after: $after) { totalCount pageInfo { hasNextPage endCursor }
            nodes { id kind title status statusReason updatedAt shortLine { text } } } } }",
        read: |given| {
            let given: Listed = arguments(given)?;
            let variables = json!({
                "workspace": given.workspace_id, "statuses": all_shouted(given.statuses.as_deref()),
                "first": given.first.unwrap_or(20), "after": given.after,
            });
            Ok(Asked::new(variables, |mut data| {
                match data["workspace"]["tasks"].take() {
                    Value::Null => Shown::missing("the workspace"),
                    tasks => Shown::Done(tasks),
                }
            }))
        },
    },
    Tool {
        name: "read_task",
        title: "Read a task",
        description: "A task: where it stands and why, its plan, works, cards (questions to people; an open one is what it waits for), orders, and the newest \
                      messages of its thread. `before` reads older messages.",
        effect: Effect::Reads,
        place: Place::Named,
        parameters: || {
            object(&["task_id"], json!({
                "task_id": text("The task."),
                "last": page(20),
                "before": text("Messages before this place: the `startCursor` of the part after."),
            }))
        },
        document: "query Task($id: ID!, $last: Int!, $before: Cursor) { node(id: $id) { ... on Task { id kind title status statusReason goal brief language
          updatedAt summary { text stale } shortLine { text }
          checklist { id title state needsConfirmation isConfirmed dependsOn evidence outputs { id title } }
          works { seenVersion work { id kind title version } }
          cards { id kind state prompt recommended cost { micros currency } options { id label detail } answer { option comment } }
          jobs { id kind provider state progress prompt cost { micros currency } error outputs { id title } }
          thread(last: $last, before: $before) { pageInfo { hasPreviousPage startCursor }
            nodes { id text state createdAt byProgram author { kind label } } } } } }",
        read: |given| {
            let given: Reading = arguments(given)?;
            let variables =
                json!({"id": given.task_id, "last": given.last.unwrap_or(20), "before": given.before});
            Ok(Asked::new(variables, move |mut data| {
                let mut task = data["node"].take();
                if task["status"].is_null() {
                    return Shown::missing(&format!("task {}", given.task_id));
                }
                newest(&mut task["jobs"], ORDERS, |_| false);
                newest(&mut task["cards"], ANSWERED, |card| card["state"] == "OPEN");
                Shown::Done(task)
            }))
        },
    },
    Tool {
        name: "create_task",
        title: "Begin a task",
        description: "Gives the workspace's own agent a goal; it begins at once, plans, works on storyboards, texts and flows, and orders pictures, films, sound \
                      and 3D bodies. What costs money is asked of a person by a card, each time. Use kind lightweight for one picture or clip without a goal behind it.",
        effect: Effect::Writes,
        place: Place::Workspace,
        parameters: || {
            object(&["goal"], json!({
                "goal": text("What it is to reach, in the language in which its people should be answered. It stands on its own."),
                "title": {"type": "string", "maxLength": 200},
                "kind": word(&["persistent", "lightweight"], "persistent by default."),
                "work_ids": texts("Works that it refers to from the beginning."),
                "idempotency_key": idempotency_key(),
            }))
        },
        document: "mutation CreateTask($input: CreateTaskInput!) { createTask(input: $input) { task { id kind title status language } } }",
        read: |given| {
            let given: New = arguments(given)?;
            let variables = json!({"input": {
                "workspaceId": given.workspace_id, "goal": given.goal, "title": given.title,
                "kind": given.kind.as_deref().map(shouted), "workIds": given.work_ids,
                "idempotencyKey": given.idempotency_key,
            }});
            Ok(Asked::new(variables, |mut data| {
                let mut task = data["createTask"]["task"].take();
                task["task_id"] = task["id"].take();
                Shown::Done(task)
            }))
        },
    },
    Tool {
        name: "job_status",
        title: "Look at an order",
        description: "Where an order at a media provider stands, and the assets that came of it.",
        effect: Effect::Reads,
        place: Place::Named,
        parameters: || object(&["job_id"], json!({"job_id": text("The order.")})),
        document: "query Job($id: ID!) { node(id: $id) { ... on GenerationJob { id kind provider state progress prompt cost { micros currency } error
          outputs { id title mediaType url previewUrl } task { id title status } } } }",
        read: |given| {
            let given: Job = arguments(given)?;
            Ok(Asked::new(json!({"id": given.job_id}), move |mut data| {
                match data["node"].take() {
                    job if job["state"].is_string() && job["provider"].is_string() => Shown::Done(job),
                    _ => Shown::missing(&format!("job {}", given.job_id)),
                }
            }))
        },
    },
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    workspace_id: String,
    statuses: Option<Vec<String>>,
    first: Option<i32>,
    after: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reading {
    task_id: String,
    last: Option<i32>,
    before: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct New {
    workspace_id: String,
    goal: String,
    title: Option<String>,
    kind: Option<String>,
    work_ids: Option<Vec<String>>,
    idempotency_key: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Job {
    job_id: String,
}

/// Keeps the newest rows of a list that has the oldest first, and those that are always kept.
fn newest(list: &mut Value, limit: usize, is_kept: impl Fn(&Value) -> bool) {
    let Value::Array(rows) = list else { return };
    let mut others = rows.iter().filter(|row| !is_kept(row)).count();
    rows.retain(|row| {
        if is_kept(row) {
            return true;
        }
        others -= 1;
        others < limit
    });
}
