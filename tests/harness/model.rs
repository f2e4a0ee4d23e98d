//! A language model that a test writes: an OpenAI-compatible server on loopback, whose decisions follow from turn and step.

use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Decides by the numbers of turn and step and the whole text of the request.
type Decide = Arc<dyn Fn(u32, u32, &str) -> Reply + Send + Sync>;

/// Answers the router's questions, and what executors are asked where that is not null, by the name of the function and the whole text of the request.
type Route = Arc<dyn Fn(&str, &str) -> Value + Send + Sync>;

/// Answers what an extractor is asked by the whole text of the request.
type Extract = Arc<dyn Fn(&str) -> Value + Send + Sync>;

/// What a planner says.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// A call with these arguments.
    Call(Value),
    /// A call whose arguments are this text, which may be no JSON at all.
    Written(String),
    /// Words, and no call.
    Prose(String),
}

impl From<Value> for Reply {
    fn from(arguments: Value) -> Self {
        Self::Call(arguments)
    }
}

impl Reply {
    /// It as the message of a provider that had to call this function.
    fn message(self, function: &str) -> Value {
        let arguments = match self {
            Self::Call(arguments) => arguments.to_string(),
            Self::Written(text) => text,
            Self::Prose(text) => return json!({"role": "assistant", "content": text}),
        };
        let call = json!({"id": "call_1", "type": "function", "function": {"name": function, "arguments": arguments}});
        json!({"role": "assistant", "content": null, "tool_calls": [call]})
    }
}

/// A planner behind a real socket.
pub(crate) struct Planner {
    address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

/// What a planner was asked.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// The function.
    pub(crate) function: String,
    /// Turn and step of a decision.
    pub(crate) step: (u32, u32),
    /// The title of the task that it was about.
    pub(crate) title: String,
    /// The first message.
    pub(crate) system: String,
    /// The whole text.
    pub(crate) text: String,
}

#[derive(Clone)]
struct Shared {
    decide: Decide,
    route: Route,
    extract: Extract,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Planner {
    /// Starts one.
    pub(crate) async fn start<F, R>(decide: F) -> Self
    where
        F: Fn(u32, u32, &str) -> R + Send + Sync + 'static,
        R: Into<Reply>,
    {
        Self::start_with_router(decide, |_, _| Value::Null).await
    }

    /// Starts one that routes as well.
    pub(crate) async fn start_with_router<F, R, G>(decide: F, route: G) -> Self
    where
        F: Fn(u32, u32, &str) -> R + Send + Sync + 'static,
        R: Into<Reply>,
        G: Fn(&str, &str) -> Value + Send + Sync + 'static,
    {
        Self::start_as(
            decide,
            Arc::new(route),
            Arc::new(|_| json!({"candidates": []})),
        )
        .await
    }

    /// Starts one that extracts memories as well.
    pub(crate) async fn start_with_extractor<F, R, E>(decide: F, extract: E) -> Self
    where
        F: Fn(u32, u32, &str) -> R + Send + Sync + 'static,
        R: Into<Reply>,
        E: Fn(&str) -> Value + Send + Sync + 'static,
    {
        Self::start_as(decide, Arc::new(|_, _| Value::Null), Arc::new(extract)).await
    }

    async fn start_as<F, R>(decide: F, route: Route, extract: Extract) -> Self
    where
        F: Fn(u32, u32, &str) -> R + Send + Sync + 'static,
        R: Into<Reply>,
    {
        let asked = Arc::default();
        let shared = Shared {
            decide: Arc::new(move |turn, step, text: &str| decide(turn, step, text).into()),
            route,
            extract,
            asked: Arc::clone(&asked),
        };
        let router = Router::new()
            .route("/v1/chat/completions", post(answer))
            .with_state(shared);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self {
            address: format!("http://{address}/v1"),
            asked,
        }
    }

    /// The settings with which a server uses it.
    pub(crate) fn settings(&self) -> [(&str, &str); 5] {
        [
            ("ATELIER_MODEL_PROVIDER", "openai"),
            ("ATELIER_MODEL_BASE_URL", &self.address),
            ("ATELIER_MODEL", "written"),
            ("ATELIER_LEASE", "1s"),
            ("ATELIER_WATCHDOG_INTERVAL", "200ms"),
        ]
    }

    /// What it was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("a lock").clone()
    }

    /// The same, and forgets it.
    pub(crate) fn take_asked(&self) -> Vec<Asked> {
        std::mem::take(&mut *self.asked.lock().expect("a lock"))
    }

    /// How often it was asked for the decision of a step.
    pub(crate) fn asked_for(&self, turn: u32, step: u32) -> usize {
        let asked = self.asked();
        let is_it = |asked: &&Asked| asked.function == "decide" && asked.step == (turn, step);
        asked.iter().filter(is_it).count()
    }
}

async fn answer(State(shared): State<Shared>, Json(request): Json<Value>) -> Json<Value> {
    let function = request["tool_choice"]["function"]["name"].as_str();
    let function = function.unwrap_or_default().to_owned();
    let messages = request["messages"].as_array().cloned().unwrap_or_default();
    let texts: Vec<_> = messages
        .iter()
        .filter_map(|message| message["content"].as_str())
        .collect();
    let text = texts.join("\n");
    let step = numbers(&text);
    shared.asked.lock().expect("a lock").push(Asked {
        function: function.clone(),
        step,
        title: title_of(&text).to_owned(),
        system: texts
            .first()
            .map(|&text| text.to_owned())
            .unwrap_or_default(),
        text: text.clone(),
    });
    let reply = match function.as_str() {
        "decide" => (shared.decide)(step.0, step.1, &text),
        "answer" => match (shared.route)(&function, &text) {
            Value::Null => json!({"text": "Here it is."}).into(),
            answer => answer.into(),
        },
        "route" | "confirm_new_task" => (shared.route)(&function, &text).into(),
        "extract_memories" => (shared.extract)(&text).into(),
        _ => json!({"summary": "What came before, in short."}).into(),
    };
    Json(json!({
        "model": "written",
        "choices": [{"finish_reason": "tool_calls", "message": reply.message(&function)}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    }))
}

/// The title of the task that a request is about; empty where it is about none.
pub(crate) fn title_of(text: &str) -> &str {
    let found = text.rsplit_once("\ntitle: ");
    found
        .and_then(|(_, rest)| rest.lines().next())
        .unwrap_or_default()
}

/// The last "Turn 1, step 2." of a request.
fn numbers(text: &str) -> (u32, u32) {
    let found = text.rsplit_once("Turn ").and_then(|(_, rest)| {
        let (turn, rest) = rest.split_once(", step ")?;
        let (step, _) = rest.split_once('.')?;
        Some((turn.parse().ok()?, step.parse().ok()?))
    });
    found.unwrap_or_default()
}

/// A decision with a plan of one item, and these actions.
pub(crate) fn decision(is_done: bool, actions: &Value) -> Value {
    let state = if is_done { "done" } else { "in_progress" };
    json!({
        "rationale": "it comes next", "summary": "where it is", "short_line": "under way",
        "checklist": [{"id": "all", "title": "everything", "state": state}],
        "actions": actions, "next": "continue",
    })
}
