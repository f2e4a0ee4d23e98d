//! GraphQL over server-sent events, distinct connections: one request, one stream of `next` and a `complete`.
//!
//! Invariants
//! - `complete` has an empty `data:` line, else browsers never see it.
//! - An event carries its cursor as `id:`, so that `Last-Event-ID` goes on after it.
//! - When the server stops, streams end without `complete`: clients come back and resume.
//!
//! Not here: the single-connection mode, which websockets make needless.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::pin::Pin;

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use axum::response::{IntoResponse as _, Response};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, Stream, StreamExt as _, stream};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use tokio_util::sync::CancellationToken;

use super::accept::Media;
use super::answer::Answer;
use super::endpoint::{ConnectionGuard, Endpoint, Prepared};
use super::resume::event_id;
use crate::auth::Caller;
use crate::graphql::error::{Code, Refusal};

const COMPLETE: &str = "event: complete\ndata:\n\n";

/// One answer, then the end.
pub(super) fn single(answer: &Answer) -> Response {
    response(Body::from(next(answer) + COMPLETE))
}

/// The events of a subscription, until it ends or the client goes.
pub(super) fn events(
    endpoint: &Endpoint,
    caller: Caller,
    prepared: Prepared,
    counted: ConnectionGuard,
) -> Response {
    let period = endpoint.settings().comment_interval;
    let mut comments = interval_at(Instant::now() + period, period);
    comments.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let events = Events {
        answers: endpoint.stream(prepared).boxed(),
        revoked: endpoint.clone().revoked(caller).boxed(),
        shutdown: endpoint.shutdown().clone(),
        comments,
        _counted: counted,
    };
    let chunks = stream::unfold(Some(events), |events| async move { events?.next().await });
    response(Body::from_stream(
        chunks.map(|chunk| Ok::<_, Infallible>(Bytes::from(chunk))),
    ))
}

struct Events {
    answers: Pin<Box<dyn Stream<Item = Answer> + Send>>,
    revoked: BoxFuture<'static, ()>,
    shutdown: CancellationToken,
    comments: Interval,
    _counted: ConnectionGuard,
}

impl Events {
    /// The next piece of the stream, and what follows it.
    async fn next(mut self) -> Option<(String, Option<Self>)> {
        tokio::select! {
            biased;
            () = self.shutdown.cancelled() => None,
            () = &mut self.revoked => {
                let refusal = Refusal::service(Code::Unauthenticated, "the token is no longer good");
                Some((next(&Answer::refused(&refusal)) + COMPLETE, None))
            }
            answer = self.answers.next() => match answer {
                Some(answer) if answer.data.is_some() => {
                    self.comments.reset();
                    Some((next(&answer), Some(self)))
                }
                Some(answer) => Some((next(&answer) + COMPLETE, None)),
                None => Some((COMPLETE.to_owned(), None)),
            },
            _ = self.comments.tick() => Some((":\n\n".to_owned(), Some(self))),
        }
    }
}

fn next(answer: &Answer) -> String {
    let mut event = String::from("event: next\n");
    if let Some(id) = answer.data.as_ref().and_then(event_id) {
        writeln!(event, "id: {id}").expect("writing to a string does not fail");
    }
    // JSON holds no bare line breaks.
    write!(event, "data: {}\n\n", answer.to_json()).expect("writing to a string does not fail");
    event
}

fn response(body: Body) -> Response {
    let headers = [
        (CONTENT_TYPE, Media::Events.content_type()),
        (CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, body).into_response()
}
