//! The commands of the program.

mod agent;
mod archive;
mod demo;
mod demo_content;
mod doctor;
mod export;
mod import;
mod installation;
mod media;
mod rebuild;
mod search;
mod serve;
mod services;
mod worker;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use api::config::{Environment, Layers, SettingArguments, Settings};
use clap::{Parser, Subcommand};
use domain::ids::{TaskId, WorkspaceId};

/// People and an AI agent make storyboards, flows, texts and collections together.
#[derive(Debug, Parser)]
#[command(name = "atelier", version, about)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serves the API, the sockets of editors and the studio.
    Serve {
        /// Serves without the agent's worker.
        #[arg(long)]
        no_worker: bool,
        #[command(flatten)]
        settings: SettingArguments,
    },
    /// Runs the agent alone, beside any number of servers on the same database.
    Worker(SettingArguments),
    /// Serves a small workspace to look at, in a temporary folder or in --data-dir.
    Demo(SettingArguments),
    /// Brings the database to this version; `serve` does it by itself.
    Migrate(SettingArguments),
    /// Prints the GraphQL schema.
    Schema,
    /// Checks configuration, database, files and documents, and says how to mend what is wrong.
    Doctor(SettingArguments),
    /// Drops what is derived, and makes it anew out of what is stored.
    #[command(subcommand)]
    Rebuild(Derived),
    /// Writes a workspace with its history and files into one archive.
    Export {
        /// The workspace, as workspace_….
        workspace: WorkspaceId,
        /// The archive, which must not exist yet.
        file: PathBuf,
        #[command(flatten)]
        settings: SettingArguments,
    },
    /// Brings a workspace in from an archive.
    Import {
        /// The archive.
        file: PathBuf,
        /// E-mail address of the owner here; made where it is new.
        #[arg(long, value_name = "EMAIL")]
        owner: String,
        #[command(flatten)]
        settings: SettingArguments,
    },
}

#[derive(Debug, Subcommand)]
enum Derived {
    /// The index of words and the vectors of meanings, out of what is stored.
    Search(SettingArguments),
    /// Summary, short line and checklist of tasks, out of their journals.
    Projections {
        /// Only this task, as task_….
        #[arg(long)]
        task: Option<TaskId>,
        #[command(flatten)]
        settings: SettingArguments,
    },
}

impl Arguments {
    /// Runs the command.
    pub(crate) async fn run(self) -> Result<ExitCode> {
        match self.command {
            Command::Serve {
                settings,
                no_worker,
            } => {
                let settings = start(settings)?.settings;
                Box::pin(serve::run(&settings, has_worker(no_worker))).await?;
            }
            Command::Worker(settings) => Box::pin(worker::run(&start(settings)?.settings)).await?,
            Command::Demo(settings) => Box::pin(demo::run(start(settings)?)).await?,
            Command::Migrate(settings) => migrate(&start(settings)?.settings).await?,
            Command::Schema => print!("{}", api::graphql::sdl()),
            Command::Doctor(settings) => {
                return Box::pin(doctor::run(&start(settings)?.settings)).await;
            }
            Command::Rebuild(Derived::Search(settings)) => {
                Box::pin(rebuild::search(&start(settings)?.settings)).await?;
            }
            Command::Rebuild(Derived::Projections { task, settings }) => {
                Box::pin(rebuild::projections(&start(settings)?.settings, task)).await?;
            }
            Command::Export {
                workspace,
                file,
                settings,
            } => Box::pin(export::run(&start(settings)?.settings, workspace, &file)).await?,
            Command::Import {
                file,
                owner,
                settings,
            } => Box::pin(import::run(&start(settings)?.settings, &file, &owner)).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Whether the process works on tasks as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HasWorker {
    /// It does.
    Yes,
    /// Others do.
    No,
}

fn has_worker(no_worker: bool) -> HasWorker {
    if no_worker {
        HasWorker::No
    } else {
        HasWorker::Yes
    }
}

/// The settings, and whether a data folder was named.
pub(crate) struct Started {
    pub(crate) settings: Settings,
    pub(crate) names_data_dir: bool,
}

/// Reads the settings and starts the log.
fn start(arguments: SettingArguments) -> Result<Started> {
    let layers = Layers::read(arguments, Environment::of_process())?;
    let settings = Settings::read(&layers)?;
    api::telemetry::start_log(&settings.log);
    for warning in &settings.warnings {
        tracing::warn!("{warning}");
    }
    Ok(Started {
        names_data_dir: layers.text("data-dir").is_some(),
        settings,
    })
}

async fn migrate(settings: &Settings) -> Result<()> {
    let installation = installation::Installation::open(settings).await?;
    installation.close().await;
    println!("the database is at this version");
    Ok(())
}
