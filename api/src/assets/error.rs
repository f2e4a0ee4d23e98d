//! Why bytes were not taken or given.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use domain::Error;

use crate::config::ByteSize;
use crate::server::{domain_failure, failure};

/// Why bytes were not taken or given; the texts are for the person who asked.
#[derive(Debug, thiserror::Error)]
pub enum AssetError {
    /// Neither a good signature nor a token.
    #[error("the address is not signed, or its time is over; ask for a new one, or send a token")]
    Unsigned,
    /// Not there, or not for this caller.
    #[error("there is no such file")]
    NotFound,
    /// There is no small picture of it.
    #[error("there is no preview of this file: {0}")]
    NoPreview(String),
    /// The bytes of this upload came before.
    #[error("the bytes of this upload are there already; register another one for new bytes")]
    Finished,
    /// More bytes than were promised.
    #[error("{promised} were promised by `byteSize`, and more came")]
    TooMany {
        /// What was promised.
        promised: ByteSize,
    },
    /// Fewer bytes than were promised.
    #[error("{promised} were promised by `byteSize`, and {came} came; nothing was stored")]
    TooFew {
        /// What was promised.
        promised: ByteSize,
        /// What came.
        came: ByteSize,
    },
    /// The bytes are not of the promised media type.
    #[error("{0}")]
    WrongType(String),
    /// The connection broke or fell silent before the end.
    #[error("the upload broke off; nothing was stored")]
    Broken,
    /// The wanted range lies outside of the file.
    #[error("the file has {0} bytes, and the range lies outside of them")]
    OutOfRange(u64),
    /// The domain refused or failed.
    #[error(transparent)]
    Domain(#[from] Error),
}

impl IntoResponse for AssetError {
    fn into_response(self) -> Response {
        let (status, code) = match &self {
            Self::Unsigned => (StatusCode::UNAUTHORIZED, "UNAUTHENTICATED"),
            Self::NotFound => (StatusCode::NOT_FOUND, "NOT_FOUND"),
            Self::NoPreview(_) => (StatusCode::NOT_FOUND, "NO_PREVIEW"),
            Self::Finished => (StatusCode::CONFLICT, "CONFLICT"),
            Self::TooMany { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "TOO_LARGE"),
            Self::TooFew { .. } | Self::Broken => (StatusCode::BAD_REQUEST, "TRUNCATED"),
            Self::WrongType(_) => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "WRONG_MEDIA_TYPE"),
            Self::OutOfRange(_) => (StatusCode::RANGE_NOT_SATISFIABLE, "OUT_OF_RANGE"),
            Self::Domain(error) => return domain_failure(error),
        };
        let mut response = failure(status, code, &self.to_string());
        if let Self::OutOfRange(size) = self
            && let Ok(range) = format!("bytes */{size}").try_into()
        {
            response
                .headers_mut()
                .insert(axum::http::header::CONTENT_RANGE, range);
        }
        response
    }
}
