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

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
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
    let mut failures = 0;
    for round in 1..=options.rounds {
        for clients in &options.clients {
            for system in &systems {
                let name = format!("{round}-{clients}-{system:?}").to_lowercase();
                match measure(&options, *system, *clients, &name).await {
                    Ok(measured) => {
                        println!("{name}: {}", measured.line());
                        table.add(*system, *clients, measured);
                    }
                    Err(error) => {
                        println!("{name} FAILED: {error:#}");
                        failures += 1;
                    }
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
    if failures > 0 {
        bail!(
            "{failures} runs failed; logs lie in {}",
            options.data.display()
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
    std::fs::create_dir_all(&data)?;
    let size = (clients, options.seconds);
    let database = if system.has_postgres() {
        Some(Database {
            url: new_database(&options.postgres, name)?,
            process: options.postgres_process,
        })
    } else {
        None
    };
    let database = database.as_ref();
    let measured = match system {
        System::Core | System::CorePostgres => {
            let mut command = Command::new(std::env::current_exe()?);
            command.arg("core").arg("--data").arg(&data);
            child(&mut command, &data, (database, size))?
        }
        System::Http | System::HttpPostgres => {
            http::run(&options.programs, &data, database, size).await?
        }
        System::Dbos => {
            let mut command = Command::new(&options.dbos);
            child(&mut command, &data, (database, size))?
        }
        System::Restate => Measured {
            outcome: restate::run(&options.peers, &data, size)?,
            database_s: 0.0,
        },
    };
    let times = &measured.outcome.times_us;
    ensure!(!times.is_empty(), "no workflow came to its end");
    Ok(measured)
}

/// Runs a program that says when its measured part begins, and prints what that came to.
fn child(
    command: &mut Command,
    data: &Path,
    (database, (clients, seconds)): (Option<&Database>, (usize, u64)),
) -> Result<Measured> {
    if let Some(database) = database {
        command.args(["--database", &database.url]);
    }
    let errors = data.join("errors");
    let mut child = command
        .args(["--clients", &clients.to_string()])
        .args(["--seconds", &seconds.to_string()])
        .stdout(Stdio::piped())
        .stderr(File::create(&errors)?)
        .spawn()?;
    let printed = child.stdout.take().context("the program has no output")?;
    let (mut before, mut after, mut line) = (0.0, 0.0, String::new());
    for printed in BufReader::new(printed).lines() {
        line = printed?;
        if line == outcome::BEGINS {
            before = Database::seconds(database)?;
        } else {
            after = Database::seconds(database)?;
        }
    }
    let status = child.wait()?;
    ensure!(status.success(), "{}", std::fs::read_to_string(errors)?);
    Ok(Measured {
        outcome: Outcome::read(&line)?,
        database_s: after - before,
    })
}

/// A database of PostgreSQL.
struct Database {
    url: String,
    /// Its server.
    process: u32,
}

impl Database {
    /// Seconds of a processor that its server has used; none without one.
    fn seconds(database: Option<&Self>) -> Result<f64> {
        database.map_or(Ok(0.0), |database| tree_processor_seconds(database.process))
    }
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
