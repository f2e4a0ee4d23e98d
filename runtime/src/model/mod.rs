//! Language models: what they are asked, what they answer, and the port that providers stand behind.
//!
//! Invariants
//! - A request asks for exactly one function of the contract (`model_functions.json`), and a reply is one call of it.
//! - For a provider one request is one visible attempt; [`Retry`], which stands before it, counts and shows each.
//! - No API key stands in a log, an error, or anything that is stored.
//!
//! Not here: what a request says (the context layer), what a decision does (the engine).

mod anthropic;
mod endpoint;
mod functions;
mod instant;
mod openai;
mod reply;
mod retry;
pub(crate) mod schema;
#[cfg(any(test, feature = "test-support"))]
mod scripted;
mod settings;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

use crate::context::Situation;
use crate::router::RouterSituation;

pub use functions::{Function, check};
pub use retry::{Retry, RetryPolicy, RetryTimer};
#[cfg(any(test, feature = "test-support"))]
pub use scripted::{Scripted, ScriptedReply};
pub use settings::{ModelLimits, ModelProvider, ModelSettings, Prices, SettingsError, client};

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The rules.
    System,
    /// The runtime, or a person through it.
    User,
    /// The model, earlier.
    Assistant,
}

/// One message of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelMessage {
    /// Who speaks.
    pub speaker: Speaker,
    /// What is said.
    pub text: String,
}

/// What a model is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// The function it must call.
    pub function: Function,
    /// The model's name; none is the one that is configured for this function.
    pub model: Option<String>,
    /// What it is told, in order; the first is the stable prefix.
    pub messages: Vec<ModelMessage>,
    /// How many messages after the first are segment summaries. Providers are told to cache up to the first and up to the last of them.
    pub summaries: usize,
    /// The stored state that a planner's messages were made from, for a planner that is no language model.
    pub situation: Option<Arc<Situation>>,
    /// The same for a router's messages.
    pub router: Option<Arc<RouterSituation>>,
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelReply {
    /// The arguments of the function call, as JSON that was parsed and not yet checked against the function's schema.
    pub arguments: Value,
    /// The model that answered, as the provider names it.
    pub model: String,
    /// What the provider counted.
    pub usage: ModelUsage,
}

/// Tokens as the provider counted them; what it does not report is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ModelUsage {
    /// Tokens of the request, cached ones included.
    pub input: u64,
    /// Of these, read from the provider's cache.
    pub cached: u64,
    /// Tokens of the reply.
    pub output: u64,
}

/// Why there is no reply. Texts are for people and for the journal, and hold no secret.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The reply is no call of the function: prose, nothing, cut JSON.
    #[error("{problem}")]
    Misfit {
        /// What is wrong, in words for the model.
        problem: String,
        /// What the model said instead, cut short.
        said: String,
        /// What the provider counted: a misfit is paid for too.
        usage: ModelUsage,
    },
    /// The provider can not answer now: overloaded, broken, silent.
    #[error("the model did not answer: {reason}")]
    Unavailable {
        /// What happened.
        reason: String,
        /// When the provider wants to be asked again.
        retry_after: Option<Duration>,
    },
    /// The provider will refuse this request again: wrong key, unknown model, too large.
    #[error("the model's provider refused the request: {0}")]
    Refused(String),
}

/// A provider of models.
#[async_trait]
pub trait ModelClient: Send + Sync + 'static {
    /// The provider's name, such as `openai`.
    fn provider(&self) -> &'static str;
    /// Asks once.
    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelError>;
}
