//! The threads that documents live on: few, with large stacks, each running many document actors.
//!
//! Invariants
//! - yrs runs here and nowhere else, so that deep recursion and long work hold up no network task.
//! - A document stays on its thread for as long as it is open.

use std::future::Future;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::pin::Pin;

use tokio::sync::{mpsc, oneshot};
use tokio::task::LocalSet;

use crate::error::{Error, Result};
use crate::ids::WorkId;

type Job = Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = ()>>> + Send>;

/// Jobs that may wait for a thread; more wait in their senders.
const WAITING_JOBS: usize = 1_024;

/// A pool of document threads.
pub(crate) struct DocumentThreads {
    senders: Vec<mpsc::Sender<Job>>,
}

impl DocumentThreads {
    /// Starts `count` threads with stacks of `stack_bytes`; they end when the pool is dropped and their actors have ended.
    pub(crate) fn start(count: usize, stack_bytes: usize) -> Self {
        let senders = (0..count.max(1)).map(|number| {
            let (sender, receiver) = mpsc::channel(WAITING_JOBS);
            let builder = std::thread::Builder::new()
                .name(format!("documents-{number}"))
                .stack_size(stack_bytes);
            builder
                .spawn(move || run(receiver))
                .expect("a process that can not start threads can not serve");
            sender
        });
        Self {
            senders: senders.collect(),
        }
    }

    /// Starts a future on the thread of this work.
    pub(crate) async fn spawn<F, Fut>(&self, work: WorkId, make: F) -> Result<()>
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future<Output = ()> + 'static,
    {
        let mut hasher = DefaultHasher::new();
        work.hash(&mut hasher);
        let sender = &self.senders[hasher.finish() as usize % self.senders.len()];
        sender
            .send(Box::new(move || Box::pin(make())))
            .await
            .map_err(|_| stopped())
    }

    /// Runs a computation on the thread of this work and returns what it gives.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        work: WorkId,
        compute: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        self.spawn(work, move || async move {
            // A caller that no longer waits is no error.
            let _ = reply.send(compute());
        })
        .await?;
        answer.await.map_err(|_| stopped())
    }
}

fn stopped() -> Error {
    Error::Unavailable("the document threads have stopped".into())
}

fn run(mut jobs: mpsc::Receiver<Job>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return tracing::error!(%error, "a document thread could not start"),
    };
    let actors = LocalSet::new();
    actors.block_on(&runtime, async {
        while let Some(job) = jobs.recv().await {
            tokio::task::spawn_local(job());
        }
    });
    // The pool is being stopped: actors end by themselves, because their services have closed their mailboxes.
    runtime.block_on(actors);
}
