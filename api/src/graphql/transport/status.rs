//! HTTP status codes of answers: one table, in two profiles.
//!
//! Invariants
//! - An answer without `data` is 4xx or 5xx under the modern media type; one with data is 2xx.

use axum::http::StatusCode;

use super::accept::Media;
use super::answer::Answer;
use crate::graphql::error::{Code, Stage, code_of};

/// Which status codes request errors get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// What the public audits of GraphQL over HTTP measure: 400, and 200 under `application/json`.
    Audit,
    /// The edition of September 2026: 422 for what is well-formed, 294 for data with errors.
    September2026,
}

impl Profile {
    /// The media type of an answer: the edition gives old clients the modern type where there is no data.
    pub(super) fn media(self, media: Media, status: StatusCode) -> Media {
        match (self, media) {
            (_, Media::Events) => Media::Modern,
            (Self::September2026, Media::Legacy) if !status.is_success() => Media::Modern,
            _ => media,
        }
    }

    /// The status of an answer that the executor gave.
    pub(super) fn of_answer(self, answer: &Answer, media: Media) -> StatusCode {
        match (&answer.data, answer.errors.first()) {
            (Some(data), Some(_))
                if self == Self::September2026 && *data != async_graphql::Value::Null =>
            {
                StatusCode::from_u16(294).expect("within the range of status codes")
            }
            (Some(_), _) | (None, None) => StatusCode::OK,
            (None, Some(error)) => self.of_refusal(
                code_of(error).unwrap_or(Code::Internal),
                Stage::Document,
                media,
            ),
        }
    }

    /// The status of a request that was not executed.
    pub(super) fn of_refusal(self, code: Code, stage: Stage, media: Media) -> StatusCode {
        match code {
            Code::Unauthenticated => StatusCode::UNAUTHORIZED,
            Code::Forbidden => StatusCode::FORBIDDEN,
            Code::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Code::NotAcceptable => StatusCode::NOT_ACCEPTABLE,
            Code::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Code::PayloadTooLarge if stage == Stage::Service => StatusCode::PAYLOAD_TOO_LARGE,
            Code::RateLimited | Code::TooManyOperations => StatusCode::TOO_MANY_REQUESTS,
            Code::Timeout if stage == Stage::Unreadable => StatusCode::REQUEST_TIMEOUT,
            Code::Timeout | Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            _ => self.of_bad_request(code, stage, media),
        }
    }

    fn of_bad_request(self, code: Code, stage: Stage, media: Media) -> StatusCode {
        match (self, stage) {
            (Self::Audit, Stage::Document) if media == Media::Legacy => StatusCode::OK,
            (Self::September2026, Stage::Malformed) => StatusCode::UNPROCESSABLE_ENTITY,
            (Self::September2026, Stage::Document) if code != Code::ParseFailed => {
                StatusCode::UNPROCESSABLE_ENTITY
            }
            _ => StatusCode::BAD_REQUEST,
        }
    }
}
