//! What a session speaks to: a connection of either database, or a transaction on one.
//!
//! Invariants
//! - Both databases take the same SQL and the same values, and give rows that are read alike.
//! - A value of another type than its column is told, never taken for a missing one.
//!
//! Not here: which statements there are (`session`), when transactions begin and end (`store`).

mod postgres;
mod sqlite;

use std::future::Future;
use std::sync::Arc;

use rusqlite::types::Value as Cell;
use sea_orm::{QueryResult, TryGetable, Value};

use crate::error::Fault;

pub(crate) use sqlite::{BUSY_TIMEOUT, SqliteFile, SqliteReads, SqliteWriter};

/// Runs statements.
pub(crate) trait Link: Send + Sync {
    /// Which of the two databases it is.
    fn is_postgres(&self) -> bool;

    /// Runs a statement and gives its rows.
    fn rows(
        &self,
        sql: &str,
        values: Vec<Value>,
    ) -> impl Future<Output = Result<Vec<DatabaseRow>, Fault>> + Send;

    /// Runs a statement; how many rows it touched.
    fn execute(
        &self,
        sql: &str,
        values: Vec<Value>,
    ) -> impl Future<Output = Result<u64, Fault>> + Send;
}

/// Begins transactions.
pub(crate) trait Begin: Send + Sync {
    /// What it begins.
    type Transaction: OpenTransaction;

    /// Waits for commands that are about to come, where one commit for several saves more than that, until there are as many as
    /// can be expected; for a lane whose last commits were for several.
    fn gather(&self, is_complete: impl Fn() -> bool + Send) -> impl Future<Output = ()> + Send;

    /// Begins one that may write at once.
    fn begin(&self) -> impl Future<Output = Result<Self::Transaction, Fault>> + Send;
}

/// A transaction. One that is dropped is undone, at the latest when the next one begins.
pub(crate) trait OpenTransaction: Link + Sized {
    /// Keeps what was written.
    fn commit(self) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Undoes what was written.
    fn rollback(self) -> impl Future<Output = Result<(), Fault>> + Send;
}

/// A row of either database.
#[derive(Debug)]
pub(crate) enum DatabaseRow {
    /// The driver's own.
    Postgres(QueryResult),
    /// The cells, and the columns that all rows of the statement share.
    Sqlite(Arc<[String]>, Box<[Cell]>),
}

impl DatabaseRow {
    /// The value of the column whose name is made of these two. The error is for a person.
    pub(crate) fn get<T: Column>(&self, prefix: &str, column: &str) -> Result<T, String> {
        match self {
            Self::Postgres(row) => row
                .try_get(prefix, column)
                .map_err(|error| error.to_string()),
            Self::Sqlite(columns, cells) => {
                // Lengths tell most names apart, and cost least.
                let length = prefix.len() + column.len();
                let place = columns.iter().position(|name| {
                    name.len() == length && name.starts_with(prefix) && name.ends_with(column)
                });
                let cell = place.and_then(|place| cells.get(place));
                let cell = cell.ok_or_else(|| "there is no such column".to_owned())?;
                T::from_cell(cell).ok_or_else(|| describe(cell).to_owned())
            }
        }
    }
}

/// What is stored instead of what was expected.
fn describe(cell: &Cell) -> &'static str {
    match cell {
        Cell::Null => "null",
        Cell::Integer(_) => "an integer",
        Cell::Real(_) => "a real number",
        Cell::Text(_) => "a text",
        Cell::Blob(_) => "bytes",
    }
}

/// A type that columns can be read as.
pub(crate) trait Column: TryGetable {
    /// Its value; none where something else is stored.
    fn from_cell(cell: &Cell) -> Option<Self>;
}

impl Column for i64 {
    fn from_cell(cell: &Cell) -> Option<Self> {
        match cell {
            Cell::Integer(number) => Some(*number),
            _ => None,
        }
    }
}

impl Column for bool {
    fn from_cell(cell: &Cell) -> Option<Self> {
        i64::from_cell(cell).map(|number| number != 0)
    }
}

impl Column for f64 {
    fn from_cell(cell: &Cell) -> Option<Self> {
        match cell {
            Cell::Real(number) => Some(*number),
            _ => None,
        }
    }
}

impl Column for String {
    fn from_cell(cell: &Cell) -> Option<Self> {
        match cell {
            Cell::Text(text) => Some(text.clone()),
            _ => None,
        }
    }
}

impl Column for Vec<u8> {
    fn from_cell(cell: &Cell) -> Option<Self> {
        match cell {
            Cell::Blob(bytes) => Some(bytes.clone()),
            _ => None,
        }
    }
}

impl<T: Column> Column for Option<T> {
    fn from_cell(cell: &Cell) -> Option<Self> {
        match cell {
            Cell::Null => Some(None),
            cell => T::from_cell(cell).map(Some),
        }
    }
}
