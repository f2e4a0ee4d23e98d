//! The way to an upstream's API: one request of JSON, and what its answer or its silence proves.
//!
//! Invariants
//! - A request is sent at most once, to the configured origin, and follows no redirect.
//! - What certainly did not arrive is told apart from what may have.

use std::time::Duration;

use domain::secret::Secret;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::{Client, Method, StatusCode, redirect};
use serde_json::Value;
use url::Url;

/// Bytes of an answer that are read.
const LARGEST: usize = 64 << 20;
/// Characters of what an upstream says that are told.
const TOLD: usize = 300;

/// An upstream's API.
#[derive(Debug)]
pub(super) struct Upstream {
    http: Client,
    base: Url,
    token: Option<HeaderValue>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoAnswer {
    /// The request has not reached it, or it said that it does not take it now.
    NotSent(String),
    /// It refuses the request, and would again.
    Refused(String),
    /// Nobody knows.
    Lost(String),
    /// There is no such thing.
    Gone,
}

impl Upstream {
    /// The API at this address, asked with this token.
    pub(super) fn try_new(
        base: Url,
        token: Option<&Secret>,
        time: Duration,
    ) -> Result<Self, String> {
        let mut http = Client::builder()
            .user_agent(concat!("atelier/", env!("CARGO_PKG_VERSION")))
            .redirect(redirect::Policy::none())
            .retry(reqwest::retry::never())
            .connect_timeout(Duration::from_secs(10))
            .timeout(time);
        if base.host_str().is_some_and(is_this_machine) {
            http = http.no_proxy();
        }
        let token = token
            .map(|token| {
                let value = HeaderValue::from_str(&format!("Bearer {}", token.expose().trim()));
                value.map(|mut value| {
                    value.set_sensitive(true);
                    value
                })
            })
            .transpose()
            .map_err(|_| "the token has characters that no header can hold".to_owned())?;
        Ok(Self {
            http: http.build().map_err(|error| error.to_string())?,
            base,
            token,
        })
    }

    /// Where it is.
    pub(super) fn base(&self) -> &Url {
        &self.base
    }

    /// The value of `authorization` with which it is asked.
    pub(super) fn authorization(&self) -> Option<String> {
        let value = self.token.as_ref()?.to_str().ok()?;
        Some(value.to_owned())
    }

    /// An address below it.
    pub(super) fn at(&self, path: &str) -> Result<Url, NoAnswer> {
        self.base
            .join(path)
            .map_err(|error| NoAnswer::Refused(format!("its address is wrong: {error}")))
    }

    /// Sends a request, and reads the answer as JSON.
    pub(super) async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, NoAnswer> {
        let mut request = self.http.request(method, self.at(path)?);
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, token.clone());
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let mut response = request.send().await.map_err(|error| broken(&error))?;
        let status = response.status();
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| broken(&error))? {
            if bytes.len() + chunk.len() > LARGEST {
                return Err(NoAnswer::Lost("its answer is too large".to_owned()));
            }
            bytes.extend_from_slice(&chunk);
        }
        if !status.is_success() {
            return Err(refused(status, &bytes));
        }
        serde_json::from_slice(&bytes)
            .map_err(|_| NoAnswer::Lost(format!("it answered {status} with what is no JSON")))
    }
}

pub(super) fn is_this_machine(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

fn broken(error: &reqwest::Error) -> NoAnswer {
    if error.is_builder() {
        NoAnswer::Refused("the request can not be made".to_owned())
    } else if error.is_connect() {
        NoAnswer::NotSent("it can not be reached".to_owned())
    } else if error.is_timeout() {
        NoAnswer::Lost("it did not answer in time".to_owned())
    } else {
        NoAnswer::Lost("the connection broke off".to_owned())
    }
}

fn refused(status: StatusCode, body: &[u8]) -> NoAnswer {
    let said = said(body);
    match status {
        StatusCode::TOO_MANY_REQUESTS => {
            NoAnswer::NotSent(format!("it takes no orders at the moment ({status})"))
        }
        StatusCode::NOT_FOUND | StatusCode::GONE => NoAnswer::Gone,
        _ if status.is_server_error() => NoAnswer::Lost(format!("it answered {status}")),
        _ => NoAnswer::Refused(format!("it answered {status}{said}")),
    }
}

/// What an upstream says about a refusal, where it is JSON.
fn said(body: &[u8]) -> String {
    let Ok(body) = serde_json::from_slice::<Value>(body) else {
        return String::new();
    };
    let texts = [
        &body["detail"],
        &body["error"]["message"],
        &body["error"],
        &body["title"],
    ];
    let text = texts.into_iter().find_map(Value::as_str);
    text.map(|text| format!(": {}", text.chars().take(TOLD).collect::<String>()))
        .unwrap_or_default()
}
