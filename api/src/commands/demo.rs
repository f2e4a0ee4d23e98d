//! `atelier demo`: a server with a small workspace to look at.
//!
//! Invariants
//! - Without a named folder everything lies in a temporary one, which is removed at the end.
//! - In a named folder the works and the token of the first run are found again by every later one.
//! - The token lies in the folder, readable by its owner alone.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use api::config::Settings;
use api::tokens;
use domain::people::Caller;
use domain::secret::Secret;

use super::serve::{Prepared, prepare, sign_in_link};
use super::{HasWorker, Started, demo_content};

/// The file with the demo's token.
const TOKEN_FILE: &str = "demo-token";

/// A folder that is removed when this is dropped.
struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    fn make() -> Result<Self> {
        let name = format!("atelier-demo-{}", uuid::Uuid::new_v4().simple());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).with_context(|| format!("{} can not be made", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::warn!(%error, folder = %self.0.display(), "the demo's folder stays");
        }
    }
}

/// Serves the demo until a signal comes.
pub(crate) async fn run(started: Started) -> Result<()> {
    let mut settings = started.settings;
    let temporary = if started.names_data_dir {
        None
    } else {
        let folder = TemporaryFolder::make()?;
        settings.storage.data_dir.clone_from(&folder.0);
        Some(folder)
    };
    let secret = demo_token(&settings)?;
    settings.access.bootstrap_token = Some(secret.clone());
    let prepared = prepare(&settings, HasWorker::Yes).await?;
    let caller = sign_in(&prepared, &secret).await?;
    demo_content::fill(&prepared.services, &caller).await?;
    println!(
        "A small workspace is ready; open\n{}",
        sign_in_link(&prepared.public, &secret)
    );
    let ended = prepared.run().await;
    drop(temporary);
    ended
}

/// The token of the folder: the one that lies there, else a new one, which is put there first.
fn demo_token(settings: &Settings) -> Result<Secret> {
    let folder = &settings.storage.data_dir;
    fs::create_dir_all(folder)
        .with_context(|| format!("the data folder {} can not be made", folder.display()))?;
    let path = folder.join(TOKEN_FILE);
    if path.exists() {
        let text = fs::read_to_string(&path)
            .with_context(|| format!("{} can not be read", path.display()))?;
        return Ok(Secret::new(text.trim()));
    }
    let given = settings.access.bootstrap_token.clone();
    let secret = given.unwrap_or_else(|| Secret::new(tokens::new_secret()));
    write_token(&path, &secret)
        .with_context(|| format!("{} can not be written", path.display()))?;
    Ok(secret)
}

fn write_token(path: &Path, secret: &Secret) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    writeln!(file, "{}", secret.expose())?;
    file.sync_all()
}

async fn sign_in(prepared: &Prepared, secret: &Secret) -> Result<Caller> {
    let authenticate = prepared.services.authenticate();
    match authenticate.authenticate(Some(secret.expose())).await {
        Ok(caller) => Ok(caller),
        Err(domain::Error::Unauthenticated(_)) => bail!(
            "the database has an owner whose token is not the demo's; name another folder by --data-dir, or use `atelier serve`"
        ),
        Err(error) => Err(error.into()),
    }
}
