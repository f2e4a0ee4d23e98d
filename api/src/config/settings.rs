//! The settings in their own types, by section.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::thread::available_parallelism;
use std::time::Duration;

use domain::secret::Secret;
use url::Url;

use super::ConfigError;
use super::agent::{AgentSettings, agent};
use super::media::{MediaSettings, media};
use super::quantity::{ByteSize, Pace, Span};
use super::search::{SearchSettings, search};
use super::source::Layers;
use crate::graphql::budget::RateLimit;
use crate::graphql::transport::{DocumentMode, Introspection, Profile};

/// The database libraries tell of themselves at every start, also where there is nothing to do.
const DEFAULT_FILTER: &str = "info,sea_orm_migration=warn,sqlx=warn";

/// All settings.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where the server listens.
    pub listen: SocketAddr,
    /// Where browsers reach it; none means at the address it listens on.
    pub public_url: Option<Url>,
    /// Database and blobs.
    pub storage: StorageSettings,
    /// Who may come in.
    pub access: AccessSettings,
    /// What one message, document or person may take.
    pub limits: LimitSettings,
    /// GraphQL.
    pub graphql: GraphqlSettings,
    /// The agent.
    pub agent: AgentSettings,
    /// Media providers.
    pub media: MediaSettings,
    /// The search.
    pub search: SearchSettings,
    /// The log.
    pub log: LogSettings,
    /// Sentences about what was found and not understood.
    pub warnings: Vec<String>,
}

/// Database and blobs.
#[derive(Debug, Clone)]
pub struct StorageSettings {
    /// Folder of the embedded database and of blobs.
    pub data_dir: PathBuf,
    /// Address of the database, which may hold a password; none means SQLite in the data folder.
    pub database_url: Option<Secret>,
    /// Connections to PostgreSQL at most.
    pub database_connections: u32,
    /// Where blobs lie; none means the data folder.
    pub blob_url: Option<String>,
    /// Options of an S3-compatible service, by the names that its clients use.
    pub object_store: Vec<(String, Secret)>,
}

/// Who may come in.
#[derive(Debug, Clone)]
pub struct AccessSettings {
    /// The secret of the first owner's token.
    pub bootstrap_token: Option<Secret>,
    /// Other web pages that may use the server.
    pub allowed_origins: Vec<Url>,
    /// GraphQL cost over time for each person.
    pub rate_limit: Option<RateLimit>,
}

/// What one message, document or person may take; sizes in bytes.
#[derive(Debug, Clone, Copy)]
pub struct LimitSettings {
    /// Largest file of an asset.
    pub upload: ByteSize,
    /// Largest message on an editor's socket.
    pub frame: ByteSize,
    /// Largest awareness state of one editor.
    pub awareness: ByteSize,
    /// Largest document.
    pub document: ByteSize,
    /// Connections to documents of one person at once.
    pub connections_per_person: usize,
    /// Connections to one document at once.
    pub connections_per_document: usize,
    /// Threads that hold documents.
    pub document_threads: usize,
    /// How long a document without connections stays open.
    pub document_idle: Duration,
}

/// GraphQL.
#[derive(Debug, Clone)]
pub struct GraphqlSettings {
    /// How long a query or mutation may take.
    pub time_limit: Duration,
    /// Whether the schema can be asked for.
    pub introspection: Introspection,
    /// Whether documents can or must be named by id.
    pub trusted_documents: DocumentMode,
    /// The file with those documents.
    pub trusted_documents_manifest: Option<PathBuf>,
    /// HTTP statuses of errors.
    pub status_profile: Profile,
}

/// The log.
#[derive(Debug, Clone)]
pub struct LogSettings {
    /// What is logged.
    pub filter: String,
    /// How.
    pub format: LogFormat,
}

/// How the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Pretty,
    /// One JSON object a line.
    Json,
}

impl Settings {
    /// Reads every setting.
    pub fn read(layers: &Layers) -> Result<Self, ConfigError> {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 8787));
        Ok(Self {
            listen: layers.value("listen")?.unwrap_or(listen),
            public_url: layers.value::<WebUrl>("public-url")?.map(|WebUrl(url)| url),
            storage: storage(layers)?,
            access: access(layers)?,
            limits: limits(layers)?,
            graphql: graphql(layers)?,
            agent: agent(layers)?,
            media: media(layers)?,
            search: search(layers)?,
            log: log(layers)?,
            warnings: layers.warnings(),
        })
    }

    /// Where browsers reach a server that listens on this address.
    pub fn public_url_at(&self, address: SocketAddr) -> Url {
        if let Some(url) = &self.public_url {
            return url.clone();
        }
        let host = match address.ip() {
            IpAddr::V4(host) if host.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(host) if host.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
            host => host,
        };
        let address = SocketAddr::new(host, address.port());
        Url::parse(&format!("http://{address}/")).expect("an address and port make a URL")
    }
}

fn storage(layers: &Layers) -> Result<StorageSettings, ConfigError> {
    let connections = layers.value("database-connections")?.unwrap_or(Number(16));
    Ok(StorageSettings {
        data_dir: layers
            .value("data-dir")?
            .unwrap_or_else(|| "./atelier-data".into()),
        database_url: layers.value::<Secret>("database-url")?,
        database_connections: connections.0 as u32,
        blob_url: layers.value("blob-url")?,
        object_store: object_store(layers)?,
    })
}

/// Settings of S3 beat the variables that every S3 client reads.
fn object_store(layers: &Layers) -> Result<Vec<(String, Secret)>, ConfigError> {
    let mut options: Vec<(String, Secret)> = layers
        .environment()
        .0
        .iter()
        .filter(|(name, value)| name.starts_with("AWS_") && !value.is_empty())
        .map(|(name, value)| (name.to_lowercase(), Secret::new(value)))
        .collect();
    for (key, option) in [
        ("s3-endpoint", "aws_endpoint_url"),
        ("s3-region", "aws_region"),
        ("s3-access-key-id", "aws_access_key_id"),
        ("s3-secret-access-key", "aws_secret_access_key"),
    ] {
        if let Some(value) = layers.value::<Secret>(key)? {
            options.retain(|(name, _)| name != option);
            options.push((option.to_owned(), value));
        }
    }
    Ok(options)
}

fn access(layers: &Layers) -> Result<AccessSettings, ConfigError> {
    let bootstrap_token = layers
        .value::<BootstrapToken>("bootstrap-token")?
        .map(|BootstrapToken(secret)| secret);
    let origins = layers.value::<WebUrls>("allowed-origins")?;
    let pace = layers.value::<Pace>("rate-limit")?;
    Ok(AccessSettings {
        bootstrap_token,
        allowed_origins: origins.map_or_else(Vec::new, |WebUrls(urls)| urls),
        rate_limit: pace.map_or_else(|| Some(RateLimit::default()), |Pace(limit)| limit),
    })
}

fn limits(layers: &Layers) -> Result<LimitSettings, ConfigError> {
    let size = |key: &str, default: u64| -> Result<ByteSize, ConfigError> {
        Ok(layers.value(key)?.unwrap_or(ByteSize(default)))
    };
    let number = |key: &str, default: usize| -> Result<usize, ConfigError> {
        Ok(layers.value(key)?.unwrap_or(Number(default)).0)
    };
    let cores = available_parallelism().map_or(2, std::num::NonZero::get);
    let idle = layers.value("document-idle")?;
    Ok(LimitSettings {
        upload: size("max-upload", 512 << 20)?,
        frame: size("max-frame", 16 << 20)?,
        awareness: size("max-awareness", 64 << 10)?,
        document: size("max-document", 64 << 20)?,
        connections_per_person: number("connections-per-person", 1_000)?,
        connections_per_document: number("connections-per-document", 1_000)?,
        document_threads: number("document-threads", cores)?,
        document_idle: idle.unwrap_or(Span(Duration::from_secs(10))).0,
    })
}

fn graphql(layers: &Layers) -> Result<GraphqlSettings, ConfigError> {
    let time_limit = layers.value("query-time")?;
    let introspection = [("off", Introspection::Off), ("on", Introspection::On)];
    let modes = [
        ("off", DocumentMode::Off),
        ("on", DocumentMode::On),
        ("only", DocumentMode::Only),
    ];
    let profiles = [
        ("audit", Profile::Audit),
        ("2026-09", Profile::September2026),
    ];
    let settings = GraphqlSettings {
        time_limit: time_limit.unwrap_or(Span(Duration::from_secs(10))).0,
        introspection: choice(layers, "introspection", introspection)?,
        trusted_documents: choice(layers, "trusted-documents", modes)?,
        trusted_documents_manifest: layers.value("trusted-documents-manifest")?,
        status_profile: choice(layers, "status-profile", profiles)?,
    };
    if settings.trusted_documents != DocumentMode::Off
        && settings.trusted_documents_manifest.is_none()
    {
        return Err(ConfigError::Invalid {
            origin: "trusted-documents".to_owned(),
            problem: "name the file with the documents by trusted-documents-manifest".to_owned(),
        });
    }
    Ok(settings)
}

fn log(layers: &Layers) -> Result<LogSettings, ConfigError> {
    let formats = [("pretty", LogFormat::Pretty), ("json", LogFormat::Json)];
    let filter = layers.value::<LogFilter>("log")?;
    Ok(LogSettings {
        filter: filter.map_or_else(|| DEFAULT_FILTER.to_owned(), |LogFilter(filter)| filter),
        format: choice(layers, "log-format", formats)?,
    })
}

/// One of a few words; the first is the default.
pub(super) fn choice<T: Copy, const N: usize>(
    layers: &Layers,
    key: &str,
    choices: [(&str, T); N],
) -> Result<T, ConfigError> {
    let Some((text, origin)) = layers.text(key) else {
        return Ok(choices[0].1);
    };
    let chosen = choices.iter().find(|(word, _)| *word == text);
    chosen.map(|(_, value)| *value).ok_or_else(|| {
        let words = choices.map(|(word, _)| format!("`{word}`")).join(", ");
        let problem = format!("`{text}` is none of {words}");
        ConfigError::Invalid { origin, problem }
    })
}

/// The secret of the first token: long enough that it can not be guessed.
struct BootstrapToken(Secret);

impl FromStr for BootstrapToken {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.len() < 16 || text.len() > 512 || !text.bytes().all(|byte| byte.is_ascii_graphic())
        {
            return Err("the token needs 16 to 512 visible ASCII characters; `openssl rand -hex 32` makes a good one".to_owned());
        }
        Ok(Self(Secret::new(text)))
    }
}

/// A number above zero.
#[derive(Clone, Copy)]
pub(super) struct Number(pub(super) usize);

impl FromStr for Number {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse::<u32>() {
            Ok(number) if number > 0 => Ok(Self(number as usize)),
            _ => Err(format!("`{text}` is no number above 0")),
        }
    }
}

/// A URL of http or https with a host, and nothing behind its path.
pub(super) struct WebUrl(pub(super) Url);

impl FromStr for WebUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let url = Url::parse(text.trim()).ok().filter(|url| {
            matches!(url.scheme(), "http" | "https")
                && url.host().is_some()
                && url.query().is_none()
                && url.fragment().is_none()
                && url.username().is_empty()
        });
        let mut url =
            url.ok_or_else(|| format!("`{text}` is no URL such as https://atelier.example"))?;
        if !url.path().ends_with('/') {
            let path = format!("{}/", url.path());
            url.set_path(&path);
        }
        Ok(Self(url))
    }
}

/// URLs separated by commas.
struct WebUrls(Vec<Url>);

impl FromStr for WebUrls {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty());
        let urls = parts.map(|part| part.parse::<WebUrl>().map(|WebUrl(url)| url));
        Ok(Self(urls.collect::<Result<_, _>>()?))
    }
}

/// A filter that the log understands.
struct LogFilter(String);

impl FromStr for LogFilter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        tracing_subscriber::EnvFilter::try_new(text)
            .map(|_| Self(text.to_owned()))
            .map_err(|error| format!("`{text}` is no filter such as info,domain=debug: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Environment, SettingArguments};
    use super::*;

    fn settings(flags: &[(&'static str, &str)]) -> Result<Settings, ConfigError> {
        let arguments = SettingArguments {
            file: None,
            values: flags
                .iter()
                .map(|(key, value)| (*key, (*value).to_owned()))
                .collect(),
        };
        Settings::read(&Layers::read(arguments, Environment::default())?)
    }

    #[test]
    fn defaults_are_those_of_the_contract() {
        let settings = settings(&[]).expect("good");
        assert_eq!(settings.listen.to_string(), "127.0.0.1:8787");
        assert_eq!(settings.limits.upload, ByteSize(512 << 20));
        let rate = settings.access.rate_limit.expect("on");
        assert_eq!((rate.per_second, rate.burst), (100.0, 2_000.0));
        let url = settings.public_url_at(([0, 0, 0, 0], 9000).into());
        assert_eq!(url.as_str(), "http://127.0.0.1:9000/");
    }

    #[test]
    fn secrets_are_not_seen_in_the_settings_description() {
        let settings = settings(&[
            ("bootstrap-token", "hunter2-hunter2-hunter2"),
            ("database-url", "postgres://me:hunter2@db/atelier"),
            ("s3-secret-access-key", "hunter2"),
        ])
        .expect("good");
        let seen = format!("{settings:?}");
        assert!(!seen.contains("hunter2"), "{seen}");
    }

    #[test]
    fn wrong_values_are_refused_with_their_place_and_an_example() {
        for (key, value, expected) in [
            ("max-upload", "lots", "512MiB"),
            ("query-time", "10", "500ms"),
            ("public-url", "ftp://x", "https://atelier.example"),
            ("trusted-documents", "maybe", "`only`"),
            ("trusted-documents", "only", "trusted-documents-manifest"),
            ("bootstrap-token", "short", "16 to 512"),
            ("log", "info,=", "info,domain=debug"),
            ("connections-per-person", "0", "above 0"),
        ] {
            let error = settings(&[(key, value)]).expect_err(key).to_string();
            assert!(error.contains(key) && error.contains(expected), "{error}");
        }
    }

    #[test]
    fn origins_are_a_list() {
        let settings = settings(&[(
            "allowed-origins",
            "https://a.example, http://b.example:8080",
        )]);
        let origins = settings.expect("good").access.allowed_origins;
        assert_eq!(origins.len(), 2);
        assert_eq!(origins[1].port(), Some(8080));
    }
}
