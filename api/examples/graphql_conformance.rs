//! Serves the transports over a small schema on loopback, for the public audits and other conformance checks.
//!
//! `PORT` (4799) and `TOKEN` (`t`) come from the environment; `PROFILE=2026-09` chooses the newer status codes.

use std::sync::Arc;
use std::time::Duration;

use api::auth::{Authenticate, Caller};
use api::graphql::transport::{
    DocumentMode, Documents, Endpoint, Origins, Parts, Profile, Settings, router,
};
use api::test_support::{Query, Subscription};
use async_graphql::{MergedObject, Object, Schema, SimpleObject};
use async_trait::async_trait;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

#[derive(Default)]
struct Greeting;

#[Object]
impl Greeting {
    async fn hello(&self, name: Option<String>) -> String {
        format!("hello {}", name.as_deref().unwrap_or("world"))
    }
}

#[derive(MergedObject, Default)]
#[graphql(name = "Query")]
struct Root(Greeting, Query);

#[derive(SimpleObject)]
struct Mutation {
    noop: bool,
}

struct OneToken {
    secret: String,
    caller: Caller,
}

#[async_trait]
impl Authenticate for OneToken {
    async fn authenticate(&self, bearer: Option<&str>) -> Result<Caller, domain::Error> {
        if bearer == Some(&self.secret) {
            return Ok(self.caller);
        }
        Err(domain::Error::Unauthenticated(
            "the token is missing or wrong".into(),
        ))
    }

    async fn revoked(&self, _: Caller) {
        std::future::pending::<()>().await;
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let variable =
        |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.into());
    let listener = TcpListener::bind(format!("127.0.0.1:{}", variable("PORT", "4799"))).await?;
    let address = format!("http://{}", listener.local_addr()?);
    let caller = Caller::new(
        domain::ids::UserId::new(),
        domain::ids::TokenId::new(),
        domain::people::TokenKind::Personal,
    );
    let profile = if variable("PROFILE", "") == "2026-09" {
        Profile::September2026
    } else {
        Profile::Audit
    };
    let shutdown = CancellationToken::new();
    let endpoint = Endpoint::try_new(Parts {
        execute: Arc::new(
            Schema::build(Root::default(), Mutation { noop: true }, Subscription)
                .disable_suggestions()
                .finish(),
        ),
        authenticate: Arc::new(OneToken {
            secret: variable("TOKEN", "t"),
            caller,
        }),
        documents: Documents::from_manifest(DocumentMode::On, r#"{"x-known:1": "{ hello }"}"#)?,
        origins: Origins::new(&address.parse()?, []),
        settings: Settings {
            profile,
            rate_limit: None,
            ping_interval: Duration::from_secs(3),
            ..Settings::default()
        },
        shutdown: shutdown.clone(),
    })?;
    let mut terminate = signal(SignalKind::terminate())?;
    let stop = {
        let shutdown = shutdown.clone();
        async move {
            terminate.recv().await;
            shutdown.cancel();
        }
    };
    axum::serve(listener, router(endpoint.clone()))
        .with_graceful_shutdown(stop)
        .await?;
    endpoint.drained().await;
    Ok(())
}
