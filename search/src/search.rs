//! The search service of a process: starts what keeps the index, asks both legs, and puts together what they found.
//!
//! Invariants
//! - Each leg has its time; one that does not answer in it is missing from the answer, and the other one counts.
//! - What is started here ends at [`Search::stop`].

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use domain::document::DocumentService;
use domain::search::{
    FOUND_LIMIT, QUERY_LENGTH, SearchAnswer, SearchIndex, SearchKind, SearchLeg, SearchRequest,
};
use domain::store::SharedStore;
use domain::time::SharedClock;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::Result;
use crate::embed::{BuiltinEmbedder, Embedder, OpenAiEmbedder, OpenAiSettings};
use crate::excerpt::excerpt;
use crate::fuse::fuse;
use crate::index::{Folder, Hit, KeywordQuery, remove_beside};
use crate::keyword::{Follower, Keyword};
use crate::source::Source;
use crate::vectors::{self, Found, VectorQuery, Vectors};

/// What each leg looks for at least: what one finds late may stand well with the other.
const DEPTH: usize = 100;
/// How long to wait before a folder or an embedder that failed is tried again.
const PAUSE: Duration = Duration::from_secs(10);
/// How long the last commit may take.
const STOP: Duration = Duration::from_secs(3);

/// Who turns texts into vectors.
#[derive(Clone)]
pub enum EmbedderChoice {
    /// The built-in one, with its weights in this file.
    Builtin(PathBuf),
    /// One behind a network.
    OpenAi(OpenAiSettings),
    /// Another one.
    Other(Arc<dyn Embedder>),
    /// Nobody: words only.
    None,
}

/// How to search.
#[derive(Clone)]
pub struct SearchOptions {
    /// The folder below which the index lies.
    pub data_dir: PathBuf,
    /// Who turns texts into vectors.
    pub embedder: EmbedderChoice,
    /// How long words may be looked for.
    pub keyword_time: Duration,
    /// How long meanings may be looked for.
    pub vector_time: Duration,
    /// How long the index may take to hold what whoever asks has just written.
    pub seen_time: Duration,
    /// Memory for vectors, in bytes.
    pub vector_bytes: usize,
}

impl SearchOptions {
    /// The usual times for an index below this folder, with words only.
    pub fn new(data_dir: PathBuf) -> Self {
        Self {
            data_dir,
            embedder: EmbedderChoice::None,
            keyword_time: Duration::from_millis(300),
            vector_time: Duration::from_millis(300),
            seen_time: Duration::from_secs(1),
            vector_bytes: 1 << 30,
        }
    }
}

/// The search of a process.
pub struct Search {
    keyword: Arc<Keyword>,
    vectors: Arc<Vectors>,
    options: SearchOptions,
    clock: SharedClock,
    stop: CancellationToken,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl Search {
    /// Starts it; returns at once, and what is not there yet is missing from the first answers.
    pub fn start(
        options: SearchOptions,
        store: SharedStore,
        documents: DocumentService,
        clock: SharedClock,
    ) -> Arc<Self> {
        let keyword = Arc::new(Keyword::default());
        let vectors = Arc::new(Vectors::new(store.clone(), options.vector_bytes));
        let source = Source::new(store, documents);
        let stop = CancellationToken::new();
        let data = options.data_dir.clone();
        let words = keep_index(keyword.clone(), source.clone(), data, stop.clone());
        let embedder = options.embedder.clone();
        let meanings = keep_vectors(vectors.clone(), source, embedder, stop.clone());
        let tasks = vec![tokio::spawn(words), tokio::spawn(meanings)];
        Arc::new(Self {
            keyword,
            vectors,
            options,
            clock,
            stop,
            tasks: Mutex::new(tasks),
        })
    }

    /// Ends it; what is not committed in time is indexed again at the next start.
    pub async fn stop(&self) {
        self.stop.cancel();
        let tasks = {
            let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *tasks)
        };
        for mut task in tasks {
            if timeout(STOP, &mut task).await.is_err() {
                task.abort();
            }
        }
    }

    /// Returns when the words of everything that was deleted so far are gone from the disk.
    pub async fn purge(&self) -> Result<()> {
        tokio::select! {
            purged = self.keyword.purge() => purged,
            () = self.stop.cancelled() => Err(crate::Error::Index("the search has ended".into())),
        }
    }

    async fn words(&self, request: &SearchRequest, kinds: &[SearchKind]) -> Option<Vec<Hit>> {
        let query = KeywordQuery {
            workspace: request.workspace,
            user: request.user,
            text: request.text.clone(),
            kinds: kinds.to_vec(),
            among: request.among.clone(),
            limit: depth(request),
        };
        let time = time_of(request, self.options.keyword_time);
        let found = timeout(time, self.keyword.find(query)).await;
        heard("words", found).flatten()
    }

    async fn meanings(&self, request: &SearchRequest, kinds: &[SearchKind]) -> Option<Found> {
        let query = VectorQuery {
            user: request.user,
            kinds: kinds.to_vec(),
            among: request.among.clone(),
            limit: depth(request),
        };
        let find = self.vectors.find(request.workspace, &request.text, query);
        let time = time_of(request, self.options.vector_time);
        heard("meanings", timeout(time, find).await).flatten()
    }
}

/// How long a leg may take: what was asked for, and never more than the usual.
fn time_of(request: &SearchRequest, usual: Duration) -> Duration {
    request.within.map_or(usual, |within| within.min(usual))
}

/// What a leg said; none where it said nothing in time.
fn heard<T>(leg: &'static str, said: Result<Result<T>, tokio::time::error::Elapsed>) -> Option<T> {
    match said {
        Ok(Ok(found)) => return Some(found),
        Ok(Err(error)) => tracing::warn!(leg, error = ?error, "a leg of the search failed"),
        Err(_) => tracing::debug!(leg, "a leg of the search did not answer in time"),
    }
    metrics::counter!("atelier_search_missing_legs_total", "leg" => leg).increment(1);
    None
}

fn depth(request: &SearchRequest) -> usize {
    request.limit.clamp(DEPTH, FOUND_LIMIT)
}

#[async_trait]
impl SearchIndex for Search {
    async fn find(&self, request: &SearchRequest) -> SearchAnswer {
        let began = std::time::Instant::now();
        let mut request = request.clone();
        request.text = request.text.chars().take(QUERY_LENGTH).collect();
        let kinds = match request.kinds.as_slice() {
            [] => SearchKind::ALL.to_vec(),
            kinds => kinds.to_vec(),
        };
        let is_current = match request.seen {
            Some(sequence) => {
                let limit = self.options.seen_time;
                self.keyword.reach(request.workspace, sequence, limit).await
            }
            None => true,
        };
        let (words, meanings) = tokio::join!(
            self.words(&request, &kinds),
            self.meanings(&request, &kinds)
        );
        let mut missing = Vec::new();
        if words.is_none() {
            missing.push(SearchLeg::Keyword);
        }
        if meanings.as_ref().is_none_or(|found| !found.is_whole) {
            missing.push(SearchLeg::Vector);
        }
        let compared = meanings.as_ref().map(|found| &found.compared);
        let limit = request.limit.min(FOUND_LIMIT);
        let found = fuse(words.as_deref(), compared, self.clock.now(), limit);
        metrics::histogram!("atelier_search_seconds").record(began.elapsed().as_secs_f64());
        SearchAnswer {
            found,
            missing,
            is_current,
        }
    }

    fn excerpt(&self, text: &str, question: &str, length: usize) -> String {
        excerpt(text, question, length)
    }
}

/// Drops the index of a data folder. Where no process has it open it is built, and holds as many things as are returned;
/// else that process builds it.
pub async fn rebuild(
    data: &Path,
    store: SharedStore,
    documents: DocumentService,
) -> Result<Option<u64>> {
    let source = Source::new(store, documents);
    let data = data.to_owned();
    let opened = tokio::task::spawn_blocking(move || {
        let Some(folder) = Folder::take_numbered(&data, 1)? else {
            remove_beside(&data)?;
            return Ok(None);
        };
        remove_beside(&data)?;
        Follower::open(Arc::new(Keyword::default()), source, folder).map(Some)
    });
    let opened: Result<_> = opened
        .await
        .map_err(|error| crate::Error::Index(error.into()))?;
    match opened? {
        Some(mut follower) => follower.build_all().await.map(Some),
        None => Ok(None),
    }
}

/// Opens the index, as often as it takes, and keeps it.
async fn keep_index(keyword: Arc<Keyword>, source: Source, data: PathBuf, stop: CancellationToken) {
    while !stop.is_cancelled() {
        let (keyword, source, data) = (keyword.clone(), source.clone(), data.clone());
        let opened = tokio::task::spawn_blocking(move || {
            Follower::open(keyword, source, Folder::take(&data)?)
        });
        match opened.await {
            Ok(Ok(follower)) => return follower.run(stop).await,
            Ok(Err(error)) => {
                tracing::error!(error = ?error, "the search index can not be opened; trying again");
            }
            Err(error) => tracing::error!(%error, "the search index can not be opened"),
        }
        rest(&stop).await;
    }
}

/// Loads the embedder, as often as it takes, and keeps the vectors.
async fn keep_vectors(
    vectors: Arc<Vectors>,
    source: Source,
    choice: EmbedderChoice,
    stop: CancellationToken,
) {
    let mut is_told = false;
    while !stop.is_cancelled() {
        match load(choice.clone()).await {
            Ok(None) => return,
            Ok(Some(embedder)) => {
                vectors.use_embedder(embedder.clone());
                return vectors::Follower::new(vectors, source, embedder)
                    .run(stop)
                    .await;
            }
            Err(error) if !is_told => {
                is_told = true;
                tracing::warn!(%error, "meanings are not searched, words are");
            }
            Err(_) => {}
        }
        rest(&stop).await;
    }
}

async fn load(choice: EmbedderChoice) -> Result<Option<Arc<dyn Embedder>>> {
    match choice {
        EmbedderChoice::None => Ok(None),
        EmbedderChoice::Other(embedder) => Ok(Some(embedder)),
        EmbedderChoice::OpenAi(settings) => Ok(Some(Arc::new(OpenAiEmbedder::try_new(settings)?))),
        EmbedderChoice::Builtin(file) => {
            let loaded = tokio::task::spawn_blocking(move || BuiltinEmbedder::open(&file));
            let loaded = loaded
                .await
                .map_err(|error| crate::Error::Embedder(error.to_string()))?;
            Ok(Some(Arc::new(loaded?)))
        }
    }
}

async fn rest(stop: &CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = tokio::time::sleep(PAUSE) => {}
    }
}
