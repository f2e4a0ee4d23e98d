//! `cargo xtask test`: every test there is, on both databases, and one line of totals at the end.
//!
//! Invariants
//! - The last line is the totals of all runners and stands alone on its line.
//! - A runner that breaks off counts as a failure, and the ones after it still run.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use clap::Args;

use crate::postgres::Postgres;
use crate::process::{cargo, command, is_installed, listen, root, run as run_program, target};
use crate::totals::Totals;
use crate::{browser, clients, conformance, contract, setup};

/// What to test.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Where the contract and the conformance kits lie; without them their checks are skipped.
    #[arg(long, default_value = "../shared")]
    shared: PathBuf,
    /// Only Rust tests whose names contain one of these, after `--`; other runners are left out.
    #[arg(last = true)]
    filters: Vec<String>,
}

/// Runs the tests; fails where one failed.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    setup::for_test()?;
    // With all targets: so the server is built once, as the tests need it.
    run_program(&mut cargo("build --workspace --all-targets"))?;
    let mut totals = Totals::default();
    {
        let postgres = Postgres::start()?;
        count(&mut totals, "Rust tests", rust(&postgres, &options.filters));
    }
    if options.filters.is_empty() {
        let shared = root().join(&options.shared);
        count(&mut totals, "documentation examples", examples());
        count(&mut totals, "web tests", web());
        count(&mut totals, "browser checks", browser::run());
        count(&mut totals, "TypeScript client", clients::typescript());
        count(&mut totals, "Python client", clients::python());
        count(
            &mut totals,
            "GraphQL conformance",
            conformance::run(&shared),
        );
        count(&mut totals, "contract", contract::run(&shared));
    }
    println!("\n{totals}");
    Ok(match totals.failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

fn count(totals: &mut Totals, name: &str, outcome: Result<Totals>) {
    let outcome = outcome.unwrap_or_else(|error| {
        println!("{name} broke off: {error:#}");
        Totals::FAILURE
    });
    println!("{name}: {outcome}");
    *totals += outcome;
}

fn rust(postgres: &Postgres, filters: &[String]) -> Result<Totals> {
    let has_nextest = is_installed("cargo-nextest");
    let mut tests = if has_nextest {
        cargo("nextest run --workspace --all-targets --no-tests=pass")
    } else {
        cargo("test --workspace --all-targets --no-fail-fast --")
    };
    tests
        .args(filters)
        .env("CARGO_TERM_COLOR", "never")
        .env("ATELIER_TEST_POSTGRES_URL", postgres.url());
    let heard = listen(&mut tests)?;
    let counted = if has_nextest {
        Totals::of_nextest(&heard.text)
    } else {
        Totals::of_cargo_test(&heard.text)
    };
    agree(counted, heard.status.success())
}

fn examples() -> Result<Totals> {
    let mut examples = cargo("test --workspace --doc --no-fail-fast");
    let heard = listen(examples.env("CARGO_TERM_COLOR", "never"))?;
    agree(Totals::of_cargo_test(&heard.text), heard.status.success())
}

fn web() -> Result<Totals> {
    vitest(&mut command("npx", ["vitest", "run"]), "web")
}

/// Runs Vitest by this command, in a folder of the repository.
pub(crate) fn vitest(tests: &mut Command, folder: &str) -> Result<Totals> {
    let report = target().join(format!("{}-tests.json", folder.replace('/', "-")));
    // What an earlier run left does not count.
    if report.exists() {
        fs::remove_file(&report)?;
    }
    let reporters = ["--reporter=default", "--reporter=json", "--outputFile"];
    tests
        .args(reporters)
        .arg(&report)
        .current_dir(root().join(folder));
    let heard = listen(tests)?;
    let report = fs::read_to_string(&report).context("Vitest left no report")?;
    let report = serde_json::from_str(&report)?;
    agree(Totals::of_vitest(&report), heard.status.success())
}

/// The counts of a runner, made to fail where the runner failed without a failed test.
pub(crate) fn agree(counted: Option<Totals>, succeeded: bool) -> Result<Totals> {
    let mut totals = counted.context("the runner's closing line was not found")?;
    if !succeeded && totals.failed == 0 {
        totals += Totals::FAILURE;
    }
    Ok(totals)
}
