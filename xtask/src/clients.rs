//! The client packages: tested against the server that the tests were built with, and checked for how they read.
//!
//! Invariants
//! - Their packages are installed here and not before all tests: where that fails, others still run.
//! - What is made from the schema is made anew each time, so that no test and no check passes with an older one.

use std::process::Command;

use anyhow::Result;

use crate::process::{command, listen, root, run, target};
use crate::setup::{packages, python_environment, python_packages};
use crate::test::{agree, vitest};
use crate::totals::Totals;

const TYPESCRIPT: &str = "clients/typescript";
const PYTHON: &str = "clients/python";

/// Builds the TypeScript client and runs its tests.
pub(crate) fn typescript() -> Result<Totals> {
    packages(&root().join(TYPESCRIPT))?;
    let mut tests = command("npm", ["run", "--silent", "test", "--"]);
    vitest(against_the_server(&mut tests), TYPESCRIPT)
}

/// Runs the tests of the Python client.
pub(crate) fn python() -> Result<Totals> {
    python_packages(&root().join(PYTHON))?;
    let mut tests = python_tool("pytest", &["-q", "--color=no"]);
    let heard = listen(against_the_server(&mut tests))?;
    agree(Totals::of_pytest(&heard.text), heard.status.success())
}

/// Checks the types of the TypeScript client.
pub(crate) fn typescript_reads_well() -> Result<()> {
    let folder = root().join(TYPESCRIPT);
    packages(&folder)?;
    run(command("npm", ["run", "--silent", "check"]).current_dir(folder))
}

/// Checks types, lints and formatting of the Python client.
pub(crate) fn python_reads_well() -> Result<()> {
    python_packages(&root().join(PYTHON))?;
    run(&mut python_tool("python", &["generate.py"]))?;
    run(&mut python_tool("mypy", &[]))?;
    run(&mut python_tool("ruff", &["check", "."]))?;
    run(&mut python_tool("ruff", &["format", "--check", "."]))
}

fn python_tool(name: &str, arguments: &[&str]) -> Command {
    let program = python_environment().join("bin").join(name);
    let mut tool = command(&program.to_string_lossy(), arguments);
    tool.current_dir(root().join(PYTHON));
    tool
}

fn against_the_server(tests: &mut Command) -> &mut Command {
    tests.env("ATELIER_BINARY", target().join("debug/atelier"))
}
