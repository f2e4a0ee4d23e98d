//! What the server's other doors use of the endpoint: callers are admitted as on `/graphql`, and documents of the server's own are run.
//!
//! Invariants
//! - The body is read before anything is refused, so that the client hears the refusal.
//! - A request at another door costs its person a point, besides what its documents cost.
//! - Documents of the server's own are run whichever documents clients may send; all else holds for them as for any other.
//!
//! Not here: what other doors are (`crate::mcp`).

use axum::body::Body;
use axum::http::HeaderMap;
use axum::response::Response;
use bytes::BytesMut;
use serde_json::Value;

use super::accept::Media;
use super::answer::Answer;
use super::endpoint::{Endpoint, RequestId};
use super::request::{Allowed, Parameters, Source};
use super::{body, http};
use crate::auth::Caller;
use crate::graphql::error::{Code, Refusal};

/// A request of another door that may be served.
pub(crate) struct Admitted {
    /// Who asks.
    pub(crate) caller: Caller,
    /// What was sent.
    pub(crate) body: BytesMut,
    /// The id of the request.
    pub(crate) request_id: RequestId,
}

impl Endpoint {
    /// Admits a request of another door: within the limits, from no foreign page, with a good token, and paid for.
    pub(crate) async fn admit(&self, headers: &HeaderMap, body: Body) -> Result<Admitted, Refusal> {
        let request_id = http::request_id(headers);
        let body = body::read(body, self.settings().max_body).await;
        if !self.origins().admit(headers) {
            let message = "pages of this origin are not let in; name it in ATELIER_ALLOWED_ORIGINS";
            return Err(Refusal::service(Code::Forbidden, message));
        }
        let caller = http::authenticate(self, headers, &request_id).await?;
        self.charge(caller.user, 1)?;
        Ok(Admitted {
            caller,
            body: body?,
            request_id,
        })
    }

    /// A refusal as a response.
    pub(crate) fn refuse(&self, refusal: &Refusal) -> Response {
        http::refusal_response(self, Media::Legacy, refusal)
    }

    /// Runs a document of the server's own for a caller.
    pub(crate) async fn run_own(
        &self,
        caller: Caller,
        (document, variables): (&'static str, Value),
        request_id: &RequestId,
    ) -> Result<Answer, Refusal> {
        let parameters = Parameters {
            source: Source::Own(document),
            operation_name: None,
            variables: async_graphql::Variables::from_json(variables),
            resume_after: None,
            allowed: Allowed::All,
        };
        let prepared = self.prepare(caller, parameters, request_id)?;
        Ok(self.run(prepared).await)
    }
}
