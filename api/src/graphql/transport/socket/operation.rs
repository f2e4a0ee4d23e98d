//! One operation of a socket: a task of its own, with a bounded queue.
//!
//! Invariants
//! - What fails before execution is one `error` message and nothing after it; `next` carries only what was executed.
//! - When its queue is full the operation waits, and with it what it reads from: nothing is skipped.

use std::sync::Arc;

use async_graphql::parser::types::OperationType;
use futures_util::StreamExt as _;
use tokio::sync::mpsc;

use super::super::answer::Answer;
use super::super::endpoint::{Endpoint, RequestId};
use super::super::request::Parameters;
use super::message::ServerMessage;
use super::writer::{Frame, Place, Running};
use crate::auth::Caller;

/// Messages of one operation that may wait for their turn.
pub(super) const QUEUE: usize = 16;

/// An operation that was asked for on a socket.
pub(super) struct Operation {
    pub(super) endpoint: Endpoint,
    pub(super) caller: Caller,
    pub(super) id: String,
    pub(super) running: Arc<Running>,
    pub(super) queue: mpsc::Sender<Frame>,
}

impl Operation {
    /// Runs to the end, or until it is cancelled.
    pub(super) async fn run(self, parameters: Parameters) {
        let cancelled = self.running.cancelled.clone();
        cancelled
            .run_until_cancelled(self.execute(parameters))
            .await;
    }

    async fn execute(&self, parameters: Parameters) {
        let prepared = match self
            .endpoint
            .prepare(self.caller, parameters, &RequestId::generate())
        {
            Ok(prepared) => prepared,
            Err(refusal) => return self.fail(&Answer::refused(&refusal)).await,
        };
        if prepared.kind != OperationType::Subscription {
            let answer = self.endpoint.run(prepared).await;
            if answer.data.is_none() {
                return self.fail(&answer).await;
            }
            if self.next(&answer).await.is_ok() {
                self.complete().await;
            }
            return;
        }
        let mut answers = std::pin::pin!(self.endpoint.stream(prepared));
        while let Some(answer) = answers.next().await {
            if answer.data.is_none() {
                return self.fail(&answer).await;
            }
            if self.next(&answer).await.is_err() {
                return;
            }
        }
        self.complete().await;
    }

    async fn next(&self, answer: &Answer) -> Result<(), Gone> {
        self.say(
            &ServerMessage::Next {
                id: &self.id,
                payload: answer,
            },
            Place::Within,
        )
        .await
    }

    async fn fail(&self, answer: &Answer) {
        // Nothing follows, so it does not matter whether anybody heard it.
        let _ = self
            .say(
                &ServerMessage::Error {
                    id: &self.id,
                    payload: &answer.errors,
                },
                Place::Last,
            )
            .await;
    }

    async fn complete(&self) {
        let _ = self
            .say(&ServerMessage::Complete { id: &self.id }, Place::Last)
            .await;
    }

    async fn say(&self, message: &ServerMessage<'_>, place: Place) -> Result<(), Gone> {
        let frame = Frame {
            text: message.to_json(),
            operation: self.running.clone(),
            place,
        };
        self.queue.send(frame).await.map_err(|_| Gone)
    }
}

/// The writer has ended, and the socket with it. A stream that always has an event ready must be left then: it would
/// never give its thread back.
struct Gone;
