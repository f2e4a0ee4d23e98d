//! The settings as flags of every command.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

use super::names::{NAMES, Name};

/// The flags that were given.
#[derive(Debug, Clone, Default)]
pub struct SettingArguments {
    /// The configuration file that was named.
    pub file: Option<PathBuf>,
    /// Values by key.
    pub values: BTreeMap<&'static str, String>,
}

const FILE: &str = "config";

impl Args for SettingArguments {
    fn augment_args(command: Command) -> Command {
        let file = Arg::new(FILE)
            .long(FILE)
            .value_name("FILE")
            .help(
                "Configuration file [env: ATELIER_CONFIG] [default: atelier.toml, where it exists]",
            )
            .help_heading("Settings")
            .value_parser(clap::value_parser!(PathBuf));
        NAMES.iter().map(flag).fold(command.arg(file), Command::arg)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn flag(name: &Name) -> Arg {
    let mut help = format!("{} [env: {}]", name.help, name.variable());
    if !name.default.is_empty() {
        help = format!("{help} [default: {}]", name.default);
    }
    Arg::new(name.key)
        .long(name.key)
        .value_name(name.value)
        .help(help)
        .help_heading("Settings")
}

impl FromArgMatches for SettingArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut arguments = Self::default();
        arguments.update_from_arg_matches(matches)?;
        Ok(arguments)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        if let Some(file) = matches.get_one::<PathBuf>(FILE) {
            self.file = Some(file.clone());
        }
        for name in NAMES {
            if let Some(value) = matches.get_one::<String>(name.key) {
                self.values.insert(name.key, value.clone());
            }
        }
        Ok(())
    }
}
