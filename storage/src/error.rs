//! What goes wrong in a database, as the errors of the domain.
//!
//! Invariants
//! - Conflicts between transactions are told by the database's code, never by its text.

use domain::Error;
use rusqlite::ErrorCode;
use rusqlite::ffi::{
    SQLITE_CONSTRAINT_FOREIGNKEY, SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE,
};
use sea_orm::sqlx::Error as SqlxError;
use sea_orm::{DbErr, RuntimeErr, SqlErr};

/// Codes of conflicts that a second run may get past: serialization failure and deadlock of PostgreSQL.
const CONFLICTS: [&str; 2] = ["40001", "40P01"];
/// PostgreSQL stores no text that holds the character U+0000.
const UNSTORABLE_TEXT: [&str; 2] = ["22021", "22P05"];
/// Starts of codes that say the database can not do it now: PostgreSQL's lost connections, lack of room, shutting down.
const PASSING: [&str; 3] = ["08", "53", "57"];
/// Starts of PostgreSQL's codes for a connection that is gone: lost, or ended because the server stops.
const LOST: [&str; 2] = ["08", "57P"];

/// What a statement failed with.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// PostgreSQL, or the driver that brings the schema up to date on either database.
    #[error(transparent)]
    Driver(#[from] DbErr),
    /// SQLite.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
}

/// A fault of the database, for callers of the domain.
pub(crate) fn from_db(fault: impl Into<Fault>) -> Error {
    match fault.into() {
        Fault::Driver(error) => from_driver(error),
        Fault::Sqlite(error) => from_sqlite(error),
    }
}

fn from_driver(error: DbErr) -> Error {
    match error.sql_err() {
        Some(SqlErr::UniqueConstraintViolation(_)) => return exists_already(),
        Some(SqlErr::ForeignKeyConstraintViolation(_)) => return belongs_nowhere(),
        _ => {}
    }
    match code(&error) {
        Some(code) if UNSTORABLE_TEXT.contains(&code.as_str()) => {
            Error::Invalid("texts can not hold the character U+0000".to_owned())
        }
        Some(code) if is_passing(&code) => Error::Unavailable(error.into()),
        // A statement that the database refuses now, it will refuse again.
        Some(_) => Error::Internal(error.into()),
        None if is_unreadable(&error) => Error::Internal(error.into()),
        None => Error::Unavailable(error.into()),
    }
}

fn from_sqlite(error: rusqlite::Error) -> Error {
    match error.sqlite_error().map(|error| error.extended_code) {
        Some(SQLITE_CONSTRAINT_PRIMARYKEY | SQLITE_CONSTRAINT_UNIQUE) => return exists_already(),
        Some(SQLITE_CONSTRAINT_FOREIGNKEY) => return belongs_nowhere(),
        _ => {}
    }
    match error.sqlite_error_code() {
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen,
        ) => Error::Unavailable(error.into()),
        _ => Error::Internal(error.into()),
    }
}

fn exists_already() -> Error {
    Error::Conflict("this exists already".to_owned())
}

fn belongs_nowhere() -> Error {
    Error::Conflict("what this belongs to does not exist".to_owned())
}

fn is_passing(code: &str) -> bool {
    CONFLICTS.contains(&code) || PASSING.iter().any(|class| code.starts_with(class))
}

fn is_unreadable(error: &DbErr) -> bool {
    matches!(
        error,
        DbErr::Type(_) | DbErr::Json(_) | DbErr::RecordNotFound(_)
    )
}

/// A row that can not be read; the key names it.
pub(crate) fn damaged(
    table: &str,
    column: &str,
    key: &str,
    found: &dyn std::fmt::Display,
) -> Error {
    Error::internal(format!(
        "table {table}, column {column}, row with {key}: `{found}` can not be read"
    ))
}

/// Whether a statement failed because it met another transaction, or because its connection was lost. Before the commit
/// nothing of its transaction is stored then, and it may be run again.
pub(crate) fn is_interrupted(fault: &Fault) -> bool {
    is_conflict(fault) || matches!(fault, Fault::Driver(error) if is_lost(error))
}

/// Whether a statement failed because it met another transaction: the database says that all of its own is undone.
pub(crate) fn is_conflict(fault: &Fault) -> bool {
    match fault {
        Fault::Driver(error) => code(error).is_some_and(|code| CONFLICTS.contains(&code.as_str())),
        Fault::Sqlite(error) => error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy),
    }
}

fn is_lost(error: &DbErr) -> bool {
    match (code(error), sqlx_error(error)) {
        (Some(code), _) => LOST.iter().any(|class| code.starts_with(class)),
        (None, Some(SqlxError::Io(_) | SqlxError::WorkerCrashed)) => true,
        (None, _) => false,
    }
}

fn code(error: &DbErr) -> Option<String> {
    let code = sqlx_error(error)?.as_database_error()?.code()?;
    Some(code.into_owned())
}

fn sqlx_error(error: &DbErr) -> Option<&SqlxError> {
    match error {
        DbErr::Exec(RuntimeErr::SqlxError(source))
        | DbErr::Query(RuntimeErr::SqlxError(source))
        | DbErr::Conn(RuntimeErr::SqlxError(source)) => Some(source),
        _ => None,
    }
}
