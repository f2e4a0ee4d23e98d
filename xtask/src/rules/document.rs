//! Rules about documents: what they point to must be there, and every setting must be in the table of settings.

use std::collections::BTreeSet;

use super::Violation;
use super::source::Source;

/// What a build makes: it may be named, and is not in the repository.
const MADE: &[&str] = &["web/dist", "web/dist/graphiql"];

/// Folders of the repository's first level; a code span that begins with one is a path.
const FOLDERS: &[&str] = &[
    "api/",
    "bench/",
    "clients/",
    "domain/",
    "docs/",
    "migrations/",
    "runtime/",
    "search/",
    "storage/",
    "tests/",
    "web/",
    "xtask/",
];

/// Records of their day: what they name may be gone since.
const RECORDS: &[&str] = &["docs/adr/", "CHANGELOG.md"];

/// Where the settings are, and where they are told.
const SETTINGS: &str = "api/src/config/names.rs";
const TOLD: &str = "docs/operations.md";

/// Checks one document against the paths of all files.
pub(crate) fn check(source: &Source, paths: &BTreeSet<String>) -> Vec<Violation> {
    if !source.has_extension(&["md"]) {
        return Vec::new();
    }
    let is_record = RECORDS.iter().any(|record| source.path.starts_with(record));
    let mut violations = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        let links = links(line).map(|target| resolve(&source.path, target));
        let named = code_spans(line).filter(|span| !is_record && is_path(span));
        let named = named.map(|span| span.trim_end_matches('/').to_owned());
        for path in links.flatten().chain(named) {
            if !exists(&path, paths) {
                violations.push(source.violation(index + 1, format!("there is no `{path}`")));
            }
        }
    }
    violations
}

/// Compares the settings in the code with the table that people read.
pub(crate) fn check_settings(sources: &[Source]) -> Vec<Violation> {
    let find = |path| sources.iter().find(|source| source.path == path);
    let (Some(code), Some(told)) = (find(SETTINGS), find(TOLD)) else {
        return Vec::new();
    };
    let known: BTreeSet<&str> = code.text.lines().filter_map(setting).collect();
    let rows = told.text.lines().enumerate();
    let rows: Vec<(usize, &str)> = rows
        .filter_map(|(index, line)| Some((index + 1, row(line)?)))
        .collect();
    let untold = known
        .iter()
        .filter(|name| !rows.iter().any(|(_, told)| told == *name));
    let untold =
        untold.map(|name| told.violation(1, format!("the setting `--{name}` is not in the table")));
    let unknown = rows.iter().filter(|(_, name)| !known.contains(name));
    let unknown =
        unknown.map(|(line, name)| told.violation(*line, format!("`--{name}` is no setting")));
    untold.chain(unknown).collect()
}

/// The setting that a line of the code's table declares: `"key" "VALUE" …;`.
fn setting(line: &str) -> Option<&str> {
    let (name, rest) = line.strip_prefix("    \"")?.split_once("\" \"")?;
    rest.ends_with(';').then_some(name)
}

/// The setting that a row of the document's table tells of: ``| `--key` | …``.
fn row(line: &str) -> Option<&str> {
    Some(line.strip_prefix("| `--")?.split_once('`')?.0)
}

fn links(line: &str) -> impl Iterator<Item = &str> {
    let parts = line.split("](").skip(1);
    parts.filter_map(|part| Some(part.split_once(')')?.0))
}

fn code_spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

fn is_path(span: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    FOLDERS.iter().any(|folder| span.starts_with(folder)) && span.chars().all(is_plain)
}

/// The path that a link of a document means; none where it leads out of the repository.
fn resolve(document: &str, target: &str) -> Option<String> {
    let path = target.split('#').next().unwrap_or_default();
    if path.is_empty() || path.contains(':') {
        return None;
    }
    let folder = document.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn exists(path: &str, paths: &BTreeSet<String>) -> bool {
    let folder = format!("{path}/");
    let mut below = paths.range(folder.clone()..);
    paths.contains(path)
        || MADE.contains(&path)
        || below.next().is_some_and(|next| next.starts_with(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violations(path: &str, text: &str) -> usize {
        let paths = ["domain/src/store.rs", "docs/operations.md", "README.md"];
        let paths = paths.into_iter().map(str::to_owned).collect();
        check(&Source::new(path, text.to_owned()), &paths).len()
    }

    #[test]
    fn links_lead_to_files_or_folders_that_are_there() {
        assert_eq!(
            violations(
                "README.md",
                "[a](docs/operations.md#backup) [b](domain/src)"
            ),
            0
        );
        assert_eq!(
            violations(
                "docs/adr/README.md",
                "[a](../operations.md) [b](../../README.md)"
            ),
            0
        );
        assert_eq!(
            violations("README.md", "[a](https://example.org/x) [b](#below)"),
            0
        );
        assert_eq!(violations("README.md", "[a](docs/nothing.md)"), 1);
    }

    #[test]
    fn paths_in_code_spans_are_there_too() {
        assert_eq!(
            violations(
                "ARCHITECTURE.md",
                "`domain/src/store.rs`, `domain/`, `web/dist`"
            ),
            0
        );
        assert_eq!(violations("ARCHITECTURE.md", "see `domain/src/gone.rs`"), 1);
        assert_eq!(
            violations("docs/adr/0001.md", "see `domain/src/gone.rs`"),
            0
        );
        assert_eq!(
            violations("ARCHITECTURE.md", "`tests/{a,b}.rs` and `cargo xtask up`"),
            0
        );
    }

    #[test]
    fn every_setting_is_told_and_no_other() {
        let code = "names! {\n    \"listen\" \"ADDRESS\" \"\" \"Address\";\n    \"log\" \"FILTER\" \"\" \"Log\";\n}\n";
        let told = "| `--listen` | address |\n| `--lisen` | address |\n";
        let sources = [
            Source::new(SETTINGS, code.into()),
            Source::new(TOLD, told.into()),
        ];
        let found: Vec<usize> = check_settings(&sources)
            .iter()
            .map(|violation| violation.line)
            .collect();
        assert_eq!(found, [1, 2]);
    }
}
