//! The studio and GraphiQL: static files that the binary carries.
//!
//! Invariants
//! - Nothing here needs a token, because nothing here holds data; what the pages ask for needs one.
//! - No page runs a script that is not a file of the binary (`Content-Security-Policy`).
//! - An address that is no file and that a browser navigates to shows the studio, which has routes of its own.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName, IF_NONE_MATCH,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};
use rust_embed::{Embed, EmbeddedFile};
use url::Url;

use crate::server::failure;

#[derive(Embed)]
#[folder = "../web/dist"]
struct Files;

const INDEX: &str = "index.html";
const GRAPHIQL: &str = "graphiql/index.html";
const CROSS_ORIGIN_OPENER_POLICY: HeaderName =
    HeaderName::from_static("cross-origin-opener-policy");

struct Policies {
    studio: HeaderValue,
    graphiql: HeaderValue,
}

/// Serves the files, and the studio's page for every other address that a browser navigates to.
pub fn routes(public: &Url) -> Router {
    let policies = Arc::new(Policies {
        studio: policy(public, "'self'"),
        // Monaco, GraphiQL's editor, writes style sheets of its own.
        graphiql: policy(public, "'self' 'unsafe-inline'"),
    });
    Router::new().fallback(serve).with_state(policies)
}

/// Scripts and data from the server alone; its public address counts as itself, for uploads and sockets.
fn policy(public: &Url, styles: &str) -> HeaderValue {
    let origin = public.origin().ascii_serialization();
    let socket = origin.replacen("http", "ws", 1);
    let text = format!(
        "default-src 'self'; script-src 'self'; style-src {styles}; img-src 'self' {origin} blob: data:; \
         media-src 'self' {origin} blob:; font-src 'self' data:; worker-src 'self' blob:; \
         connect-src 'self' {origin} {socket}; object-src 'none'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'"
    );
    HeaderValue::try_from(text).expect("an origin in ASCII makes a header value")
}

async fn serve(State(policies): State<Arc<Policies>>, request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return not_found();
    }
    let path = request.uri().path().trim_start_matches('/');
    match path {
        "graphiql" => return Redirect::permanent("/graphiql/").into_response(),
        "graphiql/" => return answer(&policies, &request, GRAPHIQL),
        "" => return answer(&policies, &request, INDEX),
        _ => {}
    }
    if Files::get(path).is_some() {
        return answer(&policies, &request, path);
    }
    if is_navigation(&request) {
        return answer(&policies, &request, INDEX);
    }
    not_found()
}

fn is_navigation(request: &Request) -> bool {
    let accept = request.headers().get(ACCEPT);
    accept
        .and_then(|value| value.to_str().ok())
        .is_some_and(|accept| accept.contains("text/html"))
}

fn not_found() -> Response {
    failure(
        StatusCode::NOT_FOUND,
        "NOT_FOUND",
        "nothing is served at this address",
    )
}

fn answer(policies: &Policies, request: &Request, path: &str) -> Response {
    let Some(file) = Files::get(path) else {
        return not_found();
    };
    let etag = etag(&file);
    let known = request.headers().get(IF_NONE_MATCH);
    let is_known = known
        .and_then(|value| value.to_str().ok())
        .is_some_and(|known| known.contains(&etag));
    let mut response = if is_known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let media_type = media_type(file.metadata.mimetype());
        ([(CONTENT_TYPE, media_type)], Body::from(file.data)).into_response()
    };
    let headers = response.headers_mut();
    let policy = if path.starts_with("graphiql/") {
        &policies.graphiql
    } else {
        &policies.studio
    };
    headers.insert(CONTENT_SECURITY_POLICY, policy.clone());
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache(path)));
    for (name, value) in [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (CROSS_ORIGIN_OPENER_POLICY, "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Ok(etag) = HeaderValue::try_from(etag) {
        headers.insert(ETAG, etag);
    }
    response
}

fn media_type(guessed: &str) -> String {
    match guessed {
        "text/html" | "text/css" | "text/javascript" => format!("{guessed}; charset=utf-8"),
        other => other.to_owned(),
    }
}

/// Files below `assets/` carry a hash in their names; all others are asked for again.
fn cache(path: &str) -> &'static str {
    if path.starts_with("assets/") {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    }
}

fn etag(file: &EmbeddedFile) -> String {
    let mut text = String::from("\"");
    for byte in &file.metadata.sha256_hash()[..16] {
        write!(text, "{byte:02x}").expect("a String takes everything");
    }
    text + "\""
}

#[cfg(test)]
mod tests {
    use tower::ServiceExt as _;

    use super::*;

    async fn ask(path: &str, header: Option<(HeaderName, &str)>) -> Response {
        let public = Url::parse("https://atelier.example/").expect("a URL");
        let mut request = axum::http::Request::builder().uri(path);
        if let Some((name, value)) = header {
            request = request.header(name, value);
        }
        let request = request.body(Body::empty()).expect("a request");
        routes(&public).oneshot(request).await.expect("infallible")
    }

    #[tokio::test]
    async fn the_studio_is_served_with_a_policy_that_runs_no_foreign_script() {
        let response = ask("/", None).await;
        assert_eq!(response.status(), StatusCode::OK);
        let policy = response.headers()[CONTENT_SECURITY_POLICY]
            .to_str()
            .expect("text");
        assert!(policy.contains("script-src 'self';"), "{policy}");
        assert!(policy.contains("wss://atelier.example"), "{policy}");
        assert_eq!(response.headers()[X_CONTENT_TYPE_OPTIONS], "nosniff");
    }

    #[tokio::test]
    async fn a_file_that_is_known_is_not_sent_again() {
        let first = ask("/", None).await;
        let etag = first.headers()[ETAG].to_str().expect("text").to_owned();
        let second = ask("/", Some((IF_NONE_MATCH, &etag))).await;
        assert_eq!(second.status(), StatusCode::NOT_MODIFIED);
    }

    #[tokio::test]
    async fn routes_of_the_studio_show_it_and_missing_files_do_not() {
        let page = ask("/works/work_1", Some((ACCEPT, "text/html,*/*"))).await;
        assert_eq!(page.status(), StatusCode::OK);
        let missing = ask("/assets/missing.js", Some((ACCEPT, "*/*"))).await;
        assert_eq!(missing.status(), StatusCode::NOT_FOUND);
        let outside = ask("/../Cargo.toml", None).await;
        assert_eq!(outside.status(), StatusCode::NOT_FOUND);
    }
}
