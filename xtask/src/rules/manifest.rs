//! Rules about Cargo.toml files: which crate may depend on which, and where versions stand.

use anyhow::{Context, Result};
use toml::{Table, Value};

use super::Violation;
use super::source::Source;

/// Crates of this workspace, and the crates of this workspace that each may name.
const DIRECTIONS: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("migrations", &[]),
    ("storage", &["domain", "migrations"]),
    ("search", &["domain"]),
    ("runtime", &["domain"]),
    ("api", &["domain", "storage", "search", "runtime"]),
    ("xtask", &[]),
];

/// What the domain may name: nothing that reads, writes or listens. Of `nix` it has the clock that counts a thread's work.
const DOMAIN: &[&str] = &[
    "async-trait",
    "bytes",
    "futures-util",
    "metrics",
    "nix",
    "serde",
    "serde_json",
    "similar",
    "thiserror",
    "tokio",
    "tracing",
    "uuid",
    "yrs",
];

/// What only one crate may name, whoever else would like to.
const KEPT_APART: &[(&str, &[&str])] = &[
    ("sea-orm", &["storage", "migrations"]),
    ("sea-orm-migration", &["storage", "migrations"]),
    ("sqlx", &["storage"]),
    ("object_store", &["storage"]),
    ("tantivy", &["search"]),
    ("async-graphql", &["api"]),
    ("axum", &["api"]),
];

/// Checks one file, where it is the manifest of a crate.
pub(crate) fn check(source: &Source) -> Result<Vec<Violation>> {
    let Some(name) = source.path.strip_suffix("/Cargo.toml") else {
        return Ok(Vec::new());
    };
    let table: Table = toml::from_str(&source.text).with_context(|| source.path.clone())?;
    // What is measured beside Atelier is a workspace of its own.
    if table.contains_key("workspace") {
        return Ok(Vec::new());
    }
    let mut violations = Vec::new();
    if let Some(Value::Table(dependencies)) = table.get("dependencies") {
        for (dependency, value) in dependencies {
            let faults = [direction(name, dependency), version(dependency, value)];
            let line = line_of(source, dependency);
            let faults = faults.into_iter().flatten();
            violations.extend(faults.map(|fault| source.violation(line, fault)));
        }
    }
    if !table.contains_key("lints") {
        let text = "add `[lints] workspace = true`: the workspace's lints hold for every crate";
        violations.push(source.violation(1, text));
    }
    Ok(violations)
}

fn direction(name: &str, dependency: &str) -> Option<String> {
    let is_ours = DIRECTIONS.iter().any(|(ours, _)| *ours == dependency);
    let (_, allowed) = DIRECTIONS.iter().find(|(ours, _)| *ours == name)?;
    if is_ours && !allowed.contains(&dependency) {
        return Some(format!(
            "{name} may not depend on {dependency}: dependencies point to the domain"
        ));
    }
    if name == "domain" && !is_ours && !DOMAIN.contains(&dependency) {
        return Some(format!(
            "the domain does not name {dependency}: it does no I/O but through its ports"
        ));
    }
    let (_, owners) = KEPT_APART.iter().find(|(apart, _)| *apart == dependency)?;
    (!owners.contains(&name))
        .then(|| format!("only {} may name {dependency}", owners.join(" and ")))
}

fn version(dependency: &str, value: &Value) -> Option<String> {
    let is_shared = value
        .get("workspace")
        .is_some_and(|shared| *shared == Value::Boolean(true));
    (!is_shared).then(|| {
        format!("write `{dependency}.workspace = true`: versions stand in the workspace's manifest")
    })
}

fn line_of(source: &Source, dependency: &str) -> usize {
    let mut lines = source.text.lines();
    let at = lines.position(|line| {
        line.strip_prefix(dependency)
            .is_some_and(|rest| rest.starts_with(['.', ' ', '=']))
    });
    at.map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violations(path: &str, dependencies: &str) -> Vec<Violation> {
        let text = format!("[lints]\nworkspace = true\n[dependencies]\n{dependencies}\n");
        check(&Source::new(path, text)).expect("the manifest is TOML")
    }

    #[test]
    fn the_domain_depends_on_nothing_that_does_input_or_output() {
        assert!(violations("domain/Cargo.toml", "yrs.workspace = true").is_empty());
        assert_eq!(
            violations("domain/Cargo.toml", "reqwest.workspace = true").len(),
            1
        );
        assert_eq!(
            violations("domain/Cargo.toml", "storage.workspace = true").len(),
            1
        );
    }

    #[test]
    fn dependencies_point_to_the_domain() {
        assert!(violations("storage/Cargo.toml", "domain.workspace = true").is_empty());
        assert_eq!(
            violations("storage/Cargo.toml", "api.workspace = true").len(),
            1
        );
        assert_eq!(
            violations("api/Cargo.toml", "sea-orm.workspace = true").len(),
            1
        );
    }

    #[test]
    fn versions_stand_in_one_place() {
        let found = violations("api/Cargo.toml", "bytes.workspace = true\nurl = \"2\"");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].line, 5);
    }

    #[test]
    fn a_crate_without_the_workspaces_lints_is_found() {
        let source = Source::new("domain/Cargo.toml", "[dependencies]\n".into());
        assert_eq!(check(&source).expect("it is TOML").len(), 1);
    }
}
