//! What goes wrong in a database, as the errors of the domain.
//!
//! Invariants
//! - Conflicts between transactions are told by the database's code, never by its text.

use domain::Error;
use sea_orm::sqlx::Error as SqlxError;
use sea_orm::{DbErr, RuntimeErr, SqlErr};

/// Codes of conflicts that a second run may get past: PostgreSQL's serialization failure and deadlock, SQLite's busy.
const CONFLICTS: [&str; 4] = ["40001", "40P01", "5", "517"];

/// PostgreSQL stores no text that holds the character U+0000.
const UNSTORABLE_TEXT: [&str; 2] = ["22021", "22P05"];
/// Starts of codes that say the database can not do it now: PostgreSQL's lost connections, lack of room, shutting down.
const PASSING: [&str; 3] = ["08", "53", "57"];
/// Starts of PostgreSQL's codes for a connection that is gone: lost, or ended because the server stops.
const LOST: [&str; 2] = ["08", "57P"];
/// SQLite's full disk and failed reading or writing; extended codes have them in their lowest byte.
const SQLITE_PASSING: [u32; 2] = [13, 10];

/// A fault of the database, for callers of the domain.
pub(crate) fn from_db(error: DbErr) -> Error {
    match error.sql_err() {
        Some(SqlErr::UniqueConstraintViolation(_)) => {
            return Error::Conflict("this exists already".to_owned());
        }
        Some(SqlErr::ForeignKeyConstraintViolation(_)) => {
            return Error::Conflict("what this belongs to does not exist".to_owned());
        }
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

fn is_passing(code: &str) -> bool {
    if CONFLICTS.contains(&code) {
        return true;
    }
    // PostgreSQL's codes have five characters; SQLite's are numbers below that.
    if code.len() == 5 {
        return PASSING.iter().any(|class| code.starts_with(class));
    }
    let number: Result<u32, _> = code.parse();
    number.is_ok_and(|number| SQLITE_PASSING.contains(&(number & 0xff)))
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
pub(crate) fn is_interrupted(error: &DbErr) -> bool {
    is_conflict(error) || is_lost(error)
}

/// Whether a statement failed because it met another transaction: the database says that all of its own is undone.
pub(crate) fn is_conflict(error: &DbErr) -> bool {
    code(error).is_some_and(|code| CONFLICTS.contains(&code.as_str()))
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
