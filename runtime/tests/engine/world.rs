//! A workspace with a person, an engine whose model answers by a script, and two tools whose effects are counted.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use domain::actor::Actor;
use domain::document::{DocumentOptions, DocumentService, Version};
use domain::ids::{MessageId, TaskId, TokenId, TurnId, UserId, WorkId, WorkspaceId};
use domain::message::{Address, Message, MessageState, PostMessage};
use domain::people::{ApiToken, Bootstrap, Caller, TokenKind, User, Workspace};
use domain::store::{Command, SharedStore, StoreExt as _};
use domain::task::{Autonomy, Course, CreateTask, Task, TaskAction, TaskKind, TaskStatus, Usage};
use domain::time::{Clock, TestClock, Timestamp};
use domain::turn::{Call, CallId, Claimable, Risk, Spare, Turn};
use domain::work::{CreateWork, Work, WorkKind};
use domain::{Error, Result};
use runtime::engine::{Drive, Engine, EngineOptions, Progress};
use runtime::executors::Executors;
use runtime::model::{Function, ModelRequest, Scripted};
use runtime::tools::{Invocation, Ran, Tool, ToolServices, ToolSpec, Tools};
use serde_json::{Value, json};
use storage::Storage;
use storage::test_support::TestDatabase;
use tokio_util::sync::CancellationToken;

use storage::faults::FaultyStore;

use crate::switched::Switched;

/// The time at which everything begins.
pub(crate) const START: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

/// What the tools have done: how often for each call.
pub(crate) type Effects = Arc<Mutex<BTreeMap<CallId, u32>>>;

/// Everything that a test needs.
pub(crate) struct World {
    pub(crate) store: Arc<FaultyStore>,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) model: Arc<Scripted>,
    pub(crate) search: Arc<Switched>,
    pub(crate) effects: Effects,
    pub(crate) caller: Caller,
    pub(crate) workspace: WorkspaceId,
    services: ToolServices,
    tools: Arc<Tools>,
    storage: Storage,
    database: TestDatabase,
}

/// What is left of a world whose processes have ended.
pub(crate) struct Place {
    pub(crate) database: TestDatabase,
    pub(crate) caller: Caller,
    pub(crate) workspace: WorkspaceId,
    /// The time there.
    pub(crate) now: Timestamp,
}

impl Place {
    /// The same place once more.
    pub(crate) fn copy(&self) -> Self {
        Self {
            database: self.database.copy_in_memory(),
            ..*self
        }
    }
}

impl World {
    /// A world on a new embedded database, whose model answers what the function makes of each request.
    pub(crate) async fn with_model<F>(answer: F) -> Self
    where
        F: Fn(ModelRequest) -> Value + Send + Sync + 'static,
    {
        let answer = Arc::new(answer);
        Self::with(Scripted::answering(move |request| {
            let answer = answer.clone();
            async move { Ok(Scripted::reply(answer(request))) }
        }))
        .await
    }

    /// A world whose model is this one.
    pub(crate) async fn with(model: Arc<Scripted>) -> Self {
        let database = TestDatabase::sqlite_in_memory();
        let storage = database.open().await;
        let (caller, workspace) = bootstrap(&storage.store).await;
        let place = Place {
            database,
            caller,
            workspace,
            now: START,
        };
        Self::on(place, storage, model)
    }

    /// The world of a place that was left, as new processes find it.
    pub(crate) async fn back_at(place: Place, model: Arc<Scripted>) -> Self {
        let storage = place.database.open().await;
        Self::on(place, storage, model)
    }

    fn on(place: Place, storage: Storage, model: Arc<Scripted>) -> Self {
        let store = FaultyStore::new(storage.store.clone());
        let shared: SharedStore = store.clone();
        let clock = TestClock::new(place.now);
        let documents =
            DocumentService::start(DocumentOptions::default(), shared.clone(), clock.clone());
        let effects = Effects::default();
        let search = Arc::new(Switched::default());
        let press = |name, risk, idempotent| -> Arc<dyn Tool> {
            Arc::new(Press::new(name, (risk, idempotent), effects.clone()))
        };
        let tools = vec![
            press("look", Risk::Read, true),
            press("note", Risk::Write, true),
            press("press", Risk::Write, false),
        ];
        Self {
            tools: Arc::new(Tools::new(tools)),
            services: ToolServices {
                store: shared,
                documents,
                search: search.clone(),
                clock: clock.clone(),
                model: model.clone(),
                executors: Arc::new(Executors::default()),
                prices: runtime::model::Prices::default(),
                media: runtime::tools::MediaChoice::default(),
            },
            store,
            clock,
            model,
            search,
            effects,
            caller: place.caller,
            workspace: place.workspace,
            storage,
            database: place.database,
        }
    }

    /// An engine of a new process.
    pub(crate) fn engine(&self) -> Engine {
        Engine::new(
            self.services.clone(),
            self.tools.clone(),
            EngineOptions::default(),
        )
    }

    /// Makes a task.
    pub(crate) async fn task(&self, goal: &str) -> TaskId {
        let task = self.new_task(goal);
        let command = CreateTask {
            caller: self.caller,
            task,
            works: Vec::new(),
            idempotency: None,
            spare: Spare::new(),
        };
        self.run(command).await.expect("makes a task")
    }

    pub(crate) fn new_task(&self, goal: &str) -> Task {
        let now = self.clock.now();
        Task {
            id: TaskId::new(),
            workspace: self.workspace,
            kind: TaskKind::Persistent,
            status: TaskStatus::Queued,
            status_reason: None,
            title: goal.to_owned(),
            goal: goal.to_owned(),
            brief: String::new(),
            language: "en".to_owned(),
            created_by: self.caller.user,
            origin: None,
            main_of: None,
            autonomy: Autonomy::AskAtCheckpoints,
            budget_micros: None,
            created_at: now,
            updated_at: now,
            journal_head: 0,
            news_head: 0,
            active_turn: None,
            course: Course::default(),
            usage: Usage::default(),
        }
    }

    /// Makes an empty text.
    pub(crate) async fn work(&self, title: &str) -> WorkId {
        let now = self.clock.now();
        let work = Work {
            id: WorkId::new(),
            workspace: self.workspace,
            kind: WorkKind::Text,
            title: title.to_owned(),
            version: Version(0),
            created_at: now,
            updated_at: now,
            updated_by: self.caller.actor(),
            deleted_at: None,
            asset: None,
        };
        let command = CreateWork {
            user: self.caller.user,
            fence: None,
            work,
            content: None,
            idempotency: None,
        };
        self.run(command).await.expect("makes a work")
    }

    /// Writes to a task.
    pub(crate) async fn write(&self, task: TaskId, text: &str) -> MessageId {
        self.post(text, Address::Task(task)).await
    }

    /// Writes in the main thread.
    pub(crate) async fn say(&self, text: &str) -> MessageId {
        self.post(text, Address::Main).await
    }

    async fn post(&self, text: &str, address: Address) -> MessageId {
        let message = Message {
            id: MessageId::new(),
            workspace: self.workspace,
            main_of: None,
            task: None,
            author: Actor::Person(self.caller.user),
            text: text.to_owned(),
            language: None,
            created_at: self.clock.now(),
            state: MessageState::Received,
            taken_by: None,
            replaced_by: None,
            reply_to: None,
            attachments: Vec::new(),
            by_program: false,
            routing: None,
        };
        let command = PostMessage {
            caller: self.caller,
            message,
            address,
            idempotency: None,
            spare: Spare::new(),
        };
        self.run(command).await.expect("posts")
    }

    /// Who does what to a task.
    pub(crate) fn action(&self, task: TaskId) -> TaskAction {
        TaskAction {
            caller: self.caller,
            workspace: self.workspace,
            task,
            reason: None,
            spare: Spare::new(),
            at: self.clock.now(),
        }
    }

    /// Runs a command.
    pub(crate) async fn run<C: Command>(&self, command: C) -> Result<C::Output> {
        let store: &dyn domain::store::Store = &*self.store;
        store.run(command).await
    }

    /// The task as it is stored.
    pub(crate) async fn stored(&self, task: TaskId) -> Task {
        let found = self.store_reads().list_tasks_by_id(&[task]).await;
        found.expect("reads").pop().expect("a task")
    }

    pub(crate) async fn message(&self, id: MessageId) -> Message {
        let found = self.store_reads().list_messages_by_id(&[id]).await;
        found.expect("reads").pop().expect("a message")
    }

    pub(crate) async fn turn(&self, id: TurnId) -> Turn {
        let found = self.store_reads().list_turns_by_id(&[id]).await;
        found.expect("reads").pop().expect("a turn")
    }

    /// All calls of a turn.
    pub(crate) async fn calls(&self, turn: TurnId) -> Vec<Call> {
        self.store_reads().list_calls(&[turn]).await.expect("reads")
    }

    pub(crate) fn store_reads(&self) -> &dyn domain::store::Reads {
        domain::store::Store::reads(&*self.store)
    }

    /// The turn of a task that is due now.
    pub(crate) async fn due(&self, task: TaskId) -> Option<Claimable> {
        let due = self
            .store_reads()
            .list_claimable(self.clock.now(), 1_000)
            .await
            .expect("reads");
        due.into_iter().find(|turn| turn.task == task)
    }

    /// Claims the turn of a task that is due.
    pub(crate) async fn claim(&self, engine: &Engine, task: TaskId) -> Drive {
        let due = self.due(task).await.expect("a turn is due");
        let claimed = engine.claim(due, false).await.expect("claims");
        claimed.expect("nobody was first")
    }

    /// Lets one worker do everything that is due for a task.
    pub(crate) async fn settle(&self, engine: &Engine, task: TaskId) {
        while let Some(due) = self.due(task).await {
            if let Some(mut drive) = engine.claim(due, false).await.expect("claims") {
                finish(engine, &mut drive).await.expect("moves on");
            }
        }
    }

    /// Lets every lease end.
    pub(crate) fn outlive_leases(&self) {
        self.clock.advance(Duration::from_secs(31));
    }

    /// How often the tools acted.
    pub(crate) fn effects(&self) -> BTreeMap<CallId, u32> {
        self.effects.lock().expect("a lock").clone()
    }

    /// How often the model was asked for a decision.
    pub(crate) fn decisions_asked(&self) -> usize {
        self.model
            .requests()
            .iter()
            .filter(|request| request.function == Function::Decide)
            .count()
    }

    /// How often the tools acted for one turn.
    pub(crate) fn effects_of(&self, turn: TurnId) -> Vec<(CallId, u32)> {
        let first = CallId {
            turn,
            step: 0,
            index: 0,
        };
        let effects = self.effects.lock().expect("a lock");
        let of_turn = effects
            .range(first..)
            .take_while(|(call, _)| call.turn == turn);
        of_turn.map(|(call, count)| (*call, *count)).collect()
    }

    /// Ends its processes, and keeps what is stored.
    pub(crate) async fn leave(self) -> Place {
        self.services.documents.stop().await;
        self.storage.close().await;
        Place {
            now: self.clock.now(),
            database: self.database,
            caller: self.caller,
            workspace: self.workspace,
        }
    }

    /// Ends it.
    pub(crate) async fn close(self) {
        self.leave().await.database.remove().await;
    }
}

/// Moves a turn on until it is over.
pub(crate) async fn finish(engine: &Engine, drive: &mut Drive) -> Result<()> {
    let stop = CancellationToken::new();
    while engine.advance(drive, &stop).await? == Progress::Onward {}
    Ok(())
}

/// Moves a turn on by one.
pub(crate) async fn advance(engine: &Engine, drive: &mut Drive) -> Result<Progress> {
    engine.advance(drive, &CancellationToken::new()).await
}

/// A decision with an open plan or a closed one, and these actions.
pub(crate) fn decision(is_done: bool, actions: &Value) -> Value {
    let state = if is_done { "done" } else { "in_progress" };
    json!({
        "rationale": "because it comes next",
        "summary": "where it is",
        "short_line": "under way",
        "checklist": [{"id": "all", "title": "everything", "state": state}],
        "actions": actions,
        "next": if is_done { "finish" } else { "continue" },
    })
}

/// An action of one of the counted tools.
pub(crate) fn action(tool: &str, argument: &str) -> Value {
    json!({"tool": tool, "arguments": {"what": argument}})
}

/// The numbers of turn and step that a request is for.
pub(crate) fn step_of(request: &ModelRequest) -> (u32, u32) {
    let situation = request.situation.as_ref().expect("a planner's request");
    let at = situation.step.at;
    (at.turn, at.step)
}

async fn bootstrap(store: &SharedStore) -> (Caller, WorkspaceId) {
    let (user, workspace, token) = (UserId::new(), WorkspaceId::new(), TokenId::new());
    let command = Bootstrap {
        user: User {
            id: user,
            name: "Ada".into(),
            email: Some("ada@example.org".into()),
            created_in: None,
            created_at: START,
        },
        workspace: Workspace {
            id: workspace,
            name: "Studio".into(),
            created_at: START,
        },
        token: ApiToken {
            id: token,
            user,
            label: "first".into(),
            kind: TokenKind::Personal,
            secret_hash: [7; 32],
            created_at: START,
            last_used_at: None,
            expires_at: None,
        },
    };
    assert!(store.run(command).await.expect("bootstraps"));
    let kind = TokenKind::Personal;
    (Caller::new(user, token, kind), workspace)
}

/// A tool whose effects are counted by call. The idempotent one has its effect once for each call id, as a good receiver would.
struct Press {
    spec: ToolSpec,
    effects: Effects,
}

impl Press {
    fn new(name: &'static str, (risk, idempotent): (Risk, bool), effects: Effects) -> Self {
        let parameters = json!({
            "type": "object", "required": ["what"], "properties": {"what": {"type": "string"}},
        });
        let spec = ToolSpec {
            name,
            domain: "core",
            risk,
            idempotent,
            description: "presses a button",
            parameters,
        };
        Self { spec, effects }
    }
}

#[async_trait]
impl Tool for Press {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, invocation: &Invocation<'_>) -> Result<Ran> {
        let what = invocation.call.arguments["what"]
            .as_str()
            .unwrap_or_default();
        if what == "fail" {
            return Err(Error::Invalid("this button does not move".to_owned()));
        }
        let mut effects = self.effects.lock().expect("a lock");
        let count = effects.entry(invocation.call.id).or_default();
        if !self.spec.idempotent || *count == 0 {
            *count += 1;
        }
        let result = match what {
            "large" => json!({"pressed": "x".repeat(100_000)}),
            "huge" => json!({"pressed": "x".repeat(50 << 20)}),
            _ => json!({"pressed": what}),
        };
        Ok(Ran::done(result))
    }
}
