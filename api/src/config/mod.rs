//! Configuration: flags beat environment variables beat `atelier.toml` beat defaults.
//!
//! Invariants
//! - Every setting has one name in three forms: `--max-upload`, `ATELIER_MAX_UPLOAD`, `max-upload = "…"`.
//! - A key of the file that is no setting is an error; a variable that is none is a warning; both name the nearest one.
//! - A secret is never printed: not by `Debug`, not in an error.
//!
//! Not here: what the settings do.

mod agent;
mod arguments;
mod media;
mod names;
mod quantity;
mod search;
mod settings;
mod source;

pub use agent::{AgentSettings, ModelChoice, ModelProvider};
pub use arguments::SettingArguments;
pub use media::{LocalPriceList, LocalSettings, MediaSettings, OpenAiChoice, ReplicateChoice};
pub use names::{NAMES, Name};
pub use quantity::{ByteSize, Pace, Span};
pub use search::{EmbeddingsProvider, SearchSettings};
pub use settings::{
    AccessSettings, GraphqlSettings, LimitSettings, LogFormat, LogSettings, Settings,
    StorageSettings,
};
pub use source::{Environment, Layers};

/// A configuration that can not be used. The texts are for whoever started the program.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file that was named is not there, or can not be read.
    #[error("the configuration file {path} can not be read")]
    Unreadable {
        /// Which file.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file is no TOML.
    #[error("the configuration file {path} is no TOML: {message}")]
    NoToml {
        /// Which file.
        path: String,
        /// Where and why; never the text itself, which may hold a secret.
        message: String,
    },
    /// The file has a key that is no setting.
    #[error("the configuration file {path} has `{key}`, which is no setting{}", hint(.nearest.as_deref()))]
    UnknownKey {
        /// Which file.
        path: String,
        /// The key.
        key: String,
        /// The setting that it was perhaps meant to be.
        nearest: Option<String>,
    },
    /// A value is not of its setting's form.
    #[error("{origin}: {problem}")]
    Invalid {
        /// Where the value stands.
        origin: String,
        /// What is wrong with it.
        problem: String,
    },
}

/// The end of a sentence about an unknown name.
fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}
