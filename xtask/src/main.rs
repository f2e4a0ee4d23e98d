//! `cargo xtask`: one command each to run Atelier, to test it, to measure it, and to check how its code reads.
//!
//! Invariants
//! - A command that succeeds needs no other command before it on a clean clone; what it can not install it names.
//! - Everything made here lies under `target/`, `web/dist`, `node_modules` folders, or the data folder of `up`.
//!
//! Not here: the house rules themselves (`rules`), and how the totals of test runners are read (`totals`).

#![expect(
    clippy::print_stdout,
    reason = "this is a command-line program; its output is what it is for"
)]

mod bench;
mod browser;
mod check;
mod clients;
mod conformance;
mod contract;
mod postgres;
mod process;
mod rules;
mod server;
mod setup;
mod test;
mod totals;
mod up;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Runs, tests, measures and checks Atelier.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Builds everything and starts a server with a small real workspace; prints the link to it.
    Up(up::Options),
    /// Runs all tests, on both databases; the last line is the totals.
    Test(test::Options),
    /// Measures the release build beside others.
    Bench(bench::Options),
    /// Checks formatting, house rules, lints, documentation and the printed schema.
    Check(check::Options),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Up(options) => up::run(&options),
        Command::Test(options) => test::run(&options),
        Command::Bench(options) => bench::run(&options),
        Command::Check(options) => check::run(&options),
    };
    outcome.unwrap_or_else(|error| {
        println!("xtask: {error:#}");
        ExitCode::FAILURE
    })
}
