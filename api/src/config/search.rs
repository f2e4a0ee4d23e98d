//! The settings of the search.

use std::path::PathBuf;
use std::time::Duration;

use domain::secret::Secret;
use url::Url;

use super::ConfigError;
use super::quantity::{ByteSize, Span};
use super::settings::{WebUrl, choice};
use super::source::Layers;

/// The search.
#[derive(Debug, Clone)]
pub struct SearchSettings {
    /// Who turns texts into vectors.
    pub provider: EmbeddingsProvider,
    /// The file with the weights of the built-in embedder; none means where `cargo xtask up` puts them.
    pub weights: Option<PathBuf>,
    /// The folder of the user's cache, as the environment has it.
    pub cache: Option<PathBuf>,
    /// Where the provider's API begins; none is the vendor's own address.
    pub base_url: Option<Url>,
    /// The provider's model.
    pub model: Option<String>,
    /// The provider's key.
    pub api_key: Option<Secret>,
    /// How long one request may take.
    pub request_time: Duration,
    /// How long each leg of a search may take.
    pub time: Duration,
    /// Memory for vectors.
    pub memory: ByteSize,
}

/// Who turns texts into vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbeddingsProvider {
    /// The embedder that is built in.
    Builtin,
    /// Any server that speaks OpenAI's embeddings.
    OpenAi,
    /// Nobody.
    None,
}

pub(super) fn search(layers: &Layers) -> Result<SearchSettings, ConfigError> {
    let providers = [
        ("builtin", EmbeddingsProvider::Builtin),
        ("openai", EmbeddingsProvider::OpenAi),
        ("none", EmbeddingsProvider::None),
    ];
    let time = |key: &str, default: Duration| -> Result<Duration, ConfigError> {
        Ok(layers.value(key)?.unwrap_or(Span(default)).0)
    };
    let settings = SearchSettings {
        provider: choice(layers, "embeddings-provider", providers)?,
        weights: layers.value("embeddings-weights")?,
        cache: cache(layers),
        base_url: layers
            .value::<WebUrl>("embeddings-base-url")?
            .map(|WebUrl(url)| url),
        model: layers.value("embeddings-model")?,
        api_key: layers.value("embeddings-api-key")?,
        request_time: time("embeddings-request-time", Duration::from_secs(30))?,
        time: time("search-time", Duration::from_millis(300))?,
        memory: layers.value("search-memory")?.unwrap_or(ByteSize(1 << 30)),
    };
    if settings.provider == EmbeddingsProvider::OpenAi && settings.model.is_none() {
        return Err(ConfigError::Invalid {
            origin: "embeddings-provider".to_owned(),
            problem: "name the provider's model by embeddings-model".to_owned(),
        });
    }
    Ok(settings)
}

fn cache(layers: &Layers) -> Option<PathBuf> {
    let environment = layers.environment();
    if let Some(folder) = environment.get("XDG_CACHE_HOME") {
        return Some(PathBuf::from(folder));
    }
    Some(PathBuf::from(environment.get("HOME")?).join(".cache"))
}
