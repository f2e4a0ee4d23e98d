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

use crate::process::{capture, cargo, command, is_installed, root, run as run_program, target};
use crate::{clients, rules, setup};

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
type Check<'a> = (&'static str, Box<dyn Fn() -> Result<Verdict> + 'a>);

/// How a check ended that did not fail.
enum Verdict {
    Passed,
    /// The program that it takes is not installed.
    NotRun,
}

/// Runs the checks.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    setup::for_up()?;
    let mut checks: Vec<Check<'_>> = vec![
        ("formatting", Box::new(|| formatting(options))),
        ("house rules", Box::new(house_rules)),
    ];
    if !options.quick {
        checks.push(("web types", Box::new(web_types)));
        checks.push(("TypeScript client", Box::new(typescript_client)));
        checks.push(("Python client", Box::new(python_client)));
        checks.push(("clippy", Box::new(clippy)));
        checks.push(("documentation", Box::new(documentation)));
        checks.push(("schema.graphql", Box::new(|| schema(options))));
        checks.push(("cargo-deny", Box::new(deny)));
        checks.push(("cargo-machete", Box::new(machete)));
    }
    let (mut failed, mut not_run) = (Vec::new(), Vec::new());
    for (name, check) in &checks {
        let began = Instant::now();
        let outcome = check();
        let seconds = began.elapsed().as_secs_f32();
        match outcome {
            Ok(Verdict::Passed) => println!("{name}: passed in {seconds:.1} s"),
            Ok(Verdict::NotRun) => not_run.push(*name),
            Err(error) => {
                println!("{name}: FAILED in {seconds:.1} s: {error:#}");
                failed.push(*name);
            }
        }
    }
    if !not_run.is_empty() {
        println!("not run: {}", not_run.join(", "));
    }
    if failed.is_empty() {
        println!("all other checks passed");
        return Ok(ExitCode::SUCCESS);
    }
    println!("failed: {}", failed.join(", "));
    Ok(ExitCode::FAILURE)
}

/// Runs a command that is a check by itself.
fn passes(command: &mut Command) -> Result<Verdict> {
    run_program(command).map(|()| Verdict::Passed)
}

fn formatting(options: &Options) -> Result<Verdict> {
    let check = if options.write { "" } else { "--check" };
    passes(&mut cargo(&format!("fmt --all {check}")))
}

fn house_rules() -> Result<Verdict> {
    let violations = rules::check(&root())?;
    for violation in &violations {
        println!("{violation}");
    }
    match violations.len() {
        0 => Ok(Verdict::Passed),
        number => bail!("{number} places break a house rule"),
    }
}

fn web_types() -> Result<Verdict> {
    passes(command("npm", ["run", "--silent", "check"]).current_dir(root().join("web")))
}

fn typescript_client() -> Result<Verdict> {
    clients::typescript_reads_well().map(|()| Verdict::Passed)
}

fn python_client() -> Result<Verdict> {
    clients::python_reads_well().map(|()| Verdict::Passed)
}

fn clippy() -> Result<Verdict> {
    passes(&mut cargo(
        "clippy --workspace --all-targets -- -D warnings",
    ))
}

fn documentation() -> Result<Verdict> {
    let mut documentation = cargo("doc --workspace --no-deps --document-private-items");
    passes(documentation.env("RUSTDOCFLAGS", "-D warnings"))
}

fn schema(options: &Options) -> Result<Verdict> {
    // All targets, as the tests build them: another set of features would build the world again.
    run_program(&mut cargo("build --workspace --all-targets"))?;
    let program = target().join("debug/atelier");
    let printed = capture(&mut command(&program.to_string_lossy(), ["schema"]))?;
    let path = root().join("schema.graphql");
    if options.write {
        fs::write(&path, printed)?;
        return Ok(Verdict::Passed);
    }
    if fs::read_to_string(&path).is_ok_and(|stored| stored == printed) {
        return Ok(Verdict::Passed);
    }
    bail!(
        "schema.graphql is not what `atelier schema` prints; `cargo xtask check --write` updates it"
    )
}

fn deny() -> Result<Verdict> {
    where_installed("cargo-deny", cargo("deny --workspace check"))
}

fn machete() -> Result<Verdict> {
    where_installed("cargo-machete", cargo("machete"))
}

fn where_installed(program: &str, mut check: Command) -> Result<Verdict> {
    if is_installed(program) {
        return passes(&mut check);
    }
    println!(
        "{program} is not installed, so it was not run; `cargo install --locked {program}` installs it"
    );
    Ok(Verdict::NotRun)
}
