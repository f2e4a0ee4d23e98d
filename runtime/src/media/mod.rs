//! Making media: the port of providers, who of them makes what, and what they declare (spec G, K2).
//!
//! Invariants
//! - What a provider's act came to is told as news of the order, never as a guess: what may have reached an upstream is `Lost`.
//! - Nothing here decides whether something may be paid: an order is approved before a provider hears of it (`domain::job`).
//!
//! Not here: when which order is looked after (`keeper`), what an order's states are (`domain::job`).

mod desk;
mod download;
mod fetch;
mod guides;
mod http;
mod keeper;
pub mod local;
pub mod openai;
mod parameters;
pub mod replicate;
mod sniff;
#[cfg(test)]
mod tests;
mod webhook;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::blob::Blobs;
use domain::document::DocumentService;
use domain::job::{Job, JobTiming, News, Price, UpstreamFile};
use domain::media::{Callback, MediaKind};
use domain::store::SharedStore;
use domain::time::{SharedClock, Timestamp};
use domain::work::Work;
use serde_json::Value;
use url::Url;

pub use desk::Desk;
pub use guides::{Guides, GuidesError};
pub use keeper::JobKeeper;
pub use webhook::WebhookSecret;

/// Something that a provider makes.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// Its name at the provider, such as a model.
    pub name: String,
    /// What comes of it.
    pub kind: MediaKind,
    /// It in words.
    pub description: String,
    /// JSON Schema of its parameters.
    pub inputs: Value,
    /// What it costs.
    pub price: Price,
}

/// How an upstream can be treated (G6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Abilities {
    /// The same order may be sent again under the same key: it is made once.
    pub is_idempotent: bool,
    /// It can be told to give an order up.
    pub cancels: bool,
    /// It calls back.
    pub calls_back: bool,
}

/// What goes with an order.
#[derive(Debug, Clone, Default)]
pub struct Material {
    /// Where the upstream can read the files of references.
    pub references: Vec<String>,
    /// Where the upstream calls back.
    pub callback: Option<Url>,
}

/// Bytes on their way from a provider.
#[derive(Debug)]
pub enum Source {
    /// All of them.
    Bytes(Vec<u8>),
    /// They are to be fetched there, with this value of `authorization`.
    Remote(Url, Option<String>),
}

/// What came of sending an order.
#[derive(Debug)]
pub enum Sent {
    /// News of the order.
    News(News),
    /// The upstream made it at once, and gave the files themselves.
    Files(Vec<Vec<u8>>),
}

/// Who makes media.
#[async_trait]
pub trait MediaProvider: Send + Sync + 'static {
    /// Its name, in addresses and jobs.
    fn name(&self) -> &'static str;
    /// What it makes, in the order of preference.
    fn offers(&self) -> Vec<Offer>;
    /// How it can be treated.
    fn abilities(&self) -> Abilities;
    /// Sends an order, once.
    async fn send(&self, job: &Job, material: &Material) -> Sent;
    /// Asks about an order that the upstream has.
    async fn look(&self, job: &Job) -> News;
    /// Tells the upstream to give an order up.
    async fn cancel(&self, job: &Job) -> News;
    /// Where a file that it has made is.
    async fn source(&self, job: &Job, file: &UpstreamFile) -> Result<Source, String>;
    /// The origin that files may come from though it is no public address: the one that it was configured with.
    fn home(&self) -> Option<Url> {
        None
    }
    /// When an order of it is worth a first look; none is the usual time.
    fn first_look(&self) -> Option<Duration> {
        None
    }
    /// What a call back says, with the notice's id.
    fn read_callback(
        &self,
        _callback: &Callback,
        _now: Timestamp,
    ) -> Result<(String, News), CallbackError> {
        Err(CallbackError::Unsigned)
    }
}

/// Why a call back is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallbackError {
    /// It is not signed as it must be.
    #[error("the signature is missing or wrong, or too old")]
    Unsigned,
    /// It is signed, and says nothing that can be understood.
    #[error("the body can not be read: {0}")]
    Unreadable(String),
}

/// Limits on what is fetched from providers.
#[derive(Debug, Clone, Copy)]
pub struct FetchLimits {
    /// The largest file.
    pub bytes: u64,
    /// How long one file may take.
    pub time: Duration,
    /// Whether addresses may be private ones of this network.
    pub allows_private: bool,
}

impl Default for FetchLimits {
    fn default() -> Self {
        Self {
            bytes: 512 << 20,
            time: Duration::from_mins(10),
            allows_private: false,
        }
    }
}

/// Builds addresses at which upstreams read the files of assets.
pub trait ReferenceUrls: Send + Sync + 'static {
    /// An absolute address of an asset's file; none where this process does not know where it is reached.
    fn url(&self, work: &Work) -> Option<String>;
}

/// What media are made with.
#[derive(Clone)]
pub struct MediaServices {
    /// Commands and reads.
    pub store: SharedStore,
    /// Works, for placing results.
    pub documents: DocumentService,
    /// Where files lie.
    pub blobs: Arc<dyn Blobs>,
    /// The hour.
    pub clock: SharedClock,
    /// Addresses of references.
    pub references: Arc<dyn ReferenceUrls>,
    /// Where call backs reach this installation.
    pub public: Option<Url>,
}

/// How media are made.
#[derive(Debug, Clone, Copy)]
pub struct MediaOptions {
    /// How long orders are waited for.
    pub timing: JobTiming,
    /// Limits of files.
    pub limits: FetchLimits,
    /// Orders that are looked after at once.
    pub at_once: usize,
}

impl Default for MediaOptions {
    fn default() -> Self {
        Self {
            timing: JobTiming::default(),
            limits: FetchLimits::default(),
            at_once: 32,
        }
    }
}

/// The providers of an installation, in the order of preference.
#[derive(Clone, Default)]
pub struct Providers {
    all: Vec<Arc<dyn MediaProvider>>,
}

impl Providers {
    /// These, the preferred first.
    #[must_use]
    pub fn new(all: Vec<Arc<dyn MediaProvider>>) -> Self {
        Self { all }
    }

    /// The provider with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn MediaProvider>> {
        self.all.iter().find(|provider| provider.name() == name)
    }

    /// All of them.
    pub fn list(&self) -> impl Iterator<Item = &Arc<dyn MediaProvider>> {
        self.all.iter()
    }

    /// Who makes this, and what it costs; the text says what can be made instead.
    pub fn choose(
        &self,
        kind: MediaKind,
        (wanted, model): (Option<&str>, Option<&str>),
    ) -> Result<(&Arc<dyn MediaProvider>, Offer), String> {
        let makes = |provider: &Arc<dyn MediaProvider>| {
            let mut offers = provider.offers().into_iter();
            offers.find(|offer| offer.kind == kind && model.is_none_or(|model| model == offer.name))
        };
        let mut found = self
            .all
            .iter()
            .filter(|provider| wanted.is_none_or(|name| name == provider.name()))
            .filter_map(|provider| Some((provider, makes(provider)?)));
        found
            .next()
            .ok_or_else(|| self.missing(kind, (wanted, model)))
    }

    /// Whether somebody makes this: a kind of media, or something by its name.
    pub fn find_capability(&self, name: &str) -> Result<(), String> {
        let is_it = |offer: &Offer| {
            offer.name == name || offer.kind.tool_name() == name || offer.kind.name() == name
        };
        let mut offers = self.all.iter().flat_map(|provider| provider.offers());
        if offers.any(|offer| is_it(&offer)) {
            return Ok(());
        }
        let made = self.made();
        let name: String = name.chars().take(60).collect();
        Err(format!("the capability `{name}` is missing here ({made})"))
    }

    fn missing(&self, kind: MediaKind, (wanted, model): (Option<&str>, Option<&str>)) -> String {
        let made = self.made();
        let kind = match model {
            Some(model) => format!("{}` by the model `{model}", kind.tool_name()),
            None => kind.tool_name().to_owned(),
        };
        match wanted {
            Some(name) => format!(
                "the capability `{kind}` is missing here: no provider `{name}` makes it ({made})"
            ),
            None => {
                format!("the capability `{kind}` is missing here: no provider makes it ({made})")
            }
        }
    }

    /// Who makes what, in words.
    fn made(&self) -> String {
        let mut made: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for provider in &self.all {
            let kinds = made.entry(provider.name()).or_default();
            for offer in provider.offers() {
                if !kinds.contains(&offer.kind.tool_name()) {
                    kinds.push(offer.kind.tool_name());
                }
            }
        }
        let made: Vec<_> = made
            .iter()
            .map(|(name, kinds)| format!("{name} makes {}", kinds.join(", ")))
            .collect();
        if made.is_empty() {
            "nothing can be made".to_owned()
        } else {
            made.join("; ")
        }
    }
}
