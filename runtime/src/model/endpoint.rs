//! The way to a provider: one POST of JSON, with limits on how long it takes and how much is sent and read.
//!
//! Invariants
//! - A request is sent at most once, and never to another address than the configured one.
//! - What fails is sorted by whether asking again can help: 429, 5xx and broken connections can, all else can not.
//! - The API key is in one header, marked as not to be shown; what a provider says is told without it.
//!
//! Not here: what is sent and what an answer means (`openai`, `anthropic`), trying again (`retry`).

use std::error::Error;
use std::time::Duration;

use domain::secret::Secret;
use reqwest::header::{DATE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url, redirect};
use serde::Serialize;
use serde_json::Value;

use super::reply::cut;
use super::settings::{ModelLimits, ModelSettings, SettingsError};
use super::{ModelError, ModelRequest, ModelUsage};

/// How many bytes of a refusal are read, and how many characters of its message are told.
const REFUSAL_READ: usize = 64 << 10;
const REFUSAL_TOLD: usize = 500;

/// One address of a provider.
#[derive(Debug)]
pub(super) struct Endpoint {
    http: Client,
    url: Url,
    headers: HeaderMap,
    api_key: Option<Secret>,
    limits: ModelLimits,
}

impl Endpoint {
    /// Prepares the way; nothing is sent yet.
    pub(super) fn try_new(settings: &ModelSettings, url: Url) -> Result<Self, SettingsError> {
        let mut http = Client::builder()
            .user_agent(concat!("atelier/", env!("CARGO_PKG_VERSION")))
            .redirect(redirect::Policy::none())
            .retry(reqwest::retry::never())
            .connect_timeout(settings.limits.connect_time)
            .timeout(settings.limits.request_time);
        if is_this_machine(&url) {
            http = http.no_proxy();
        }
        Ok(Self {
            http: http.build().map_err(SettingsError::Http)?,
            url,
            headers: HeaderMap::new(),
            api_key: settings.trimmed_key(),
            limits: settings.limits,
        })
    }

    /// Adds a header to every request.
    pub(super) fn with_header(mut self, name: &'static str, value: &'static str) -> Self {
        let name = HeaderName::from_static(name);
        self.headers.insert(name, HeaderValue::from_static(value));
        self
    }

    /// Adds the API key to every request, where there is one: after these words in this header.
    pub(super) fn with_key(
        mut self,
        name: &'static str,
        words: &str,
    ) -> Result<Self, SettingsError> {
        if let Some(key) = &self.api_key {
            let value = HeaderValue::from_str(&format!("{words}{}", key.expose()));
            let mut value = value.map_err(|_| SettingsError::ApiKey)?;
            value.set_sensitive(true);
            self.headers.insert(HeaderName::from_static(name), value);
        }
        Ok(self)
    }

    /// Sends a request in the provider's form and reads the answer.
    pub(super) async fn post(
        &self,
        request: &ModelRequest,
        body: &impl Serialize,
    ) -> Result<Value, ModelError> {
        let body = serde_json::to_vec(body)
            .map_err(|error| ModelError::Refused(format!("the request is no JSON: {error}")))?;
        self.check_size(request, body.len())?;
        let sent = self
            .http
            .post(self.url.clone())
            .headers(self.headers.clone());
        let sent = sent.header("content-type", "application/json").body(body);
        let response = sent.send().await.map_err(|error| self.broken(error))?;
        if !response.status().is_success() {
            return Err(self.refusal(response).await);
        }
        let bytes = self.read(response).await?;
        serde_json::from_slice(&bytes).map_err(|error| ModelError::Unavailable {
            reason: format!("its provider's answer is no JSON: {error}"),
            retry_after: None,
        })
    }

    /// The failure that a status and the provider's words make.
    pub(super) fn failure(&self, status: u16, body: &Value) -> ModelError {
        self.sorted(status, &message_of(body), None)
    }

    /// A request that is too large is so again; saying which message is the largest tells what to look at.
    fn check_size(&self, request: &ModelRequest, size: usize) -> Result<(), ModelError> {
        let limit = self.limits.largest_request;
        if size <= limit {
            return Ok(());
        }
        let sizes = request.messages.iter().map(|message| message.text.len());
        let largest = sizes.enumerate().max_by_key(|(_, size)| *size);
        let (index, largest) = largest.unwrap_or_default();
        Err(ModelError::Refused(format!(
            "the request has {size} bytes, and at most {limit} are sent; its largest part is message {} of {} with {largest} bytes",
            index + 1,
            request.messages.len(),
        )))
    }

    /// All of an answer, or a misfit where it does not end in time.
    async fn read(&self, mut response: Response) -> Result<Vec<u8>, ModelError> {
        let limit = self.limits.largest_reply;
        let told = response.content_length().unwrap_or(0);
        let mut bytes = Vec::with_capacity(usize::try_from(told).unwrap_or(limit).min(limit));
        let mut is_too_large = told > limit as u64;
        while !is_too_large {
            let chunk = response.chunk().await;
            let Some(chunk) = chunk.map_err(|error| self.broken(error))? else {
                return Ok(bytes);
            };
            is_too_large = bytes.len() + chunk.len() > limit;
            bytes.extend_from_slice(&chunk);
        }
        Err(ModelError::Misfit {
            problem: format!(
                "the reply has more than {limit} bytes, which are too many to be read; answer with less"
            ),
            said: String::new(),
            usage: ModelUsage::default(),
        })
    }

    async fn refusal(&self, mut response: Response) -> ModelError {
        let status = response.status();
        let retry_after = retry_after(response.headers());
        let mut bytes = Vec::new();
        // What was read of a refusal that breaks off says more than nothing.
        while bytes.len() < REFUSAL_READ
            && let Ok(Some(chunk)) = response.chunk().await
        {
            bytes.extend_from_slice(&chunk);
        }
        bytes.truncate(REFUSAL_READ);
        let message = match serde_json::from_slice(&bytes) {
            Ok(body) => message_of(&body),
            Err(_) => String::from_utf8_lossy(&bytes).into_owned(),
        };
        self.sorted(status.as_u16(), &message, retry_after)
    }

    fn sorted(&self, status: u16, message: &str, retry_after: Option<Duration>) -> ModelError {
        let words = self.told(message);
        let name = StatusCode::from_u16(status)
            .ok()
            .and_then(|status| status.canonical_reason());
        let mut reason = format!("status {status} {}", name.unwrap_or_default());
        reason.truncate(reason.trim_end().len());
        if (300..400).contains(&status) {
            reason.push_str(
                ", a redirect, which is not followed: the base URL must be the final one",
            );
        } else if !words.is_empty() {
            reason = format!("{reason}: {words}");
        }
        if status == 429 || status >= 500 {
            return ModelError::Unavailable {
                reason,
                retry_after,
            };
        }
        ModelError::Refused(reason)
    }

    /// A connection that could not be made, broke, or took too long.
    fn broken(&self, error: reqwest::Error) -> ModelError {
        let error = error.without_url();
        let reason = if error.is_connect() && error.is_timeout() {
            format!("no connection within {:?}", self.limits.connect_time)
        } else if error.is_timeout() {
            format!("no answer within {:?}", self.limits.request_time)
        } else if error.is_connect() {
            format!("no connection: {}", innermost(&error))
        } else {
            format!("the connection broke: {}", innermost(&error))
        };
        ModelError::Unavailable {
            reason: self.told(&reason),
            retry_after: None,
        }
    }

    /// Somebody else's words as they may be passed on: in part, in one line, without the key.
    fn told(&self, words: &str) -> String {
        let words = match &self.api_key {
            Some(key) => key.strike_from(words),
            None => words.to_owned(),
        };
        let words = words.split(|c: char| c.is_whitespace() || c.is_control());
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        cut(&words.join(" "), REFUSAL_TOLD)
    }
}

/// A model on this machine is not asked through a proxy.
fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Where providers and the servers that speak like them put their words.
fn message_of(body: &Value) -> String {
    let places = [
        &body["error"]["message"],
        &body["message"],
        &body["error"],
        &body["detail"],
    ];
    let words = places.into_iter().find_map(Value::as_str);
    words.map_or_else(|| body.to_string(), str::to_owned)
}

/// When the provider wants to be asked again. A date is compared with the provider's own, as clocks disagree.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = |text: &str| httpdate::parse_http_date(text).ok();
    let now = date(headers.get(DATE)?.to_str().ok()?)?;
    Some(date(text)?.duration_since(now).unwrap_or_default())
}

fn innermost(error: &dyn Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}
