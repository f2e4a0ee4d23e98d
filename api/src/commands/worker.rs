//! `atelier worker`: the agent alone, beside any number of servers on the same database.

use std::time::Duration;

use anyhow::{Context as _, Result};
use api::bootstrap;
use api::config::Settings;
use domain::document::DocumentService;
use domain::search::SharedSearchIndex;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::installation::Installation;
use super::{agent, media, search, serve, services};

/// How long documents may take to store what is pending.
const DOCUMENTS_TIME: Duration = Duration::from_secs(2);

/// Works until a signal comes.
pub(crate) async fn run(settings: &Settings) -> Result<()> {
    let stop = CancellationToken::new();
    serve::end_on_signals(&stop)?;
    let installation = Installation::open(settings).await?;
    let documents: DocumentService = services::start_documents(&settings.limits, &installation);
    let search = search::start(settings, &installation, &documents)
        .context("the search can not be started")?;
    let choice = media::choice(&settings.media)?;
    let secret = bootstrap::installation_secret(&installation.store).await?;
    let of_media = (&secret, settings.public_url.clone());
    let keeper = media::start(settings, &choice, (&installation, &documents), of_media);
    let with = (search.clone() as SharedSearchIndex, &choice);
    let worker = agent::start(settings, &installation, &documents, with)
        .context("the worker can not be started")?;
    println!("A worker is running");
    stop.cancelled().await;
    tokio::join!(worker.stop(), keeper.stop(), search.stop());
    if timeout(DOCUMENTS_TIME, documents.stop()).await.is_err() {
        warn!("documents did not close in time; they come back from the log");
    }
    installation.close().await;
    info!("stopped");
    Ok(())
}
