//! Empty databases for tests of other crates: a SQLite file, or a new database of the PostgreSQL that the environment names.
//!
//! Invariants
//! - Each test has a database of its own, and removes it; one that failed leaves it for whoever looks.

use std::path::{Path, PathBuf};

use sea_orm::{ConnectionTrait, Database};

use crate::{Storage, StorageOptions};

/// A database of a test, which may be opened as often as the test likes.
#[derive(Debug, Clone)]
pub struct TestDatabase {
    url: String,
    folder: PathBuf,
    /// The server that holds it, and its name there.
    server: Option<(String, String)>,
}

impl TestDatabase {
    /// A new SQLite file.
    pub fn sqlite() -> Self {
        Self::sqlite_below(&std::env::temp_dir())
    }

    /// A new SQLite file that lies in memory where the machine has a place for that: for tests that store a great deal, and ask
    /// nothing of the disk.
    pub fn sqlite_in_memory() -> Self {
        Self::sqlite_below(&memory())
    }

    fn sqlite_below(place: &Path) -> Self {
        let folder = new_folder(place);
        Self {
            url: format!("sqlite://{}", folder.join("test.sqlite").display()),
            folder,
            server: None,
        }
    }

    /// A copy of a SQLite database that nobody has open, in memory as well.
    pub fn copy_in_memory(&self) -> Self {
        assert!(self.server.is_none(), "files can be copied");
        let copy = Self::sqlite_in_memory();
        for entry in std::fs::read_dir(&self.folder).expect("the folder is there") {
            let file = entry.expect("its files can be listed").path();
            if file.is_file() {
                let name = file.file_name().expect("a file has a name");
                std::fs::copy(&file, copy.folder.join(name)).expect("a file can be copied");
            }
        }
        copy
    }

    /// A new database on PostgreSQL; none where `ATELIER_TEST_POSTGRES_URL` names no server.
    pub async fn postgres() -> Option<Self> {
        let server = std::env::var("ATELIER_TEST_POSTGRES_URL").ok()?;
        let name = format!("test_{}", uuid::Uuid::new_v4().simple());
        let mut url: url::Url = server.parse().expect("the server's address is a URL");
        execute(&server, &format!("create database {name}")).await;
        url.set_path(&name);
        Some(Self {
            url: url.into(),
            folder: new_folder(&std::env::temp_dir()),
            server: Some((server, name)),
        })
    }

    /// Opens it as a process of the server does.
    pub async fn open(&self) -> Storage {
        let options = StorageOptions {
            database_url: self.url.clone(),
            connections: 8,
            blob_url: self.folder.join("blobs").display().to_string(),
            blob_options: Vec::new(),
        };
        crate::open(options).await.expect("the database opens")
    }

    /// Runs a statement behind the program's back.
    pub async fn execute(&self, sql: &str) {
        execute(&self.url, sql).await;
    }

    /// Removes it.
    pub async fn remove(self) {
        if let Some((server, name)) = &self.server {
            execute(server, &format!("drop database {name} with (force)")).await;
        }
        std::fs::remove_dir_all(&self.folder).expect("the folder of the test goes");
    }
}

async fn execute(url: &str, sql: &str) {
    let connection = Database::connect(url).await.expect("connects");
    connection.execute_unprepared(sql).await.expect("runs");
    connection.close().await.expect("closes");
}

/// Linux has a file system in memory here.
fn memory() -> PathBuf {
    let place = PathBuf::from("/dev/shm");
    if place.is_dir() {
        place
    } else {
        std::env::temp_dir()
    }
}

fn new_folder(place: &Path) -> PathBuf {
    let name = format!("atelier-test-{}", uuid::Uuid::new_v4().simple());
    let folder = place.join(name);
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}
