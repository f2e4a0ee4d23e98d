//! A database and a folder of its own for one test.

use std::path::PathBuf;

use sea_orm::{ConnectionTrait, Database};
use storage::{Storage, StorageOptions};
use uuid::Uuid;

/// Where a test's storage lies; can be opened more than once.
pub(crate) struct Place {
    /// The database, as storage takes it.
    pub(crate) database_url: String,
    folder: PathBuf,
}

impl Place {
    /// An empty folder with a SQLite file to be.
    pub(crate) fn sqlite() -> Self {
        let folder = std::env::temp_dir().join(format!("atelier-store-{}", Uuid::new_v4()));
        std::fs::create_dir_all(&folder).expect("the folder is made");
        Self {
            database_url: format!("sqlite://{}", folder.join("atelier.sqlite").display()),
            folder,
        }
    }

    /// An empty PostgreSQL database, or none where no server is named.
    pub(crate) async fn postgres() -> Option<Self> {
        let Ok(server) = std::env::var("ATELIER_TEST_POSTGRES_URL") else {
            eprintln!("skipped: ATELIER_TEST_POSTGRES_URL is not set");
            return None;
        };
        let name = format!("atelier_{}", Uuid::new_v4().simple());
        let admin = Database::connect(&server)
            .await
            .expect("the server answers");
        admin
            .execute_unprepared(&format!("create database {name}"))
            .await
            .expect("the database is made");
        admin.close().await.expect("the connection closes");
        let mut url = url::Url::parse(&server).expect("an address");
        url.set_path(&name);
        let mut place = Self::sqlite();
        place.database_url = url.into();
        Some(place)
    }

    /// Opens it.
    pub(crate) async fn open(&self) -> Storage {
        self.try_open().await.expect("storage opens")
    }

    /// Opens it, or says why not.
    pub(crate) async fn try_open(&self) -> domain::Result<Storage> {
        storage::open(StorageOptions {
            database_url: self.database_url.clone(),
            connections: 8,
            blob_url: self.folder.join("blobs").display().to_string(),
            blob_options: Vec::new(),
        })
        .await
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.folder) {
            eprintln!("{} stays behind: {error}", self.folder.display());
        }
    }
}

/// Runs each body on both databases: `name => body`, where the body takes a [`Place`].
#[macro_export]
macro_rules! on_both_databases {
    ($($name:ident)*) => {
        mod on_sqlite {$(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name($crate::place::Place::sqlite()).await;
            }
        )*}
        mod on_postgres {$(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                if let Some(place) = $crate::place::Place::postgres().await {
                    super::$name(place).await;
                }
            }
        )*}
    };
}
