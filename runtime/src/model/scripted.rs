//! A client for tests: its replies are written beforehand or made by a function, and what it was asked can be read.
//!
//! Invariants
//! - Every request is recorded before it is answered, also where nobody waits for the answer any more.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use serde_json::Value;

use super::{ModelClient, ModelError, ModelReply, ModelRequest, ModelUsage};

/// What a script answers.
pub type ScriptedReply = Result<ModelReply, ModelError>;

type Answering =
    Box<dyn Fn(ModelRequest) -> Pin<Box<dyn Future<Output = ScriptedReply> + Send>> + Send + Sync>;

/// A client that answers by a script.
pub struct Scripted {
    script: Script,
    requests: Mutex<Vec<ModelRequest>>,
}

enum Script {
    Queue(Mutex<VecDeque<ScriptedReply>>),
    Answering(Answering),
}

impl Scripted {
    /// Answers with these replies, one after the other, and refuses what is asked after the last.
    pub fn queue(replies: impl IntoIterator<Item = ScriptedReply>) -> Arc<Self> {
        Self::new(Script::Queue(Mutex::new(replies.into_iter().collect())))
    }

    /// Answers what the function makes of the request; it may wait before it does.
    pub fn answering<F, A>(answer: F) -> Arc<Self>
    where
        F: Fn(ModelRequest) -> A + Send + Sync + 'static,
        A: Future<Output = ScriptedReply> + Send + 'static,
    {
        Self::new(Script::Answering(Box::new(move |request| {
            Box::pin(answer(request))
        })))
    }

    /// A reply with these arguments that cost a few tokens.
    #[must_use]
    pub fn reply(arguments: Value) -> ModelReply {
        ModelReply {
            arguments,
            model: "scripted".to_owned(),
            usage: ModelUsage {
                input: 100,
                cached: 0,
                output: 10,
            },
        }
    }

    /// Adds a reply to the end of a queue.
    pub fn push(&self, reply: ScriptedReply) {
        match &self.script {
            Script::Queue(replies) => lock(replies).push_back(reply),
            Script::Answering(_) => panic!("this script is a function and has no queue"),
        }
    }

    /// What was asked so far, in order.
    pub fn requests(&self) -> Vec<ModelRequest> {
        lock(&self.requests).clone()
    }

    /// The same, and forgets it: for tests that ask very often.
    pub fn take_requests(&self) -> Vec<ModelRequest> {
        std::mem::take(&mut *lock(&self.requests))
    }

    fn new(script: Script) -> Arc<Self> {
        Arc::new(Self {
            script,
            requests: Mutex::default(),
        })
    }
}

#[async_trait]
impl ModelClient for Scripted {
    fn provider(&self) -> &'static str {
        "scripted"
    }

    async fn ask(&self, request: &ModelRequest) -> ScriptedReply {
        lock(&self.requests).push(request.clone());
        match &self.script {
            Script::Queue(replies) => {
                let next = lock(replies).pop_front();
                next.unwrap_or_else(|| {
                    Err(ModelError::Refused(
                        "the script has no more replies".to_owned(),
                    ))
                })
            }
            Script::Answering(answer) => answer(request.clone()).await,
        }
    }
}

impl fmt::Debug for Scripted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Scripted").finish_non_exhaustive()
    }
}

/// A test that panicked while it held the lock has said what is wrong already.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
