//! The client packages: tested against the server that the tests were built with, and checked for how they read.
//!
//! Invariants
//! - What is made from the schema is made anew each time, so that no test and no check passes with an older one.

use std::process::Command;

use anyhow::Result;

use crate::process::{command, listen, root, run, target};
use crate::setup::python_environment;
use crate::test::{agree, vitest};
use crate::totals::Totals;

const TYPESCRIPT: &str = "clients/typescript";
const PYTHON: &str = "clients/python";

/// Builds the TypeScript client and runs its tests.
pub(crate) fn typescript() -> Result<Totals> {
    let mut tests = command("npm", ["run", "--silent", "test", "--"]);
    vitest(against_the_server(&mut tests), TYPESCRIPT)
}

/// Runs the tests of the Python client.
pub(crate) fn python() -> Result<Totals> {
    let mut tests = python_tool("pytest", &["-q", "--color=no"]);
    let heard = listen(against_the_server(&mut tests))?;
    agree(Totals::of_pytest(&heard.text), heard.status.success())
}

/// Checks the types of the TypeScript client.
pub(crate) fn typescript_reads_well() -> Result<()> {
    run(command("npm", ["run", "--silent", "check"]).current_dir(root().join(TYPESCRIPT)))
}

/// Checks types, lints and formatting of the Python client.
pub(crate) fn python_reads_well() -> Result<()> {
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
