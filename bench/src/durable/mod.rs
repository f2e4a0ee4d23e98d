//! Durable steps: workflows of ten steps that do nothing, in Atelier and in engines like it, one run after the other.
//!
//! A step is durable before the next begins: committed, and synced to the disk by the embedded database, by PostgreSQL and by Restate. In
//! Atelier a step is a stored decision with its journal, projections and events; in the others it is one recorded result.
//!
//! Invariants
//! - Systems take turns within a round, so that what else the machine does meets all of them.
//! - Each system starts on nothing, and is measured after a second of the same load.

pub(crate) mod core;
mod flat;
mod http;
mod outcome;
pub(crate) mod restate;
mod table;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use clap::{Args, ValueEnum};

use crate::process::tree_processor_seconds;
use outcome::Outcome;
use table::Table;

/// What to measure.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The folder of the built programs.
    #[arg(long)]
    programs: PathBuf,
    /// The folder of the other engines.
    #[arg(long)]
    peers: PathBuf,
    /// The program of DBOS, which is built by itself.
    #[arg(long)]
    dbos: PathBuf,
    /// A folder for data and logs; what is in it is removed.
    #[arg(long)]
    data: PathBuf,
    /// A PostgreSQL with the right to make databases.
    #[arg(long)]
    postgres: String,
    /// Its process.
    #[arg(long)]
    postgres_process: u32,
    /// How long each system is measured in a round, in seconds.
    #[arg(long, default_value_t = 8)]
    seconds: u64,
    /// How often everything is measured.
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Workflows that are under way at once.
    #[arg(long, value_delimiter = ',', default_values_t = [16, 1])]
    clients: Vec<usize>,
    /// Only these systems.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<System>,
    /// Steps of the one long task; 0 leaves it out.
    #[arg(long, default_value_t = 5_000)]
    long: u64,
}

/// An engine, and the way in which it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum System {
    /// Atelier's engine in process, on the embedded database.
    Core,
    /// The same on PostgreSQL.
    CorePostgres,
    /// Atelier's server through GraphQL, on the embedded database.
    Http,
    /// The same on PostgreSQL.
    HttpPostgres,
    /// DBOS for Rust in process, on PostgreSQL.
    Dbos,
    /// Restate's server through HTTP.
    Restate,
}

impl System {
    /// What it is called in tables.
    fn title(self) -> &'static str {
        match self {
            Self::Core => "Atelier's engine, SQLite",
            Self::CorePostgres => "Atelier's engine, PostgreSQL",
            Self::Http => "Atelier through GraphQL, SQLite",
            Self::HttpPostgres => "Atelier through GraphQL, PostgreSQL",
            Self::Dbos => "DBOS for Rust 0.5, PostgreSQL",
            Self::Restate => "Restate 1.7 through HTTP, SDK for Node",
        }
    }

    fn has_postgres(self) -> bool {
        matches!(self, Self::CorePostgres | Self::HttpPostgres | Self::Dbos)
    }
}

/// Measures everything, and prints tables.
pub(crate) async fn run(options: Options) -> Result<()> {
    if options.data.exists() {
        std::fs::remove_dir_all(&options.data)?;
    }
    std::fs::create_dir_all(&options.data)?;
    let systems = crate::chosen(&options.only);
    let mut table = Table::default();
    for round in 1..=options.rounds {
        for clients in &options.clients {
            for system in &systems {
                let name = format!("{round}-{clients}-{system:?}").to_lowercase();
                match measure(&options, *system, *clients, &name).await {
                    Ok(measured) => {
                        println!("{name}: {}", measured.line());
                        table.add(*system, *clients, measured);
                    }
                    Err(error) => println!("{name} FAILED: {error:#}"),
                }
            }
        }
    }
    println!("\nMedians of the rounds.\n\n{}", table.markdown());
    if options.long > 0 {
        println!(
            "{}",
            flat::run(&options.data.join("long"), options.long).await?
        );
    }
    Ok(())
}

/// What was measured of a system.
#[derive(Debug, Clone)]
struct Measured {
    outcome: Outcome,
    /// Seconds of a processor that the database server used meanwhile.
    database_s: f64,
}

impl Measured {
    fn steps_per_second(&self) -> f64 {
        self.outcome.steps() / self.outcome.elapsed_s
    }

    fn own_ms_per_step(&self) -> f64 {
        self.outcome.processor_s * 1e3 / self.outcome.steps()
    }

    fn database_ms_per_step(&self) -> f64 {
        self.database_s * 1e3 / self.outcome.steps()
    }

    fn line(&self) -> String {
        format!(
            "{:.0} steps/s, ten steps p50 {:.1} ms, p99 {:.1} ms, {:.3} + {:.3} CPU ms per step, {} MB",
            self.steps_per_second(),
            self.outcome.quantile_ms(0.5),
            self.outcome.quantile_ms(0.99),
            self.own_ms_per_step(),
            self.database_ms_per_step(),
            self.outcome.memory_kib / 1_024
        )
    }
}

async fn measure(
    options: &Options,
    system: System,
    clients: usize,
    name: &str,
) -> Result<Measured> {
    let data = options.data.join(name);
    let size = (clients, options.seconds);
    let database = if system.has_postgres() {
        Some(new_database(&options.postgres, name)?)
    } else {
        None
    };
    let used = || tree_processor_seconds(options.postgres_process);
    let before = used()?;
    let outcome = match system {
        System::Core | System::CorePostgres => core(&data, database.as_deref(), size)?,
        System::Http | System::HttpPostgres => {
            http::run(&options.programs, &data, database.as_deref(), size).await?
        }
        System::Dbos => {
            let url = database.context("DBOS needs PostgreSQL")?;
            let mut command = Command::new(&options.dbos);
            command.args(["--database", &url]);
            child(with_size(&mut command, size))?
        }
        System::Restate => restate::run(&options.peers, &data, size)?,
    };
    ensure!(!outcome.times_us.is_empty(), "no workflow came to its end");
    let database_s = if system.has_postgres() {
        (used()? - before) * outcome.elapsed_s / (outcome.elapsed_s + 1.0)
    } else {
        0.0
    };
    Ok(Measured {
        outcome,
        database_s,
    })
}

fn core(data: &Path, database: Option<&str>, size: (usize, u64)) -> Result<Outcome> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("core").arg("--data").arg(data);
    if let Some(database) = database {
        command.args(["--database", database]);
    }
    child(with_size(&mut command, size))
}

fn with_size(command: &mut Command, (clients, seconds): (usize, u64)) -> &mut Command {
    command
        .args(["--clients", &clients.to_string()])
        .args(["--seconds", &seconds.to_string()])
}

/// Runs a program that prints what it came to.
fn child(command: &mut Command) -> Result<Outcome> {
    let output = command.output()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{errors}");
    Outcome::read(&String::from_utf8_lossy(&output.stdout))
}

/// A new database, by its URL.
fn new_database(server: &str, name: &str) -> Result<String> {
    let name = format!("bench_{}", name.replace('-', "_"));
    let create = format!("create database {name}");
    let output = Command::new("psql")
        .args([server, "-qc", &create])
        .output()
        .context("`psql` can not be started")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{errors}");
    let (before, _) = server.rsplit_once('/').context("a URL with a database")?;
    Ok(format!("{before}/{name}"))
}
