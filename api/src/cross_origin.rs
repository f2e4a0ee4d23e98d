//! Pages of other origins: which may read answers, and how their preflights are answered.
//!
//! Invariants
//! - The server's own page needs nothing of this; pages of configured origins may read answers; all others may not.
//! - No cookies are used, so no answer depends on credentials that a browser adds by itself.
//!
//! Not here: sockets, which no browser protects (`graphql::transport::Origins`).

use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN,
    VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::graphql::transport::Origins;

const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT");
const HEADERS: HeaderValue = HeaderValue::from_static(
    "Authorization, Content-Type, Range, If-Range, If-None-Match, X-Request-Id, Last-Event-ID, \
     Mcp-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name",
);
const EXPOSED: HeaderValue = HeaderValue::from_static(
    "ETag, Content-Range, Accept-Ranges, Content-Length, Retry-After, X-Request-Id",
);
/// Seconds that a browser may remember a preflight.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");

/// Answers preflights of admitted origins, and lets their pages read answers.
pub async fn admit(State(origins): State<Origins>, request: Request, next: Next) -> Response {
    let Some(origin) = request.headers().get(ORIGIN).cloned() else {
        return next.run(request).await;
    };
    let is_admitted = origins.admit(request.headers());
    let mut response = if is_admitted && is_preflight(&request) {
        preflight()
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    headers.append(VARY, HeaderValue::from_static("Origin"));
    if is_admitted {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    }
    response
}

fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS
        && request
            .headers()
            .contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

fn preflight() -> Response {
    let headers = HeaderMap::from_iter([
        (ACCESS_CONTROL_ALLOW_METHODS, METHODS),
        (ACCESS_CONTROL_ALLOW_HEADERS, HEADERS),
        (ACCESS_CONTROL_MAX_AGE, MAX_AGE),
    ]);
    (StatusCode::NO_CONTENT, headers).into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::routing::get;
    use axum::{Router, middleware};
    use tower::ServiceExt as _;
    use url::Url;

    use super::*;

    async fn ask(method: Method, origin: &str) -> Response {
        let url = |text| Url::parse(text).expect("a URL");
        let origins = Origins::new(
            &url("https://atelier.example"),
            [url("https://studio.example")],
        );
        let router = Router::new()
            .route("/", get(|| async { "secret" }))
            .layer(middleware::from_fn_with_state(origins, admit));
        let request = axum::http::Request::builder()
            .method(method)
            .uri("/")
            .header(ORIGIN, origin)
            .header(ACCESS_CONTROL_REQUEST_METHOD, "PUT");
        let request = request.body(Body::empty()).expect("a request");
        router.oneshot(request).await.expect("infallible")
    }

    #[tokio::test]
    async fn a_configured_page_may_read_and_a_foreign_one_may_not() {
        let allowed = ask(Method::GET, "https://studio.example").await;
        assert_eq!(
            allowed.headers()[ACCESS_CONTROL_ALLOW_ORIGIN],
            "https://studio.example"
        );
        let refused = ask(Method::GET, "https://evil.example").await;
        assert!(!refused.headers().contains_key(ACCESS_CONTROL_ALLOW_ORIGIN));
        assert_eq!(refused.headers()[VARY], "Origin");
    }

    #[tokio::test]
    async fn only_preflights_of_admitted_pages_are_answered() {
        let allowed = ask(Method::OPTIONS, "https://studio.example").await;
        assert_eq!(allowed.status(), StatusCode::NO_CONTENT);
        assert!(
            allowed.headers()[ACCESS_CONTROL_ALLOW_METHODS]
                .to_str()
                .expect("text")
                .contains("PUT")
        );
        let refused = ask(Method::OPTIONS, "https://evil.example").await;
        assert_eq!(refused.status(), StatusCode::METHOD_NOT_ALLOWED);
    }
}
