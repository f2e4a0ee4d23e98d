//! How the models are reached: the settings of providers, and the client that they make.
//!
//! Invariants
//! - What can not work is refused here, at the start, with the setting's name and without any secret.
//!
//! Not here: where settings are read from (`api`).

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use domain::secret::Secret;
use reqwest::Url;

use super::anthropic::Anthropic;
use super::instant::Instant;
use super::openai::OpenAi;
use super::retry::{Retry, RetryPolicy};
use super::{Function, ModelClient, ModelRequest, ModelUsage};
use crate::offline::Offline;

/// Who is behind the models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelProvider {
    /// Rules instead of a model: no key, no network.
    Offline,
    /// Nothing at all, at once, for measuring.
    Instant,
    /// Any server that speaks chat completions.
    OpenAi,
    /// The Messages API.
    Anthropic,
}

impl FromStr for ModelProvider {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "offline" => Ok(Self::Offline),
            "instant" => Ok(Self::Instant),
            "openai" => Ok(Self::OpenAi),
            "anthropic" => Ok(Self::Anthropic),
            other => Err(format!(
                "`{other}` is none of `offline`, `openai`, `anthropic`, `instant`"
            )),
        }
    }
}

/// Everything that is configured about models.
#[derive(Debug, Clone)]
pub struct ModelSettings {
    /// Who is behind them.
    pub provider: ModelProvider,
    /// Where the API begins; none is the vendor's own address.
    pub base_url: Option<Url>,
    /// The planner's model, and that of whatever has none of its own.
    pub model: Option<String>,
    /// The router's model.
    pub router_model: Option<String>,
    /// The executors' model.
    pub executor_model: Option<String>,
    /// The key; servers on one's own machine often want none.
    pub api_key: Option<Secret>,
    /// How long and how much.
    pub limits: ModelLimits,
    /// How often it is tried again.
    pub retry: RetryPolicy,
    /// What tokens cost.
    pub prices: Prices,
}

/// What one request may take; sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelLimits {
    /// How long a connection may take to be made.
    pub connect_time: Duration,
    /// How long one attempt may take as a whole.
    pub request_time: Duration,
    /// The largest request that is sent.
    pub largest_request: usize,
    /// The largest reply that is read.
    pub largest_reply: usize,
    /// How many tokens a reply may have; none is the provider's own limit, or 8,192 where it wants to be told one.
    pub output_tokens: Option<u32>,
}

impl Default for ModelLimits {
    fn default() -> Self {
        Self {
            connect_time: Duration::from_secs(10),
            request_time: Duration::from_mins(5),
            largest_request: 8 << 20,
            largest_reply: 8 << 20,
            output_tokens: None,
        }
    }
}

/// What a million tokens cost, in millionths of the currency; 0 where it is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Prices {
    /// Of the request.
    pub input: u64,
    /// Of the request, read from the provider's cache.
    pub cached: u64,
    /// Of the reply.
    pub output: u64,
}

impl Prices {
    /// What a use of these prices costs in millionths of the currency, a part of one counted as one.
    #[must_use]
    pub fn cost(&self, usage: &ModelUsage) -> u64 {
        let cached = usage.cached.min(usage.input);
        let part = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let cost = part(usage.input - cached, self.input)
            .saturating_add(part(cached, self.cached))
            .saturating_add(part(usage.output, self.output));
        u64::try_from(cost.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// Settings that can not work. The texts are for whoever started the program.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// No model is named.
    #[error("no model is named: set ATELIER_MODEL to one of the provider's models")]
    NoModel,
    /// The base URL can not be one.
    #[error(
        "ATELIER_MODEL_BASE_URL must be an http or https URL without user, query and fragment, such as {example}"
    )]
    BaseUrl {
        /// A good one.
        example: &'static str,
    },
    /// The key has characters that no header can carry.
    #[error("ATELIER_MODEL_API_KEY has characters that no key has, such as a line break")]
    ApiKey,
    /// The HTTP client could not be made.
    #[error("the HTTP client could not be made")]
    Http(#[source] reqwest::Error),
}

/// The client that the settings describe; it tries again by itself.
pub fn client(settings: &ModelSettings) -> Result<Arc<dyn ModelClient>, SettingsError> {
    let provider: Arc<dyn ModelClient> = match settings.provider {
        // It can not fail for a while, so nothing is tried again.
        ModelProvider::Offline => return Ok(Arc::new(Offline)),
        ModelProvider::Instant => return Ok(Arc::new(Instant)),
        ModelProvider::OpenAi => Arc::new(OpenAi::try_new(settings)?),
        ModelProvider::Anthropic => Arc::new(Anthropic::try_new(settings)?),
    };
    Ok(Arc::new(Retry::new(provider, settings.retry)))
}

impl ModelSettings {
    /// Settings of a provider with nothing but defaults.
    #[must_use]
    pub fn new(provider: ModelProvider) -> Self {
        Self {
            provider,
            base_url: None,
            model: None,
            router_model: None,
            executor_model: None,
            api_key: None,
            limits: ModelLimits::default(),
            retry: RetryPolicy::default(),
            prices: Prices::default(),
        }
    }

    /// The address of an operation. People write base URLs with and without what the operation's path begins with.
    pub(super) fn address(&self, default: &'static str, path: &str) -> Result<Url, SettingsError> {
        let wrong = || SettingsError::BaseUrl { example: default };
        let base = match &self.base_url {
            Some(base) => base.clone(),
            None => Url::parse(default).map_err(|_| wrong())?,
        };
        let is_plain = matches!(base.scheme(), "http" | "https")
            && base.has_host()
            && base.username().is_empty()
            && base.password().is_none()
            && base.query().is_none()
            && base.fragment().is_none();
        if !is_plain {
            return Err(wrong());
        }
        let begun = base.path().trim_end_matches('/');
        let begun = match path.split_once('/') {
            Some(("v1", _)) => begun.strip_suffix("/v1").unwrap_or(begun),
            _ => begun,
        };
        let mut url = base.clone();
        url.set_path(&format!("{begun}/{path}"));
        Ok(url)
    }

    /// The key without what came along when it was copied; none if nothing else is there.
    pub(super) fn trimmed_key(&self) -> Option<Secret> {
        let key = self.api_key.as_ref()?.expose().trim();
        (!key.is_empty()).then(|| Secret::new(key))
    }

    pub(super) fn models(&self) -> Result<Models, SettingsError> {
        let named = |model: &Option<String>| model.clone().filter(|name| !name.trim().is_empty());
        let planner = named(&self.model).ok_or(SettingsError::NoModel)?;
        Ok(Models {
            router: named(&self.router_model).unwrap_or_else(|| planner.clone()),
            executor: named(&self.executor_model).unwrap_or_else(|| planner.clone()),
            planner,
        })
    }
}

/// Which model is asked for what.
#[derive(Debug)]
pub(super) struct Models {
    planner: String,
    router: String,
    executor: String,
}

impl Models {
    /// The model of a request: its own, or the one of whoever asks.
    pub(super) fn of<'a>(&'a self, request: &'a ModelRequest) -> &'a str {
        if let Some(model) = &request.model {
            return model;
        }
        match request.function {
            Function::Route | Function::ConfirmNewTask => &self.router,
            Function::Answer => &self.executor,
            Function::Decide | Function::ExtractMemories | Function::SummarizeSegment => {
                &self.planner
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(provider: ModelProvider, base_url: &str) -> ModelSettings {
        ModelSettings {
            base_url: Some(Url::parse(base_url).expect("a URL")),
            model: Some("large".to_owned()),
            ..ModelSettings::new(provider)
        }
    }

    #[test]
    fn costs_are_whole_numbers_that_never_fall_short() {
        let prices = Prices {
            input: 3_000_000,
            cached: 300_000,
            output: 15_000_000,
        };
        let usage = |input, cached, output| ModelUsage {
            input,
            cached,
            output,
        };
        assert_eq!(prices.cost(&usage(0, 0, 0)), 0);
        assert_eq!(prices.cost(&usage(1_000, 0, 0)), 3_000);
        assert_eq!(prices.cost(&usage(1_000, 900, 10)), 300 + 270 + 150);
        assert_eq!(prices.cost(&usage(1, 1, 0)), 1);
        assert_eq!(prices.cost(&usage(10, 1_000, 0)), 3);
        assert_eq!(prices.cost(&usage(u64::MAX, 0, u64::MAX)), u64::MAX);
        assert_eq!(Prices::default().cost(&usage(1_000, 0, 1_000)), 0);
    }

    #[test]
    fn a_base_url_may_end_as_people_write_it() {
        for (base, path, expected) in [
            ("http://a", "chat/completions", "http://a/chat/completions"),
            (
                "http://a/v1/",
                "chat/completions",
                "http://a/v1/chat/completions",
            ),
            (
                "http://a/x/v1",
                "chat/completions",
                "http://a/x/v1/chat/completions",
            ),
            ("https://a", "v1/messages", "https://a/v1/messages"),
            ("https://a/v1", "v1/messages", "https://a/v1/messages"),
            ("https://a/x/v1/", "v1/messages", "https://a/x/v1/messages"),
        ] {
            let settings = settings(ModelProvider::OpenAi, base);
            let url = settings.address(BASE, path).expect("it is good");
            assert_eq!(url.as_str(), expected);
        }
    }

    const BASE: &str = "https://a.example/v1";

    #[test]
    fn a_base_url_that_hides_more_than_an_address_is_refused_and_not_repeated() {
        for base in [
            "ftp://a/v1",
            "http://me:hunter2@a/v1",
            "http://hunter2@a/v1",
            "http://a/v1?key=hunter2",
            "http://a/v1#hunter2",
        ] {
            let error = client(&settings(ModelProvider::OpenAi, base)).err();
            let text = format!("{:?}", error.expect("it is refused"));
            assert!(
                text.starts_with("BaseUrl") && !text.contains("hunter2"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_key_that_is_none_is_refused_and_not_repeated() {
        let mut settings = settings(ModelProvider::Anthropic, "http://a");
        settings.api_key = Some(Secret::new("hunter2\nhunter2"));
        let error = client(&settings).err().expect("it is refused");
        let text = format!("{error:?} {error} {settings:?}");
        assert!(
            text.contains("ATELIER_MODEL_API_KEY") && !text.contains("hunter2"),
            "{text}"
        );
    }

    #[test]
    fn a_model_must_be_named() {
        for name in [None, Some(" ".to_owned())] {
            let mut settings = settings(ModelProvider::OpenAi, "http://a");
            settings.model = name;
            let error = client(&settings).err().expect("it is refused");
            assert!(error.to_string().contains("ATELIER_MODEL"));
        }
    }

    #[test]
    fn every_function_has_the_model_of_whoever_asks_it() {
        let mut settings = settings(ModelProvider::OpenAi, "http://a");
        settings.router_model = Some("small".to_owned());
        settings.executor_model = Some("writer".to_owned());
        let models = settings.models().expect("they are named");
        let of = |function, model: Option<&str>| {
            let request = ModelRequest {
                function,
                model: model.map(str::to_owned),
                messages: Vec::new(),
                summaries: 0,
                situation: None,
                router: None,
            };
            models.of(&request).to_owned()
        };
        assert_eq!(of(Function::Decide, None), "large");
        assert_eq!(of(Function::Route, None), "small");
        assert_eq!(of(Function::ConfirmNewTask, None), "small");
        assert_eq!(of(Function::Answer, None), "writer");
        assert_eq!(of(Function::SummarizeSegment, None), "large");
        assert_eq!(of(Function::Answer, Some("painter")), "painter");
    }
}
