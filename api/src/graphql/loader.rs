//! Loading many rows in one query: a loader per execution, and the extension that makes them.
//!
//! Invariants
//! - A loader lives as long as one execution: one request, or one event of a subscription. It is never shared between
//!   callers, so its cache needs no permission check of its own and never serves stale rows to a later event.
//! - Keys asked for in one tick go into one batch; a key is loaded at most once.
//!
//! Not here: what is loaded, and with whose permission: the batch function holds the caller.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use async_graphql::extensions::{Extension, ExtensionContext, ExtensionFactory, NextExecute};
use async_graphql::{Data, Response};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};

use crate::auth::Caller;

/// What a batch gives: the rows that were found, by key.
pub type Loaded<K, V> = Result<HashMap<K, V>, domain::Error>;

type Batch<K, V> = Shared<BoxFuture<'static, Result<Arc<HashMap<K, V>>, Arc<domain::Error>>>>;
type Fetch<K, V> = Arc<dyn Fn(Vec<K>) -> BoxFuture<'static, Loaded<K, V>> + Send + Sync>;

/// Gathers the keys of one tick and loads them together.
pub struct Loader<K, V> {
    fetch: Fetch<K, V>,
    state: Arc<Mutex<State<K, V>>>,
}

struct State<K, V> {
    /// Keys of the batch that has not been sent off yet.
    waiting: Vec<K>,
    open: Option<Batch<K, V>>,
    batches: HashMap<K, Batch<K, V>>,
}

/// Whether a batch still takes keys.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gate {
    Open,
    Closed,
}

impl<K, V> Loader<K, V>
where
    K: Clone + Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    /// A loader that reads keys with `fetch`, which checks what the caller may see.
    pub fn new<F>(fetch: F) -> Self
    where
        F: Fn(Vec<K>) -> BoxFuture<'static, Loaded<K, V>> + Send + Sync + 'static,
    {
        let state = State {
            waiting: Vec::new(),
            open: None,
            batches: HashMap::new(),
        };
        Self {
            fetch: Arc::new(fetch),
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// The row of this key; `None` where there is none, or none for this caller.
    ///
    /// Calls that are polled in the same tick share one batch, a failure included.
    pub async fn load(&self, key: K) -> Result<Option<V>, Arc<domain::Error>> {
        let (batch, gate) = self.batch_of(&key);
        if gate == Gate::Open {
            // Each caller lets the tick end by itself: the batch is sent off by whoever polls it first.
            tokio::task::yield_now().await;
        }
        Ok(batch.await?.get(&key).cloned())
    }

    fn batch_of(&self, key: &K) -> (Batch<K, V>, Gate) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(batch) = state.batches.get(key) {
            let is_open = state.open.as_ref().is_some_and(|open| open.ptr_eq(batch));
            return (
                batch.clone(),
                if is_open { Gate::Open } else { Gate::Closed },
            );
        }
        state.waiting.push(key.clone());
        let batch = state.open.get_or_insert_with(|| self.new_batch()).clone();
        state.batches.insert(key.clone(), batch.clone());
        (batch, Gate::Open)
    }

    /// Whoever is polled first drives the batch; there is no task, so a caller that goes away takes nothing with it.
    fn new_batch(&self) -> Batch<K, V> {
        // The state holds the batch, so a batch that held the state would keep itself alive after an abandoned request.
        let (fetch, state) = (self.fetch.clone(), Arc::downgrade(&self.state));
        let load = async move {
            let keys = state.upgrade().map(|state| {
                let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                state.open = None;
                std::mem::take(&mut state.waiting)
            });
            fetch(keys.unwrap_or_default())
                .await
                .map(Arc::new)
                .map_err(Arc::new)
        };
        load.boxed().shared()
    }
}

/// Gives each execution data of its own: fresh loaders for a request, and for every event of a subscription.
///
/// `make` is given the caller of the request. Resolvers find what it inserts through `Context::data`.
pub struct PerExecution<F>(Arc<F>);

impl<F: Fn(Caller) -> Data + Send + Sync + 'static> PerExecution<F> {
    /// An extension for `SchemaBuilder::extension`.
    pub fn new(make: F) -> Self {
        Self(Arc::new(make))
    }
}

impl<F: Fn(Caller) -> Data + Send + Sync + 'static> ExtensionFactory for PerExecution<F> {
    fn create(&self) -> Arc<dyn Extension> {
        Arc::new(PerExecution(self.0.clone()))
    }
}

#[async_trait::async_trait]
impl<F: Fn(Caller) -> Data + Send + Sync + 'static> Extension for PerExecution<F> {
    async fn execute(
        &self,
        ctx: &ExtensionContext<'_>,
        name: Option<&str>,
        next: NextExecute<'_>,
    ) -> Response {
        match ctx.data_opt::<Caller>() {
            Some(caller) => next.run_with_data(ctx, name, (self.0)(*caller)).await,
            None => next.run(ctx, name).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Asked = Arc<Mutex<Vec<Vec<u32>>>>;

    fn doubling() -> (Loader<u32, u32>, Asked) {
        let asked = Asked::default();
        let log = asked.clone();
        let loader = Loader::new(move |keys: Vec<u32>| {
            log.lock().expect("no panic").push(keys.clone());
            async move {
                Ok(keys
                    .into_iter()
                    .filter(|key| *key != 13)
                    .map(|key| (key, key * 2))
                    .collect())
            }
            .boxed()
        });
        (loader, asked)
    }

    #[tokio::test]
    async fn keys_of_one_tick_are_loaded_together_and_each_once() {
        let (loader, asked) = doubling();
        let found = futures_util::future::join_all([1, 2, 1, 13].map(|key| loader.load(key))).await;
        let found: Vec<_> = found.into_iter().map(|row| row.expect("loads")).collect();
        assert_eq!(found, [Some(2), Some(4), Some(2), None]);
        assert_eq!(loader.load(2).await.expect("loads"), Some(4));
        assert_eq!(loader.load(3).await.expect("loads"), Some(6));
        assert_eq!(*asked.lock().expect("no panic"), [vec![1, 2, 13], vec![3]]);
    }

    #[tokio::test]
    async fn a_caller_that_goes_away_leaves_the_batch_to_the_others() {
        let (loader, _) = doubling();
        let mut first = Box::pin(loader.load(1));
        assert!(futures_util::poll!(&mut first).is_pending());
        let second = loader.load(2);
        drop(first);
        assert_eq!(second.await.expect("loads"), Some(4));
    }

    #[tokio::test]
    async fn a_failure_reaches_everybody_who_waits_for_the_batch() {
        let loader: Loader<u32, u32> =
            Loader::new(|_| async { Err(domain::Error::IdempotencyKeyReused) }.boxed());
        let (one, two) = tokio::join!(loader.load(1), loader.load(2));
        assert!(one.is_err() && two.is_err());
    }
}
