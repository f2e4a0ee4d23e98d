//! What recall finds: the turns that answer a question, among all that were said in the thread of a task.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use domain::document::{DocumentOptions, DocumentService};
use domain::ids::MessageId;
use domain::search::{SearchIndex as _, SearchKind, SearchRequest, SharedSearchIndex};
use domain::store::SharedStore;
use domain::task::Task;
use domain::time::SystemClock;
use runtime::memory::Recall;
use search::{EmbedderChoice, Search, SearchOptions};
use storage::StorageOptions;

use super::Options;
use super::conversations::{Conversation, Question};
use super::seed;

/// Numbers of turns that are looked at.
const TURNS: [usize; 4] = [1, 5, 10, 20];
/// Number of sessions that is looked at.
const SESSIONS: usize = 5;
/// How long a search may take here: quality is measured, and what is slow is told beside it.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long the index may take to hold a conversation.
const BUILT: Duration = Duration::from_mins(10);

/// Figures over questions.
#[derive(Debug, Default, Clone)]
struct Figures {
    questions: usize,
    turns: [f64; TURNS.len()],
    sessions: f64,
}

/// Measures every question of every conversation.
pub(super) async fn run(options: &Options, conversations: &[Conversation]) -> Result<()> {
    let (mut all, mut categories) = (Figures::default(), BTreeMap::<String, Figures>::new());
    let (mut times, mut degraded, mut turns) = (Vec::new(), 0, 0);
    for (number, conversation) in conversations.iter().enumerate() {
        let folder = options.data.join(number.to_string());
        let told = Told::start(&folder, conversation, options.weights.as_deref()).await?;
        for question in &conversation.questions {
            let began = Instant::now();
            let (found, is_whole) = told.recall(&question.text).await?;
            times.push(began.elapsed().as_secs_f64() * 1e3);
            degraded += usize::from(!is_whole);
            all.add(conversation, question, &found);
            let category = categories.entry(question.category.clone()).or_default();
            category.add(conversation, question, &found);
        }
        turns += conversation.turns.len();
        told.stop().await;
    }
    ensure!(!times.is_empty(), "there are no questions");
    println!(
        "{} conversations, {turns} turns, {} questions; meanings are {}",
        conversations.len(),
        times.len(),
        if options.weights.is_some() {
            "searched"
        } else {
            "not searched"
        }
    );
    println!(
        "| | questions | r@1 | r@5 | r@10 | r@20 | s@5 |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    );
    println!("| Atelier, all | {}", all.line());
    for (name, figures) in categories.iter().filter(|_| categories.len() > 1) {
        println!("| category {name} | {}", figures.line());
    }
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!(
        "recall took p50 {:.1} ms, p95 {:.1} ms, at most {:.1} ms; {degraded} answers lacked a leg",
        at(0.5),
        at(0.95),
        at(1.0)
    );
    Ok(())
}

impl Figures {
    fn add(&mut self, conversation: &Conversation, question: &Question, found: &[usize]) {
        let turns = &conversation.turns;
        let wanted: HashSet<usize> = turns
            .iter()
            .enumerate()
            .filter(|(_, turn)| question.evidence.contains(&turn.id))
            .map(|(place, _)| place)
            .collect();
        self.questions += 1;
        for (sum, most) in self.turns.iter_mut().zip(TURNS) {
            let hits = found
                .iter()
                .take(most)
                .filter(|place| wanted.contains(*place));
            *sum += hits.count() as f64 / wanted.len() as f64;
        }
        let wanted: HashSet<usize> = wanted.iter().map(|place| turns[*place].session).collect();
        let mut sessions: Vec<usize> = Vec::new();
        for session in found.iter().map(|place| turns[*place].session) {
            if !sessions.contains(&session) {
                sessions.push(session);
            }
        }
        let hits = sessions
            .iter()
            .take(SESSIONS)
            .filter(|one| wanted.contains(*one));
        self.sessions += hits.count() as f64 / wanted.len() as f64;
    }

    fn line(&self) -> String {
        let count = self.questions as f64;
        let turns = self
            .turns
            .iter()
            .map(|sum| format!("{:.3} | ", sum / count));
        let turns: String = turns.collect();
        format!("{} | {turns}{:.3} |", self.questions, self.sessions / count)
    }
}

/// A conversation in the thread of a task, with an index over it.
struct Told {
    store: SharedStore,
    task: Task,
    /// Where each message stands in the conversation.
    places: HashMap<MessageId, usize>,
    search: Arc<Search>,
    shared: SharedSearchIndex,
    documents: DocumentService,
    storage: storage::Storage,
}

impl Told {
    async fn start(
        folder: &Path,
        conversation: &Conversation,
        weights: Option<&Path>,
    ) -> Result<Self> {
        std::fs::create_dir_all(folder)?;
        let storage = storage::open(StorageOptions {
            database_url: format!("sqlite://{}", folder.join("bench.sqlite").display()),
            connections: 4,
            blob_url: folder.join("blobs").display().to_string(),
            blob_options: Vec::new(),
        })
        .await?;
        let store = storage.store.clone();
        let (task, places) = seed::tell(&store, conversation).await?;
        let clock = Arc::new(SystemClock);
        let documents =
            DocumentService::start(DocumentOptions::default(), store.clone(), clock.clone());
        let options = SearchOptions {
            embedder: weights.map_or(EmbedderChoice::None, |file| {
                EmbedderChoice::Builtin(file.to_owned())
            }),
            keyword_time: PATIENCE,
            vector_time: PATIENCE,
            ..SearchOptions::new(folder.to_owned())
        };
        let search = Search::start(options, store.clone(), documents.clone(), clock);
        let told = Self {
            store,
            task,
            places,
            shared: search.clone(),
            search,
            documents,
            storage,
        };
        told.wait_until_built(weights.is_some()).await?;
        Ok(told)
    }

    async fn wait_until_built(&self, has_meanings: bool) -> Result<()> {
        let request = SearchRequest {
            workspace: self.task.workspace,
            user: self.task.created_by,
            text: "is it built".to_owned(),
            kinds: vec![SearchKind::Message],
            among: Vec::new(),
            limit: 1,
            seen: Some(self.store.reads().event_head(self.task.workspace).await?),
            within: None,
        };
        let most = usize::from(!has_meanings);
        let began = Instant::now();
        loop {
            let answer = self.search.find(&request).await;
            if answer.is_current && answer.missing.len() <= most {
                return Ok(());
            }
            ensure!(began.elapsed() < BUILT, "the index does not get ready");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// The places of what is recalled, best first, and whether no leg was missing that is there.
    async fn recall(&self, question: &str) -> Result<(Vec<usize>, bool)> {
        let recall = Recall::new(&self.store, &self.shared, &self.task).within(PATIENCE);
        let recalled = recall.run(question, &[]).await?;
        let said = recalled.said.iter();
        let places = said.filter_map(|said| self.places.get(&said.message.id).copied());
        Ok((places.collect(), recalled.degraded.is_empty()))
    }

    async fn stop(self) {
        self.search.stop().await;
        self.documents.stop().await;
        self.storage.close().await;
    }
}
