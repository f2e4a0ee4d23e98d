//! Pictures and films as OpenAI makes them: pictures come with the answer, films are asked for by their id.

use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::job::{Job, News, Price, UpstreamFile};
use domain::media::MediaKind;
use domain::secret::Secret;
use reqwest::Method;
use serde_json::{Value, json};
use url::Url;

use super::http::{NoAnswer, Upstream};
use super::parameters::of_one;
use super::{Abilities, Material, MediaProvider, Offer, Sent, Source};

const NAME: &str = "openai";
/// Characters of what it says about a failure that are told.
const TOLD: usize = 300;

/// How it is reached.
#[derive(Debug, Clone)]
pub struct OpenAiMediaSettings {
    /// Where its API begins.
    pub base: Url,
    /// Its key.
    pub key: Option<Secret>,
    /// The model of pictures, and what one costs.
    pub image: (String, Price),
    /// The model of films, and what one costs.
    pub video: (String, Price),
    /// How long one request may take.
    pub time: Duration,
}

/// The provider.
#[derive(Debug)]
pub struct OpenAiMedia {
    upstream: Upstream,
    image: (String, Price),
    video: (String, Price),
}

impl OpenAiMedia {
    /// Prepares the way; nothing is sent yet.
    pub fn try_new(settings: &OpenAiMediaSettings) -> Result<Self, String> {
        Ok(Self {
            upstream: Upstream::try_new(
                settings.base.clone(),
                settings.key.as_ref(),
                settings.time,
            )?,
            image: settings.image.clone(),
            video: settings.video.clone(),
        })
    }

    fn body(job: &Job, model: &str) -> Value {
        let mut body = of_one(job);
        body.insert("model".to_owned(), json!(model));
        body.insert("prompt".to_owned(), json!(job.prompt));
        Value::Object(body)
    }

    async fn picture(&self, job: &Job) -> Sent {
        let body = Self::body(job, &self.image.0);
        let answer = self
            .upstream
            .ask(Method::POST, "images/generations", Some(&body))
            .await;
        let answer = match answer {
            Ok(answer) => answer,
            Err(none) => return Sent::News(unanswered(none)),
        };
        let images = answer["data"].as_array().cloned().unwrap_or_default();
        let decode = |image: &Value| STANDARD.decode(image["b64_json"].as_str()?).ok();
        let files: Vec<_> = images.iter().filter_map(decode).collect();
        if !files.is_empty() {
            return Sent::Files(files);
        }
        let address = |image: &Value| {
            let url = image["url"].as_str()?.to_owned();
            Some(UpstreamFile { url })
        };
        let files: Vec<_> = images.iter().filter_map(address).collect();
        Sent::News(if files.is_empty() {
            News::Refused("it answered without a picture".to_owned())
        } else {
            News::Made(None, files)
        })
    }

    async fn film(&self, job: &Job) -> Sent {
        let body = Self::body(job, &self.video.0);
        let answer = self.upstream.ask(Method::POST, "videos", Some(&body)).await;
        Sent::News(match answer {
            Ok(answer) => read(&answer).unwrap_or_else(News::Lost),
            Err(none) => unanswered(none),
        })
    }
}

fn unanswered(none: NoAnswer) -> News {
    match none {
        NoAnswer::NotSent(why) => News::NotSent(why),
        NoAnswer::Refused(why) => News::Refused(why),
        NoAnswer::Lost(why) => News::Lost(why),
        NoAnswer::Gone => News::Refused("there is no such address or model".to_owned()),
    }
}

/// What a film says of itself.
fn read(film: &Value) -> Result<News, String> {
    let id = film["id"].as_str().filter(|id| is_plain(id));
    let id = id
        .ok_or_else(|| "its answer has no id of a video".to_owned())?
        .to_owned();
    Ok(match film["status"].as_str().unwrap_or_default() {
        "completed" => {
            let url = format!("videos/{id}/content");
            News::Made(Some(id), vec![UpstreamFile { url }])
        }
        "failed" => {
            let why = film["error"]["message"]
                .as_str()
                .unwrap_or("the upstream failed");
            News::Failed(Some(id), why.chars().take(TOLD).collect())
        }
        "in_progress" => {
            let percent = film["progress"].as_u64().unwrap_or_default().min(100);
            News::Progress(Some(id), percent as u32 * 10)
        }
        _ => News::Accepted(id),
    })
}

fn is_plain(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= 200
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

#[async_trait]
impl MediaProvider for OpenAiMedia {
    fn name(&self) -> &'static str {
        NAME
    }

    fn offers(&self) -> Vec<Offer> {
        let offer = |kind: MediaKind, (model, price): &(String, Price)| Offer {
            name: model.clone(),
            kind,
            description: format!("{} by the model {model}", kind.tool_name()),
            inputs: json!({"type": "object", "properties": {"size": {"type": "string"}, "quality": {"type": "string"}, "seconds": {"type": "string"}}}),
            price: *price,
        };
        vec![
            offer(MediaKind::Image, &self.image),
            offer(MediaKind::Video, &self.video),
        ]
    }

    fn abilities(&self) -> Abilities {
        Abilities::default()
    }

    async fn send(&self, job: &Job, _: &Material) -> Sent {
        match job.kind {
            MediaKind::Image => self.picture(job).await,
            MediaKind::Video => self.film(job).await,
            MediaKind::Audio | MediaKind::Model3d => {
                Sent::News(News::Refused("it makes pictures and films".to_owned()))
            }
        }
    }

    async fn look(&self, job: &Job) -> News {
        let Some(id) = job.upstream.as_deref().filter(|id| is_plain(id)) else {
            return News::Looked;
        };
        let path = format!("videos/{id}");
        match self.upstream.ask(Method::GET, &path, None).await {
            Ok(film) => match read(&film) {
                Ok(News::Accepted(_)) | Err(_) => News::Looked,
                Ok(news) => news,
            },
            Err(NoAnswer::Gone) => News::Failed(None, "the upstream knows it no longer".to_owned()),
            Err(_) => News::Looked,
        }
    }

    async fn cancel(&self, _: &Job) -> News {
        News::Looked
    }

    async fn source(&self, _: &Job, file: &UpstreamFile) -> Result<Source, String> {
        let url = self.upstream.base().join(&file.url);
        let url = url.map_err(|_| "its address is no URL".to_owned())?;
        let is_home = url.origin() == self.upstream.base().origin();
        let authorization = self.upstream.authorization().filter(|_| is_home);
        Ok(Source::Remote(url, authorization))
    }

    fn home(&self) -> Option<Url> {
        Some(self.upstream.base().clone())
    }
}
