//! What an installation can make (K1, K2): kinds of media, capabilities, guides, and the port behind which providers lie.
//!
//! Invariants
//! - A capability says what it takes and what it costs before anything is ordered; a price that nobody knows is none, and then a
//!   ceiling is asked for.
//!
//! Not here: orders themselves (`job`), providers (`runtime`).

use async_trait::async_trait;
use serde_json::Value;

use crate::error::Result;
use crate::ids::JobId;
use crate::names::named;

named! {
    /// What is made.
    MediaKind {
        /// A picture.
        Image = "IMAGE",
        /// A film, or moving pictures.
        Video = "VIDEO",
        /// Sound.
        Audio = "AUDIO",
        /// A body in space.
        Model3d = "MODEL_3D",
    }
}

impl MediaKind {
    /// The name in the arguments of tools.
    pub const fn tool_name(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Video => "video",
            Self::Audio => "audio",
            Self::Model3d => "model_3d",
        }
    }

    /// The kind with this name in the arguments of tools.
    pub fn from_tool_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|kind| kind.tool_name() == name)
    }
}

/// Something that a provider can do.
#[derive(Debug, Clone, PartialEq)]
pub struct Capability {
    /// Its name, unique with its provider.
    pub name: String,
    /// Who does it.
    pub provider: String,
    /// What comes of it; none for what makes no media.
    pub media: Option<MediaKind>,
    /// It in words.
    pub description: String,
    /// What it takes, as JSON Schema of its parameters.
    pub inputs: Value,
    /// What one order costs, in micros; none where nobody knows before.
    pub price: Option<u64>,
    /// Whether orders are taken at the moment.
    pub available: bool,
}

/// How something is done well, or what this installation can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guide {
    /// Its name.
    pub name: String,
    /// Its heading.
    pub title: String,
    /// BCP 47 tag of its language.
    pub language: String,
    /// Its text.
    pub markdown: String,
}

/// A provider's call back, as it came in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Callback {
    /// `webhook-id`.
    pub id: Option<String>,
    /// `webhook-timestamp`.
    pub timestamp: Option<String>,
    /// `webhook-signature`.
    pub signature: Option<String>,
    /// The body.
    pub body: Vec<u8>,
}

/// The media providers of an installation, as those see them who do not order.
#[async_trait]
pub trait MediaDesk: Send + Sync + 'static {
    /// What can be made, in the order of preference.
    fn capabilities(&self) -> Vec<Capability>;
    /// How things are done well, in every language.
    fn guides(&self) -> Vec<Guide>;
    /// Whether a provider can be told to give an order up.
    fn can_cancel(&self, provider: &str) -> bool;
    /// Takes a call back in. Unsigned, forged or stale ones are `Unauthenticated`; for what is not known, `NotFound`.
    async fn receive(&self, provider: &str, job: JobId, callback: Callback) -> Result<()>;
}

/// A desk behind which nobody makes anything.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoMedia;

#[async_trait]
impl MediaDesk for NoMedia {
    fn capabilities(&self) -> Vec<Capability> {
        Vec::new()
    }

    fn guides(&self) -> Vec<Guide> {
        Vec::new()
    }

    fn can_cancel(&self, _: &str) -> bool {
        false
    }

    async fn receive(&self, provider: &str, _: JobId, _: Callback) -> Result<()> {
        Err(crate::Error::not_found("provider", provider))
    }
}
