//! `cargo xtask check`: does the code read and build as it should? The cheapest questions come first.
//!
//! Invariants
//! - Every check runs, so that one reading of the output is enough; the command fails where one of them failed.
//! - With `--write`, what can be mended by a program is mended: formatting and the printed schema.

use std::fs;
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Result, bail};
use clap::Args;

use crate::process::{capture, command, is_installed, root, run as run_program, target};
use crate::{rules, setup};

/// How to check.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Formats the code and writes schema.graphql instead of complaining about them.
    #[arg(long)]
    write: bool,
    /// Only formatting and house rules: what takes no build.
    #[arg(long)]
    quick: bool,
}

/// What a check is called in the summary, and what it does.
type Check<'a> = (&'static str, Box<dyn Fn() -> Result<()> + 'a>);

/// Runs the checks.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    setup::for_up()?;
    let mut checks: Vec<Check<'_>> = vec![
        ("formatting", Box::new(|| formatting(options))),
        ("house rules", Box::new(house_rules)),
    ];
    if !options.quick {
        checks.push(("web types", Box::new(web_types)));
        checks.push(("clippy", Box::new(clippy)));
        checks.push(("documentation", Box::new(documentation)));
        checks.push(("schema.graphql", Box::new(|| schema(options))));
        checks.push(("cargo-deny", Box::new(deny)));
        checks.push(("cargo-machete", Box::new(machete)));
    }
    let failed: Vec<&str> = checks
        .iter()
        .filter(|(name, check)| !passes(name, check))
        .map(|(name, _)| *name)
        .collect();
    if failed.is_empty() {
        println!("all {} checks passed", checks.len());
        return Ok(ExitCode::SUCCESS);
    }
    println!("failed: {}", failed.join(", "));
    Ok(ExitCode::FAILURE)
}

fn passes(name: &str, check: &dyn Fn() -> Result<()>) -> bool {
    let began = Instant::now();
    let outcome = check();
    let seconds = began.elapsed().as_secs_f32();
    match outcome {
        Ok(()) => println!("{name}: passed in {seconds:.1} s"),
        Err(ref error) => println!("{name}: FAILED in {seconds:.1} s: {error:#}"),
    }
    outcome.is_ok()
}

fn formatting(options: &Options) -> Result<()> {
    let mut format = command("cargo", ["fmt", "--all"]);
    if !options.write {
        format.arg("--check");
    }
    run_program(&mut format)
}

fn house_rules() -> Result<()> {
    let violations = rules::check(&root())?;
    for violation in &violations {
        println!("{violation}");
    }
    match violations.len() {
        0 => Ok(()),
        number => bail!("{number} places break a house rule"),
    }
}

fn web_types() -> Result<()> {
    run_program(command("npm", ["run", "--silent", "check"]).current_dir(root().join("web")))
}

fn clippy() -> Result<()> {
    let arguments = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    run_program(&mut command("cargo", arguments))
}

fn documentation() -> Result<()> {
    let arguments = [
        "doc",
        "--workspace",
        "--no-deps",
        "--document-private-items",
    ];
    run_program(command("cargo", arguments).env("RUSTDOCFLAGS", "-D warnings"))
}

fn schema(options: &Options) -> Result<()> {
    // All targets, as the tests build them: another set of features would build the world again.
    run_program(&mut command(
        "cargo",
        ["build", "--workspace", "--all-targets"],
    ))?;
    let program = target().join("debug/atelier");
    let printed = capture(&mut command(&program.to_string_lossy(), ["schema"]))?;
    let path = root().join("schema.graphql");
    if options.write {
        fs::write(&path, printed)?;
        return Ok(());
    }
    if fs::read_to_string(&path).is_ok_and(|stored| stored == printed) {
        return Ok(());
    }
    bail!(
        "schema.graphql is not what `atelier schema` prints; `cargo xtask check --write` updates it"
    )
}

fn deny() -> Result<()> {
    where_installed(
        "cargo-deny",
        command("cargo", ["deny", "--workspace", "check"]),
    )
}

fn machete() -> Result<()> {
    where_installed("cargo-machete", command("cargo", ["machete"]))
}

fn where_installed(program: &str, mut check: Command) -> Result<()> {
    if is_installed(program) {
        return run_program(&mut check);
    }
    println!(
        "{program} is not installed, so it was not run; `cargo install --locked {program}` installs it"
    );
    Ok(())
}
