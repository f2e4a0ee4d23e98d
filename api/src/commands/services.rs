//! The services of a running server, built on an opened installation.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ::search::Search;
use anyhow::{Context as _, Result};
use api::assets::{Addresses, AssetServices};
use api::auth::Authenticate;
use api::config::{LimitSettings, Settings};
use api::graphql::transport::{self, DocumentMode, Documents, Endpoint, Origins, Parts};
use api::graphql::{self, CursorKey};
use api::health::Health;
use api::server::{self, Routes};
use api::sync::access::AccessWatch;
use api::sync::{SocketOptions, SocketServices, Sockets};
use api::telemetry;
use api::tokens::Tokens;
use axum::Router;
use domain::blob::Blobs;
use domain::document::{DocumentOptions, DocumentService};
use domain::installation::InstallationSecret;
use domain::media::MediaDesk;
use domain::time::Timestamp;
use runtime::media::JobKeeper;
use runtime::tools::MediaChoice;
use runtime::worker::Worker;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};
use url::Url;

use super::installation::Installation;
use super::{agent, media, search};

/// How long documents may take to store what is pending, once everybody has left.
const DOCUMENTS_TIME: Duration = Duration::from_secs(2);
/// How long an unfinished upload is left alone: other servers may be at it.
const UNFINISHED: Duration = Duration::from_hours(24);
/// How long sockets may take to say goodbye.
const SOCKETS_TIME: Duration = Duration::from_secs(1);

/// A server's services.
pub(crate) struct Services {
    pub(crate) installation: Installation,
    pub(crate) documents: DocumentService,
    authenticate: Arc<dyn Authenticate>,
    endpoint: Endpoint,
    sockets: Sockets,
    routes: Option<Routes>,
    worker: Option<(Worker, JobKeeper)>,
    media: MediaChoice,
    secret: InstallationSecret,
    public: Url,
    search: Arc<Search>,
}

impl Services {
    /// Starts them for a server that listens at this address; `stop` ends what they do.
    #[expect(
        clippy::too_many_lines,
        reason = "what is wired to what is read in one place"
    )]
    pub(crate) fn start(
        settings: &Settings,
        installation: Installation,
        secret: &InstallationSecret,
        address: SocketAddr,
        stop: &CancellationToken,
    ) -> Result<Self> {
        let public = settings.public_url_at(address);
        let origins = Origins::new(&public, settings.access.allowed_origins.clone());
        let documents = start_documents(&settings.limits, &installation);
        let search = search::start(settings, &installation, &documents)
            .context("the search can not be started")?;
        let (store, clock) = (installation.store.clone(), installation.clock.clone());
        tokio::spawn(sweep(installation.blobs.clone(), clock.now()));
        let watch = AccessWatch::start(store.clone(), clock.clone(), stop.clone());
        let authenticate: Arc<dyn Authenticate> =
            Tokens::start(store.clone(), clock.clone(), watch.clone(), stop.clone());
        let media = media::choice(&settings.media)?;
        let desk: Arc<dyn MediaDesk> =
            Arc::new(media::desk(&settings.media, &media, &installation));
        let addresses = Addresses::new(secret, public.clone(), clock.clone());
        let services = SocketServices {
            documents: documents.clone(),
            store: store.clone(),
            clock: clock.clone(),
            authenticate: authenticate.clone(),
            watch: watch.clone(),
            origins: origins.clone(),
        };
        let sockets = Sockets::new(services, socket_options(&settings.limits), stop.clone());
        let assets = AssetServices {
            store,
            documents: documents.clone(),
            blobs: installation.blobs.clone(),
            clock,
            authenticate: authenticate.clone(),
            addresses: addresses.clone(),
        };
        let endpoint = Endpoint::try_new(Parts {
            execute: Arc::new(graphql::schema(graphql::Services {
                store: installation.store.clone(),
                documents: documents.clone(),
                clock: installation.clock.clone(),
                cursors: CursorKey::new(&secret.0),
                search: search.clone(),
                asset_urls: Arc::new(addresses),
                media: desk.clone(),
                upload_limit: settings.limits.upload.0,
            })),
            authenticate: authenticate.clone(),
            documents: trusted_documents(settings)?,
            origins: origins.clone(),
            settings: transport_settings(settings),
            shutdown: stop.clone(),
        })
        .context("the schema can not be read")?;
        let health = Health {
            ready: Arc::new(installation.clone()),
            authenticate: authenticate.clone(),
            documents: documents.clone(),
            metrics: Some(telemetry::start_metrics().context("nothing can be measured")?),
            stop: stop.clone(),
        };
        let routes = Routes {
            endpoint: endpoint.clone(),
            sockets: sockets.clone(),
            assets,
            media: desk,
            health,
            public: public.clone(),
            origins,
        };
        Ok(Self {
            installation,
            documents,
            authenticate,
            endpoint,
            sockets,
            routes: Some(routes),
            worker: None,
            media,
            secret: *secret,
            public,
            search,
        })
    }

    /// Lets this process work on tasks as well.
    pub(crate) fn start_worker(&mut self, settings: &Settings) -> Result<()> {
        let worker = agent::start(
            settings,
            &self.installation,
            &self.documents,
            (self.search.clone(), &self.media),
        )
        .context("the worker can not be started")?;
        let keeper = media::start(
            settings,
            &self.media,
            (&self.installation, &self.documents),
            (&self.secret, Some(self.public.clone())),
        );
        self.worker = Some((worker, keeper));
        Ok(())
    }

    /// Who is behind a token.
    pub(crate) fn authenticate(&self) -> &dyn Authenticate {
        &*self.authenticate
    }

    /// All routes; taken once.
    pub(crate) fn router(&mut self) -> Router {
        self.routes.take().map(server::router).unwrap_or_default()
    }

    /// Ends what is still there after the stop: sockets, documents, storage. Nothing that was acknowledged waits for this.
    pub(crate) async fn stop(self) {
        let gone = timeout(SOCKETS_TIME, async {
            self.endpoint.drained().await;
            self.sockets.stopped().await;
        });
        let worker = async {
            if let Some((worker, keeper)) = self.worker {
                tokio::join!(worker.stop(), keeper.stop());
            }
        };
        let (gone, (), ()) = tokio::join!(gone, worker, self.search.stop());
        if gone.is_err() {
            warn!("sockets that did not close in time are cut off");
        }
        if timeout(DOCUMENTS_TIME, self.documents.stop())
            .await
            .is_err()
        {
            warn!("documents did not close in time; they come back from the log");
        }
        self.installation.close().await;
    }
}

/// Removes what uploads left behind that were cut off when a server ended.
async fn sweep(blobs: Arc<dyn Blobs>, now: Timestamp) {
    let before = Timestamp::from_micros(now.micros() - UNFINISHED.as_micros() as i64);
    match blobs.sweep(before).await {
        Ok(0) => {}
        Ok(count) => info!(count, "unfinished uploads of former times were removed"),
        Err(error) => warn!(%error, source = ?error, "unfinished uploads were not looked for"),
    }
}

pub(super) fn start_documents(
    limits: &LimitSettings,
    installation: &Installation,
) -> DocumentService {
    let options = DocumentOptions {
        threads: limits.document_threads,
        document_bytes: limits.document.0 as usize,
        awareness_bytes: limits.awareness.0 as usize,
        idle_ms: limits.document_idle.as_millis() as u64,
        ..DocumentOptions::default()
    };
    let (store, clock) = (installation.store.clone(), installation.clock.clone());
    DocumentService::start(options, store, clock)
}

fn socket_options(limits: &LimitSettings) -> SocketOptions {
    SocketOptions {
        frame_bytes: limits.frame.0 as usize,
        connections_per_person: limits.connections_per_person,
        connections_per_document: limits.connections_per_document,
        ..SocketOptions::default()
    }
}

fn transport_settings(settings: &Settings) -> transport::Settings {
    transport::Settings {
        profile: settings.graphql.status_profile,
        rate_limit: settings.access.rate_limit,
        introspection: settings.graphql.introspection,
        time_limit: settings.graphql.time_limit,
        ..transport::Settings::default()
    }
}

/// The trusted documents of the settings.
pub(super) fn trusted_documents(settings: &Settings) -> Result<Documents> {
    let mode = settings.graphql.trusted_documents;
    match (&settings.graphql.trusted_documents_manifest, mode) {
        (_, DocumentMode::Off) | (None, _) => Ok(Documents::off()),
        (Some(path), mode) => Documents::load(mode, path)
            .with_context(|| format!("the file {} is not used", path.display())),
    }
}
