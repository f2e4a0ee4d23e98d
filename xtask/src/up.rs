//! `cargo xtask up`: from a clean clone to a running server with something in it.
//!
//! Invariants
//! - A second `up` finds the works of the first: the data folder is named, not temporary.
//! - The server takes this process's place, so that Ctrl-C reaches it and nothing is left behind.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;

use crate::process::{self, cargo, command, target};
use crate::setup;

/// How to start the server.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The profile to build with; `dev` builds faster and runs slower.
    #[arg(long, default_value = "release")]
    profile: String,
    /// Where the works are kept.
    #[arg(long, default_value = "atelier-data")]
    data_dir: PathBuf,
    /// More arguments for `atelier demo`, after `--`.
    #[arg(last = true)]
    arguments: Vec<String>,
}

/// Sets up, builds and runs.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    setup::for_up()?;
    let profile = &options.profile;
    process::run(&mut cargo(&format!(
        "build --bin atelier --profile {profile}"
    )))?;
    become_server(options)
}

/// Becomes the server; returns only where that fails.
fn become_server(options: &Options) -> Result<ExitCode> {
    let folder = match options.profile.as_str() {
        "dev" => "debug",
        other => other,
    };
    let program = target().join(folder).join("atelier");
    let mut server = command(&program.to_string_lossy(), ["demo", "--data-dir"]);
    server.arg(&options.data_dir).args(&options.arguments);
    println!("starting the server; Ctrl-C stops it");
    Err(server.exec()).with_context(|| format!("could not start {}", program.display()))
}
