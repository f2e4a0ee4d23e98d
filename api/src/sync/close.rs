//! Why a socket, or one document on a shared socket, is refused or ended.
//!
//! Invariants
//! - Codes are those of the contract; a reason fits a close frame (at most 120 bytes) and holds nothing secret.

use domain::Error;

/// A close code and what a person may read about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Close {
    /// The WebSocket close code.
    pub(crate) code: u16,
    /// At most 120 bytes.
    pub(crate) reason: String,
}

/// Longest reason: a control frame carries 125 bytes, two of them are the code.
const REASON_BYTES: usize = 120;

impl Close {
    /// Bytes that the protocol does not know.
    pub(crate) const MALFORMED: u16 = 4400;
    /// No token, or one that is unknown, expired or revoked.
    pub(crate) const TOKEN: u16 = 4401;
    /// Not allowed, or no longer.
    pub(crate) const PERMISSION: u16 = 4403;
    /// No such work, or not for this person.
    pub(crate) const UNKNOWN_WORK: u16 = 4404;
    /// A frame beyond the limit.
    pub(crate) const TOO_LARGE: u16 = 1009;
    /// A defect of the server.
    pub(crate) const FAULT: u16 = 1011;
    /// The server stops; another or the next one goes on.
    pub(crate) const RESTART: u16 = 1012;
    /// Not now.
    pub(crate) const LATER: u16 = 1013;

    /// A close with this code; a reason that is too long is cut.
    pub(crate) fn new(code: u16, reason: impl Into<String>) -> Self {
        let mut reason = reason.into();
        let mut end = reason.len().min(REASON_BYTES);
        while !reason.is_char_boundary(end) {
            end -= 1;
        }
        reason.truncate(end);
        Self { code, reason }
    }

    /// Whether it speaks of one document on a shared socket and leaves the others alone.
    pub(crate) fn is_about_one_document(&self) -> bool {
        matches!(
            self.code,
            Self::TOKEN | Self::PERMISSION | Self::UNKNOWN_WORK
        )
    }
}

impl From<Error> for Close {
    fn from(error: Error) -> Self {
        let code = match &error {
            Error::Unauthenticated(_) => Self::TOKEN,
            Error::Forbidden(_) => Self::PERMISSION,
            Error::NotFound(_) => Self::UNKNOWN_WORK,
            Error::TooLarge(_) => Self::TOO_LARGE,
            Error::Unavailable(_) | Error::Conflict(_) | Error::Fenced { .. } => Self::LATER,
            Error::Invalid(_)
            | Error::IdempotencyKeyReused
            | Error::CursorInvalid(_)
            | Error::CursorExpired(_) => Self::MALFORMED,
            Error::Internal(source) => {
                tracing::error!(error = %source, "a socket was refused by a fault");
                Self::FAULT
            }
        };
        Self::new(code, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_reason_is_cut_between_characters() {
        let close = Close::new(Close::MALFORMED, "ж".repeat(100));
        assert_eq!(close.reason, "ж".repeat(60));
    }

    #[test]
    fn what_may_not_be_seen_closes_like_what_does_not_exist() {
        let close = Close::from(Error::not_found("work", "work_1"));
        assert_eq!(
            (close.code, close.reason.as_str()),
            (4404, "work work_1 was not found")
        );
    }
}
