//! GraphQL over HTTP.
//!
//! Invariants
//! - The body is read before anything is refused, so that the client hears the refusal.
//! - POST takes `application/json` alone, which no page of another site can send without asking first; GET runs no mutation.
//! - Whatever happens, the answer is a GraphQL response with a code.

use async_graphql::parser::types::OperationType;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    ALLOW, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, VARY,
    WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use axum::response::{IntoResponse as _, Response};

use super::accept::{Media, negotiate};
use super::answer::Answer;
use super::endpoint::{Endpoint, RequestId};
use super::request::Parameters;
use super::{body, socket, sse};
use crate::auth::{Caller, bearer};
use crate::graphql::error::{Code, Refusal, Stage};

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// `/graphql`, whatever the method.
pub(super) async fn serve(State(endpoint): State<Endpoint>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    if socket::is_upgrade(&parts) {
        return socket::accept(&endpoint, &mut parts).await;
    }
    let request_id = request_id(&parts.headers);
    let body = body::read(body, endpoint.settings().max_body).await;
    let media = negotiate(&parts.headers);
    let answered = answer(&endpoint, &parts, body, media, &request_id).await;
    let mut response =
        answered.unwrap_or_else(|refusal| refuse(&endpoint, &parts, media, &refusal));
    response
        .headers_mut()
        .insert(VARY, HeaderValue::from_static("Accept"));
    set(&mut response, X_REQUEST_ID, &request_id.0);
    response
}

/// The schema as text.
pub(super) async fn schema(State(endpoint): State<Endpoint>, headers: HeaderMap) -> Response {
    let request_id = request_id(&headers);
    match authenticate(&endpoint, &headers, &request_id).await {
        Ok(_) => (
            [
                (CONTENT_TYPE, "text/plain; charset=utf-8"),
                (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            ],
            endpoint.sdl().to_owned(),
        )
            .into_response(),
        Err(refusal) => refusal_response(&endpoint, Media::Legacy, &refusal),
    }
}

async fn answer(
    endpoint: &Endpoint,
    parts: &Parts,
    body: Result<bytes::BytesMut, Refusal>,
    media: Option<Media>,
    request_id: &RequestId,
) -> Result<Response, Refusal> {
    if !matches!(parts.method, Method::GET | Method::POST) {
        return Err(Refusal::service(Code::MethodNotAllowed, "use GET or POST"));
    }
    let caller = authenticate(endpoint, &parts.headers, request_id).await?;
    let media = media.ok_or_else(|| {
        let message =
            "served are application/graphql-response+json, application/json and text/event-stream";
        Refusal::service(Code::NotAcceptable, message)
    })?;
    let mut parameters = parameters(parts, body)?;
    if media == Media::Events {
        let last = parts
            .headers
            .get(LAST_EVENT_ID)
            .and_then(|id| id.to_str().ok());
        parameters.resume_after = last.filter(|id| !id.is_empty()).map(ToOwned::to_owned);
        return stream(endpoint, caller, parameters, request_id).await;
    }
    let prepared = endpoint.prepare(caller, parameters, request_id)?;
    if prepared.kind == OperationType::Subscription {
        let message = "a subscription needs a websocket, or `Accept: text/event-stream`";
        return Err(Refusal::malformed(message));
    }
    Ok(answered(endpoint, media, &endpoint.run(prepared).await))
}

async fn stream(
    endpoint: &Endpoint,
    caller: Caller,
    parameters: Parameters,
    request_id: &RequestId,
) -> Result<Response, Refusal> {
    match endpoint.prepare(caller, parameters, request_id) {
        Ok(prepared) if prepared.kind == OperationType::Subscription => {
            let message = "this person has as many live connections as allowed; close some first";
            let counted = endpoint
                .count_connection(caller.user)
                .ok_or_else(|| Refusal::service(Code::TooManyOperations, message))?;
            Ok(sse::events(endpoint, caller, prepared, counted))
        }
        Ok(prepared) => Ok(sse::single(&endpoint.run(prepared).await)),
        Err(refusal) if refusal.stage == Stage::Document => {
            Ok(sse::single(&Answer::refused(&refusal)))
        }
        Err(refusal) => Err(refusal),
    }
}

/// The caller of a request.
pub(super) async fn authenticate(
    endpoint: &Endpoint,
    headers: &HeaderMap,
    request_id: &RequestId,
) -> Result<Caller, Refusal> {
    let authorization = headers
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    endpoint
        .authenticate(authorization.and_then(bearer), request_id)
        .await
}

fn parameters(
    parts: &Parts,
    body: Result<bytes::BytesMut, Refusal>,
) -> Result<Parameters, Refusal> {
    if parts.method == Method::GET {
        return Parameters::from_query(parts.uri.query().unwrap_or_default());
    }
    let content_type = parts
        .headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let mut pieces = content_type.split(';').map(str::trim);
    let is_json = pieces
        .next()
        .is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"));
    let is_utf8 = pieces.all(|parameter| match parameter.split_once('=') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => {
            value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        _ => true,
    });
    if !is_json || !is_utf8 {
        return Err(Refusal::service(
            Code::UnsupportedMediaType,
            "send `Content-Type: application/json` in UTF-8",
        ));
    }
    Parameters::from_body(&body?)
}

fn answered(endpoint: &Endpoint, media: Media, answer: &Answer) -> Response {
    let profile = endpoint.settings().profile;
    let status = profile.of_answer(answer, media);
    let mut response = Response::new(Body::from(answer.to_json()));
    *response.status_mut() = status;
    set(
        &mut response,
        CONTENT_TYPE,
        profile.media(media, status).content_type(),
    );
    if let Some(throttle) = answer.throttle {
        set(
            &mut response,
            HeaderName::from_static("x-ratelimit-limit"),
            &throttle.maximum.to_string(),
        );
        set(
            &mut response,
            HeaderName::from_static("x-ratelimit-remaining"),
            &throttle.available.to_string(),
        );
        let used = throttle.maximum - throttle.available;
        set(
            &mut response,
            HeaderName::from_static("x-ratelimit-used"),
            &used.to_string(),
        );
    }
    response
}

fn refuse(endpoint: &Endpoint, parts: &Parts, media: Option<Media>, refusal: &Refusal) -> Response {
    let mut response = refusal_response(endpoint, media.unwrap_or(Media::Modern), refusal);
    if refusal.code == Code::MethodNotAllowed {
        let allowed = if parts.method == Method::GET {
            "POST"
        } else {
            "GET, POST"
        };
        set(&mut response, ALLOW, allowed);
    }
    response
}

/// A refusal as a response; sockets answer a refused handshake with it too.
pub(super) fn refusal_response(endpoint: &Endpoint, media: Media, refusal: &Refusal) -> Response {
    let profile = endpoint.settings().profile;
    let status = profile.of_refusal(refusal.code, refusal.stage, media);
    let mut response = Response::new(Body::from(Answer::refused(refusal).to_json()));
    *response.status_mut() = status;
    set(
        &mut response,
        CONTENT_TYPE,
        profile.media(media, status).content_type(),
    );
    if refusal.code == Code::Unauthenticated {
        set(&mut response, WWW_AUTHENTICATE, "Bearer");
    }
    if let Some(wait) = refusal.retry_after {
        set(
            &mut response,
            RETRY_AFTER,
            &wait.as_secs_f64().ceil().to_string(),
        );
    }
    response
}

/// The request's own id where it has a harmless one, else a new one.
pub(super) fn request_id(headers: &HeaderMap) -> RequestId {
    let given = headers
        .get(X_REQUEST_ID)
        .and_then(|value| value.to_str().ok())
        .filter(|id| {
            (1..=64).contains(&id.len())
                && id
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        });
    given.map_or_else(RequestId::generate, |id| RequestId(id.into()))
}

fn set(response: &mut Response, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}
