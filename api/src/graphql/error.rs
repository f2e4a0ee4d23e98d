//! Errors as clients see them: one table of codes, and masking for all the rest.
//!
//! Invariants
//! - Every error that leaves carries `extensions.code` from [`Code`].
//! - An error without a code of ours is a defect: it is logged with the request's id, and the client reads "Internal error"
//!   and that id, nothing else.
//!
//! Not here: HTTP status codes (`transport::status`), refusals that are members of a mutation's result.

use std::sync::Arc;
use std::time::Duration;

use async_graphql::{ErrorExtensionValues, Pos, ServerError, Value};
use domain::ids::IdError;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// A value of `extensions.code`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code {
            $($(#[$doc])* $name,)*
        }

        impl Code {
            /// The code as clients read it.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }

            /// The code that clients read as `text`.
            pub fn from_text(text: &str) -> Option<Self> {
                match text {
                    $($text => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

codes! {
    /// The document is no GraphQL.
    ParseFailed = "GRAPHQL_PARSE_FAILED",
    /// The document does not fit the schema.
    ValidationFailed = "GRAPHQL_VALIDATION_FAILED",
    /// The document has no such operation, or several and none was named.
    OperationResolution = "OPERATION_RESOLUTION_FAILURE",
    /// The request around the document is wrong.
    BadRequest = "BAD_REQUEST",
    /// A value is wrong in a way that the caller can mend.
    BadUserInput = "BAD_USER_INPUT",
    /// Automatic persisted queries are not offered.
    PersistedQueryNotSupported = "PERSISTED_QUERY_NOT_SUPPORTED",
    /// No trusted document has this id.
    PersistedDocumentNotFound = "PERSISTED_DOCUMENT_NOT_FOUND",
    /// Only trusted documents are run here.
    PersistedDocumentRequired = "PERSISTED_DOCUMENT_REQUIRED",
    /// No token, or not a good one.
    Unauthenticated = "UNAUTHENTICATED",
    /// The caller may see it, and may not do this to it.
    Forbidden = "FORBIDDEN",
    /// It does not exist, or not for this caller.
    NotFound = "NOT_FOUND",
    /// It cannot be done in the present state.
    Conflict = "CONFLICT",
    /// The same idempotency key came with another input.
    IdempotencyKeyReused = "IDEMPOTENCY_KEY_REUSED",
    /// The cursor was never handed out for this list or log.
    CursorInvalid = "CURSOR_INVALID",
    /// The cursor's place in the log is no longer kept.
    CursorExpired = "CURSOR_EXPIRED",
    /// The document is over a limit.
    QueryTooComplex = "QUERY_TOO_COMPLEX",
    /// The body or a value is over its size limit.
    PayloadTooLarge = "PAYLOAD_TOO_LARGE",
    /// The body's media type is not taken.
    UnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE",
    /// No media type that the client accepts can be served.
    NotAcceptable = "NOT_ACCEPTABLE",
    /// Another HTTP method is needed.
    MethodNotAllowed = "METHOD_NOT_ALLOWED",
    /// The person's cost over time is used up for now.
    RateLimited = "RATE_LIMITED",
    /// One socket runs as many operations as it may.
    TooManyOperations = "TOO_MANY_OPERATIONS",
    /// The operation took longer than it may.
    Timeout = "TIMEOUT",
    /// The same request may succeed later.
    Unavailable = "UNAVAILABLE",
    /// A defect; masked.
    Internal = "INTERNAL_SERVER_ERROR",
}

/// The type of a nullable field that can fail: when it does, it alone becomes null.
///
/// `Result<Option<T>>` would take its whole parent with it.
pub type Nullable<T> = Option<async_graphql::Result<T>>;

/// What a nullable field answers for what was found.
pub fn nullable<T, E: Into<async_graphql::Error>>(found: Result<Option<T>, E>) -> Nullable<T> {
    found.map_err(Into::into).transpose()
}

/// What the text of a masked error is.
const MASKED: &str = "Internal error";

/// What a request failed at, as far as its HTTP status depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The bytes could not be read as a request at all.
    Unreadable,
    /// A request, with members that are missing or of the wrong kind.
    Malformed,
    /// A well-formed request whose document or variables are refused.
    Document,
    /// Refused whatever the document says: token, rate, media type, size.
    Service,
}

/// Why a request was not executed.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The contract's code.
    pub code: Code,
    /// A sentence that helps.
    pub message: String,
    /// Where in the document, if anywhere.
    pub locations: Vec<Pos>,
    /// What it failed at.
    pub stage: Stage,
    /// When the same request may be tried again.
    pub retry_after: Option<Duration>,
}

impl Refusal {
    /// A refusal of the document or its variables.
    pub fn document(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            locations: Vec::new(),
            stage: Stage::Document,
            retry_after: None,
        }
    }

    /// A refusal that does not depend on the document.
    pub fn service(code: Code, message: impl Into<String>) -> Self {
        Self {
            stage: Stage::Service,
            ..Self::document(code, message)
        }
    }

    /// A request with a missing or misshapen member.
    pub fn malformed(message: impl Into<String>) -> Self {
        Self {
            stage: Stage::Malformed,
            ..Self::document(Code::BadRequest, message)
        }
    }

    /// Bytes that are no request.
    pub fn unreadable(message: impl Into<String>) -> Self {
        Self {
            stage: Stage::Unreadable,
            ..Self::document(Code::BadRequest, message)
        }
    }

    /// The same refusal, pointing at a place in the document.
    pub fn at(self, position: Pos) -> Self {
        Self {
            locations: vec![position],
            ..self
        }
    }

    /// The refusal of a caller; a fault behind it is logged and masked.
    pub fn from_domain(error: &domain::Error, request_id: &str) -> Self {
        let presented = from_domain(error, ServerError::new(String::new(), None), request_id);
        let code = code_of(&presented).unwrap_or(Code::Internal);
        let retry_after = (code == Code::Unavailable).then_some(Duration::from_secs(1));
        Self {
            retry_after,
            ..Self::service(code, presented.message)
        }
    }

    /// The refusal as a member of `errors`.
    pub fn to_error(&self) -> ServerError {
        let mut error = coded(ServerError::new(self.message.clone(), None), self.code);
        error.locations.clone_from(&self.locations);
        if let (Some(after), Some(extensions)) = (self.retry_after, &mut error.extensions) {
            extensions.set("retryAfter", after.as_secs_f64().ceil() as u64);
        }
        error
    }
}

/// The code that an error carries.
pub fn code_of(error: &ServerError) -> Option<Code> {
    match error.extensions.as_ref()?.get("code")? {
        Value::String(text) => Code::from_text(text),
        Value::Enum(name) => Code::from_text(name),
        _ => None,
    }
}

/// What an error says, for doors that do not speak GraphQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told {
    /// In words.
    pub(crate) message: String,
    /// What a program can decide by.
    pub(crate) code: Code,
    /// After how many seconds it may be tried again, where that is known.
    pub(crate) retry_after: Option<u64>,
    /// The request, where the log says more about it.
    pub(crate) request_id: Option<String>,
}

impl Told {
    /// By an error that was made presentable.
    pub(crate) fn by(error: &ServerError) -> Self {
        let extension = |name: &str| error.extensions.as_ref().and_then(|known| known.get(name));
        Self {
            message: error.message.clone(),
            code: code_of(error).unwrap_or(Code::Internal),
            retry_after: match extension("retryAfter") {
                Some(Value::Number(seconds)) => seconds.as_u64(),
                _ => None,
            },
            request_id: match extension("requestId") {
                Some(Value::String(id)) => Some(id.clone()),
                _ => None,
            },
        }
    }
}

/// The error as a client may see it: with a code of the contract, or masked and logged.
pub fn present(mut error: ServerError, request_id: &str) -> ServerError {
    if code_of(&error).is_some() {
        error.source = None;
        return error;
    }
    if let Some(fault) = error.source::<Arc<domain::Error>>().cloned() {
        return from_domain(&fault, error, request_id);
    }
    if let Some(Ok(fault)) = error.source.clone().map(Arc::downcast::<domain::Error>) {
        return from_domain(&fault, error, request_id);
    }
    if error.source::<IdError>().is_some() || is_input_error(&error) {
        error.source = None;
        return coded(error, Code::BadUserInput);
    }
    if error.source.is_none() && error.path.is_empty() {
        return coded(error, Code::ValidationFailed);
    }
    tracing::error!(request.id = %request_id, path = ?error.path, error = %error.message, "an error without a code was masked");
    masked(error, request_id)
}

/// The masked error for something that went wrong before any path was known; the caller has logged it.
pub fn masked_without_place(request_id: &str) -> ServerError {
    masked(ServerError::new(MASKED, None), request_id)
}

fn masked(error: ServerError, request_id: &str) -> ServerError {
    let mut hidden = coded(
        ServerError {
            message: MASKED.into(),
            source: None,
            extensions: None,
            ..error
        },
        Code::Internal,
    );
    if let Some(extensions) = &mut hidden.extensions {
        extensions.set("requestId", request_id);
    }
    hidden
}

fn coded(mut error: ServerError, code: Code) -> ServerError {
    error
        .extensions
        .get_or_insert_with(ErrorExtensionValues::default)
        .set("code", code.as_str());
    error
}

/// The executor gives its own complaints about values neither a code nor a source, but these openings.
fn is_input_error(error: &ServerError) -> bool {
    error.source.is_none()
        && (error.message.starts_with("Failed to parse \"")
            || error.message.starts_with("Expected input type \"")
            // The executor says it in two spellings.
            || error.message.contains("Oneof input objects require")
            || error.message.contains("Oneof Input Objects require"))
}

/// The table from the domain's errors to the contract's codes.
fn from_domain(fault: &domain::Error, mut error: ServerError, request_id: &str) -> ServerError {
    use domain::Error as Fault;
    let code = match fault {
        Fault::NotFound(_) => Code::NotFound,
        Fault::Forbidden(_) => Code::Forbidden,
        Fault::Unauthenticated(_) => Code::Unauthenticated,
        Fault::Invalid(_) => Code::BadUserInput,
        Fault::Conflict(_) | Fault::Fenced { .. } => Code::Conflict,
        Fault::IdempotencyKeyReused => Code::IdempotencyKeyReused,
        Fault::CursorInvalid(_) => Code::CursorInvalid,
        Fault::CursorExpired(_) => Code::CursorExpired,
        Fault::TooLarge(_) => Code::PayloadTooLarge,
        Fault::Unavailable(source) => {
            tracing::warn!(request.id = %request_id, path = ?error.path, error = %chain(source.as_ref()), "could not be done now");
            Code::Unavailable
        }
        Fault::Internal(source) => {
            tracing::error!(request.id = %request_id, path = ?error.path, error = %chain(source.as_ref()), "a fault was masked");
            return masked(error, request_id);
        }
    };
    error.message = fault.to_string();
    error.source = None;
    error.extensions = None;
    coded(error, code)
}

/// An error and what lies behind it, on one line.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    std::iter::successors(Some(error), |error| error.source())
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use async_graphql::PathSegment;

    fn raised(error: impl Into<async_graphql::Error>) -> ServerError {
        error
            .into()
            .into_server_error(Pos::default())
            .with_path(vec![PathSegment::Field("work".into())])
    }

    #[test]
    fn a_domain_error_raised_by_a_resolver_gets_its_code_and_keeps_its_sentence() {
        let shown = present(raised(domain::Error::not_found("work", "w1")), "r1");
        assert_eq!(
            (code_of(&shown), shown.message.as_str()),
            (Some(Code::NotFound), "work w1 was not found")
        );
        let shared = present(raised(Arc::new(domain::Error::IdempotencyKeyReused)), "r1");
        assert_eq!(code_of(&shared), Some(Code::IdempotencyKeyReused));
    }

    #[test]
    fn what_has_no_code_is_masked_and_names_the_request() {
        for error in [
            raised(std::io::Error::other("/var/db/main.sqlite")),
            raised(domain::Error::internal("row 7")),
        ] {
            let shown = serde_json::to_value(present(error, "r1")).expect("serialises");
            assert_eq!(shown["message"], "Internal error");
            assert_eq!(
                shown["extensions"],
                serde_json::json!({"code": "INTERNAL_SERVER_ERROR", "requestId": "r1"})
            );
            assert!(!shown.to_string().contains("main.sqlite"), "{shown}");
        }
        let plain =
            ServerError::new("secret", None).with_path(vec![PathSegment::Field("a".into())]);
        assert_eq!(present(plain, "r1").message, "Internal error");
    }

    #[test]
    fn the_executors_own_complaints_are_the_callers_to_mend() {
        let validation = present(
            ServerError::new("Unknown field \"x\" on type \"Query\".", None),
            "r1",
        );
        assert_eq!(code_of(&validation), Some(Code::ValidationFailed));
        let value = ServerError::new("Failed to parse \"DateTime\": no", None)
            .with_path(vec![PathSegment::Index(1)]);
        assert_eq!(code_of(&present(value, "r1")), Some(Code::BadUserInput));
    }
}
