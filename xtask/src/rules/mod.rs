//! House rules that no compiler and no lint knows, as a program.
//!
//! Invariants
//! - Every rule says what is wrong, where, and what to do instead.
//! - Every exception stands in a list beside its rule, with the reason.
//! - Files that git does not know and ignores are not looked at.
//!
//! Not here: what clippy checks (length of functions, arguments, unwraps, `println!` by lint level).

mod code;
mod document;
mod manifest;
mod source;
mod text;

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use anyhow::Result;

use crate::process::{capture, command};
use source::Source;

/// A place that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    /// The file, from the root of the repository.
    pub(crate) path: String,
    /// The line, counted from 1.
    pub(crate) line: usize,
    /// What is wrong, and what to do instead.
    pub(crate) text: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.path, self.line, self.text)
    }
}

/// Checks every file of the repository against every rule.
pub(crate) fn check(root: &Path) -> Result<Vec<Violation>> {
    let listing = [
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ];
    let listed = capture(command("git", listing).current_dir(root))?;
    let paths: BTreeSet<String> = listed.split_terminator('\0').map(str::to_owned).collect();
    let mut sources = Vec::new();
    for path in &paths {
        // Gone from disk but not yet from git, or not text: no rule speaks of it.
        if let Ok(text) = std::fs::read_to_string(root.join(path)) {
            sources.push(Source::new(path, text));
        }
    }
    let mut violations = Vec::new();
    for source in &sources {
        violations.extend(text::check(source));
        violations.extend(code::check(source));
        violations.extend(manifest::check(source)?);
        violations.extend(document::check(source, &paths));
    }
    violations.extend(document::check_settings(&sources));
    Ok(violations)
}
