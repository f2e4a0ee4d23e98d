//! What goes wrong in a database, as the errors of the domain.
//!
//! Invariants
//! - Conflicts between transactions are told by the database's code, never by its text.

use domain::Error;
use sea_orm::{DbErr, RuntimeErr, SqlErr};

/// Codes of conflicts that a second run may get past: PostgreSQL's serialization failure and deadlock, SQLite's busy.
const CONFLICTS: [&str; 4] = ["40001", "40P01", "5", "517"];

/// A fault of the database, for callers of the domain.
pub(crate) fn from_db(error: DbErr) -> Error {
    match error.sql_err() {
        Some(SqlErr::UniqueConstraintViolation(_)) => {
            Error::Conflict("this exists already".to_owned())
        }
        _ if matches!(
            error,
            DbErr::Type(_) | DbErr::Json(_) | DbErr::RecordNotFound(_)
        ) =>
        {
            Error::Internal(error.into())
        }
        _ => Error::Unavailable(error.into()),
    }
}

/// A row that can not be read.
pub(crate) fn damaged(table: &str, column: &str, found: &dyn std::fmt::Display) -> Error {
    Error::internal(format!(
        "table {table}, column {column}: `{found}` can not be read"
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
    let (DbErr::Exec(RuntimeErr::SqlxError(source))
    | DbErr::Query(RuntimeErr::SqlxError(source))
    | DbErr::Conn(RuntimeErr::SqlxError(source))) = error
    else {
        return false;
    };
    let code = source
        .as_database_error()
        .and_then(sea_orm::sqlx::error::DatabaseError::code);
    code.is_some_and(|code| CONFLICTS.contains(&code.as_ref()))
}
