//! The media providers of this process, as the settings say.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use api::assets::Addresses;
use api::config::{MediaSettings, OpenAiChoice, ReplicateChoice, Settings};
use domain::document::DocumentService;
use domain::installation::InstallationSecret;
use domain::job::{JobTiming, Price};
use domain::media::MediaKind;
use domain::work::Work;
use runtime::media::local::{Local, LocalPrices};
use runtime::media::openai::{OpenAiMedia, OpenAiMediaSettings};
use runtime::media::replicate::{Replicate, ReplicateModels, ReplicateSettings};
use runtime::media::{
    Desk, FetchLimits, Guides, JobKeeper, MediaOptions, MediaProvider, MediaServices, Providers,
    ReferenceUrls,
};
use runtime::tools::MediaChoice;
use url::Url;

use super::installation::Installation;

/// How long a request to an upstream takes at most.
const LONGEST_REQUEST: Duration = Duration::from_secs(30);

/// What can be ordered, and guides.
pub(crate) fn choice(settings: &MediaSettings) -> Result<MediaChoice> {
    let guides = match &settings.guides {
        Some(folder) => Guides::default()
            .with_folder(folder)
            .context("the guides can not be used")?,
        None => Guides::default(),
    };
    Ok(MediaChoice {
        providers: providers(settings)?,
        guides,
    })
}

/// The desk that GraphQL and call backs speak to.
pub(crate) fn desk(
    settings: &MediaSettings,
    choice: &MediaChoice,
    installation: &Installation,
) -> Desk {
    Desk {
        store: installation.store.clone(),
        clock: installation.clock.clone(),
        providers: choice.providers.clone(),
        guides: choice.guides.clone(),
        timing: timing(settings),
    }
}

/// Starts looking after orders. `public` is where this installation is reached, where this process knows it.
pub(crate) fn start(
    settings: &Settings,
    choice: &MediaChoice,
    (installation, documents): (&Installation, &DocumentService),
    (secret, public): (&InstallationSecret, Option<Url>),
) -> JobKeeper {
    let references = References {
        addresses: public
            .clone()
            .map(|public| Addresses::new(secret, public, installation.clock.clone())),
        public: public.clone(),
    };
    let services = MediaServices {
        store: installation.store.clone(),
        documents: documents.clone(),
        blobs: installation.blobs.clone(),
        clock: installation.clock.clone(),
        references: Arc::new(references),
        public,
    };
    let options = MediaOptions {
        timing: timing(&settings.media),
        limits: FetchLimits {
            bytes: settings.limits.upload.0,
            allows_private: settings.media.allows_private,
            ..FetchLimits::default()
        },
        ..MediaOptions::default()
    };
    JobKeeper::start(services, choice.providers.clone(), options)
}

/// Signed addresses of references, below the public one.
struct References {
    addresses: Option<Addresses>,
    public: Option<Url>,
}

impl ReferenceUrls for References {
    fn url(&self, work: &Work) -> Option<String> {
        let path = self.addresses.as_ref()?.asset_url(work);
        let url = self.public.as_ref()?.join(&path).ok()?;
        Some(url.into())
    }
}

fn timing(settings: &MediaSettings) -> JobTiming {
    let usual = JobTiming::default();
    JobTiming {
        poll: settings.poll_interval,
        sending: usual.sending.min(settings.submission_timeout),
        submission: settings.submission_timeout,
    }
}

/// A request ends before whoever sent it is taken for lost.
fn request_time(settings: &MediaSettings) -> Duration {
    (timing(settings).sending * 4 / 5).min(LONGEST_REQUEST)
}

fn providers(settings: &MediaSettings) -> Result<Providers> {
    let mut known: Vec<(&str, Arc<dyn MediaProvider>)> = Vec::new();
    if let Some(replicate) = replicate(settings)? {
        known.push(("replicate", Arc::new(replicate)));
    }
    if let Some(openai) = openai(settings)? {
        known.push(("openai", Arc::new(openai)));
    }
    known.push(("local", Arc::new(local(settings))));
    let Some(names) = &settings.providers else {
        let all = known.into_iter().map(|(_, provider)| provider);
        return Ok(Providers::new(all.collect()));
    };
    let mut chosen = Vec::with_capacity(names.len());
    for name in names {
        let found = known.iter().find(|(known, _)| known == name);
        match found {
            Some((_, provider)) => chosen.push(provider.clone()),
            None if ["replicate", "openai"].contains(&name.as_str()) => bail!(
                "media-providers names `{name}`, which is not configured: give its address and key"
            ),
            None => {
                bail!("media-providers names `{name}`; there are replicate, openai and local")
            }
        }
    }
    Ok(Providers::new(chosen))
}

fn local(settings: &MediaSettings) -> Local {
    let price = |kind: MediaKind| {
        let mut prices = settings.local.prices.0.iter().rev();
        prices
            .find(|(known, _)| *known == kind)
            .map_or(0, |(_, price)| *price)
    };
    Local {
        delay: settings.local.delay,
        prices: LocalPrices {
            image: price(MediaKind::Image),
            video: price(MediaKind::Video),
            audio: price(MediaKind::Audio),
            model_3d: price(MediaKind::Model3d),
        },
    }
}

fn replicate(settings: &MediaSettings) -> Result<Option<Replicate>> {
    let ReplicateChoice {
        base_url,
        token,
        webhook_secret,
        models,
    } = &settings.replicate;
    if base_url.is_none() && token.is_none() {
        return Ok(None);
    }
    let models = match models {
        Some(text) => text
            .parse::<ReplicateModels>()
            .map_err(|why| anyhow!("replicate-models: {why}"))?,
        None => ReplicateModels::default(),
    };
    let base = match base_url {
        Some(url) => url.clone(),
        None => Url::parse("https://api.replicate.com/v1/")?,
    };
    let provider = Replicate::try_new(&ReplicateSettings {
        base,
        token: token.clone(),
        webhook_secret: webhook_secret.clone(),
        models,
        time: request_time(settings),
    });
    provider
        .map(Some)
        .map_err(|why| anyhow!("replicate can not be used: {why}"))
}

fn openai(settings: &MediaSettings) -> Result<Option<OpenAiMedia>> {
    let OpenAiChoice {
        base_url, api_key, ..
    } = &settings.openai;
    if base_url.is_none() && api_key.is_none() {
        return Ok(None);
    }
    let base = match base_url {
        Some(url) => url.clone(),
        None => Url::parse("https://api.openai.com/v1/")?,
    };
    let offer = |model: &Option<String>, default: &str, price: Option<u64>| {
        let model = model.clone().unwrap_or_else(|| default.to_owned());
        (model, price.map_or(Price::Unknown, Price::Known))
    };
    let choice = &settings.openai;
    let provider = OpenAiMedia::try_new(&OpenAiMediaSettings {
        base,
        key: api_key.clone(),
        image: offer(&choice.image_model, "gpt-image-1", choice.image_price),
        video: offer(&choice.video_model, "sora-2", choice.video_price),
        time: request_time(settings),
    });
    provider
        .map(Some)
        .map_err(|why| anyhow!("openai's media can not be used: {why}"))
}
