//! The settings of the agent: its models, and how its worker works.

use std::time::Duration;

use domain::secret::Secret;
use url::Url;

use super::ConfigError;
use super::quantity::Span;
use super::settings::{Number, WebUrl, choice};
use super::source::Layers;

/// The agent.
#[derive(Debug, Clone)]
pub struct AgentSettings {
    /// Its models.
    pub model: ModelChoice,
    /// How long a claim of a turn holds without being renewed.
    pub lease: Duration,
    /// How often stored state is looked through for what was missed.
    pub watchdog_interval: Duration,
    /// Quiet time before memories are extracted from what a person wrote.
    pub extraction_delay: Duration,
    /// How long a claim of messages to extract from holds.
    pub extraction_lease: Duration,
    /// Turns that run at once in a process.
    pub turns: usize,
    /// Of these, of one workspace.
    pub turns_per_workspace: usize,
    /// Steps of one turn.
    pub steps_per_turn: u32,
    /// Turns of a task before a person is asked whether it should go on.
    pub turns_per_task: u32,
}

/// Which models are used.
#[derive(Debug, Clone)]
pub struct ModelChoice {
    /// Who is behind them.
    pub provider: ModelProvider,
    /// Where the API begins; none is the vendor's own address.
    pub base_url: Option<Url>,
    /// The planner's model, and that of whoever has none of its own.
    pub model: Option<String>,
    /// The router's model.
    pub router_model: Option<String>,
    /// The executors' model.
    pub executor_model: Option<String>,
    /// The provider's key.
    pub api_key: Option<Secret>,
    /// How long one request may take.
    pub request_time: Duration,
    /// What a million tokens cost in millionths of the currency: of requests, of cached requests, of replies.
    pub prices: [u64; 3],
}

/// Who is behind the models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelProvider {
    /// The planner that is built in, and is no language model.
    Offline,
    /// One that does nothing, at once: for measuring.
    Instant,
    /// Any server that speaks chat completions.
    OpenAi,
    /// The Messages API.
    Anthropic,
}

pub(super) fn agent(layers: &Layers) -> Result<AgentSettings, ConfigError> {
    let time = |key: &str, default: Duration| -> Result<Duration, ConfigError> {
        Ok(layers.value(key)?.unwrap_or(Span(default)).0)
    };
    let number = |key: &str, default: usize| -> Result<usize, ConfigError> {
        Ok(layers.value(key)?.unwrap_or(Number(default)).0)
    };
    Ok(AgentSettings {
        model: model(layers)?,
        lease: time("lease", Duration::from_secs(30))?,
        watchdog_interval: time("watchdog-interval", Duration::from_secs(10))?,
        extraction_delay: time("extraction-delay", Duration::from_secs(5))?,
        extraction_lease: time("extraction-lease", Duration::from_mins(6))?,
        turns: number("worker-turns", 32)?,
        turns_per_workspace: number("worker-turns-per-workspace", 16)?,
        steps_per_turn: number("steps-per-turn", 25)? as u32,
        turns_per_task: number("turns-per-task", 200)? as u32,
    })
}

fn model(layers: &Layers) -> Result<ModelChoice, ConfigError> {
    let providers = [
        ("offline", ModelProvider::Offline),
        ("openai", ModelProvider::OpenAi),
        ("anthropic", ModelProvider::Anthropic),
        ("instant", ModelProvider::Instant),
    ];
    let number = |key: &str| -> Result<u64, ConfigError> {
        Ok(layers
            .value::<Number>(key)?
            .map_or(0, |Number(price)| price as u64))
    };
    let request_time = layers.value("model-request-time")?;
    Ok(ModelChoice {
        provider: choice(layers, "model-provider", providers)?,
        base_url: layers
            .value::<WebUrl>("model-base-url")?
            .map(|WebUrl(url)| url),
        model: layers.value("model")?,
        router_model: layers.value("router-model")?,
        executor_model: layers.value("executor-model")?,
        api_key: layers.value("model-api-key")?,
        request_time: request_time.unwrap_or(Span(Duration::from_mins(5))).0,
        prices: [
            number("model-input-price")?,
            number("model-cached-price")?,
            number("model-output-price")?,
        ],
    })
}
