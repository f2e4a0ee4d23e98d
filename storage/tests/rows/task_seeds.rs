//! Tasks that tests start from, and a worker that moves them on.

use std::time::Duration;

use domain::Result;
use domain::ids::{MessageId, TaskId, TurnId, WorkId};
use domain::message::{Address, Message, MessageState, PostMessage};
use domain::store::{SharedStore, StoreExt};
use domain::task::{
    Autonomy, ChecklistItem, ChecklistState, Course, CreateTask, Task, TaskAction, TaskKind,
    TaskLimits, TaskStatus, Usage,
};
use domain::time::Timestamp;
use domain::turn::{
    After, Call, CallId, CallOutcome, CallState, ClaimTurn, Claimed, ContextUsage, Decision, Epoch,
    Fence, FinishCalls, FinishedCall, NextHint, PlannedCall, Risk, Spare, StartCalls, Step,
    StepRef, StepState, StoreDecision, Turn, TurnState, WorkerId,
};
use serde_json::json;
use uuid::Uuid;

use crate::seeds::{Place, START, seconds, within};

/// A task that is not stored.
pub(crate) fn new_task(place: Place) -> Task {
    Task {
        id: TaskId::new(),
        workspace: place.workspace,
        kind: TaskKind::Persistent,
        status: TaskStatus::Queued,
        status_reason: None,
        title: "Opening".into(),
        goal: "Draw the opening".into(),
        brief: String::new(),
        language: "en".into(),
        created_by: place.caller.user,
        origin: None,
        main_of: None,
        autonomy: Autonomy::AskAtCheckpoints,
        budget_micros: None,
        created_at: START,
        updated_at: START,
        journal_head: 0,
        news_head: 0,
        active_turn: None,
        course: Course::default(),
        usage: Usage::default(),
    }
}

/// Stores a task as it is, and nothing besides.
pub(crate) async fn insert_task(store: &SharedStore, task: &Task) {
    let inserted = within!(store, task.workspace, |tx, task| tx
        .insert_task(&task)
        .await);
    inserted.expect("inserts the task");
}

/// A task that is stored with no turn.
pub(crate) async fn stored_task(store: &SharedStore, place: Place) -> Task {
    let task = new_task(place);
    insert_task(store, &task).await;
    task
}

/// The same for one that a model has named after a message.
pub(crate) async fn named_task(store: &SharedStore, place: Place) -> Task {
    let task = Task {
        origin: Some(MessageId::new()),
        ..new_task(place)
    };
    insert_task(store, &task).await;
    task
}

/// Makes a task as people do; it has a turn.
pub(crate) async fn create_task(store: &SharedStore, place: Place, works: &[WorkId]) -> TaskId {
    let command = CreateTask {
        caller: place.caller,
        task: new_task(place),
        works: works.to_vec(),
        idempotency: None,
        spare: Spare::new(),
    };
    store.run(command).await.expect("makes a task")
}

pub(crate) async fn read_task(store: &SharedStore, task: TaskId) -> Task {
    let found = store.reads().list_tasks_by_id(&[task]).await;
    found.expect("reads").remove(0)
}

/// A turn that waits for a worker, and is not stored.
pub(crate) fn new_turn(task: &Task, number: u32) -> Turn {
    Turn {
        id: TurnId::new(),
        workspace: task.workspace,
        task: task.id,
        number,
        state: TurnState::Queued,
        epoch: Epoch(0),
        lease: None,
        queued_at: START,
        not_before: None,
        started_at: None,
        ended_at: None,
        settled_steps: 0,
        moved_at: START,
        idle_claims: 0,
        has_progress: false,
    }
}

pub(crate) async fn insert_turn(store: &SharedStore, turn: &Turn) {
    let inserted = within!(store, turn.workspace, |tx, turn| tx
        .insert_turn(&turn)
        .await);
    inserted.expect("inserts the turn");
}

/// An open step of a turn, not stored.
pub(crate) fn new_step(turn: &Turn, number: u32) -> Step {
    Step {
        workspace: turn.workspace,
        task: turn.task,
        turn: turn.id,
        at: StepRef {
            turn: turn.number,
            step: number,
        },
        state: StepState::Open,
        epoch: turn.epoch,
        opened_at: START,
        decided_at: None,
        rationale: String::new(),
        seen: domain::turn::Seen::default(),
        context: None,
    }
}

/// A call of a step that waits to be begun, not stored.
pub(crate) fn new_call(step: &Step, index: u32) -> Call {
    Call {
        id: CallId {
            turn: step.turn,
            step: step.at.step,
            index,
        },
        workspace: step.workspace,
        task: step.task,
        tool: "create_work".into(),
        risk: Risk::Write,
        idempotent: true,
        arguments: json!({"title": "Opening", "kind": "STORYBOARD"}),
        state: CallState::Pending,
        attempts: 0,
        epoch: step.epoch,
        result: None,
        error: None,
        started_at: None,
        ended_at: None,
    }
}

/// A message of the place's caller, not stored.
pub(crate) fn new_message(place: Place, at: Timestamp) -> Message {
    Message {
        id: MessageId::new(),
        workspace: place.workspace,
        main_of: None,
        task: None,
        author: place.caller.actor(),
        text: "Make it red".into(),
        language: Some("en".into()),
        created_at: at,
        state: MessageState::Received,
        taken_by: None,
        replaced_by: None,
        reply_to: None,
        attachments: Vec::new(),
        by_program: false,
        routing: None,
    }
}

/// Writes to a task as a person does.
pub(crate) async fn post(
    store: &SharedStore,
    place: Place,
    task: TaskId,
    at: Timestamp,
) -> MessageId {
    let command = PostMessage {
        caller: place.caller,
        message: new_message(place, at),
        address: Address::Task(task),
        idempotency: None,
        spare: Spare::new(),
    };
    store.run(command).await.expect("posts a message")
}

pub(crate) async fn read_message(store: &SharedStore, message: MessageId) -> Message {
    let found = store.reads().list_messages_by_id(&[message]).await;
    found.expect("reads").remove(0)
}

/// What the place's caller does to a task.
pub(crate) fn action(place: Place, task: TaskId, at: Timestamp) -> TaskAction {
    TaskAction {
        caller: place.caller,
        workspace: place.workspace,
        task,
        reason: None,
        spare: Spare::new(),
        at,
    }
}

pub(crate) fn item(id: &str, state: ChecklistState) -> ChecklistItem {
    ChecklistItem {
        id: id.to_owned(),
        title: id.to_owned(),
        state,
        needs_confirmation: false,
        is_confirmed: false,
        depends_on: Vec::new(),
        outputs: Vec::new(),
        evidence: None,
        needs: Vec::new(),
        stale_since: None,
    }
}

pub(crate) fn planned(tool: &str) -> PlannedCall {
    PlannedCall {
        tool: tool.to_owned(),
        risk: Risk::Write,
        idempotent: true,
        arguments: json!({"title": "Opening"}),
        refusal: None,
    }
}

pub(crate) fn decision(checklist: Vec<ChecklistItem>, calls: Vec<PlannedCall>) -> Decision {
    Decision {
        rationale: "it is the next thing to do".into(),
        summary: "at the beginning".into(),
        short_line: "drawing".into(),
        checklist,
        calls,
        next: NextHint::Continue,
    }
}

/// A worker that has the turn of a task.
pub(crate) struct Worker<'store> {
    store: &'store SharedStore,
    pub(crate) fence: Fence,
}

/// The claim of whatever turn the task has now; the lease has ended as soon as it begins.
pub(crate) async fn claim_of(store: &SharedStore, task: TaskId) -> ClaimTurn {
    let task = read_task(store, task).await;
    let turn = task.active_turn.expect("the task has a turn");
    let turns = store.reads().list_turns_by_id(&[turn]).await;
    let epoch = turns.expect("reads")[0].epoch;
    ClaimTurn {
        fence: Fence {
            workspace: task.workspace,
            task: task.id,
            turn,
            epoch,
        },
        owner: WorkerId(Uuid::new_v4()),
        lease: Duration::ZERO,
        is_forced: false,
        limits: TaskLimits::default(),
        spare: Spare::new(),
        at: seconds(1),
    }
}

impl<'store> Worker<'store> {
    /// Claims the turn that the task has; what there is to do.
    pub(crate) async fn claim(store: &'store SharedStore, task: TaskId) -> (Self, After) {
        let claim = claim_of(store, task).await;
        let claimed = store.run(claim).await.expect("claims");
        let Claimed { fence, after } = claimed.expect("there is something to do");
        (Self { store, fence }, after)
    }

    pub(crate) async fn decide(&self, step: u32, decision: Decision) -> Result<After> {
        let context = ContextUsage {
            model: "scripted".into(),
            input_tokens: 100,
            cached_tokens: 60,
            output_tokens: 20,
            ..ContextUsage::default()
        };
        self.store
            .run(StoreDecision {
                fence: self.fence,
                step,
                decision,
                context,
                limits: TaskLimits::default(),
                spare: Spare::new(),
                at: seconds(2),
            })
            .await
    }

    pub(crate) async fn start(&self, step: u32, indices: &[u32]) -> Result<Vec<Call>> {
        self.store
            .run(StartCalls {
                fence: self.fence,
                step,
                indices: indices.to_vec(),
                prompts: Vec::new(),
                at: seconds(3),
            })
            .await
    }

    pub(crate) async fn finish(
        &self,
        step: u32,
        index: u32,
        outcome: CallOutcome,
    ) -> Result<Option<After>> {
        let finished = FinishedCall {
            index,
            outcome,
            large: None,
            effects: Vec::new(),
        };
        self.store
            .run(FinishCalls {
                fence: self.fence,
                step,
                finished: vec![finished],
                limits: TaskLimits::default(),
                spare: Spare::new(),
                at: seconds(4),
            })
            .await
    }
}

/// The step that was opened, with the texts of what it took.
pub(crate) fn opened(after: After) -> domain::turn::OpenedStep {
    match after {
        After::Opened(opened) => *opened,
        other => panic!("no step was opened: {other:?}"),
    }
}
