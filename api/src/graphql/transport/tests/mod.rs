//! The transports over a small schema, as a client sees them.

mod http;
mod socket;

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use async_graphql::{
    Context, Data, MergedObject, MergedSubscription, Object, Schema, Subscription,
};
use async_trait::async_trait;
use domain::ids::{TokenId, UserId};
use domain::people::TokenKind;
use futures_util::{FutureExt as _, Stream, stream};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::auth::{Authenticate, Caller};
use crate::graphql::error::{Nullable, nullable};
use crate::graphql::loader::{Loader, PerExecution};
use crate::test_support;

/// Names for numbers, loaded one batch an execution; `loads` counts the batches.
type Names = Loader<i32, String>;

#[derive(Clone, Default)]
struct Counts {
    mutations: Arc<AtomicI32>,
    loads: Arc<AtomicI32>,
}

#[derive(Default)]
struct Greeting;

#[Object]
impl Greeting {
    async fn hello(&self) -> &str {
        "hello"
    }

    async fn missing(&self) -> Nullable<i32> {
        nullable(Err::<Option<i32>, _>(domain::Error::not_found(
            "work", "w1",
        )))
    }

    #[expect(clippy::unused_self, reason = "a resolver is a method")]
    fn person(&self, ctx: &Context<'_>) -> async_graphql::Result<String> {
        Ok(ctx.data::<Caller>()?.user.to_string())
    }

    async fn name(&self, ctx: &Context<'_>, number: i32) -> async_graphql::Result<Option<String>> {
        Ok(ctx.data::<Names>()?.load(number).await?)
    }
}

#[derive(MergedObject, Default)]
#[graphql(name = "Query")]
struct Root(Greeting, test_support::Query);

struct Mutation(Counts);

#[Object]
impl Mutation {
    async fn count(&self) -> i32 {
        self.0.mutations.fetch_add(1, Ordering::SeqCst) + 1
    }
}

#[derive(Default)]
struct Numbers;

struct Number(i32);

#[Object]
impl Number {
    async fn name(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<String>> {
        Ok(ctx.data::<Names>()?.load(self.0).await?)
    }
}

#[Subscription]
impl Numbers {
    /// The same number three times.
    async fn numbers(&self) -> impl Stream<Item = Number> + use<> {
        stream::iter([7, 7, 7].map(Number))
    }
}

#[derive(MergedSubscription, Default)]
#[graphql(name = "Subscription")]
struct Subscriptions(Numbers, test_support::Subscription);

/// One good token, `good`, until it is revoked.
struct OneToken {
    caller: Caller,
    revoked: CancellationToken,
}

#[async_trait]
impl Authenticate for OneToken {
    async fn authenticate(&self, bearer: Option<&str>) -> Result<Caller, domain::Error> {
        match bearer {
            Some("good") if !self.revoked.is_cancelled() => Ok(self.caller),
            _ => Err(domain::Error::Unauthenticated(
                "the token is missing or wrong".into(),
            )),
        }
    }

    async fn revoked(&self, _: Caller) {
        self.revoked.cancelled().await;
    }
}

/// An endpoint and the strings it hangs on.
struct Fixture {
    endpoint: Endpoint,
    revoked: CancellationToken,
    shutdown: CancellationToken,
    counts: Counts,
}

fn fixture() -> Fixture {
    with(
        Settings {
            rate_limit: None,
            ..Settings::default()
        },
        Documents::off(),
    )
}

fn with(settings: Settings, documents: Documents) -> Fixture {
    let (revoked, shutdown, counts) = (
        CancellationToken::new(),
        CancellationToken::new(),
        Counts::default(),
    );
    let loads = counts.loads.clone();
    let loaders = PerExecution::new(move |_: Caller| {
        let loads = loads.clone();
        let mut data = Data::default();
        data.insert(Names::new(move |keys| {
            loads.fetch_add(1, Ordering::SeqCst);
            async move {
                Ok(keys
                    .into_iter()
                    .map(|key| (key, format!("number {key}")))
                    .collect())
            }
            .boxed()
        }));
        data
    });
    let schema = Schema::build(
        Root::default(),
        Mutation(counts.clone()),
        Subscriptions::default(),
    );
    let caller = Caller::new(UserId::new(), TokenId::new(), TokenKind::Personal);
    let parts = Parts {
        execute: Arc::new(schema.disable_suggestions().extension(loaders).finish()),
        authenticate: Arc::new(OneToken {
            caller,
            revoked: revoked.clone(),
        }),
        documents,
        origins: Origins::new(&"http://127.0.0.1:8787".parse().expect("a URL"), []),
        settings,
        shutdown: shutdown.clone(),
    };
    let endpoint = Endpoint::try_new(parts).expect("the schema's text parses");
    Fixture {
        endpoint,
        revoked,
        shutdown,
        counts,
    }
}
