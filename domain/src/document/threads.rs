//! The threads that documents live on: a few that many small documents share, one for each large document, and some for
//! what is computed apart from any actor. All have large stacks.
//!
//! Invariants
//! - yrs runs here and nowhere else, so that deep recursion and long work hold up no network task.
//! - What may take long runs on a thread of its own: documents that share one do not wait for each other's size.
//! - A document moves at most from a shared thread to its own, and only as a whole.

use std::future::Future;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::LocalSet;

use crate::error::{Error, Result};
use crate::ids::WorkId;

type Job = Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = ()>>> + Send>;

/// Jobs that may wait for a shared thread; more wait in their senders.
const WAITING_JOBS: usize = 1_024;
/// Documents that may have a thread of their own; more stay where they are.
const OWN_THREADS: usize = 32;
/// Computations that run at the same time; more wait.
const COMPUTATIONS: usize = 8;
/// How long a thread waits for another computation before it ends.
const KEPT: Duration = Duration::from_secs(30);

/// All document threads.
pub(crate) struct DocumentThreads {
    shared: Vec<mpsc::Sender<Job>>,
    own: Arc<Semaphore>,
    /// There until this is dropped.
    computing: Option<Runtime>,
    stack_bytes: usize,
}

/// The right to a thread for one document.
pub(crate) struct OwnThread {
    permit: OwnedSemaphorePermit,
    stack_bytes: usize,
}

impl DocumentThreads {
    /// Starts `count` shared threads with stacks of `stack_bytes`; they end when this is dropped and their actors have ended.
    pub(crate) fn start(count: usize, stack_bytes: usize) -> Self {
        let shared = (0..count.max(1)).map(|number| {
            let (sender, receiver) = mpsc::channel(WAITING_JOBS);
            start_thread(format!("documents-{number}"), stack_bytes, move || {
                run(receiver);
            });
            sender
        });
        let computing = Builder::new_current_thread()
            .thread_name("documents-computing")
            .thread_stack_size(stack_bytes)
            .max_blocking_threads(COMPUTATIONS)
            .thread_keep_alive(KEPT)
            .build();
        Self {
            shared: shared.collect(),
            own: Arc::new(Semaphore::new(OWN_THREADS)),
            computing: Some(computing.expect("a process that can not start threads can not serve")),
            stack_bytes,
        }
    }

    /// Starts a future on the shared thread of this work.
    pub(crate) async fn spawn<F, Fut>(&self, work: WorkId, make: F) -> Result<()>
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future<Output = ()> + 'static,
    {
        let mut hasher = DefaultHasher::new();
        work.hash(&mut hasher);
        let sender = &self.shared[hasher.finish() as usize % self.shared.len()];
        sender
            .send(Box::new(move || Box::pin(make())))
            .await
            .map_err(|_| stopped())
    }

    /// A thread for one document alone, where one is left.
    pub(crate) fn own(&self) -> Option<OwnThread> {
        let permit = self.own.clone().try_acquire_owned().ok()?;
        Some(OwnThread {
            permit,
            stack_bytes: self.stack_bytes,
        })
    }

    /// Runs a computation apart from all documents and returns what it gives.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        compute: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let computing = self.computing.as_ref().ok_or_else(stopped)?;
        let computed = computing.spawn_blocking(compute).await;
        computed.map_err(|error| Error::Internal(error.into()))
    }
}

impl Drop for DocumentThreads {
    fn drop(&mut self) {
        if let Some(computing) = self.computing.take() {
            // Waiting is not allowed here; what runs ends by itself, and nobody needs its result.
            computing.shutdown_background();
        }
    }
}

impl OwnThread {
    /// Starts a future on the thread, which ends with it.
    pub(crate) fn spawn<F, Fut>(self, make: F)
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future<Output = ()> + 'static,
    {
        let Self {
            permit,
            stack_bytes,
        } = self;
        start_thread("documents-own".to_owned(), stack_bytes, move || {
            block_on(async { make().await });
            drop(permit);
        });
    }
}

fn stopped() -> Error {
    Error::Unavailable("the document threads have stopped".into())
}

fn start_thread(name: String, stack_bytes: usize, run: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new()
        .name(name)
        .stack_size(stack_bytes)
        .spawn(run)
        .expect("a process that can not start threads can not serve");
}

fn run(mut jobs: mpsc::Receiver<Job>) {
    block_on(async move {
        while let Some(job) = jobs.recv().await {
            tokio::task::spawn_local(job());
        }
    });
}

/// Runs a future and what it starts on this thread, to the end of them all.
fn block_on(future: impl Future<Output = ()>) {
    let runtime = match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return tracing::error!(%error, "a document thread could not start"),
    };
    let actors = LocalSet::new();
    actors.block_on(&runtime, future);
    // The pool is being stopped: actors end by themselves, because their services have closed their mailboxes.
    runtime.block_on(actors);
}
