//! Why something was done: from what the agent did back to the decision, what it had read, and whom it had asked.

use domain::actor::Actor;
use domain::document::{EditNodes, Editor, NodeOperation, Version};
use domain::ids::LineId;
use domain::line::{Line, LineExchange};
use domain::turn::{Effect, ExecutorPrompt, Risk, StepRef};
use serde_json::{Value, json};

use super::agent::{Agent, call};
use super::*;

/// A task whose agent has read a message, asked an executor, and changed a storyboard.
struct Done {
    house: House,
    task: String,
    message: String,
    work: String,
    turn: String,
}

impl Done {
    async fn first_step() -> Self {
        let house = House::open().await;
        let work = house.storyboard(&["a"]).await;
        let task = house.task("Warmer pictures").await;
        let message = house.post(&task, "less blue").await;
        let mut agent = Agent::claim(&house, &task).await;
        let calls = vec![
            call("delegate", Risk::Read),
            call("edit_nodes", Risk::Write),
        ];
        agent.decide("The person wants less blue.", calls).await;
        let line = LineId::new();
        let prompt = ExecutorPrompt {
            index: 0,
            executor: "writer".to_owned(),
            line,
            text: "Describe a warm morning.".to_owned(),
        };
        agent.start(vec![0, 1], vec![prompt]).await;
        change(&house, &agent, &work).await;
        let asked = exchange(&house, &agent, line);
        let results = vec![
            (0, json!({"answer": "Warm."}), vec![asked]),
            (1, json!({"version": 2}), Vec::new()),
        ];
        let turn = agent.fence.turn.to_string();
        agent.finish(results).await;
        Self {
            house,
            task,
            message,
            work,
            turn,
        }
    }

    async fn ask(&self, query: &str) -> Value {
        let variables = json!({"task": self.task, "work": self.work, "message": self.message,
            "call": format!("{}/1/1", self.turn)});
        self.house
            .done_with(self.house.owner, query, variables)
            .await
    }
}

/// Changes the storyboard as the agent does: behind the fence of its turn.
async fn change(house: &House, agent: &Agent<'_>, work: &str) {
    let edit = EditNodes {
        work: work.parse().expect("an id"),
        editor: Editor {
            actor: Actor::Agent {
                task: agent.fence.task,
                turn: 1,
                step: agent.step,
            },
            idempotency: None,
            fence: Some(agent.fence),
        },
        base: Version(1),
        operations: vec![NodeOperation::Set {
            node: "a".to_owned(),
            fields: [("title".to_owned(), json!("Warm morning"))]
                .into_iter()
                .collect(),
        }],
        summary: None,
    };
    let documents = services(&house.store).documents;
    documents
        .edit_nodes(edit)
        .await
        .expect("the edit is stored");
}

fn exchange(house: &House, agent: &Agent<'_>, line: LineId) -> Effect {
    let at = SystemClock.now();
    Effect::Exchange {
        line: Line {
            id: line,
            workspace: house.workspace.id,
            task: agent.fence.task,
            executor: "writer".to_owned(),
            purpose: "shots".to_owned(),
            opened_at: at,
        },
        exchange: LineExchange {
            line,
            number: 1,
            prompt: "Describe a warm morning.".to_owned(),
            answer: "Warm.".to_owned(),
            at,
            step: StepRef {
                turn: 1,
                step: agent.step,
            },
        },
    }
}

const STEP: &str = "{ number turnNumber epoch rationale task { title } consumed { text } prompts { text kind }
  calls { tool risk state attempts arguments result } context { model inputTokens cachedTokens outputTokens stablePrefixHash } }";

#[tokio::test]
async fn from_a_version_of_a_work_one_comes_to_the_step_that_decided_it() {
    let done = Done::first_step().await;
    let query = format!(
        "query($work: ID!) {{ node(id: $work) {{ ... on Storyboard {{ nodes {{ changedBy {{ kind task {{ id }} turnNumber stepNumber step {STEP} }} }}
         history(first: 1) {{ nodes {{ by {{ label turnNumber stepNumber step {{ rationale }} }} }} }} }} }} }}"
    );
    let seen = done.ask(&query).await;
    let by = &seen["node"]["nodes"][0]["changedBy"];
    assert_eq!(by["kind"], json!("AGENT"));
    assert_eq!(by["task"]["id"], json!(done.task));
    assert_eq!(
        (&by["turnNumber"], &by["stepNumber"]),
        (&json!(1), &json!(1))
    );
    let delegate = json!({"tool": "delegate", "risk": "READ", "state": "DONE", "attempts": 1,
        "arguments": {"text": "delegate"}, "result": {"answer": "Warm."}});
    let edit = json!({"tool": "edit_nodes", "risk": "WRITE", "state": "DONE", "attempts": 1,
        "arguments": {"text": "edit_nodes"}, "result": {"version": 2}});
    let step = json!({
        "number": 1, "turnNumber": 1, "epoch": 1, "rationale": "The person wants less blue.",
        "task": {"title": "Warmer pictures"},
        "consumed": [{"text": "less blue"}],
        "prompts": [{"text": "Describe a warm morning.", "kind": "PROMPT"}],
        "calls": [delegate, edit],
        "context": {"model": "scripted", "inputTokens": 1200, "cachedTokens": 1000, "outputTokens": 80,
            "stablePrefixHash": "ab".repeat(32)},
    });
    assert_eq!(by["step"], step);
    let revision = &seen["node"]["history"]["nodes"][0]["by"];
    assert_eq!(
        revision["step"]["rationale"],
        json!("The person wants less blue.")
    );
}

#[tokio::test]
async fn from_a_call_one_comes_to_what_its_step_had_read() {
    let done = Done::first_step().await;
    let query = "query($call: ID!) { call(id: $call) { id tool startedAt endedAt step { number consumed { id consumedBy { turnNumber stepNumber step { rationale } } } } } }";
    let seen = done.ask(query).await["call"].clone();
    assert_eq!(seen["id"], json!(format!("{}/1/1", done.turn)));
    let read = json!({"id": done.message, "consumedBy": {"turnNumber": 1, "stepNumber": 1,
        "step": {"rationale": "The person wants less blue."}}});
    assert_eq!(seen["step"], json!({"number": 1, "consumed": [read]}));
    for wrong in [
        "x",
        &done.turn,
        &format!("{}/1/9", done.turn),
        &format!("{}/9/0", done.turn),
    ] {
        let variables = json!({"call": wrong});
        let owner = done.house.owner;
        let nothing = done.house.done_with(owner, query, variables).await;
        assert_eq!(nothing["call"], Value::Null, "{wrong}");
    }
    let stranger = done.house.person("stranger", None).await;
    let variables = json!({"call": format!("{}/1/1", done.turn)});
    let nothing = done.house.done_with(stranger, query, variables).await;
    assert_eq!(nothing["call"], Value::Null);
}

#[tokio::test]
async fn a_task_shows_what_its_agent_has_done() {
    let done = Done::first_step().await;
    let query = "query($task: ID!) { node(id: $task) { ... on Task { status
      summary { text stale rewrittenAt } shortLine { text } usage { steps inputTokens cachedTokens outputTokens spent { micros currency } }
      budget { spent { micros } } checklist { id title state needsConfirmation isConfirmed dependsOn outputs { id } evidence }
      lines { executor purpose exchanges { prompt answer turnNumber stepNumber } }
      turns { nodes { state epoch leaseOwner steps { number } } }
      journal(kinds: [PLAN, PROMPT]) { nodes { kind turnNumber stepNumber step { number } } } } } }";
    let task = done.ask(query).await["node"].clone();
    assert_eq!(task["status"], json!("RUNNING"));
    assert_eq!(task["shortLine"]["text"], json!("half"));
    // What came of the calls is news that the decision had not seen.
    assert_eq!(
        (&task["summary"]["text"], &task["summary"]["stale"]),
        (&json!("Half done"), &json!(true))
    );
    assert_ne!(task["summary"]["rewrittenAt"], Value::Null);
    let spent = json!({"micros": 4_500, "currency": "USD"});
    let usage = json!({"steps": 1, "inputTokens": 1200, "cachedTokens": 1000, "outputTokens": 80, "spent": spent});
    assert_eq!(task["usage"], usage);
    assert_eq!(task["budget"]["spent"]["micros"], json!(4_500));
    let item = json!({"id": "look", "title": "Look at it", "state": "IN_PROGRESS", "needsConfirmation": true,
        "isConfirmed": false, "dependsOn": ["begin"], "outputs": [], "evidence": "It is there"});
    assert_eq!(task["checklist"], json!([item]));
    let exchange = json!({"prompt": "Describe a warm morning.", "answer": "Warm.", "turnNumber": 1, "stepNumber": 1});
    let line = json!({"executor": "writer", "purpose": "shots", "exchanges": [exchange]});
    assert_eq!(task["lines"], json!([line]));
    // The second step is open, and is none before it is decided.
    let turn = &task["turns"]["nodes"][0];
    assert_eq!(
        (&turn["state"], &turn["epoch"]),
        (&json!("RUNNING"), &json!(1))
    );
    assert!(text(&turn["leaseOwner"]).starts_with("worker_"));
    assert_eq!(turn["steps"], json!([{"number": 1}]));
    let entry =
        |kind: &str| json!({"kind": kind, "turnNumber": 1, "stepNumber": 1, "step": {"number": 1}});
    assert_eq!(
        task["journal"]["nodes"],
        json!([entry("PLAN"), entry("PROMPT")])
    );
}

#[tokio::test]
async fn what_a_step_has_taken_can_not_be_taken_back() {
    let house = House::open().await;
    let task = house.task("Warmer pictures").await;
    let message = house.post(&task, "less blue").await;
    let agent = Agent::claim(&house, &task).await;
    let withdraw = "mutation($i: ID!) { withdrawMessage(input: {messageId: $i}) { __typename ... on MessageAlreadyConsumed { message { state } consumedBy { turnNumber stepNumber step { number } } } } }";
    let replace = "mutation($i: ID!) { replaceMessage(input: {messageId: $i, text: \"x\"}) { __typename ... on MessageAlreadyConsumed { message { state } consumedBy { turnNumber stepNumber step { number } } } } }";
    let refused = |state: &str, step: Value| {
        json!({"__typename": "MessageAlreadyConsumed", "message": {"state": state},
            "consumedBy": {"turnNumber": 1, "stepNumber": 1, "step": step}})
    };
    for (field, mutation) in [("withdrawMessage", withdraw), ("replaceMessage", replace)] {
        let variables = json!({"i": message});
        let answer = house.done_with(house.owner, mutation, variables).await;
        assert_eq!(answer[field], refused("DELIVERED", Value::Null));
    }
    let query = "query($i: ID!) { node(id: $i) { ... on Message { consumedBy { stepNumber } } } }";
    let seen = house
        .done_with(house.owner, query, json!({"i": message}))
        .await;
    assert_eq!(
        seen["node"]["consumedBy"],
        Value::Null,
        "no decision has read it"
    );
    agent
        .decide("Read.", vec![call("reply", Risk::Write)])
        .await;
    for (field, mutation) in [("withdrawMessage", withdraw), ("replaceMessage", replace)] {
        let variables = json!({"i": message});
        let answer = house.done_with(house.owner, mutation, variables).await;
        assert_eq!(answer[field], refused("CONSUMED", json!({"number": 1})));
    }
}
