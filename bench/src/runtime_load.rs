//! The durable runtime by itself: tasks of ten steps with a model that answers at once, on the embedded database or on PostgreSQL.
//!
//! A step is a stored decision; the next one is opened in the same transaction. What is counted is what a person could ask back
//! later: every step is committed, and synced on the embedded database, before the next begins.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use async_trait::async_trait;
use clap::Args;
use domain::document::{DocumentOptions, DocumentService};
use domain::ids::{TaskId, TokenId, UserId, WorkspaceId};
use domain::people::{ApiToken, Bootstrap, Caller, TokenKind, User, Workspace};
use domain::store::StoreExt as _;
use domain::task::{Autonomy, Course, CreateTask, Task, TaskKind, TaskStatus, Usage};
use domain::time::{Clock as _, SystemClock};
use domain::turn::{Claimable, Epoch, Spare};
use runtime::engine::{Engine, EngineOptions, Progress};
use runtime::executors::Executors;
use runtime::model::{ModelClient, ModelError, ModelReply, ModelRequest, ModelUsage, Prices};
use runtime::tools::{ToolServices, Tools};
use serde_json::json;
use storage::StorageOptions;
use tokio_util::sync::CancellationToken;

use crate::process::own_processor_seconds;

/// Steps of one task.
const STEPS: u64 = 10;

/// What to measure.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The database; none is a new embedded one.
    #[arg(long)]
    database: Option<String>,
    /// The folder of the embedded database.
    #[arg(long)]
    data: PathBuf,
    /// Tasks that are under way at once.
    #[arg(long, default_value_t = 16)]
    clients: usize,
    /// How long it is measured, in seconds.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
}

/// A model that says at once what comes next.
struct Instantly;

#[async_trait]
impl ModelClient for Instantly {
    fn provider(&self) -> &'static str {
        "instant"
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        let situation = request.situation.as_ref();
        let step = situation.map_or(0, |situation| situation.task.usage.steps + 1);
        let state = if step >= STEPS { "done" } else { "in_progress" };
        Ok(ModelReply {
            arguments: json!({
                "rationale": "the next one", "summary": "under way", "short_line": "under way",
                "checklist": [{"id": "all", "title": "ten steps", "state": state}], "actions": [], "next": "continue",
            }),
            model: "instant".to_owned(),
            usage: ModelUsage::default(),
        })
    }
}

/// Measures, and prints one line.
pub(crate) async fn run(options: Options) -> Result<()> {
    let database = match &options.database {
        Some(url) => url.clone(),
        None => format!("sqlite://{}", options.data.join("runtime.sqlite").display()),
    };
    std::fs::create_dir_all(&options.data)?;
    let storage = storage::open(StorageOptions {
        database_url: database,
        connections: 16,
        blob_url: options.data.join("blobs").display().to_string(),
        blob_options: Vec::new(),
    })
    .await
    .context("the database can not be opened")?;
    let clock = Arc::new(SystemClock);
    let place = Place::make(&storage.store).await?;
    let engine = Arc::new(Engine::new(
        ToolServices {
            store: storage.store.clone(),
            documents: DocumentService::start(
                DocumentOptions::default(),
                storage.store.clone(),
                clock.clone(),
            ),
            clock,
            model: Arc::new(Instantly),
            executors: Arc::new(Executors::default()),
            prices: Prices::default(),
        },
        Arc::new(Tools::default()),
        EngineOptions::default(),
    ));
    let before = own_processor_seconds()?;
    let began = Instant::now();
    let until = began + Duration::from_secs(options.seconds);
    let clients: Vec<_> = (0..options.clients)
        .map(|_| tokio::spawn(client(engine.clone(), place, until)))
        .collect();
    let mut times = Vec::new();
    for client in clients {
        times.extend(client.await??);
    }
    let elapsed = began.elapsed().as_secs_f64();
    let cpu = own_processor_seconds()? - before;
    times.sort();
    let steps = times.len() as f64 * STEPS as f64;
    let at = |part: f64| {
        times
            .get((times.len() as f64 * part) as usize)
            .map_or(0.0, Duration::as_secs_f64)
    };
    println!(
        "{} clients: {:.0} steps/s, ten steps p50 {:.1} ms, p99 {:.1} ms, {:.3} CPU ms per step",
        options.clients,
        steps / elapsed,
        at(0.5) * 1e3,
        at(0.99) * 1e3,
        cpu * 1e3 / steps
    );
    storage.close().await;
    Ok(())
}

/// One task after the other, each to its end; how long each took.
async fn client(engine: Arc<Engine>, place: Place, until: Instant) -> Result<Vec<Duration>> {
    let mut times = Vec::new();
    let stop = CancellationToken::new();
    while Instant::now() < until {
        let began = Instant::now();
        let task = place.task();
        let (id, turn) = (task.id, Spare::new());
        let command = CreateTask {
            caller: place.caller,
            task,
            works: Vec::new(),
            idempotency: None,
            spare: turn,
        };
        engine.store().run(command).await?;
        let claimable = Claimable {
            workspace: place.workspace,
            task: id,
            turn: turn.turn,
            epoch: Epoch::default(),
        };
        let drive = engine.claim(claimable, false).await?;
        let mut drive = drive.ok_or_else(|| anyhow!("a new turn can be claimed"))?;
        while engine.advance(&mut drive, &stop).await? == Progress::Onward {}
        times.push(began.elapsed());
    }
    Ok(times)
}

/// A workspace with a person.
#[derive(Debug, Clone, Copy)]
struct Place {
    caller: Caller,
    workspace: WorkspaceId,
}

impl Place {
    async fn make(store: &domain::store::SharedStore) -> Result<Self> {
        let (user, workspace, token) = (UserId::new(), WorkspaceId::new(), TokenId::new());
        let created_at = SystemClock.now();
        let command = Bootstrap {
            user: User {
                id: user,
                name: "Bench".to_owned(),
                email: None,
                created_in: None,
                created_at,
            },
            workspace: Workspace {
                id: workspace,
                name: "Bench".to_owned(),
                created_at,
            },
            token: ApiToken {
                id: token,
                user,
                label: "bench".to_owned(),
                kind: TokenKind::Personal,
                secret_hash: [1; 32],
                created_at,
                last_used_at: None,
                expires_at: None,
            },
        };
        anyhow::ensure!(store.run(command).await?, "the database must be empty");
        let kind = TokenKind::Personal;
        Ok(Self {
            caller: Caller { user, token, kind },
            workspace,
        })
    }

    fn task(&self) -> Task {
        let now = SystemClock.now();
        Task {
            id: TaskId::new(),
            workspace: self.workspace,
            kind: TaskKind::Persistent,
            status: TaskStatus::Queued,
            status_reason: None,
            title: "ten steps".to_owned(),
            goal: "ten steps".to_owned(),
            brief: String::new(),
            language: "en".to_owned(),
            created_by: self.caller.user,
            origin: None,
            autonomy: Autonomy::RunUntilDone,
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
}
