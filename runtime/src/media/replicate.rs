//! Predictions as Replicate makes them: ordered by a POST, told by signed webhooks, asked for by their id.
//!
//! Invariants
//! - There is no way to send the same order twice safely, so an order without an answer is lost.

use std::str::FromStr;
use std::time::Duration;

use async_trait::async_trait;
use domain::job::{Job, News, Price, UpstreamFile};
use domain::media::{Callback, MediaKind};
use domain::secret::Secret;
use domain::time::Timestamp;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use url::Url;

use super::http::{NoAnswer, Upstream};
use super::parameters::of_one;
use super::webhook::WebhookSecret;
use super::{Abilities, CallbackError, Material, MediaProvider, Offer, Sent, Source};

const NAME: &str = "replicate";
/// Files of one order that are fetched.
const FILES: usize = 16;
/// Characters of an upstream's words.
const TOLD: usize = 500;

/// A model that can be ordered from.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReplicateModel {
    /// What it makes, such as `image`.
    pub kind: String,
    /// Its name there, such as `owner/name`.
    pub model: String,
    /// What one order costs; none where nobody knows.
    #[serde(default)]
    pub price_micros: Option<u64>,
    /// The currency of the price; `USD`.
    #[serde(default)]
    pub currency: Option<String>,
    /// Inputs that each order has.
    #[serde(default)]
    pub parameters: Map<String, Value>,
}

/// The models of an installation, as a JSON list.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplicateModels(pub Vec<ReplicateModel>);

impl FromStr for ReplicateModels {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let models: Vec<ReplicateModel> = serde_json::from_str(text)
            .map_err(|error| format!("the models are no list of {{kind, model, priceMicros, currency, parameters}}: {error}"))?;
        for model in &models {
            if kind_of(&model.kind).is_none() {
                return Err(format!(
                    "`{}` is no kind: image, video, audio, model_3d",
                    model.kind
                ));
            }
            if model.currency.as_deref().is_some_and(|code| code != "USD") {
                return Err("prices are in USD".to_owned());
            }
            if model.model.is_empty() || model.model.contains(['?', '#', ' ']) {
                return Err(format!("`{}` is no model such as owner/name", model.model));
            }
        }
        Ok(Self(models))
    }
}

impl Default for ReplicateModels {
    fn default() -> Self {
        let model = |kind: &str, model: &str, price| ReplicateModel {
            kind: kind.to_owned(),
            model: model.to_owned(),
            price_micros: Some(price),
            currency: None,
            parameters: Map::new(),
        };
        Self(vec![
            model("image", "black-forest-labs/flux-1.1-pro", 40_000),
            model("video", "minimax/video-01", 500_000),
        ])
    }
}

fn kind_of(name: &str) -> Option<MediaKind> {
    let name = name.to_lowercase();
    MediaKind::from_tool_name(&name)
}

/// How it is reached.
#[derive(Debug, Clone)]
pub struct ReplicateSettings {
    /// Where its API begins.
    pub base: Url,
    /// The token of the account.
    pub token: Option<Secret>,
    /// With what it signs call backs; without, it is not asked to call back.
    pub webhook_secret: Option<Secret>,
    /// Its models.
    pub models: ReplicateModels,
    /// How long one request may take.
    pub time: Duration,
}

/// The provider.
#[derive(Debug)]
pub struct Replicate {
    upstream: Upstream,
    secret: Option<WebhookSecret>,
    models: Vec<ReplicateModel>,
}

impl Replicate {
    /// Prepares the way; nothing is sent yet.
    pub fn try_new(settings: &ReplicateSettings) -> Result<Self, String> {
        Ok(Self {
            upstream: Upstream::try_new(
                settings.base.clone(),
                settings.token.as_ref(),
                settings.time,
            )?,
            secret: settings.webhook_secret.as_ref().map(WebhookSecret::new),
            models: settings.models.0.clone(),
        })
    }

    fn model(&self, job: &Job) -> Option<&ReplicateModel> {
        let named = job.parameters["model"].as_str();
        let mut fitting = self
            .models
            .iter()
            .filter(|model| kind_of(&model.kind) == Some(job.kind));
        match named {
            Some(named) => fitting.find(|model| model.model == named),
            None => fitting.next(),
        }
    }

    fn order(&self, model: &ReplicateModel, job: &Job, material: &Material) -> Value {
        let mut input = model.parameters.clone();
        input.extend(of_one(job));
        input.insert("prompt".to_owned(), json!(job.prompt));
        if !material.references.is_empty() && !input.contains_key("image") {
            input.insert("image".to_owned(), json!(material.references[0]));
        }
        let mut order = json!({"input": input});
        if let (Some(callback), Some(_)) = (&material.callback, &self.secret) {
            order["webhook"] = json!(callback.as_str());
            order["webhook_events_filter"] = json!(["start", "logs", "completed"]);
        }
        order
    }
}

#[async_trait]
impl MediaProvider for Replicate {
    fn name(&self) -> &'static str {
        NAME
    }

    fn offers(&self) -> Vec<Offer> {
        let offer = |model: &ReplicateModel| {
            Some(Offer {
                name: model.model.clone(),
                kind: kind_of(&model.kind)?,
                description: format!("{} by the model {}", model.kind, model.model),
                inputs: json!({"type": "object", "description": "inputs of the model, besides the prompt", "default": model.parameters}),
                price: model.price_micros.map_or(Price::Unknown, Price::Known),
            })
        };
        self.models.iter().filter_map(offer).collect()
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            is_idempotent: false,
            cancels: true,
            calls_back: self.secret.is_some(),
        }
    }

    async fn send(&self, job: &Job, material: &Material) -> Sent {
        let Some(model) = self.model(job) else {
            let why = format!(
                "no model for {} is configured any more",
                job.kind.tool_name()
            );
            return Sent::News(News::Refused(why));
        };
        let order = self.order(model, job, material);
        let path = format!("models/{}/predictions", model.model);
        let answer = self.upstream.ask(Method::POST, &path, Some(&order)).await;
        Sent::News(match answer {
            Ok(prediction) => match read(&prediction) {
                Ok((_, news)) => news,
                Err(why) => News::Lost(why),
            },
            Err(NoAnswer::NotSent(why)) => News::NotSent(why),
            Err(NoAnswer::Refused(why)) => News::Refused(why),
            Err(NoAnswer::Gone) => News::Refused(format!("there is no model {}", model.model)),
            Err(NoAnswer::Lost(why)) => News::Lost(why),
        })
    }

    async fn look(&self, job: &Job) -> News {
        let Some(id) = job.upstream.as_deref().filter(|id| is_plain(id)) else {
            return News::Looked;
        };
        let path = format!("predictions/{id}");
        match self.upstream.ask(Method::GET, &path, None).await {
            Ok(prediction) => match read(&prediction) {
                Ok((known, news)) if known == id => still_running(news),
                _ => News::Looked,
            },
            Err(NoAnswer::Gone) => News::Failed(None, "the upstream knows it no longer".to_owned()),
            Err(_) => News::Looked,
        }
    }

    async fn cancel(&self, job: &Job) -> News {
        let Some(id) = job.upstream.as_deref().filter(|id| is_plain(id)) else {
            return News::Looked;
        };
        let path = format!("predictions/{id}/cancel");
        match self.upstream.ask(Method::POST, &path, None).await {
            Ok(prediction) => match read(&prediction) {
                // It has taken the wish: what runs on until it ends is of no use to anybody.
                Ok((_, News::Accepted(_) | News::Progress(..))) => {
                    News::Cancelled(Some(id.to_owned()))
                }
                Ok((_, news)) => news,
                Err(_) => News::Looked,
            },
            Err(NoAnswer::Gone) => News::Failed(None, "the upstream knows it no longer".to_owned()),
            Err(_) => News::Looked,
        }
    }

    async fn source(&self, _: &Job, file: &UpstreamFile) -> Result<Source, String> {
        let url = Url::parse(&file.url).map_err(|_| "its address is no URL".to_owned())?;
        let is_home = url.origin() == self.upstream.base().origin();
        let authorization = self.upstream.authorization().filter(|_| is_home);
        Ok(Source::Remote(url, authorization))
    }

    fn home(&self) -> Option<Url> {
        Some(self.upstream.base().clone())
    }

    fn read_callback(
        &self,
        callback: &Callback,
        now: Timestamp,
    ) -> Result<(String, News), CallbackError> {
        let secret = self.secret.as_ref().ok_or(CallbackError::Unsigned)?;
        let id = secret.check(callback, now)?;
        let prediction: Value = serde_json::from_slice(&callback.body)
            .map_err(|error| CallbackError::Unreadable(error.to_string()))?;
        let (_, news) = read(&prediction).map_err(CallbackError::Unreadable)?;
        Ok((id, news))
    }
}

/// Ids go into addresses.
fn is_plain(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= 200
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

/// To whoever has asked, that it runs is nothing new.
fn still_running(news: News) -> News {
    match news {
        News::Accepted(_) => News::Looked,
        other => other,
    }
}

/// What a prediction says of itself, with its id.
fn read(prediction: &Value) -> Result<(String, News), String> {
    let id = prediction["id"].as_str().filter(|id| is_plain(id));
    let id = id
        .ok_or_else(|| "its answer has no id of a prediction".to_owned())?
        .to_owned();
    let known = Some(id.clone());
    let news = match prediction["status"].as_str().unwrap_or_default() {
        "succeeded" | "successful" => {
            let files = files(&prediction["output"]);
            if files.is_empty() {
                News::Failed(
                    known,
                    "the upstream was done and has made no file".to_owned(),
                )
            } else {
                News::Made(known, files)
            }
        }
        "failed" => {
            let why = prediction["error"]
                .as_str()
                .unwrap_or("the upstream failed");
            News::Failed(known, why.chars().take(TOLD).collect())
        }
        "canceled" | "cancelled" | "aborted" => News::Cancelled(known),
        "processing" => match percent(prediction["logs"].as_str().unwrap_or_default()) {
            Some(percent) => News::Progress(known, percent * 10),
            None => News::Accepted(id.clone()),
        },
        "starting" | "queued" => News::Accepted(id.clone()),
        other => {
            return Err(format!(
                "`{}` is no known status",
                other.chars().take(40).collect::<String>()
            ));
        }
    };
    Ok((id, news))
}

/// The addresses of files in an output of whatever shape.
fn files(output: &Value) -> Vec<UpstreamFile> {
    let mut found = Vec::new();
    collect(output, &mut found);
    found.truncate(FILES);
    found
}

fn collect(output: &Value, found: &mut Vec<UpstreamFile>) {
    match output {
        Value::String(text) if text.starts_with("http://") || text.starts_with("https://") => {
            found.push(UpstreamFile { url: text.clone() });
        }
        Value::Array(parts) => parts.iter().for_each(|part| collect(part, found)),
        Value::Object(parts) => parts.values().for_each(|part| collect(part, found)),
        _ => {}
    }
}

/// The last percentage of a log.
fn percent(logs: &str) -> Option<u32> {
    let end = logs.rfind('%')?;
    let digits: String = logs[..end]
        .chars()
        .rev()
        .take_while(char::is_ascii_digit)
        .collect();
    let number: String = digits.chars().rev().collect();
    number.parse().ok().filter(|percent| *percent <= 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prediction_says_where_it_stands() {
        let read = |prediction: Value| read(&prediction).map(|(_, news)| news);
        let id = || Some("p1".to_owned());
        assert_eq!(
            read(json!({"id": "p1", "status": "starting"})),
            Ok(News::Accepted("p1".to_owned()))
        );
        assert_eq!(
            read(json!({"id": "p1", "status": "processing", "logs": " 10%|\n 45%|"})),
            Ok(News::Progress(id(), 450))
        );
        let made = read(
            json!({"id": "p1", "status": "succeeded", "output": {"a": ["https://x/1"], "b": 3}}),
        );
        let file = UpstreamFile {
            url: "https://x/1".to_owned(),
        };
        assert_eq!(made, Ok(News::Made(id(), vec![file])));
        assert!(matches!(
            read(json!({"id": "p1", "status": "succeeded", "output": null})),
            Ok(News::Failed(..))
        ));
        assert!(read(json!({"id": "../x", "status": "starting"})).is_err());
        assert!(read(json!({"id": "p1", "status": "???"})).is_err());
        assert!(read(json!("<html>")).is_err());
    }

    #[test]
    fn models_are_read_and_nonsense_is_refused() {
        let good: ReplicateModels = r#"[{"kind":"image","model":"a/b","priceMicros":5,"currency":"USD","parameters":{"x":1}}]"#.parse().expect("good");
        assert_eq!(good.0[0].price_micros, Some(5));
        for bad in [
            r#"[{"kind":"smell","model":"a/b"}]"#,
            r#"[{"kind":"image","model":"a/b","priceMicros":-5}]"#,
            r#"[{"kind":"image","model":"a/b","currency":"EUR"}]"#,
            r#"[{"kind":"image","model":"a b"}]"#,
            "{}",
        ] {
            assert!(bad.parse::<ReplicateModels>().is_err(), "{bad}");
        }
    }
}
