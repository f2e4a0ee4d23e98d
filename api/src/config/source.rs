//! The layers that a setting is looked for in: flags, environment, file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use toml::Value;

use super::arguments::SettingArguments;
use super::names::{NAMES, nearest};
use super::{ConfigError, hint};

/// The file that is read where none is named and it exists.
const DEFAULT_FILE: &str = "atelier.toml";
/// The variable that names the file.
const FILE_VARIABLE: &str = "ATELIER_CONFIG";
/// Beginning of variables that tests read.
const TEST_VARIABLES: &str = "ATELIER_TEST_";

/// Environment variables by name.
#[derive(Clone, Default)]
pub struct Environment(pub BTreeMap<String, String>);

impl Environment {
    /// The environment of this process; variables that are no Unicode are left out.
    pub fn of_process() -> Self {
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Self(variables.collect())
    }

    /// The value of a variable; an empty one is none.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }
}

/// All layers, ready to be asked.
pub struct Layers {
    flags: BTreeMap<&'static str, String>,
    environment: Environment,
    file: BTreeMap<String, String>,
    file_path: String,
}

impl Layers {
    /// Reads the file, and checks the names in it.
    pub fn read(
        arguments: SettingArguments,
        environment: Environment,
    ) -> Result<Self, ConfigError> {
        let named = arguments
            .file
            .or_else(|| environment.get(FILE_VARIABLE).map(PathBuf::from));
        let path = match named {
            Some(path) => Some(path),
            None => Some(PathBuf::from(DEFAULT_FILE)).filter(|path| path.exists()),
        };
        let file_path = path
            .as_deref()
            .map(|path| path.display().to_string())
            .unwrap_or_default();
        let file = path.as_deref().map(read_file).transpose()?;
        Ok(Self {
            flags: arguments.values,
            environment,
            file: file.unwrap_or_default(),
            file_path,
        })
    }

    /// The value of a setting, and where it stands.
    pub fn text(&self, key: &str) -> Option<(&str, String)> {
        let name = NAMES.iter().find(|name| name.key == key)?;
        let variable = name.variable();
        if let Some(value) = self.flags.get(key) {
            return Some((value, format!("--{key}")));
        }
        if let Some(value) = self.environment.get(&variable) {
            return Some((value, variable));
        }
        let value = self.file.get(key)?;
        Some((value, format!("`{key}` in {}", self.file_path)))
    }

    /// The value of a setting in its own type.
    pub fn value<T>(&self, key: &str) -> Result<Option<T>, ConfigError>
    where
        T: FromStr,
        T::Err: ToString,
    {
        let Some((text, origin)) = self.text(key) else {
            return Ok(None);
        };
        text.parse().map(Some).map_err(|error: T::Err| {
            let problem = error.to_string();
            ConfigError::Invalid { origin, problem }
        })
    }

    /// Environment variables beside the settings.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// A sentence for each `ATELIER_` variable that is no setting.
    pub fn warnings(&self) -> Vec<String> {
        let known: Vec<String> = NAMES.iter().map(super::Name::variable).collect();
        let ours = self.environment.0.keys().filter(|name| {
            name.starts_with("ATELIER_")
                && *name != FILE_VARIABLE
                && !name.starts_with(TEST_VARIABLES)
                && !known.contains(name)
        });
        ours.map(|name| {
            let meant = nearest(name.trim_start_matches("ATELIER_"))
                .map(|key| format!("ATELIER_{}", key.replace('-', "_").to_uppercase()));
            format!(
                "the environment variable {name} is no setting{}",
                hint(meant.as_deref())
            )
        })
        .collect()
    }
}

fn read_file(path: &Path) -> Result<BTreeMap<String, String>, ConfigError> {
    let path_text = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|source| ConfigError::Unreadable {
        path: path_text.clone(),
        source,
    })?;
    parse_file(&path_text, &text)
}

fn parse_file(path: &str, text: &str) -> Result<BTreeMap<String, String>, ConfigError> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map(|span| line_of(text, span.start));
        ConfigError::NoToml {
            path: path.to_owned(),
            message: match line {
                Some(line) => format!("line {line}: {}", error.message()),
                None => error.message().to_owned(),
            },
        }
    })?;
    let mut values = BTreeMap::new();
    for (key, value) in table {
        if !NAMES.iter().any(|name| name.key == key) {
            return Err(ConfigError::UnknownKey {
                path: path.to_owned(),
                nearest: nearest(&key).map(str::to_owned),
                key,
            });
        }
        let text = plain(&value).ok_or_else(|| ConfigError::Invalid {
            origin: format!("`{key}` in {path}"),
            problem: "the value must be a text, a number, true or false, or a list of texts"
                .to_owned(),
        })?;
        values.insert(key, text);
    }
    Ok(values)
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text
        .bytes()
        .take(offset)
        .filter(|byte| *byte == b'\n')
        .count()
}

/// A value as it would stand in a flag.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Boolean(true) => Some("on".to_owned()),
        Value::Boolean(false) => Some("off".to_owned()),
        Value::Array(values) => {
            let texts: Option<Vec<&str>> = values.iter().map(Value::as_str).collect();
            Some(texts?.join(","))
        }
        Value::Float(_) | Value::Datetime(_) | Value::Table(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(flag: Option<&str>, variable: Option<&str>, file: &str) -> Layers {
        let variable = variable.map(|value| ("ATELIER_LISTEN".to_owned(), value.to_owned()));
        Layers {
            flags: flag
                .map(|value| ("listen", value.to_owned()))
                .into_iter()
                .collect(),
            environment: Environment(variable.into_iter().collect()),
            file: parse_file("atelier.toml", file).expect("a good file"),
            file_path: "atelier.toml".to_owned(),
        }
    }

    #[test]
    fn flags_beat_the_environment_and_that_beats_the_file() {
        let file = "listen = 'file'";
        let seen = |layers: Layers| layers.text("listen").map(|(text, _)| text.to_owned());
        assert_eq!(
            seen(layers(Some("flag"), Some("variable"), file)),
            Some("flag".into())
        );
        assert_eq!(
            seen(layers(None, Some("variable"), file)),
            Some("variable".into())
        );
        assert_eq!(seen(layers(None, None, file)), Some("file".into()));
        assert_eq!(seen(layers(None, Some(""), "")), None);
    }

    #[test]
    fn an_unknown_key_is_an_error_that_names_the_nearest_setting() {
        let error = parse_file("atelier.toml", "data_dir = '/srv'").expect_err("unknown");
        let text = error.to_string();
        assert!(
            text.contains("`data_dir`") && text.contains("did you mean `data-dir`?"),
            "{text}"
        );
    }

    #[test]
    fn broken_toml_is_named_by_line_and_not_quoted() {
        let error = parse_file("atelier.toml", "listen = 'a'\nbootstrap-token = hunter2")
            .expect_err("broken");
        let text = format!("{error} {error:?}");
        assert!(
            text.contains("line 2") && !text.contains("hunter2"),
            "{text}"
        );
    }

    #[test]
    fn an_unknown_variable_is_warned_of() {
        let mut layers = layers(None, None, "");
        for name in [
            "ATELIER_MAX_UPLAOD",
            "ATELIER_TEST_POSTGRES_URL",
            "ATELIER_LOG",
            "PATH",
        ] {
            layers.environment.0.insert(name.into(), "1".into());
        }
        let warnings = layers.warnings();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(
            warnings[0].contains("did you mean `ATELIER_MAX_UPLOAD`?"),
            "{warnings:?}"
        );
    }

    #[test]
    fn a_wrong_value_is_named_with_its_place() {
        let error = layers(Some("nowhere"), None, "")
            .value::<std::net::SocketAddr>("listen")
            .expect_err("wrong");
        assert!(error.to_string().starts_with("--listen: "), "{error}");
    }
}
