//! The settings of media providers.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use domain::media::MediaKind;
use domain::secret::Secret;
use url::Url;

use super::ConfigError;
use super::quantity::Span;
use super::settings::{Number, WebUrl, choice};
use super::source::Layers;

/// Media.
#[derive(Debug, Clone)]
pub struct MediaSettings {
    /// Names of providers, the preferred first; none is every configured one, and the built-in renderer last.
    pub providers: Option<Vec<String>>,
    /// The built-in renderer.
    pub local: LocalSettings,
    /// Predictions as Replicate makes them.
    pub replicate: ReplicateChoice,
    /// Pictures and films as OpenAI makes them.
    pub openai: OpenAiChoice,
    /// How long until an upstream is asked about an order.
    pub poll_interval: Duration,
    /// When an order of unknown fate is settled.
    pub submission_timeout: Duration,
    /// Whether files may be fetched from private addresses.
    pub allows_private: bool,
    /// Guides of the installation's own.
    pub guides: Option<PathBuf>,
}

/// The built-in renderer.
#[derive(Debug, Clone, Default)]
pub struct LocalSettings {
    /// How long an order takes.
    pub delay: Duration,
    /// What orders cost, in micros.
    pub prices: LocalPriceList,
}

/// Predictions as Replicate makes them; off where neither address nor token is given.
#[derive(Debug, Clone, Default)]
pub struct ReplicateChoice {
    /// Where the API begins.
    pub base_url: Option<Url>,
    /// The account's token.
    pub token: Option<Secret>,
    /// With what call backs are signed.
    pub webhook_secret: Option<Secret>,
    /// Models, as JSON; read by whoever starts the provider.
    pub models: Option<String>,
}

/// Pictures and films as OpenAI makes them; off where neither address nor key is given.
#[derive(Debug, Clone, Default)]
pub struct OpenAiChoice {
    /// Where the API begins.
    pub base_url: Option<Url>,
    /// The key.
    pub api_key: Option<Secret>,
    /// The model of pictures.
    pub image_model: Option<String>,
    /// What a picture costs, in micros; none where nobody knows.
    pub image_price: Option<u64>,
    /// The model of films.
    pub video_model: Option<String>,
    /// What a film costs, in micros; none where nobody knows.
    pub video_price: Option<u64>,
}

/// What the built-in renderer's orders cost: one number for all kinds, or `image=40000,video=500000`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LocalPriceList(pub Vec<(MediaKind, u64)>);

impl FromStr for LocalPriceList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let misfit = || {
            format!("`{text}` is neither a number of micros nor such as image=40000,video=500000")
        };
        if let Ok(price) = text.trim().parse::<u64>() {
            return Ok(Self(
                MediaKind::ALL.iter().map(|kind| (*kind, price)).collect(),
            ));
        }
        let part = |part: &str| {
            let (kind, price) = part.split_once('=')?;
            let kind = MediaKind::from_tool_name(kind.trim())?;
            Some((kind, price.trim().parse().ok()?))
        };
        let parts: Option<Vec<_>> = text.split(',').map(part).collect();
        parts.map(Self).ok_or_else(misfit)
    }
}

/// Names separated by commas.
struct Names(Vec<String>);

impl FromStr for Names {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty());
        Ok(Self(parts.map(str::to_owned).collect()))
    }
}

pub(super) fn media(layers: &Layers) -> Result<MediaSettings, ConfigError> {
    let time = |key: &str, default: Duration| -> Result<Duration, ConfigError> {
        Ok(layers.value(key)?.unwrap_or(Span(default)).0)
    };
    let url = |key: &str| -> Result<Option<Url>, ConfigError> {
        Ok(layers.value::<WebUrl>(key)?.map(|WebUrl(url)| url))
    };
    let price = |key: &str| -> Result<Option<u64>, ConfigError> {
        Ok(layers
            .value::<Number>(key)?
            .map(|Number(price)| price as u64))
    };
    Ok(MediaSettings {
        providers: layers
            .value::<Names>("media-providers")?
            .map(|Names(names)| names),
        local: LocalSettings {
            delay: time("local-delay", Duration::ZERO)?,
            prices: layers.value("local-prices")?.unwrap_or_default(),
        },
        replicate: ReplicateChoice {
            base_url: url("replicate-base-url")?,
            token: layers.value("replicate-token")?,
            webhook_secret: layers.value("replicate-webhook-secret")?,
            models: layers.value("replicate-models")?,
        },
        openai: OpenAiChoice {
            base_url: url("openai-media-base-url")?,
            api_key: layers.value("openai-media-api-key")?,
            image_model: layers.value("openai-media-image-model")?,
            image_price: price("openai-media-image-price")?,
            video_model: layers.value("openai-media-video-model")?,
            video_price: price("openai-media-video-price")?,
        },
        poll_interval: time("job-poll-interval", Duration::from_secs(15))?,
        submission_timeout: time("submission-timeout", Duration::from_mins(1))?,
        allows_private: choice(
            layers,
            "media-private-addresses",
            [("off", false), ("on", true)],
        )?,
        guides: layers.value("guides-dir")?,
    })
}
