//! An empty database for each test, and the macro that runs a test on both kinds.

use std::path::PathBuf;

use sea_orm::{ConnectionTrait, Database, DbErr};
use storage::{Storage, StorageOptions};
use uuid::Uuid;

/// Makes of each `async fn name(database: TestDatabase)` a test for SQLite and one for PostgreSQL.
macro_rules! on_both_databases {
    ($($name:ident),* $(,)?) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                crate::databases::on_sqlite(super::$name).await;
            })*
        }
        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                crate::databases::on_postgres(super::$name).await;
            })*
        }
    };
}
pub(crate) use on_both_databases;

/// A database that a test may open as often as it likes.
#[derive(Debug, Clone)]
pub(crate) struct TestDatabase {
    pub(crate) url: String,
    folder: PathBuf,
}

impl TestDatabase {
    /// Opens it as a process of the server does.
    pub(crate) async fn open(&self) -> Storage {
        let options = StorageOptions {
            database_url: self.url.clone(),
            connections: 8,
            blob_url: self.folder.join("blobs").display().to_string(),
            blob_options: Vec::new(),
        };
        storage::open(options).await.expect("the database opens")
    }

    /// Another empty database of the same kind.
    pub(crate) async fn new_beside(beside: &Self) -> Self {
        let folder = new_folder();
        if !beside.is_postgres() {
            let url = format!("sqlite://{}", folder.join("test.sqlite").display());
            return Self { url, folder };
        }
        let name = format!("rows_{}", Uuid::new_v4().simple());
        beside.execute(&format!("create database {name}")).await;
        let mut url: url::Url = beside.url.parse().expect("an address is a URL");
        url.set_path(&name);
        Self {
            url: url.into(),
            folder,
        }
    }

    /// Removes it.
    pub(crate) async fn remove_beside(self, beside: &Self) {
        if self.is_postgres() {
            let name = self.url.rsplit('/').next().expect("a name").to_owned();
            beside
                .execute(&format!("drop database {name} with (force)"))
                .await;
        }
        std::fs::remove_dir_all(self.folder).expect("its folder goes");
    }

    pub(crate) fn is_postgres(&self) -> bool {
        self.url.starts_with("postgres")
    }

    /// Runs a statement behind the server's back.
    pub(crate) async fn execute(&self, sql: &str) {
        self.try_execute(sql).await.expect("runs");
    }

    /// Tries to run a statement behind the server's back.
    pub(crate) async fn try_execute(&self, sql: &str) -> Result<(), DbErr> {
        let connection = Database::connect(&self.url).await.expect("connects");
        let done = connection.execute_unprepared(sql).await;
        connection.close().await.expect("closes");
        done.map(drop)
    }
}

/// Runs a test on a new SQLite file.
pub(crate) async fn on_sqlite<F>(test: fn(TestDatabase) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let folder = new_folder();
    let url = format!("sqlite://{}", folder.join("test.sqlite").display());
    finish(test, TestDatabase { url, folder }).await;
}

/// Runs a test in a new database of the server that the environment names.
pub(crate) async fn on_postgres<F>(test: fn(TestDatabase) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let Ok(server) = std::env::var("ATELIER_TEST_POSTGRES_URL") else {
        eprintln!("skipped: ATELIER_TEST_POSTGRES_URL is not set");
        return;
    };
    let name = format!("rows_{}", Uuid::new_v4().simple());
    let mut url: url::Url = server.parse().expect("the server's address is a URL");
    let server = TestDatabase {
        url: server,
        folder: new_folder(),
    };
    server.execute(&format!("create database {name}")).await;
    url.set_path(&name);
    let database = TestDatabase {
        url: url.into(),
        folder: server.folder.clone(),
    };
    finish(test, database).await;
    server
        .execute(&format!("drop database {name} with (force)"))
        .await;
}

async fn finish<F>(test: fn(TestDatabase) -> F, database: TestDatabase)
where
    F: Future<Output = ()> + Send + 'static,
{
    let folder = database.folder.clone();
    // In a task of its own, so that a large future does not lie on the stack of the test.
    if let Err(error) = tokio::spawn(test(database)).await {
        std::panic::resume_unwind(error.into_panic());
    }
    std::fs::remove_dir_all(folder).expect("the folder of the test goes");
}

fn new_folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("atelier-rows-{}", Uuid::new_v4().simple()));
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}
