//! An embedder behind an OpenAI-compatible endpoint.
//!
//! Invariants
//! - What the server answers is checked before it is used: one vector for each text, all of one length, all numbers finite.
//! - The key and the texts never stand in a log or an error.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use domain::secret::Secret;
use reqwest::{Client, StatusCode};
use serde::Deserialize;
use serde_json::json;
use url::Url;

use super::{Embedder, to_unit};
use crate::{Error, Result};

/// The largest answer, in bytes.
const ANSWER: usize = 16 << 20;
/// The longest vector.
const DIMENSIONS: usize = 8_192;

/// Which endpoint, and how to use it.
#[derive(Clone)]
pub struct OpenAiSettings {
    /// Where the API begins, such as `https://api.openai.com/v1/`.
    pub base_url: Url,
    /// The model.
    pub model: String,
    /// The key, where one is needed.
    pub api_key: Option<Secret>,
    /// How long one request may take.
    pub request_time: Duration,
}

/// An embedder behind a network.
pub struct OpenAiEmbedder {
    client: Client,
    settings: OpenAiSettings,
    address: Url,
    id: String,
}

impl fmt::Debug for OpenAiEmbedder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "OpenAiEmbedder({})", self.id)
    }
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(default)]
    index: usize,
    embedding: Vec<f32>,
}

impl OpenAiEmbedder {
    /// Prepares the way to the endpoint; nothing is sent yet.
    pub fn try_new(settings: OpenAiSettings) -> Result<Self> {
        let client = Client::builder()
            .timeout(settings.request_time)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| Error::Embedder(error.to_string()))?;
        let address = settings
            .base_url
            .join("embeddings")
            .map_err(|error| Error::Embedder(error.to_string()))?;
        Ok(Self {
            id: format!("openai:{}", settings.model),
            client,
            settings,
            address,
        })
    }

    async fn ask(&self, texts: &[String]) -> Result<Answer> {
        let body =
            json!({"model": self.settings.model, "input": texts, "encoding_format": "float"});
        let mut request = self.client.post(self.address.clone()).json(&body);
        if let Some(key) = &self.settings.api_key {
            request = request.bearer_auth(key.expose());
        }
        // The error of a request names its address, and in it nothing secret.
        let failed = |error: reqwest::Error| Error::Embedder(error.without_url().to_string());
        let mut response = request.send().await.map_err(failed)?;
        let status = response.status();
        if status != StatusCode::OK {
            return Err(Error::Embedder(format!("the endpoint answered {status}")));
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > ANSWER {
                return Err(Error::Embedder("the answer is too large".to_owned()));
            }
        }
        serde_json::from_slice(&bytes)
            .map_err(|error| Error::Embedder(format!("the answer can not be read: {error}")))
    }
}

#[async_trait]
impl Embedder for OpenAiEmbedder {
    fn model(&self) -> &str {
        &self.id
    }

    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>> {
        let mut items = self.ask(&texts).await?.data;
        items.sort_by_key(|item| item.index);
        let mut vectors: Vec<Vec<f32>> = items.into_iter().map(|item| item.embedding).collect();
        let length = vectors.first().map_or(0, Vec::len);
        let is_good = |vector: &Vec<f32>| {
            vector.len() == length && vector.iter().all(|number| number.is_finite())
        };
        let is_whole = vectors.len() == texts.len() && (1..=DIMENSIONS).contains(&length);
        if !is_whole || !vectors.iter().all(is_good) {
            return Err(Error::Embedder(
                "the answer has not one vector for each text".to_owned(),
            ));
        }
        for vector in &mut vectors {
            to_unit(vector);
        }
        Ok(vectors)
    }
}
