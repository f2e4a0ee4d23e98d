//! Compares the printed schema with the contract, and what is missing with the list in `docs/contract-status.md`.
//!
//! Invariants
//! - A difference that the list does not name is a failure; so is a line of the list that is no difference any more.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::process::{command, root};
use crate::totals::Totals;

/// Checks the schema; skipped with a notice where the contract is not at hand.
pub(crate) fn run(shared: &Path) -> Result<Totals> {
    let program = shared.join("contract/check-schema.mjs");
    if !program.exists() {
        println!("no {}: the contract is not compared", program.display());
        return Ok(Totals {
            skipped: 1,
            ..Totals::default()
        });
    }
    // The check finds the npm package `graphql` from the folder that it runs in.
    let output = command("node", [program.as_path(), &root().join("schema.graphql")])
        .current_dir(root().join("web"))
        .output()?;
    let found = differences(&String::from_utf8_lossy(&output.stdout))
        .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
    let status = fs::read_to_string(root().join("docs/contract-status.md"))?;
    let listed = listed(&status);
    Ok(compare(&found, &listed))
}

/// The differences that the check printed; it closes with their number.
fn differences(text: &str) -> Result<BTreeSet<String>> {
    let mut lines: Vec<&str> = text.lines().collect();
    match lines.pop() {
        Some(last) if last.ends_with(" differences from the contract") => {
            Ok(lines.into_iter().map(str::to_owned).collect())
        }
        _ => bail!("the check of the schema did not come to its end"),
    }
}

/// The lines of the list: those in its fenced block.
fn listed(status: &str) -> BTreeSet<String> {
    let lines = status.lines();
    lines
        .skip_while(|line| !line.starts_with("```"))
        .skip(1)
        .take_while(|line| !line.starts_with("```"))
        .filter(|line| !line.trim().is_empty())
        .map(str::to_owned)
        .collect()
}

fn compare(found: &BTreeSet<String>, listed: &BTreeSet<String>) -> Totals {
    for line in found.difference(listed) {
        println!("differs from the contract, and is not in docs/contract-status.md: {line}");
    }
    for line in listed.difference(found) {
        println!("is in docs/contract-status.md, and is no difference any more: {line}");
    }
    let failed = found.symmetric_difference(listed).count() as u64;
    Totals {
        passed: u64::from(failed == 0),
        failed,
        skipped: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: &str = "# Status\n```text\nTYPE_REMOVED Task was removed.\n```\nafter\n";

    fn failures(printed: &str) -> u64 {
        let found = differences(printed).expect("it closes with the number");
        compare(&found, &listed(STATUS)).failed
    }

    #[test]
    fn what_the_list_names_is_no_failure() {
        let printed = "TYPE_REMOVED Task was removed.\n1 differences from the contract\n";
        assert_eq!(failures(printed), 0);
    }

    #[test]
    fn a_new_difference_and_a_line_that_no_longer_holds_are_failures() {
        let printed = "TYPE_REMOVED Work was removed.\n1 differences from the contract\n";
        assert_eq!(failures(printed), 2);
    }

    #[test]
    fn a_check_that_broke_off_is_no_success() {
        assert!(differences("TYPE_REMOVED Task was removed.\n").is_err());
    }
}
