//! The agent's part in tests: what a worker does for a task, by the commands that workers use.

use std::time::Duration;

use domain::ids::TaskId;
use domain::page::{End, Window};
use domain::task::{ChecklistItem, ChecklistState, TaskLimits};
use domain::turn::{
    After, CallOutcome, ClaimTurn, ContextUsage, Decision, Effect, ExecutorPrompt, Fence,
    FinishCalls, FinishedCall, NextHint, PlannedCall, Risk, Spare, StartCalls, StoreDecision,
    WorkerId,
};
use serde_json::{Value, json};

use super::*;

/// A worker that has claimed the turn of a task, with a step open.
pub(super) struct Agent<'a> {
    house: &'a House,
    pub(super) fence: Fence,
    pub(super) step: u32,
}

/// A call of this tool.
pub(super) fn call(tool: &str, risk: Risk) -> PlannedCall {
    PlannedCall {
        tool: tool.to_owned(),
        risk,
        idempotent: true,
        arguments: json!({"text": tool}),
        refusal: None,
    }
}

impl<'a> Agent<'a> {
    /// Claims the newest turn of a task: its first step opens.
    pub(super) async fn claim(house: &'a House, task: &str) -> Self {
        let task: TaskId = task.parse().expect("an id");
        let window = Window {
            limit: 1,
            end: End::Last,
            after: None,
            before: None,
        };
        let turns = house.store.reads().list_turns(task, window).await;
        let turn = turns.expect("reads").rows.pop().expect("a turn");
        let command = ClaimTurn {
            fence: Fence {
                workspace: turn.workspace,
                task,
                turn: turn.id,
                epoch: turn.epoch,
            },
            owner: WorkerId(uuid::Uuid::now_v7()),
            lease: Duration::from_mins(1),
            is_forced: false,
            limits: TaskLimits::default(),
            spare: Spare::new(),
            at: SystemClock.now(),
        };
        let claimed = house.store.run(command).await.expect("the turn is claimed");
        let claimed = claimed.expect("there is something to do");
        let After::Opened(opened) = claimed.after else {
            panic!("a step is open: {:?}", claimed.after);
        };
        Self {
            house,
            fence: claimed.fence,
            step: opened.step.at.step,
        }
    }

    /// Stores a decision with these calls and one open item.
    pub(super) async fn decide(&self, rationale: &str, calls: Vec<PlannedCall>) -> After {
        let item = ChecklistItem {
            id: "look".to_owned(),
            title: "Look at it".to_owned(),
            state: ChecklistState::InProgress,
            needs_confirmation: true,
            is_confirmed: false,
            depends_on: vec!["begin".to_owned()],
            outputs: Vec::new(),
            evidence: Some("It is there".to_owned()),
            needs: Vec::new(),
            stale_since: None,
        };
        let command = StoreDecision {
            fence: self.fence,
            step: self.step,
            decision: Decision {
                rationale: rationale.to_owned(),
                summary: "Half done".to_owned(),
                short_line: "half".to_owned(),
                checklist: vec![item],
                calls,
                next: NextHint::Continue,
            },
            context: ContextUsage {
                model: "scripted".to_owned(),
                input_tokens: 1_200,
                cached_tokens: 1_000,
                output_tokens: 80,
                stable_prefix_hash: "ab".repeat(32),
                cost_micros: 4_500,
                ..ContextUsage::default()
            },
            limits: TaskLimits::default(),
            spare: Spare::new(),
            at: SystemClock.now(),
        };
        let stored = self.house.store.run(command).await;
        stored.expect("the decision is stored")
    }

    /// Begins calls, with the prompts that they give to executors.
    pub(super) async fn start(&self, indices: Vec<u32>, prompts: Vec<ExecutorPrompt>) {
        let command = StartCalls {
            fence: self.fence,
            step: self.step,
            indices,
            prompts,
            at: SystemClock.now(),
        };
        let started = self.house.store.run(command).await;
        started.expect("the calls are begun");
    }

    /// Stores that calls are done; the next step opens where all are.
    pub(super) async fn finish(&mut self, done: Vec<(u32, Value, Vec<Effect>)>) {
        let finished = |(index, result, effects)| FinishedCall {
            index,
            outcome: CallOutcome::Done(result),
            large: None,
            effects,
        };
        let command = FinishCalls {
            fence: self.fence,
            step: self.step,
            finished: done.into_iter().map(finished).collect(),
            limits: TaskLimits::default(),
            spare: Spare::new(),
            at: SystemClock.now(),
        };
        let after = self.house.store.run(command).await;
        if let Some(After::Opened(opened)) = after.expect("the results are stored") {
            self.step = opened.step.at.step;
        }
    }
}

impl House {
    /// Makes a task; its id.
    pub(super) async fn task(&self, goal: &str) -> String {
        let query = "mutation($w: ID!, $g: String!) { createTask(input: {workspaceId: $w, goal: $g}) { task { id } } }";
        let variables = json!({"w": self.workspace.id, "g": goal});
        let made = self.done_with(self.owner, query, variables).await;
        text(&made["createTask"]["task"]["id"])
    }

    /// Posts a message to a task; its id.
    pub(super) async fn post(&self, task: &str, words: &str) -> String {
        let query = "mutation($i: PostMessageInput!) { postMessage(input: $i) { message { id } } }";
        let input = json!({"workspaceId": self.workspace.id, "taskId": task, "text": words});
        let posted = self.done_with(self.owner, query, json!({"i": input})).await;
        text(&posted["postMessage"]["message"]["id"])
    }
}
