//! An opened installation: database, blobs, clock and secret behind the ports of the domain.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use api::config::{Settings, StorageSettings};
use api::health::Ready;
use async_trait::async_trait;
use domain::blob::Blobs;
use domain::store::SharedStore;
use domain::time::{SharedClock, SystemClock};
use storage::{Storage, StorageOptions};

/// What the commands of the program work on.
#[derive(Clone)]
pub(crate) struct Installation {
    storage: Arc<Storage>,
    pub(crate) store: SharedStore,
    pub(crate) blobs: Arc<dyn Blobs>,
    pub(crate) clock: SharedClock,
}

impl Installation {
    /// Opens the database, brings it to this version, and opens the blobs.
    pub(crate) async fn open(settings: &Settings) -> Result<Self> {
        let folder = &settings.storage.data_dir;
        std::fs::create_dir_all(folder)
            .with_context(|| format!("the data folder {} can not be made", folder.display()))?;
        let storage = storage::open(options(&settings.storage)).await;
        storage
            .map(Self::new)
            .context("the storage can not be opened")
    }

    /// Opens what is there as it is, also beside a running server: for looking at it.
    pub(crate) async fn open_beside(settings: &Settings) -> Result<Self> {
        let storage = storage::open_beside(options(&settings.storage)).await;
        storage
            .map(Self::new)
            .context("the storage can not be opened; where the database is of an earlier version, run `atelier migrate` first")
    }

    fn new(storage: Storage) -> Self {
        let store = storage.store.clone();
        #[cfg(feature = "test-support")]
        let store = storage::faults::from_environment(store);
        Self {
            store,
            blobs: storage.blobs.clone(),
            storage: Arc::new(storage),
            clock: Arc::new(SystemClock),
        }
    }

    /// What a database says is damaged in it.
    pub(crate) async fn integrity(&self) -> domain::Result<Vec<String>> {
        self.storage.integrity().await
    }

    /// Ends what storage does in the background.
    pub(crate) async fn close(&self) {
        self.storage.close().await;
    }
}

#[async_trait]
impl Ready for Installation {
    async fn ready(&self) -> domain::Result<()> {
        self.storage.ready().await
    }
}

fn options(settings: &StorageSettings) -> StorageOptions {
    let folder = &settings.data_dir;
    let database_url = match &settings.database_url {
        Some(url) => url.expose().to_owned(),
        None => format!("sqlite://{}", folder.join("atelier.sqlite").display()),
    };
    let blob_url = match &settings.blob_url {
        Some(url) => url.clone(),
        None => folder.join("blobs").display().to_string(),
    };
    let object_store = settings.object_store.iter();
    StorageOptions {
        database_url,
        connections: settings.database_connections,
        blob_url,
        blob_options: object_store
            .map(|(name, value)| (name.clone(), value.expose().to_owned()))
            .collect(),
    }
}
