//! Fields that only the conformance checks need; the schema merges them under the feature `test-support`, never in a release.
//!
//! - `broken` always fails with a text that must not reach a client; `panics` breaks off; `slow` never answers.
//! - `ticks` counts up ten times a second, through restarts too, and resumes after a cursor; `silent` says nothing; `flood`
//!   always has an event ready; `activeSubscriptions` counts the streams of these three that are alive.

use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use async_graphql::{Object, SimpleObject, Subscription as GraphqlSubscription};
use domain::time::{Clock as _, SystemClock};
use futures_util::{Stream, stream};

/// The time between two ticks.
const TICK: Duration = Duration::from_millis(100);
/// Keeps the number of a tick within 32 bits for some years.
const FIRST_TICK: i64 = 17_000_000_000;

static ALIVE: AtomicI32 = AtomicI32::new(0);

/// Fields of the query root.
#[derive(Debug, Default)]
pub struct Query;

#[Object(name = "TestQuery")]
impl Query {
    /// Always fails.
    async fn broken(&self) -> Option<async_graphql::Result<String>> {
        let error = std::io::Error::other("secret internal detail: /var/db/main.sqlite");
        Some(Err(async_graphql::Error::new_with_source(error)))
    }

    /// Breaks off.
    async fn panics(&self) -> Option<i32> {
        assert!(
            ALIVE.load(Ordering::SeqCst) < 0,
            "a resolver that breaks off on purpose"
        );
        None
    }

    /// Never answers.
    async fn slow(&self) -> Option<String> {
        futures_util::future::pending().await
    }

    /// Streams of the test subscriptions that are alive in this process.
    async fn active_subscriptions(&self) -> i32 {
        ALIVE.load(Ordering::SeqCst)
    }
}

/// One event of a test subscription.
#[derive(Debug, Clone, SimpleObject)]
pub struct TestTick {
    /// Where to go on from.
    cursor: String,
    /// Rises by one with each event.
    seq: i32,
}

/// Fields of the subscription root.
#[derive(Debug, Default)]
pub struct Subscription;

#[GraphqlSubscription(name = "TestSubscription")]
impl Subscription {
    /// Ten events a second; `after` is a cursor of an earlier one.
    #[expect(
        clippy::unused_async,
        reason = "fields of a subscription are asynchronous"
    )]
    async fn ticks(
        &self,
        after: Option<String>,
    ) -> Result<impl Stream<Item = TestTick> + use<>, domain::Error> {
        let last = match after {
            Some(cursor) => sequence(&cursor)?,
            None => now(),
        };
        Ok(stream::unfold(
            (last, Alive::new()),
            |(last, alive)| async move {
                let seq = last + 1;
                while now() < seq {
                    tokio::time::sleep(TICK / 10).await;
                }
                Some((
                    TestTick {
                        cursor: format!("tick:{seq}"),
                        seq,
                    },
                    (seq, alive),
                ))
            },
        ))
    }

    /// Says nothing.
    async fn silent(&self) -> impl Stream<Item = TestTick> + use<> {
        stream::unfold(Alive::new(), |alive| async move {
            futures_util::future::pending::<()>().await;
            drop(alive);
            None
        })
    }

    /// Always has an event ready.
    async fn flood(&self) -> impl Stream<Item = TestTick> + use<> {
        stream::unfold((0, Alive::new()), |(seq, alive)| async move {
            Some((
                TestTick {
                    cursor: format!("flood:{seq}"),
                    seq,
                },
                (seq.wrapping_add(1), alive),
            ))
        })
    }
}

struct Alive;

impl Alive {
    fn new() -> Self {
        ALIVE.fetch_add(1, Ordering::SeqCst);
        Self
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

fn now() -> i32 {
    let ticks = SystemClock.now().micros() / TICK.as_micros() as i64;
    i32::try_from(ticks - FIRST_TICK).unwrap_or(i32::MAX)
}

fn sequence(cursor: &str) -> Result<i32, domain::Error> {
    let number = cursor
        .strip_prefix("tick:")
        .and_then(|number| number.parse().ok());
    number.ok_or_else(|| {
        domain::Error::CursorInvalid("the cursor was not handed out by `ticks`".into())
    })
}
