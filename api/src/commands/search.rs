//! The search of this process, as the settings say.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use api::config::{EmbeddingsProvider, SearchSettings, Settings};
use domain::document::DocumentService;
use search::{EmbedderChoice, OpenAiSettings, Search, SearchOptions, WEIGHTS_FILE};
use url::Url;

use super::installation::Installation;

/// Where the vendor's API begins.
const VENDOR: &str = "https://api.openai.com/v1/";

/// Starts it over the installation.
pub(crate) fn start(
    settings: &Settings,
    installation: &Installation,
    documents: &DocumentService,
) -> Result<Arc<Search>> {
    let options = SearchOptions {
        embedder: embedder(&settings.search)?,
        keyword_time: settings.search.time,
        vector_time: settings.search.time,
        vector_bytes: settings.search.memory.0 as usize,
        ..SearchOptions::new(settings.storage.data_dir.clone())
    };
    Ok(Search::start(
        options,
        installation.store.clone(),
        documents.clone(),
        installation.clock.clone(),
    ))
}

/// The file with the weights of the built-in embedder.
pub(crate) fn weights(settings: &SearchSettings) -> PathBuf {
    if let Some(file) = &settings.weights {
        return file.clone();
    }
    let cache = settings.cache.clone().unwrap_or_default();
    cache.join("atelier").join(WEIGHTS_FILE)
}

fn embedder(settings: &SearchSettings) -> Result<EmbedderChoice> {
    Ok(match settings.provider {
        EmbeddingsProvider::None => EmbedderChoice::None,
        EmbeddingsProvider::Builtin => EmbedderChoice::Builtin(weights(settings)),
        EmbeddingsProvider::OpenAi => EmbedderChoice::OpenAi(OpenAiSettings {
            base_url: match &settings.base_url {
                Some(url) => url.clone(),
                None => Url::parse(VENDOR)?,
            },
            model: settings
                .model
                .clone()
                .context("the provider's model has no name")?,
            api_key: settings.api_key.clone(),
            request_time: settings.request_time,
        }),
    })
}
