//! SQLite, run in the thread that asks: a statement takes some microseconds, and handing it to another thread takes longer.
//!
//! Invariants
//! - One connection writes. It is asked by the lane alone, which has a thread of its own and waits there for the disk.
//! - Reads take a connection that nobody uses, so that none waits for another one.
//! - A transaction that nobody ended is undone before the next one begins.
//!
//! Not here: the schema (`migrations`), which goes through sea-orm's driver when the file is opened.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::types::{Null, Value as Cell, ValueRef};
use rusqlite::{CachedStatement, Connection, OpenFlags, ToSql};
use sea_orm::Value;

use super::{Begin, DatabaseRow, Link, OpenTransaction};
use crate::error::Fault;

/// How long SQLite waits for another program that holds its file.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Pages in the write-ahead log after which they are copied into the file, 32 MiB: what changes all the time is copied once.
const CHECKPOINT_PAGES: u32 = 8_000;
/// Prepared statements that a connection keeps; inserts of so many rows are statements of their own.
const STATEMENTS: usize = 256;
/// How often it is looked whether all commands are there, and how long is waited each time: together a fraction of what a commit takes.
const LOOKS: u32 = 4;
const BETWEEN_LOOKS: Duration = Duration::from_micros(50);
/// Connections that are kept for reading when nobody reads.
const IDLE_READERS: usize = 4;

/// A database file.
#[derive(Debug, Clone)]
pub(crate) struct SqliteFile(PathBuf);

impl SqliteFile {
    /// A file that is there.
    pub(crate) fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// Connects. Commits are synced: what is acknowledged survives a loss of power.
    fn connect(&self) -> Result<Connection, Fault> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.0, flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "synchronous", "full")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        // Otherwise a statement is prepared anew whenever its limit is bound, because a plan may suit only one value.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok(connection)
    }
}

/// The connection that writes.
#[derive(Debug, Clone)]
pub(crate) struct SqliteWriter(Arc<Mutex<Connection>>);

impl SqliteWriter {
    /// Connects.
    pub(crate) fn connect(file: &SqliteFile) -> Result<Self, Fault> {
        Ok(Self(Arc::new(Mutex::new(file.connect()?))))
    }
}

impl Begin for SqliteWriter {
    type Transaction = SqliteTransaction;

    async fn gather(&self, is_complete: impl Fn() -> bool + Send) {
        // Those who were answered by the last commit come back one after the other. The lane's thread has nothing else to
        // do, and timers of its runtime are too coarse for this.
        for _ in 0..LOOKS {
            if is_complete() {
                return;
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
    }

    async fn begin(&self) -> Result<SqliteTransaction, Fault> {
        let connection = lock(&self.0);
        if !connection.is_autocommit() {
            execute(&connection, "rollback", &[])?;
        }
        // It takes its write lock at once: a transaction that reads first could not be lifted to a writing one.
        execute(&connection, "begin immediate", &[])?;
        drop(connection);
        Ok(SqliteTransaction(self.0.clone()))
    }
}

/// A transaction of the writer.
#[derive(Debug)]
pub(crate) struct SqliteTransaction(Arc<Mutex<Connection>>);

impl Link for SqliteTransaction {
    fn is_postgres(&self) -> bool {
        false
    }

    async fn rows(&self, sql: &str, values: Vec<Value>) -> Result<Vec<DatabaseRow>, Fault> {
        rows(&lock(&self.0), sql, &values)
    }

    async fn execute(&self, sql: &str, values: Vec<Value>) -> Result<u64, Fault> {
        execute(&lock(&self.0), sql, &values)
    }
}

impl OpenTransaction for SqliteTransaction {
    async fn commit(self) -> Result<(), Fault> {
        execute(&lock(&self.0), "commit", &[]).map(drop)
    }

    async fn rollback(self) -> Result<(), Fault> {
        let connection = lock(&self.0);
        // A full disk makes SQLite undo the transaction by itself.
        if connection.is_autocommit() {
            return Ok(());
        }
        execute(&connection, "rollback", &[]).map(drop)
    }
}

/// Connections that read what is committed.
#[derive(Debug, Clone)]
pub(crate) struct SqliteReads(Arc<Readers>);

#[derive(Debug)]
struct Readers {
    file: SqliteFile,
    idle: Mutex<Vec<Connection>>,
}

impl SqliteReads {
    /// Connects.
    pub(crate) fn connect(file: &SqliteFile) -> Result<Self, Fault> {
        let idle = Mutex::new(vec![file.connect()?]);
        let file = file.clone();
        Ok(Self(Arc::new(Readers { file, idle })))
    }

    fn read<T>(&self, read: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, Fault> {
        let idle = lock(&self.0.idle).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.0.file.connect()?,
        };
        let result = read(&connection);
        let mut idle = lock(&self.0.idle);
        if idle.len() < IDLE_READERS {
            idle.push(connection);
        }
        result
    }
}

impl Link for SqliteReads {
    fn is_postgres(&self) -> bool {
        false
    }

    async fn rows(&self, sql: &str, values: Vec<Value>) -> Result<Vec<DatabaseRow>, Fault> {
        self.read(|connection| rows(connection, sql, &values))
    }

    async fn execute(&self, sql: &str, values: Vec<Value>) -> Result<u64, Fault> {
        self.read(|connection| execute(connection, sql, &values))
    }
}

fn rows(connection: &Connection, sql: &str, values: &[Value]) -> Result<Vec<DatabaseRow>, Fault> {
    let mut statement = connection.prepare_cached(sql)?;
    let columns: Arc<[String]> = statement
        .column_names()
        .into_iter()
        .map(ToOwned::to_owned)
        .collect();
    bind(&mut statement, values)?;
    let mut found = Vec::new();
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        let cells = (0..columns.len()).map(|place| row.get_ref(place).map(cell));
        let cells = cells.collect::<Result<Box<[Cell]>, _>>()?;
        found.push(DatabaseRow::Sqlite(columns.clone(), cells));
    }
    Ok(found)
}

fn execute(connection: &Connection, sql: &str, values: &[Value]) -> Result<u64, Fault> {
    let mut statement = connection.prepare_cached(sql)?;
    bind(&mut statement, values)?;
    Ok(statement.raw_execute()? as u64)
}

/// Binds the values to their placeholders. SQLite counts `$2` as a name, in the order in which names come.
fn bind(statement: &mut CachedStatement<'_>, values: &[Value]) -> Result<(), Fault> {
    for place in 1..=statement.parameter_count() {
        let name = statement.parameter_name(place);
        let number = name.and_then(|name| name.strip_prefix('$')?.parse().ok());
        let number: usize = number.unwrap_or(place);
        let value = number.checked_sub(1).and_then(|index| values.get(index));
        let value = value.ok_or(rusqlite::Error::InvalidParameterCount(values.len(), number))?;
        statement.raw_bind_parameter(place, to_sql(value)?)?;
    }
    Ok(())
}

fn to_sql(value: &Value) -> Result<&dyn ToSql, Fault> {
    Ok(match value {
        Value::Bool(Some(value)) => value,
        Value::Int(Some(value)) => value,
        Value::BigInt(Some(value)) => value,
        Value::Double(Some(value)) => value,
        Value::String(Some(value)) => value,
        Value::Bytes(Some(value)) => value,
        Value::Bool(None)
        | Value::Int(None)
        | Value::BigInt(None)
        | Value::Double(None)
        | Value::String(None)
        | Value::Bytes(None) => &Null,
        other => {
            let text = format!("no value for SQLite: {other:?}");
            return Err(rusqlite::Error::ToSqlConversionFailure(text.into()).into());
        }
    })
}

/// What is stored; a text that is none is bytes, and whoever reads it as a text is told.
fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Real(number) => Cell::Real(number),
        ValueRef::Text(text) => match String::from_utf8(text.to_vec()) {
            Ok(text) => Cell::Text(text),
            Err(error) => Cell::Blob(error.into_bytes()),
        },
        ValueRef::Blob(bytes) => Cell::Blob(bytes.to_vec()),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // SQLite's own state decides what became of a statement, whoever panicked around it.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
