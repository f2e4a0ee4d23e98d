//! The one error of the domain: a variant per decision that a caller can make.
//!
//! Refusals that a client must handle while editing (version conflict, node conflict, text not unique) are not errors
//! but outcomes: see `document::edit`.

use crate::ids::TurnId;
use crate::turn::Epoch;

/// A result of the domain.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why the domain did not do what was asked. Texts are for the person who asked; sources are for the log.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It does not exist, or not for this caller.
    #[error("{0} was not found")]
    NotFound(String),
    /// The caller may see it, and may not do this to it.
    #[error("{0}")]
    Forbidden(String),
    /// No token, or one that is unknown, expired or revoked.
    #[error("{0}")]
    Unauthenticated(String),
    /// The input is wrong in a way the caller can mend; the text says how.
    #[error("{0}")]
    Invalid(String),
    /// It cannot be done in the present state, and may be later.
    #[error("{0}")]
    Conflict(String),
    /// The idempotency key was used before with another input.
    #[error(
        "the idempotency key was used before with another input; use a new key for a new request"
    )]
    IdempotencyKeyReused,
    /// A position in a list or log that was never handed out for it.
    #[error("{0}")]
    CursorInvalid(String),
    /// A position in a log that is no longer kept.
    #[error("{0}")]
    CursorExpired(String),
    /// A write for a turn that another worker, or a stop, has taken away: nothing was written. Benign for whoever gets it.
    #[error("fenced: epoch {presented} of turn {turn} was superseded by {current}")]
    Fenced {
        /// The turn.
        turn: TurnId,
        /// The epoch that the write carried.
        presented: Epoch,
        /// The epoch that holds.
        current: Epoch,
    },
    /// Larger than a limit; the text names the limit.
    #[error("{0}")]
    TooLarge(String),
    /// Could not be done now; the same request may succeed later.
    #[error("the server can not do this at the moment; try again shortly")]
    Unavailable(#[source] Source),
    /// A defect or damaged data: nothing the caller can mend.
    #[error("internal error")]
    Internal(#[source] Source),
}

/// What lies behind a fault.
pub type Source = Box<dyn std::error::Error + Send + Sync>;

impl Error {
    /// A defect, described for the log.
    pub fn internal(text: impl Into<String>) -> Self {
        Self::Internal(text.into().into())
    }

    /// The noun and id that were not found.
    pub fn not_found(noun: &str, id: impl std::fmt::Display) -> Self {
        Self::NotFound(format!("{noun} {id}"))
    }
}

impl From<crate::ids::IdError> for Error {
    fn from(error: crate::ids::IdError) -> Self {
        Self::Invalid(error.to_string())
    }
}
