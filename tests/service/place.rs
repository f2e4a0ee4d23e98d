//! An empty database for each test, and the macro that runs a test on both kinds.

use std::path::PathBuf;

use sea_orm::{ConnectionTrait as _, Database};
use storage::{Storage, StorageOptions};
use uuid::Uuid;

/// Makes of each `async fn name(place: Place)` a test for SQLite and one for PostgreSQL.
macro_rules! on_both_databases {
    ($($name:ident),* $(,)?) => {$(
        mod $name {
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() {
                let place = crate::place::Place::sqlite();
                Box::pin(super::$name(&place)).await;
                place.remove().await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_postgres() {
                let Some(place) = crate::place::Place::postgres().await else {
                    return;
                };
                Box::pin(super::$name(&place)).await;
                place.remove().await;
            }
        }
    )*};
}
pub(crate) use on_both_databases;

/// Where a test's storage lies.
pub(crate) struct Place {
    database_url: String,
    folder: PathBuf,
    /// The server and the database that was made in it.
    made: Option<(String, String)>,
}

impl Place {
    /// Whether processes on it hear of each other's changes.
    pub(crate) fn is_shared(&self) -> bool {
        self.made.is_some()
    }

    /// A SQLite file to be.
    pub(crate) fn sqlite() -> Self {
        let folder = std::env::temp_dir().join(format!("atelier-service-{}", Uuid::new_v4()));
        std::fs::create_dir_all(&folder).expect("the folder is made");
        Self {
            database_url: format!("sqlite://{}", folder.join("atelier.sqlite").display()),
            folder,
            made: None,
        }
    }

    /// An empty PostgreSQL database, or none where no server is named.
    pub(crate) async fn postgres() -> Option<Self> {
        let Ok(server) = std::env::var("ATELIER_TEST_POSTGRES_URL") else {
            eprintln!("left out: ATELIER_TEST_POSTGRES_URL names no PostgreSQL");
            return None;
        };
        let name = format!("service_{}", Uuid::new_v4().simple());
        execute(&server, &format!("create database {name}")).await;
        let (base, _) = server.rsplit_once('/').expect("a URL with a database");
        Some(Self {
            database_url: format!("{base}/{name}"),
            made: Some((server.clone(), name)),
            ..Self::sqlite()
        })
    }

    /// Opens it as a process of the server does.
    pub(crate) async fn open(&self) -> Storage {
        let options = StorageOptions {
            database_url: self.database_url.clone(),
            connections: 8,
            blob_url: self.folder.join("blobs").display().to_string(),
            blob_options: Vec::new(),
        };
        storage::open(options).await.expect("storage opens")
    }

    /// Removes everything: the test has passed, and nothing is connected any more.
    pub(crate) async fn remove(self) {
        if let Some((server, name)) = &self.made {
            execute(server, &format!("drop database {name} with (force)")).await;
        }
        std::fs::remove_dir_all(&self.folder).expect("the folder goes");
    }
}

async fn execute(database_url: &str, sql: &str) {
    let connection = Database::connect(database_url).await.expect("connects");
    connection.execute_unprepared(sql).await.expect("runs");
    connection.close().await.expect("closes");
}
