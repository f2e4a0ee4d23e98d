//! What goes wrong in a database, as the errors of the domain.
//!
//! Invariants
//! - Conflicts between transactions are told by the database's code, never by its text.

use domain::Error;
use sea_orm::{DbErr, RuntimeErr, SqlErr};

/// Codes of conflicts that a second run may get past: PostgreSQL's serialization failure and deadlock, SQLite's busy.
const CONFLICTS: [&str; 4] = ["40001", "40P01", "5", "517"];

/// PostgreSQL stores no text that holds the character U+0000.
const UNSTORABLE_TEXT: [&str; 2] = ["22021", "22P05"];
/// Starts of codes that say the database can not do it now: PostgreSQL's lost connections, lack of room, shutting down.
const PASSING: [&str; 3] = ["08", "53", "57"];
/// SQLite's full disk.
const DISK_FULL: &str = "13";

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
    CONFLICTS.contains(&code)
        || code == DISK_FULL
        || (code.len() == 5 && PASSING.iter().any(|class| code.starts_with(class)))
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

/// Whether a command failed because it met another transaction, and may be run again.
pub(crate) fn is_conflict(error: &Error) -> bool {
    let Error::Unavailable(source) = error else {
        return false;
    };
    source.downcast_ref::<DbErr>().is_some_and(is_db_conflict)
}

/// Whether a statement failed because it met another transaction.
pub(crate) fn is_db_conflict(error: &DbErr) -> bool {
    code(error).is_some_and(|code| CONFLICTS.contains(&code.as_str()))
}

fn code(error: &DbErr) -> Option<String> {
    let (DbErr::Exec(RuntimeErr::SqlxError(source))
    | DbErr::Query(RuntimeErr::SqlxError(source))
    | DbErr::Conn(RuntimeErr::SqlxError(source))) = error
    else {
        return None;
    };
    let code = source.as_database_error()?.code()?;
    Some(code.into_owned())
}
