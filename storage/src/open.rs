//! Opening storage: database, schema, blobs.
//!
//! Invariants
//! - SQLite: one process, one writer, synced commits (`synchronous=FULL` in WAL mode): what is acknowledged survives a
//!   loss of power.
//! - PostgreSQL: processes that start together migrate one after the other, under an advisory lock.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::blob::Blobs;
use domain::store::SharedStore;
use domain::{Error, Result};
use migrations::Migrator;
use sea_orm::sqlx::sqlite::{SqliteJournalMode, SqliteSynchronous};
use sea_orm::{ConnectOptions, ConnectionTrait, Database, DatabaseConnection, Statement};
use sea_orm_migration::MigratorTrait;

use crate::blobs;
use crate::error::from_db;
use crate::link::{BUSY_TIMEOUT, SqliteFile, SqliteReads, SqliteWriter};
use crate::store::{DatabaseStore, LANES};

/// The key of the advisory lock under which PostgreSQL is migrated.
const MIGRATION_LOCK: i64 = 0x0061_7465_6c69_6572;

/// Where everything lies.
#[derive(Debug, Clone)]
pub struct StorageOptions {
    /// `sqlite://PATH` or `postgres://…`.
    pub database_url: String,
    /// Connections to PostgreSQL.
    pub connections: u32,
    /// A folder, `file://…` or `s3://bucket/prefix`.
    pub blob_url: String,
    /// Settings of the object store, such as `aws_region`.
    pub blob_options: Vec<(String, String)>,
}

/// Opened storage.
pub struct Storage {
    /// Commands, reads, wake-ups.
    pub store: SharedStore,
    /// Bytes of assets.
    pub blobs: Arc<dyn Blobs>,
    database: Arc<DatabaseStore>,
    /// sea-orm's own connections: on SQLite one that looks at the schema, on PostgreSQL all there are.
    connections: Vec<DatabaseConnection>,
    /// Held for as long as this process owns the SQLite file.
    _lock: Option<File>,
}

/// Opens the database, brings it to this version, and opens the blobs.
pub async fn open(options: StorageOptions) -> Result<Storage> {
    let opened = match options.database_url.strip_prefix("sqlite://") {
        Some(path) => open_sqlite(Path::new(path)).await?,
        None => open_postgres(&options, Schema::Migrate).await?,
    };
    start(&options, opened)
}

/// Opens what is there as it is, also beside a server that owns it: for looking, not for serving.
///
/// Nothing is made and nothing is migrated; a database of another version is `Unavailable`.
pub async fn open_beside(options: StorageOptions) -> Result<Storage> {
    let opened = match options.database_url.strip_prefix("sqlite://") {
        Some(path) => open_sqlite_beside(Path::new(path)).await?,
        None => open_postgres(&options, Schema::Keep).await?,
    };
    let storage = start(&options, opened)?;
    storage.ready().await?;
    Ok(storage)
}

/// What becomes of a schema of another version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Schema {
    Migrate,
    Keep,
}

/// How long a transaction may stand still on PostgreSQL: a process that was stopped in the middle of one would hold up everybody
/// else in its workspaces for as long as it is. It is rolled back then, and run again by a process that goes on.
const STANDSTILL: &str = "10s";

/// An opened database.
struct Opened {
    store: DatabaseStore,
    connections: Vec<DatabaseConnection>,
    lock: Option<File>,
}

fn start(options: &StorageOptions, opened: Opened) -> Result<Storage> {
    let blobs = blobs::open(&options.blob_url, &options.blob_options)?;
    let database = Arc::new(opened.store);
    Ok(Storage {
        store: database.clone(),
        blobs,
        database,
        connections: opened.connections,
        _lock: opened.lock,
    })
}

async fn open_sqlite(path: &Path) -> Result<Opened> {
    let lock = lock_file(path)?;
    let schema = connect_sqlite(path).await?;
    Migrator::up(&schema, None).await.map_err(from_db)?;
    start_sqlite(path, schema, Some(lock))
}

async fn open_sqlite_beside(path: &Path) -> Result<Opened> {
    if !path.exists() {
        let text = format!("there is no database at {}", path.display());
        return Err(Error::Unavailable(text.into()));
    }
    let schema = connect_sqlite(path).await?;
    start_sqlite(path, schema, None)
}

fn start_sqlite(path: &Path, schema: DatabaseConnection, lock: Option<File>) -> Result<Opened> {
    let file = SqliteFile::new(path);
    let writer = SqliteWriter::connect(&file).map_err(from_db)?;
    let reader = SqliteReads::connect(&file).map_err(from_db)?;
    Ok(Opened {
        store: DatabaseStore::on_sqlite(reader, writer)?,
        connections: vec![schema],
        lock,
    })
}

/// Refuses a second process on one file.
fn lock_file(path: &Path) -> Result<File> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let name = PathBuf::from(name);
    let file = File::create(&name)
        .map_err(|error| Error::Unavailable(format!("{}: {error}", name.display()).into()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let text = "another process has this data folder open; stop it, or use PostgreSQL for several processes";
            Err(Error::Conflict(text.to_owned()))
        }
        Err(TryLockError::Error(error)) => Err(Error::Unavailable(error.into())),
    }
}

/// The connection that sea-orm migrates with.
async fn connect_sqlite(path: &Path) -> Result<DatabaseConnection> {
    let mut options = ConnectOptions::new(format!("sqlite://{}", path.display()));
    options
        .max_connections(1)
        // A file does not hang up.
        .test_before_acquire(false)
        .sqlx_logging(false);
    options.map_sqlx_sqlite_opts(|options| {
        options
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(BUSY_TIMEOUT)
    });
    Database::connect(options).await.map_err(from_db)
}

async fn open_postgres(options: &StorageOptions, schema: Schema) -> Result<Opened> {
    let readers = options.connections.saturating_sub(LANES).max(LANES);
    let mut connect = ConnectOptions::new(&options.database_url);
    connect.max_connections(readers).sqlx_logging(false);
    let reader = Database::connect(connect.clone()).await.map_err(from_db)?;
    if schema == Schema::Migrate {
        migrate_postgres(options).await?;
    }
    // Lanes run again what a lost connection interrupts, so they need not ask first whether it still stands.
    connect.max_connections(LANES).test_before_acquire(false);
    connect.map_sqlx_postgres_opts(|options| {
        options.options([("idle_in_transaction_session_timeout", STANDSTILL)])
    });
    let writer = Database::connect(connect).await.map_err(from_db)?;
    Ok(Opened {
        store: DatabaseStore::on_postgres(reader.clone(), &writer),
        connections: vec![reader, writer],
        lock: None,
    })
}

/// One connection of its own, because the lock belongs to the connection.
async fn migrate_postgres(options: &StorageOptions) -> Result<()> {
    let mut connect = ConnectOptions::new(&options.database_url);
    connect.max_connections(1).sqlx_logging(false);
    let connection = Database::connect(connect).await.map_err(from_db)?;
    // The migrator makes its table if it is not there, and PostgreSQL would say each time that it is.
    let lock =
        format!("set client_min_messages = warning; select pg_advisory_lock({MIGRATION_LOCK})");
    connection
        .execute_unprepared(&lock)
        .await
        .map_err(from_db)?;
    let migrated = Migrator::up(&connection, None).await.map_err(from_db);
    // Closing the connection gives the lock back.
    connection.close().await.map_err(from_db)?;
    migrated
}

impl Storage {
    fn connection(&self) -> &DatabaseConnection {
        &self.connections[0]
    }

    /// Whether the database answers and has this version's schema.
    pub async fn ready(&self) -> Result<()> {
        let pending = Migrator::get_pending_migrations_read_only(self.connection())
            .await
            .map_err(from_db)?;
        if pending.is_empty() {
            return Ok(());
        }
        Err(Error::Unavailable(
            format!("{} migrations are missing", pending.len()).into(),
        ))
    }

    /// What the database itself finds damaged; PostgreSQL is looked after by its own tools.
    pub async fn integrity(&self) -> Result<Vec<String>> {
        let connection = self.connection();
        let backend = connection.get_database_backend();
        if backend != sea_orm::DbBackend::Sqlite {
            return Ok(Vec::new());
        }
        let statement = Statement::from_string(backend, "pragma integrity_check");
        let rows = connection.query_all_raw(statement).await.map_err(from_db)?;
        let texts: Vec<String> = rows
            .iter()
            .map(|row| row.try_get_by_index(0))
            .collect::<Result<_, _>>()
            .map_err(from_db)?;
        Ok(texts.into_iter().filter(|text| text != "ok").collect())
    }

    /// Ends what storage does in the background, and closes its connections.
    pub async fn close(&self) {
        self.database.stop().await;
        for connection in &self.connections {
            if let Err(error) = connection.clone().close().await {
                tracing::warn!(%error, "a database connection did not close");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use domain::ids::WorkspaceId;
    use domain::people::Workspace;
    use domain::store::{Command, Scope, StoreExt as _, Transaction};
    use domain::time::Timestamp;

    use super::*;
    use crate::link::{Begin as _, Link as _, OpenTransaction as _};

    /// Makes a workspace, and fails if it is told to.
    struct Make {
        workspace: Workspace,
        refusal: Option<&'static str>,
    }

    #[async_trait]
    impl Command for Make {
        type Output = ();
        const NAME: &'static str = "test.make";

        fn scope(&self) -> Scope {
            Scope::Installation
        }

        async fn run(&self, tx: &dyn Transaction) -> Result<()> {
            tx.insert_workspace(&self.workspace).await?;
            match self.refusal {
                Some(text) => Err(Error::Invalid(text.to_owned())),
                None => Ok(()),
            }
        }
    }

    fn make(name: &str, refusal: Option<&'static str>) -> Make {
        let workspace = Workspace {
            id: WorkspaceId::new(),
            name: name.to_owned(),
            created_at: Timestamp::from_micros(0),
        };
        Make { workspace, refusal }
    }

    /// SQLite undoes the transaction that meets the end of the disk by itself: whoever counts on an open one after that
    /// lets later commits stay in one that never ends.
    #[tokio::test]
    async fn what_is_stored_after_a_full_disk_is_there_when_opened_again() {
        let folder = std::env::temp_dir().join(format!("atelier-full-{}", uuid::Uuid::new_v4()));
        std::fs::create_dir_all(&folder).expect("the folder is made");
        let path = folder.join("atelier.sqlite");
        let opened = open_sqlite(&path).await.expect("opens");
        drop(opened);
        let file = SqliteFile::new(&path);
        let writer = SqliteWriter::connect(&file).expect("connects");
        let reader = SqliteReads::connect(&file).expect("connects");
        // The lane's one connection meets the end of a small disk.
        let transaction = writer.begin().await.expect("begins");
        let full = "pragma max_page_count = 1";
        transaction.rows(full, Vec::new()).await.expect("is set");
        transaction.rollback().await.expect("ends");
        let database = Arc::new(DatabaseStore::on_sqlite(reader, writer).expect("starts"));
        let store: SharedStore = database.clone();
        let refused = store.run(make(&"x".repeat(100_000), None)).await;
        assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
        let refused = store.run(make("refused", Some("no"))).await;
        assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
        let kept = make("kept", None);
        let id = kept.workspace.id;
        store.run(kept).await.expect("is stored");
        database.stop().await;
        drop((store, database));

        let reader = SqliteReads::connect(&file).expect("connects again");
        let sql = "select id from workspaces";
        let rows = reader.rows(sql, Vec::new()).await.expect("reads");
        let ids: Vec<Vec<u8>> = rows
            .iter()
            .map(|row| row.get("", "id").expect("an id"))
            .collect();
        assert_eq!(ids, [id.uuid().as_bytes().to_vec()]);
        std::fs::remove_dir_all(&folder).expect("the folder goes");
    }
}
