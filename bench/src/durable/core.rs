//! The engine by itself: tasks of ten steps with a model that answers at once, on the embedded database or on PostgreSQL.
//!
//! A step is a stored decision; the next one is opened in the same transaction. What is counted is what a person could ask back
//! later: every step is committed, and synced on the embedded database, before the next begins.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
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
use runtime::model::{ModelClient, ModelProvider, ModelSettings, Prices, client as model_client};
use runtime::tools::{ToolServices, Tools};
use storage::{Storage, StorageOptions};
use tokio_util::sync::CancellationToken;

use super::outcome::{BEGINS, Outcome};
use crate::process::{own_peak_kib, own_processor_seconds};

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

/// Measures, and prints one line.
pub(crate) async fn run(options: Options) -> Result<()> {
    let storage = open(options.database.as_deref(), &options.data).await?;
    let place = Place::make(&storage.store).await?;
    let model = model_client(&ModelSettings::new(ModelProvider::Instant))?;
    let tools = Arc::new(Tools::default());
    let engine = Arc::new(engine(&storage, model, tools, EngineOptions::default()));
    // What is prepared at its first use is no part of the load.
    load(&engine, place, options.clients, Duration::from_secs(1)).await?;
    println!("{BEGINS}");
    let before = own_processor_seconds()?;
    let began = Instant::now();
    let seconds = Duration::from_secs(options.seconds);
    let times = load(&engine, place, options.clients, seconds).await?;
    let outcome = Outcome {
        elapsed_s: began.elapsed().as_secs_f64(),
        processor_s: own_processor_seconds()? - before,
        memory_kib: own_peak_kib()?,
        times_us: times.iter().map(|time| time.as_micros() as u64).collect(),
    };
    println!("{}", outcome.line());
    storage.close().await;
    Ok(())
}

/// Opens the database, or a new embedded one.
pub(super) async fn open(database: Option<&str>, data: &Path) -> Result<Storage> {
    std::fs::create_dir_all(data)?;
    let embedded = || format!("sqlite://{}", data.join("runtime.sqlite").display());
    let opened = storage::open(StorageOptions {
        database_url: database.map_or_else(embedded, str::to_owned),
        connections: 16,
        blob_url: data.join("blobs").display().to_string(),
        blob_options: Vec::new(),
    });
    opened.await.context("the database can not be opened")
}

/// An engine over a store.
pub(super) fn engine(
    storage: &Storage,
    model: Arc<dyn ModelClient>,
    tools: Arc<Tools>,
    options: EngineOptions,
) -> Engine {
    let clock = Arc::new(SystemClock);
    let documents = DocumentService::start(
        DocumentOptions::default(),
        storage.store.clone(),
        clock.clone(),
    );
    let services = ToolServices {
        store: storage.store.clone(),
        documents,
        search: Arc::new(domain::search::NoSearch),
        clock,
        model,
        executors: Arc::new(Executors::default()),
        prices: Prices::default(),
        media: runtime::tools::MediaChoice::default(),
    };
    Engine::new(services, tools, options)
}

/// Makes a task.
pub(super) async fn create(engine: &Engine, place: Place, task: Task, spare: Spare) -> Result<()> {
    let command = CreateTask {
        caller: place.caller,
        task,
        works: Vec::new(),
        idempotency: None,
        spare,
    };
    engine.store().run(command).await?;
    Ok(())
}

async fn load(
    engine: &Arc<Engine>,
    place: Place,
    clients: usize,
    time: Duration,
) -> Result<Vec<Duration>> {
    let until = Instant::now() + time;
    let clients: Vec<_> = (0..clients)
        .map(|_| tokio::spawn(client(engine.clone(), place, until)))
        .collect();
    let mut times = Vec::new();
    for client in clients {
        times.extend(client.await??);
    }
    Ok(times)
}

/// One task after the other, each to its end; how long each took.
async fn client(engine: Arc<Engine>, place: Place, until: Instant) -> Result<Vec<Duration>> {
    let mut times = Vec::new();
    let stop = CancellationToken::new();
    while Instant::now() < until {
        let began = Instant::now();
        let task = place.task();
        let (id, turn) = (task.id, Spare::new());
        create(&engine, place, task, turn).await?;
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
pub(super) struct Place {
    caller: Caller,
    workspace: WorkspaceId,
}

impl Place {
    pub(super) async fn make(store: &domain::store::SharedStore) -> Result<Self> {
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
            caller: Caller::new(user, token, kind),
            workspace,
        })
    }

    pub(super) fn task(&self) -> Task {
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
            main_of: None,
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
