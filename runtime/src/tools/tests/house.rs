//! An owner, a workspace and a task whose turn a worker has: what tools are run in.

use std::sync::Arc;

use domain::document::{DocumentOptions, DocumentService};
use domain::error::{Error, Result};
use domain::ids::{TaskId, TokenId, TurnId, UserId, WorkspaceId};
use domain::people::{ApiToken, Bootstrap, Caller, TokenKind, User, Workspace};
use domain::store::{Reads, StoreExt as _};
use domain::task::{
    Autonomy, ChecklistItem, ChecklistState, Course, CreateTask, Task, TaskKind, TaskLimits,
    TaskStatus, Usage,
};
use domain::time::{SystemClock, Timestamp};
use domain::turn::{
    After, Call, CallOutcome, CallState, ClaimTurn, ContextUsage, Decision, Epoch, Fence,
    FinishCalls, FinishedCall, LARGE_RESULT_BYTES, LargeResult, NextHint, PlannedCall, Spare,
    StartCalls, Step, StoreDecision, WorkerId, digest,
};
use serde_json::Value;
use storage::Storage;
use storage::test_support::TestDatabase;

use crate::executors::Executors;
use crate::model::{Prices, Scripted};
use crate::tools::{Invocation, Ran, ToolServices, Tools, prompt_of};

/// Runs a test in a house of its own on `SQLite`.
pub(super) async fn on_sqlite<F>(test: fn(House) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    run(test, TestDatabase::sqlite()).await;
}

/// Runs a test in a house of its own on `PostgreSQL`.
pub(super) async fn on_postgres<F>(test: fn(House) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    match TestDatabase::postgres().await {
        Some(database) => run(test, database).await,
        None => eprintln!("skipped: ATELIER_TEST_POSTGRES_URL is not set"),
    }
}

async fn run<F>(test: fn(House) -> F, database: TestDatabase)
where
    F: Future<Output = ()> + Send + 'static,
{
    let storage = database.open().await;
    let house = House::new(storage).await;
    let (documents, storage) = (house.services.documents.clone(), house.storage.clone());
    // In a task of its own, so that a large future does not lie on the stack of the test.
    if let Err(error) = tokio::spawn(test(house)).await {
        std::panic::resume_unwind(error.into_panic());
    }
    documents.stop().await;
    storage.close().await;
    drop(storage);
    database.remove().await;
}

/// Who and what there is.
pub(super) struct House {
    pub(super) services: ToolServices,
    pub(super) tools: Tools,
    pub(super) model: Arc<Scripted>,
    pub(super) owner: Caller,
    pub(super) workspace: WorkspaceId,
    pub(super) task: TaskId,
    pub(super) fence: Fence,
    after: After,
    storage: Arc<Storage>,
}

impl House {
    async fn new(storage: Storage) -> Self {
        let clock = Arc::new(SystemClock);
        let store = storage.store.clone();
        let documents =
            DocumentService::start(DocumentOptions::default(), store.clone(), clock.clone());
        let model = Scripted::queue([]);
        let (owner, workspace) = (caller(UserId::new()), WorkspaceId::new());
        let mut house = Self {
            services: ToolServices {
                store,
                documents,
                search: Arc::new(domain::search::NoSearch),
                clock,
                model: model.clone(),
                executors: Arc::new(Executors::default()),
                prices: Prices {
                    input: 1_000_000,
                    ..Prices::default()
                },
                media: crate::tools::MediaChoice::default(),
            },
            tools: Tools::default(),
            model,
            owner,
            workspace,
            task: TaskId::new(),
            fence: Fence {
                workspace,
                task: TaskId::new(),
                turn: TurnId::new(),
                epoch: Epoch(0),
            },
            after: After::Ended,
            storage: Arc::new(storage),
        };
        house.bootstrap().await;
        house.begin_task("en").await;
        house
    }

    pub(super) fn now(&self) -> Timestamp {
        self.services.clock.now()
    }

    pub(super) fn reads(&self) -> &dyn Reads {
        self.services.store.reads()
    }

    async fn bootstrap(&self) {
        let at = self.now();
        let command = Bootstrap {
            user: User {
                id: self.owner.user,
                name: "Owner".to_owned(),
                email: None,
                created_in: None,
                created_at: at,
            },
            workspace: Workspace {
                id: self.workspace,
                name: "house".to_owned(),
                created_at: at,
            },
            token: ApiToken {
                id: self.owner.token,
                user: self.owner.user,
                label: "first".to_owned(),
                kind: TokenKind::Personal,
                secret_hash: [7; 32],
                created_at: at,
                last_used_at: None,
                expires_at: None,
            },
        };
        let made = self.services.store.run(command).await;
        assert!(made.expect("the house is made"));
    }

    /// A new task of the owner; a worker has its first turn.
    pub(super) async fn begin_task(&mut self, language: &str) {
        let task = self.new_task(self.owner, self.workspace, language).await;
        self.task = task;
        self.claim(true).await;
    }

    /// A task that no worker has.
    pub(super) async fn new_task(
        &self,
        caller: Caller,
        workspace: WorkspaceId,
        language: &str,
    ) -> TaskId {
        let at = self.now();
        let command = CreateTask {
            caller,
            task: Task {
                id: TaskId::new(),
                workspace,
                kind: TaskKind::Persistent,
                status: TaskStatus::Queued,
                status_reason: None,
                title: "The keeper".to_owned(),
                goal: "A short film about a keeper".to_owned(),
                brief: String::new(),
                language: language.to_owned(),
                created_by: caller.user,
                origin: None,
                main_of: None,
                autonomy: Autonomy::AskAtCheckpoints,
                budget_micros: None,
                created_at: at,
                updated_at: at,
                journal_head: 0,
                news_head: 0,
                active_turn: None,
                course: Course::default(),
                usage: Usage::default(),
            },
            works: Vec::new(),
            idempotency: None,
            spare: Spare::new(),
        };
        self.services.store.run(command).await.expect("a task")
    }

    /// Takes the task's turn, also from a worker that has it.
    pub(super) async fn claim(&mut self, is_forced: bool) {
        let task = self.task().await;
        let turn = task.active_turn.expect("the task has a turn");
        let turns = self.reads().list_turns_by_id(&[turn]).await.expect("turns");
        let command = ClaimTurn {
            fence: Fence {
                workspace: task.workspace,
                task: task.id,
                turn,
                epoch: turns[0].epoch,
            },
            owner: WorkerId(uuid::Uuid::new_v4()),
            lease: std::time::Duration::from_mins(5),
            is_forced,
            limits: TaskLimits::default(),
            spare: Spare::new(),
            at: self.now(),
        };
        let claimed = self.services.store.run(command).await.expect("claims");
        let claimed = claimed.expect("there is something to do");
        self.fence = claimed.fence;
        self.after = claimed.after;
    }

    pub(super) async fn task(&self) -> Task {
        let found = self.reads().list_tasks_by_id(&[self.task]).await;
        found.expect("tasks").pop().expect("the task")
    }

    /// One step that decides one call; the call as it is stored when it is over.
    pub(super) async fn act(&mut self, tool: &str, arguments: Value) -> Call {
        let mut calls = self.act_all(&[(tool, arguments)]).await;
        calls.pop().expect("one call")
    }

    /// The same, for a call that must be done; its result.
    pub(super) async fn done(&mut self, tool: &str, arguments: Value) -> Value {
        let call = self.act(tool, arguments).await;
        assert_eq!(call.state, CallState::Done, "{:?}", call.error);
        call.result.expect("a result")
    }

    /// The same, for a call that must fail; its error and result.
    pub(super) async fn failed(&mut self, tool: &str, arguments: Value) -> (String, Value) {
        let call = self.act(tool, arguments).await;
        assert_eq!(call.state, CallState::Failed, "{:?}", call.result);
        let result = call.result.unwrap_or(Value::Null);
        (call.error.expect("an error"), result)
    }

    /// The same, for a call that must be refused before it begins; why.
    pub(super) async fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let call = self.act(tool, arguments).await;
        assert_eq!(call.state, CallState::Refused, "{:?}", call.result);
        call.error.expect("a reason")
    }

    /// One step that decides these calls; they run one after the other.
    pub(super) async fn act_all(&mut self, actions: &[(&str, Value)]) -> Vec<Call> {
        let (step, calls) = self.decide(actions).await;
        for call in calls.iter().filter(|call| !call.state.is_over()) {
            let started = self.start(&step, call).await;
            let ran = self.run(&step, &started).await;
            self.finish(&step, &started, ran).await;
        }
        let stored = self.reads().list_step_calls(step.turn, step.at.step);
        stored.await.expect("calls")
    }

    /// Stores a decision with these calls.
    pub(super) async fn decide(&mut self, actions: &[(&str, Value)]) -> (Step, Vec<Call>) {
        if self.after == After::Ended {
            self.claim(false).await;
        }
        let After::Opened(opened) = self.after.clone() else {
            panic!("no step is open: {:?}", self.after);
        };
        let task = self.task().await;
        let plan = |(tool, arguments): &(&str, Value)| self.tools.plan(&task, tool, arguments);
        let command = StoreDecision {
            fence: self.fence,
            step: opened.step.at.step,
            decision: decision(actions.iter().map(plan).collect()),
            context: ContextUsage::default(),
            limits: TaskLimits::default(),
            spare: Spare::new(),
            at: self.now(),
        };
        self.after = self.services.store.run(command).await.expect("is stored");
        let (turn, number) = (opened.step.turn, opened.step.at.step);
        let calls = self.reads().list_step_calls(turn, number).await;
        (opened.step, calls.expect("calls"))
    }

    /// Marks a call as begun, with the prompt that it is about to send.
    pub(super) async fn start(&self, step: &Step, call: &Call) -> Call {
        let task = self.task().await;
        let prompt = prompt_of(&self.services, &task, call).await;
        let command = StartCalls {
            fence: self.fence,
            step: step.at.step,
            indices: vec![call.id.index],
            prompts: prompt.expect("reads").into_iter().collect(),
            at: self.now(),
        };
        let started = self.services.store.run(command).await.expect("begins");
        started.into_iter().next().expect("one call")
    }

    /// Runs a call that was begun.
    pub(super) async fn run(&self, step: &Step, call: &Call) -> Result<Ran> {
        self.run_at(step, call, self.now()).await
    }

    /// The same at another time.
    pub(super) async fn run_at(&self, step: &Step, call: &Call, at: Timestamp) -> Result<Ran> {
        let task = self.task().await;
        let invocation = Invocation {
            services: &self.services,
            task: &task,
            fence: self.fence,
            step: step.at,
            call,
            at,
        };
        let tool = self.tools.get(&call.tool).expect("the tool");
        tool.run(&invocation).await
    }

    /// Stores what came of a call, as the engine does.
    pub(super) async fn finish(&mut self, step: &Step, call: &Call, ran: Result<Ran>) {
        let ran = match ran {
            Err(error @ (Error::Fenced { .. } | Error::Internal(_) | Error::Unavailable(_))) => {
                panic!("{} failed: {error:?}", call.tool)
            }
            Err(error) => Ran::failed(error.to_string(), None),
            Ok(ran) => ran,
        };
        let mut large = None;
        let outcome = match ran.outcome {
            CallOutcome::Done(result) if result.to_string().len() > LARGE_RESULT_BYTES => {
                let body = result.to_string();
                let digest = digest(call.id, &body);
                large = Some(LargeResult { body });
                CallOutcome::Done(digest)
            }
            outcome => outcome,
        };
        let command = FinishCalls {
            fence: self.fence,
            step: step.at.step,
            finished: vec![FinishedCall {
                index: call.id.index,
                outcome,
                large,
                effects: ran.effects,
            }],
            limits: TaskLimits::default(),
            spare: Spare::new(),
            at: self.now(),
        };
        let after = self.services.store.run(command).await.expect("is stored");
        self.after = after.expect("the turn was not stopped");
    }
}

fn decision(calls: Vec<PlannedCall>) -> Decision {
    Decision {
        rationale: "a test".to_owned(),
        summary: "Under way.".to_owned(),
        short_line: "Under way".to_owned(),
        // Something is left to do, so that the task goes on.
        checklist: vec![ChecklistItem {
            id: "film".to_owned(),
            title: "The film".to_owned(),
            state: ChecklistState::InProgress,
            needs_confirmation: false,
            is_confirmed: false,
            depends_on: Vec::new(),
            outputs: Vec::new(),
            evidence: None,
            needs: Vec::new(),
            stale_since: None,
        }],
        calls,
        next: NextHint::Continue,
    }
}

pub(super) fn caller(user: UserId) -> Caller {
    Caller::new(user, TokenId::new(), TokenKind::Personal)
}
