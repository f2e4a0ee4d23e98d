//! `atelier-bench`: one load for Atelier and for what is like it, in one run: of editors (`cargo xtask bench sync`), of durable steps
//! (`cargo xtask bench runtime`), and what is its own alone: the search, and memory.
//!
//! Invariants
//! - Servers take turns within a round, so that what else the machine does meets all of them.
//! - Where there are two processors, the server has the first and the editors have the second.
//!
//! Not here: building, and installing the other servers (`xtask`).

#![expect(
    clippy::print_stdout,
    reason = "this is a command-line program; its output is what it is for"
)]

mod crowd;
mod durable;
mod editor;
mod memory_load;
mod peer;
mod process;
mod random;
mod relay;
mod replica;
mod scenario;
mod search_load;
mod stamp;
mod table;
mod wire;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::{Args, Parser, Subcommand, ValueEnum};

use peer::{Peer, Places};
use scenario::{Run, Scenario, Size, Trace};
use table::Table;

// The server's own, so that its parts are measured here as they run there.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A load of editors.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measures servers side by side.
    Sync(Options),
    /// Measures the durable runtime beside engines like it.
    Runtime(durable::Options),
    /// One run of the engine in process; `runtime` starts it.
    Core(durable::core::Options),
    /// One run of Restate, in a network of its own; `runtime` starts it.
    Restate(durable::restate::Inside),
    /// Measures the search by itself.
    Search(search_load::Options),
    /// Measures what recall finds, and how long a page of memories takes.
    Memory(memory_load::Options),
    /// Serves as the relay that is the floor.
    Relay {
        /// Where it listens, on loopback.
        port: u16,
    },
}

/// What to measure.
#[derive(Debug, Args)]
struct Options {
    /// The folder of the built programs.
    #[arg(long)]
    programs: PathBuf,
    /// The folder of the other servers.
    #[arg(long)]
    peers: PathBuf,
    /// A folder for data and logs; what is in it is removed.
    #[arg(long)]
    data: PathBuf,
    /// Less of everything: whether it works, in a minute or two.
    #[arg(long)]
    quick: bool,
    /// How often everything is measured.
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Only these servers.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Peer>,
    /// Only these scenarios.
    #[arg(long, value_enum, value_delimiter = ',')]
    scenarios: Vec<Scenario>,
    /// Edits of a text from a file, in place of the generated ones.
    #[arg(long)]
    trace: Option<PathBuf>,
}

fn main() -> Result<()> {
    let command = Arguments::parse().command;
    let is_pinned = matches!(command, Command::Sync(_)) && process::has_two_processors();
    if is_pinned {
        process::move_to_second_processor()?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    match command {
        Command::Relay { port } => runtime.block_on(relay::serve(port)),
        Command::Sync(options) => runtime.block_on(measure(&options, is_pinned)),
        Command::Runtime(options) => runtime.block_on(durable::run(options)),
        Command::Core(options) => runtime.block_on(durable::core::run(options)),
        Command::Restate(options) => runtime.block_on(durable::restate::inside(options)),
        Command::Search(options) => runtime.block_on(search_load::run(options)),
        Command::Memory(options) => runtime.block_on(memory_load::run(options)),
    }
}

async fn measure(options: &Options, is_pinned: bool) -> Result<()> {
    let size = if options.quick {
        Size::Quick
    } else {
        Size::Full
    };
    let is_traced = options.scenarios.is_empty() || options.scenarios.contains(&Scenario::Trace);
    let trace = match &options.trace {
        Some(path) => Trace::read(path)?,
        None if is_traced => Trace::generate(size),
        None => Trace::default(),
    };
    let places = Places {
        programs: options.programs.clone(),
        peers: options.peers.clone(),
        data: options.data.clone(),
        is_pinned,
    };
    if places.data.exists() {
        std::fs::remove_dir_all(&places.data)?;
    }
    let peers = chosen(&options.only);
    let mut table = Table::new(&peers);
    let mut failures = 0;
    for round in 1..=if options.quick { 1 } else { options.rounds } {
        for scenario in chosen(&options.scenarios) {
            for peer in peers
                .iter()
                .copied()
                .filter(|peer| peer.can(scenario.needs()))
            {
                let name = format!("{round}-{scenario:?}-{peer:?}").to_lowercase();
                let run = Run {
                    peer,
                    places: &places,
                    name,
                    size,
                    trace: &trace,
                };
                let began = Instant::now();
                let outcome = scenario.run(&run).await;
                let took = began.elapsed().as_secs();
                match outcome {
                    Ok(values) => {
                        println!("{} ({took} s): {}", run.name, values.line());
                        table.add(peer, &values);
                    }
                    Err(error) => {
                        println!("{} ({took} s) FAILED: {error:#}", run.name);
                        failures += 1;
                    }
                }
            }
        }
    }
    println!(
        "\nMedians; in brackets how many times Atelier's.\n\n{}",
        table.markdown()
    );
    if failures > 0 {
        bail!(
            "{failures} runs failed; logs lie in {}",
            places.data.display()
        );
    }
    Ok(())
}

/// What was asked for, or everything.
fn chosen<T: ValueEnum + Clone>(asked: &[T]) -> Vec<T> {
    if asked.is_empty() {
        return T::value_variants().to_vec();
    }
    asked.to_vec()
}
