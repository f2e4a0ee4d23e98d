//! A workspace moves with its tasks: what was stored of each is there again, and what was under way goes on.

use std::process::Output;

use serde_json::{Value, json};

use crate::harness::model::{decision, title_of};
use crate::harness::people::text;
use crate::harness::tasks::list;
use crate::harness::{
    Client, Database, Installation, Person, Planner, Task, eventually, on_both_databases,
};

on_both_databases![a_workspace_moves_with_its_tasks_and_they_go_on];

/// Everything that a task shows, in two parts: in one it would be too much to ask for.
const SHOWN: [&str; 2] = [
    "title goal brief kind status statusReason language autonomy createdAt summary { text rewrittenAt journalSequence stale }
     shortLine { text } checklist { id title state needsConfirmation outputs { id } } usage { steps inputTokens }
     works { seenVersion work { id title version } } changeNotices { summary fromVersion toVersion }
     cards { id kind state prompt options { id label } } lines { id executor purpose exchanges { prompt answer turnNumber } }
     inbox { id text state } thread(first: 50) { nodes { id text state author { kind label } consumedBy { turnNumber stepNumber } } }",
    "journal(first: 100) { nodes { sequence kind text data at turnNumber stepNumber actor { kind label } } }
     turns(first: 20) { nodes { id number state epoch startedAt endedAt steps { number rationale decidedAt
       consumed { id } context { inputTokens stablePrefixHash } calls { id tool risk state attempts arguments result error } } } }",
];

async fn shown(task: &Task) -> Vec<Value> {
    let mut parts = Vec::new();
    for selection in SHOWN {
        parts.push(task.show(selection).await);
    }
    parts
}

/// Some tasks make and read, one asks, the others end at once.
async fn planner() -> Planner {
    Planner::start(|turn, step, text| match (title_of(text), step) {
        ("makes", 1) if turn > 1 => {
            let call = text.rsplit_once("Read <").and_then(|(_, rest)| rest.split_once('>'));
            let (call, _) = call.expect("the person names the call");
            let read = json!({"tool": "read_result", "arguments": {"call_id": call, "offset": 15_000}});
            decision(false, &json!([read]))
        }
        ("makes", 1) => decision(
            false,
            &json!([
                {"tool": "create_work", "arguments": {"kind": "text", "title": "long", "text": "All of it. ".repeat(2_000)}},
                {"tool": "reply", "arguments": {"text": "I have begun."}},
                {"tool": "delegate", "arguments": {"executor": "writer", "purpose": "slogans", "prompt": "Write one slogan about rain, in English, at most five words."}},
            ]),
        ),
        ("makes", 2) if turn == 1 => {
            let work = text.rsplit("work_").next().unwrap_or_default();
            let work: String = work.chars().take_while(char::is_ascii_alphanumeric).collect();
            decision(false, &json!([{"tool": "read_work", "arguments": {"work_id": format!("work_{work}")}}]))
        }
        ("asks", 1) if turn == 1 => {
            let ask = json!([{"tool": "ask", "arguments": {"prompt": "Blue or green?", "kind": "choice",
              "options": [{"id": "blue", "label": "Blue"}, {"id": "green", "label": "Green"}]}}]);
            decision(false, &ask)
        }
        _ => decision(true, &json!([])),
    })
    .await
}

/// Tasks in several states, and one that nobody has begun; nothing runs any more when this returns.
async fn fill(installation: &Installation, planner: &Planner) -> (Person, Vec<Task>) {
    let (server, owner) = installation.open_with(&planner.settings()).await;
    let mut tasks = Vec::new();
    for (title, status) in [("makes", "DELIVERED"), ("asks", "WAITING_FOR_PERSON")] {
        let task = owner.create_task(title).await;
        eventually(title, async || task.status().await == status).await;
        tasks.push(task);
    }
    server.stop().await;
    let server = installation.start_without_agent().await;
    let owner = owner.at(&server);
    let stopped = owner.create_task("stopped").await;
    stopped.act("stopTask").await;
    stopped.post("Too late?").await;
    let queued = owner.create_task("queued").await;
    queued.post("Make it rain.").await;
    tasks = tasks.iter().map(|task| task.at(&server)).collect();
    tasks.extend([stopped, queued]);
    server.stop().await;
    (owner, tasks)
}

#[track_caller]
fn done(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{output:?}");
    said
}

/// The token of the link that an import prints.
fn secret_of(said: &str) -> String {
    let (_, secret) = said.rsplit_once("token=").expect("a link with a token");
    secret.trim().to_owned()
}

async fn a_workspace_moves_with_its_tasks_and_they_go_on(installation: &Installation) {
    let planner = planner().await;
    let (owner, tasks) = fill(installation, &planner).await;
    let server = installation.start_without_agent().await;
    let mut before = Vec::new();
    for task in &tasks {
        before.push(shown(&task.at(&server)).await);
    }
    server.stop().await;
    let archive = installation.folder().join("archive.zip");
    let path = archive.to_str().expect("a path");
    done(&installation.run(&["export", &owner.workspace, path]));
    let other = Installation::new(match Database::postgres().await {
        Some(database) if installation.takes_several_servers() => database,
        _ => Database::Sqlite,
    });
    let said = done(&other.run(&["import", path, "--owner", "mover@example.com"]));
    done(&other.run(&["doctor"]));
    let server = other.start_without_agent().await;
    let client = Client::new(server.address(), &secret_of(&said));
    let moved: Vec<_> = tasks.iter().map(|task| task.with(client.clone())).collect();
    for (task, before) in moved.iter().zip(&before) {
        let after = shown(task).await;
        assert_eq!(&after, before, "{}", before[0]["title"]);
    }
    server.stop().await;
    let server = other.start_with(&planner.settings()).await;
    let [makes, asks, stopped, queued] = moved.as_slice() else {
        panic!("four tasks were moved");
    };
    eventually("what was queued is delivered there", async || {
        queued.at(&server).status().await == "DELIVERED"
    })
    .await;
    assert_eq!(stopped.at(&server).status().await, "STOPPED");
    // A result that was too large for its call came along whole: the digest alone could not be paged through.
    let makes = makes.at(&server);
    let call = large_call(&before[0][1]);
    makes.post(&format!("Read <{call}> again.")).await;
    eventually("the large result is read again", async || {
        let results = makes.journal(Some(&["RESULT"])).await;
        results.iter().any(|result| {
            result["data"]["tool"] == "read_result" && result["data"]["state"] == "DONE"
        })
    })
    .await;
    let asks = asks.at(&server);
    let card = asks.cards().await[0]["id"].clone();
    let answer = json!({"cardId": card, "optionId": "blue"});
    asks.client
        .change("answerCard", answer, "{ __typename }")
        .await;
    eventually("what waited for an answer goes on there", async || {
        asks.status().await == "DELIVERED"
    })
    .await;
    server.stop().await;
    other.remove().await;
}

/// The call whose result was too large to stand in it.
fn large_call(shown: &Value) -> String {
    let steps = list(&shown["turns"]["nodes"][0]["steps"]);
    let calls = steps.iter().flat_map(|step| list(&step["calls"]));
    let mut large = calls.filter(|call| call["result"]["handle"].is_string());
    text(&large.next().expect("one result was large")["id"])
}
