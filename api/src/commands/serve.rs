//! `atelier serve`: from the settings to a server that runs until it is told to stop.
//!
//! Invariants
//! - SIGTERM and SIGINT end it in order: nothing new is taken, sockets close with 1012, documents are stored, exit 0, all
//!   within 10 s. A second signal ends it at once.
//! - A secret that was made at the first start is printed once, and in the part of an address that browsers do not send.

use std::io;
use std::net::SocketAddr;

use anyhow::{Context as _, Result};
use api::bootstrap::{self, FirstOwner};
use api::config::Settings;
use api::server;
use domain::secret::Secret;
use tokio::net::{TcpListener, TcpSocket};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing::info;
use url::Url;

use super::HasWorker;
use super::installation::Installation;
use super::services::Services;

/// Connections that may wait to be taken. Where everybody comes back at once, one too many is tried again only a second later.
const WAITING_CONNECTIONS: u32 = 4_096;

/// A server that is ready to run.
pub(crate) struct Prepared {
    pub(crate) services: Services,
    pub(crate) first_owner: Option<FirstOwner>,
    pub(crate) public: Url,
    listener: TcpListener,
    address: SocketAddr,
    stop: CancellationToken,
}

/// Serves until a signal comes.
pub(crate) async fn run(settings: &Settings, worker: HasWorker) -> Result<()> {
    let prepared = prepare(settings, worker).await?;
    let link = prepared.first_owner.as_ref().map(|owner| &owner.secret);
    match link.filter(|_| settings.access.bootstrap_token.is_none()) {
        Some(secret) => println!(
            "The first owner's token was made; this link is shown once:\n{}",
            sign_in_link(&prepared.public, secret)
        ),
        None => println!("The studio is at {}", prepared.public),
    }
    prepared.run().await
}

/// The studio's address with a token, in the fragment: browsers send that to nobody.
pub(crate) fn sign_in_link(public: &Url, secret: &Secret) -> String {
    format!("{public}#token={}", secret.expose())
}

/// Takes the address, opens the storage, makes the first owner where there is none, and starts the services.
pub(crate) async fn prepare(settings: &Settings, worker: HasWorker) -> Result<Prepared> {
    let listener = listen(settings.listen)
        .with_context(|| format!("the address {} can not be used", settings.listen))?;
    let address = listener.local_addr()?;
    let stop = CancellationToken::new();
    end_on_signals(&stop)?;
    let installation = Installation::open(settings).await?;
    let (store, clock) = (&installation.store, &installation.clock);
    let token = settings.access.bootstrap_token.as_ref();
    let first_owner = bootstrap::first_owner(store, clock, token).await?;
    let secret = bootstrap::installation_secret(store).await?;
    let mut services = Services::start(settings, installation, &secret, address, &stop)?;
    if worker == HasWorker::Yes {
        services.start_worker(settings)?;
    }
    Ok(Prepared {
        services,
        first_owner,
        public: settings.public_url_at(address),
        listener,
        address,
        stop,
    })
}

/// Takes an address.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    // A restarted server takes the address of its predecessor at once.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(WAITING_CONNECTIONS)
}

impl Prepared {
    /// Serves until a signal comes, and ends in order.
    pub(crate) async fn run(mut self) -> Result<()> {
        info!(address = %self.address, "serving");
        let router = self.services.router();
        let served = server::serve(self.listener, router, self.stop.clone()).await;
        // Where serving itself failed, everything else must hear of it too.
        self.stop.cancel();
        self.services.stop().await;
        info!("stopped");
        served.context("the server could not go on")
    }
}

/// Cancels `stop` at the first signal, and ends the program at the second.
pub(super) fn end_on_signals(stop: &CancellationToken) -> Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let stop = stop.clone();
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            if stop.is_cancelled() {
                std::process::exit(130);
            }
            info!("stopping");
            stop.cancel();
        }
    });
    Ok(())
}
