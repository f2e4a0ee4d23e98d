//! The table of settings: names, meanings and defaults as people see them.
//!
//! Invariants
//! - What is not in this table is no setting: help, file, environment and checks all read it.

/// One setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    /// The flag without its dashes, and the key in the file.
    pub key: &'static str,
    /// What the value looks like.
    pub value: &'static str,
    /// What it does, in one line.
    pub help: &'static str,
    /// The default as it is shown; empty where there is none.
    pub default: &'static str,
}

impl Name {
    /// The environment variable.
    pub fn variable(&self) -> String {
        format!("ATELIER_{}", self.key.replace('-', "_").to_uppercase())
    }
}

macro_rules! names {
    ($($key:literal $value:literal $default:literal $help:literal;)*) => {
        /// Every setting.
        pub const NAMES: &[Name] = &[$(Name { key: $key, value: $value, default: $default, help: $help }),*];
    };
}

names! {
    "listen" "ADDRESS" "127.0.0.1:8787" "Address and port to listen on";
    "public-url" "URL" "http:// and the address" "Where browsers and providers reach the server";
    "data-dir" "FOLDER" "./atelier-data" "Folder of the embedded database and of blobs";
    "database-url" "URL" "SQLite in the data folder" "sqlite:… or postgres://…, the latter for several processes";
    "database-connections" "NUMBER" "16" "Connections to PostgreSQL at most";
    "blob-url" "URL" "a folder in the data folder" "Where the bytes of assets lie: a folder, file:///… or s3://bucket/prefix";
    "s3-endpoint" "URL" "" "Address of an S3-compatible service; AWS_ENDPOINT_URL is read too";
    "s3-region" "NAME" "" "Region of the bucket; AWS_REGION is read too";
    "s3-access-key-id" "KEY" "" "Access key; AWS_ACCESS_KEY_ID is read too";
    "s3-secret-access-key" "SECRET" "" "Its secret; AWS_SECRET_ACCESS_KEY is read too";
    "bootstrap-token" "SECRET" "" "On an empty database: the secret of the first owner's token, else one is made and printed once";
    "allowed-origins" "URLS" "" "Origins of other web pages that may use the server, separated by commas";
    "rate-limit" "POINTS" "100" "Cost points per second and person (saved up: 20 seconds' worth), or off";
    "max-upload" "SIZE" "512MiB" "Largest file of an asset";
    "max-frame" "SIZE" "16MiB" "Largest message on a socket of an editor";
    "max-awareness" "SIZE" "64KiB" "Largest awareness state of one editor";
    "max-document" "SIZE" "64MiB" "Largest document";
    "connections-per-person" "NUMBER" "1000" "Connections to documents of one person at once";
    "connections-per-document" "NUMBER" "1000" "Connections to one document at once";
    "document-threads" "NUMBER" "one for each core" "Threads that hold documents";
    "document-idle" "TIME" "10s" "How long a document without connections stays open";
    "query-time" "TIME" "10s" "How long a query or mutation may take";
    "introspection" "on|off" "off" "Whether the schema can be asked for through GraphQL itself";
    "trusted-documents" "off|on|only" "off" "Whether GraphQL documents can be named by id (on), or must be (only)";
    "trusted-documents-manifest" "FILE" "" "The documents: {\"<id>\": \"<text>\"}, or {\"operations\": [{\"id\", \"body\"}]}";
    "status-profile" "audit|2026-09" "audit" "HTTP statuses of GraphQL errors: as the audits measure, or of the edition of September 2026";
    "model-provider" "offline|openai|anthropic|instant" "offline" "Who is behind the agent's models: the planner that is built in, any server that speaks chat completions, Anthropic, or nobody (for measuring)";
    "model-base-url" "URL" "the vendor's own" "Where the provider's API begins";
    "model" "NAME" "" "The planner's model, and that of whoever has none of its own";
    "router-model" "NAME" "" "The router's model";
    "executor-model" "NAME" "" "The executors' model";
    "model-api-key" "SECRET" "" "The provider's key";
    "model-request-time" "TIME" "5m" "How long one request to a model may take";
    "model-input-price" "MICROS" "" "What a million tokens of requests cost, in millionths of the currency";
    "model-cached-price" "MICROS" "" "The same for tokens that the provider read from its cache";
    "model-output-price" "MICROS" "" "The same for tokens of replies";
    "embeddings-provider" "builtin|openai|none" "builtin" "Who turns texts into vectors for searching by meaning: the embedder that is built in, any server that speaks OpenAI's embeddings, or nobody";
    "embeddings-weights" "FILE" "in the user's cache folder" "The weights of the embedder that is built in, as cargo xtask up fetches them";
    "embeddings-base-url" "URL" "the vendor's own" "Where the provider's API begins";
    "embeddings-model" "NAME" "" "The provider's model";
    "embeddings-api-key" "SECRET" "" "The provider's key";
    "embeddings-request-time" "TIME" "30s" "How long one request to the provider may take";
    "search-time" "TIME" "300ms" "How long words, and meanings, may be looked for; what is not found by then is missing from the answer";
    "search-memory" "SIZE" "1GiB" "Memory for the vectors of the workspaces that were searched last";
    "media-providers" "NAMES" "those that are configured, then local" "Who makes media, the preferred first: replicate, openai, local";
    "local-delay" "TIME" "0s" "How long an order takes at the renderer that is built in";
    "local-prices" "MICROS" "0" "What orders cost there: one number, or such as image=40000,video=500000; for trying budgets";
    "replicate-base-url" "URL" "" "Where an API of predictions begins; off without it and a token";
    "replicate-token" "SECRET" "" "The token of the account";
    "replicate-webhook-secret" "SECRET" "" "With what its call backs are signed; without it nothing calls back, and it is asked";
    "replicate-models" "JSON" "one of images, one of videos" "Its models: [{\"kind\", \"model\", \"priceMicros\", \"currency\", \"parameters\"}]";
    "openai-media-base-url" "URL" "the vendor's own" "Where an API of OpenAI's images and videos begins; off without it and a key";
    "openai-media-api-key" "SECRET" "" "Its key";
    "openai-media-image-model" "NAME" "gpt-image-1" "Its model of pictures";
    "openai-media-image-price" "MICROS" "" "What a picture costs; a ceiling is asked for where it is not known";
    "openai-media-video-model" "NAME" "sora-2" "Its model of films";
    "openai-media-video-price" "MICROS" "" "The same for a film";
    "job-poll-interval" "TIME" "15s" "How long until an upstream is asked about an order that it has not called back about; each further time is later";
    "submission-timeout" "TIME" "60s" "When an order is settled of which nobody knows whether it arrived: it is refunded";
    "media-private-addresses" "off|on" "off" "Whether what was made may be fetched from addresses of this network";
    "guides-dir" "FOLDER" "" "Guides of the installation's own, NAME.LANGUAGE.md, in place of those with their names and besides";
    "watchdog-interval" "TIME" "10s" "How often the worker looks for turns and messages that were missed";
    "extraction-delay" "TIME" "5s" "Quiet time before memories are extracted from what a person wrote";
    "extraction-lease" "TIME" "6m" "How long a claim of messages to extract from holds; what a process that died had claimed waits so long";
    "lease" "TIME" "30s" "How long a worker's claim of a turn holds without being renewed";
    "worker-turns" "NUMBER" "32" "Turns that a process runs at once";
    "worker-turns-per-workspace" "NUMBER" "16" "Of these, of one workspace";
    "steps-per-turn" "NUMBER" "25" "Steps of one turn at most";
    "turns-per-task" "NUMBER" "200" "Turns of a task before it is paused until a person resumes it";
    "log" "FILTER" "info" "What is logged, such as info,domain=debug";
    "log-format" "pretty|json" "pretty" "How it is logged";
}

/// The setting that a mistyped name was perhaps meant to be.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase().replace('_', "-");
    let distances = NAMES
        .iter()
        .map(|known| (distance(&name, known.key), known.key));
    let (distance, key) = distances.min()?;
    (distance <= 1 + key.len() / 3).then_some(key)
}

/// How many letters must be put in, taken out or exchanged to make one name of the other.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, letter) in left.chars().take(100).enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, other) in right.iter().enumerate() {
            let exchanged = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = exchanged.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_name_finds_its_setting_and_nonsense_finds_none() {
        assert_eq!(nearest("data_dir"), Some("data-dir"));
        assert_eq!(nearest("lisen"), Some("listen"));
        assert_eq!(nearest("database-uri"), Some("database-url"));
        assert_eq!(nearest("telemetry-endpoint"), None);
    }

    #[test]
    fn a_setting_is_called_alike_in_all_places() {
        let name = NAMES
            .iter()
            .find(|name| name.key == "max-upload")
            .expect("a setting");
        assert_eq!(name.variable(), "ATELIER_MAX_UPLOAD");
    }
}
