//! The search by itself: many tasks in workspaces of very different sizes, in three languages, and questions about them.
//!
//! Invariants
//! - The same seed makes the same tasks and questions, for Atelier and for what it is measured beside.
//! - Tasks are rows of the store as any others; vectors are made up, because a million real ones take most of an hour. A question
//!   goes through the real embedder where its weights are given, and so costs what it costs.
//! - What is measured is a whole answer: both legs, and reading the rows that are shown.

mod made_up;
mod seed;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use async_trait::async_trait;
use clap::Args;
use domain::document::{DocumentOptions, DocumentService};
use domain::ids::{TaskId, UserId, WorkspaceId};
use domain::search::{SearchIndex as _, SearchKind, SearchLeg, SearchRequest};
use domain::store::SharedStore;
use domain::time::SystemClock;
use search::{BuiltinEmbedder, Embedder, EmbedderChoice, Search, SearchOptions};
use storage::StorageOptions;

use crate::process::own_processor_seconds;
use made_up::{Made, Text};

/// The model of the made-up vectors.
pub(super) const MODEL: &str = "made-up";

/// What to measure.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// A folder for the data; it is used again where it was made with the same numbers.
    #[arg(long)]
    data: PathBuf,
    /// How many tasks.
    #[arg(long, default_value_t = 1_000_000)]
    tasks: u64,
    /// In how many workspaces; the largest has about an eighth of them.
    #[arg(long, default_value_t = 2_000)]
    workspaces: u64,
    /// How many questions of each kind.
    #[arg(long, default_value_t = 2_000)]
    questions: usize,
    /// The weights of the built-in embedder, so that questions cost what they cost.
    #[arg(long)]
    weights: Option<PathBuf>,
    /// Writes tasks and questions as tables here, for other programs.
    #[arg(long)]
    tables: Option<PathBuf>,
}

/// Makes what is not there, and measures.
pub(crate) async fn run(options: Options) -> Result<()> {
    let made = Made::new(options.tasks, options.workspaces);
    let name = format!("{}-{}", options.tasks, options.workspaces);
    let data = options.data.join(name);
    std::fs::create_dir_all(&data)?;
    let storage = storage::open(StorageOptions {
        database_url: format!("sqlite://{}", data.join("bench.sqlite").display()),
        connections: 8,
        blob_url: data.join("blobs").display().to_string(),
        blob_options: Vec::new(),
    })
    .await?;
    let store = storage.store.clone();
    let owner = seed::fill(&store, &made).await?;
    if let Some(folder) = &options.tables {
        made.write_tables(folder, options.questions)?;
    }
    let documents = DocumentService::start(
        DocumentOptions::default(),
        store.clone(),
        Arc::new(SystemClock),
    );
    build(&data, &store, &documents).await?;
    let weights = options.weights.as_deref();
    let search = start(&data, &store, &documents, weights)?;
    let bench = Bench {
        made,
        owner,
        search: search.clone(),
        store,
    };
    bench.measure(options.questions).await?;
    search.stop().await;
    documents.stop().await;
    storage.close().await;
    Ok(())
}

async fn build(data: &Path, store: &SharedStore, documents: &DocumentService) -> Result<()> {
    let (began, processor) = (Instant::now(), own_processor_seconds()?);
    let built = search::rebuild(data, store.clone(), documents.clone()).await?;
    let bytes: u64 = std::fs::read_dir(data.join("search"))?
        .filter_map(|entry| Some(entry.ok()?.metadata().ok()?.len()))
        .sum();
    println!(
        "index: {} things in {:.1} s ({:.1} s of processors), {:.1} MiB",
        built.unwrap_or_default(),
        began.elapsed().as_secs_f64(),
        own_processor_seconds()? - processor,
        bytes as f64 / 1_048_576.0
    );
    Ok(())
}

fn start(
    data: &Path,
    store: &SharedStore,
    documents: &DocumentService,
    weights: Option<&Path>,
) -> Result<Arc<Search>> {
    let real = weights.map(BuiltinEmbedder::open).transpose();
    let embedder = MadeUp {
        real: real.context("the weights can not be used")?,
    };
    let options = SearchOptions {
        embedder: EmbedderChoice::Other(Arc::new(embedder)),
        keyword_time: Duration::from_mins(1),
        vector_time: Duration::from_mins(1),
        vector_bytes: 4 << 30,
        ..SearchOptions::new(data.to_owned())
    };
    Ok(Search::start(
        options,
        store.clone(),
        documents.clone(),
        Arc::new(SystemClock),
    ))
}

/// Made-up vectors, at the price of real ones.
struct MadeUp {
    real: Option<BuiltinEmbedder>,
}

#[async_trait]
impl Embedder for MadeUp {
    fn model(&self) -> &'static str {
        MODEL
    }

    async fn embed(&self, texts: Vec<String>) -> search::Result<Vec<Vec<f32>>> {
        if let Some(real) = &self.real {
            real.embed(texts.clone()).await?;
        }
        Ok(texts.iter().map(|text| made_up::vector(text)).collect())
    }
}

/// A kind of question.
#[derive(Debug, Clone, Copy)]
enum Asked {
    /// What the router asks before it decides.
    Candidates,
    /// What a person asks.
    Search,
}

struct Bench {
    made: Made,
    owner: UserId,
    search: Arc<Search>,
    store: SharedStore,
}

impl Bench {
    async fn measure(&self, count: usize) -> Result<()> {
        let questions = self.made.questions(count);
        // Vectors of a workspace are read at its first question; what that costs is told apart.
        let began = Instant::now();
        self.ask(Asked::Candidates, &self.made.text(0)).await?;
        println!(
            "first question to the largest workspace: {:.0} ms",
            began.elapsed().as_secs_f64() * 1e3
        );
        for question in &questions {
            self.ask(Asked::Candidates, question).await?;
        }
        println!(
            "{:<12} {:>8} {:>8} {:>8} {:>8}   first  in 8",
            "", "p50 ms", "p95 ms", "p99 ms", "max ms"
        );
        for asked in [Asked::Candidates, Asked::Search] {
            let (mut times, mut first, mut near) = (Vec::new(), 0, 0);
            for question in &questions {
                let began = Instant::now();
                let found = self.ask(asked, question).await?;
                times.push(began.elapsed().as_secs_f64() * 1e3);
                let place = found.iter().position(|id| *id == question.task);
                first += usize::from(place == Some(0));
                near += usize::from(place.is_some_and(|place| place < 8));
            }
            times.sort_by(f64::total_cmp);
            let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
            println!(
                "{:<12} {:>8.2} {:>8.2} {:>8.2} {:>8.2}   {:.3}  {:.3}",
                format!("{asked:?}"),
                at(0.5),
                at(0.95),
                at(0.99),
                at(1.0),
                first as f64 / questions.len() as f64,
                near as f64 / questions.len() as f64,
            );
        }
        Ok(())
    }

    async fn ask(&self, asked: Asked, question: &Text) -> Result<Vec<TaskId>> {
        let (kinds, limit, shown) = match asked {
            Asked::Candidates => (vec![SearchKind::Task, SearchKind::Work], 32, 8),
            Asked::Search => (Vec::new(), 200, 20),
        };
        let workspace: WorkspaceId = question.workspace;
        let head = self.store.reads().event_head(workspace).await?;
        let request = SearchRequest {
            workspace,
            user: self.owner,
            text: question.asked.clone(),
            kinds,
            among: Vec::new(),
            limit,
            seen: Some(head),
            within: None,
        };
        let answer = self.search.find(&request).await;
        anyhow::ensure!(answer.is_current, "the index is behind");
        anyhow::ensure!(
            !answer.missing.contains(&SearchLeg::Keyword),
            "words are not searched"
        );
        let ids: Vec<TaskId> = answer
            .found
            .iter()
            .take(shown)
            .map(|found| TaskId::from_uuid(found.id))
            .collect();
        let reads = self.store.reads();
        let (tasks, lines) =
            tokio::try_join!(reads.list_tasks_by_id(&ids), reads.list_projections(&ids))?;
        anyhow::ensure!(tasks.len() == ids.len() && lines.len() == ids.len());
        Ok(ids)
    }
}
