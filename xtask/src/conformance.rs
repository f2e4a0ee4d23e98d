//! The GraphQL conformance kit, run against the server that the tests were built with.
//!
//! Invariants
//! - The kit is copied before it is used: nothing is written where it lies.
//! - The server keeps its data folder over the restarts of the kit, and uses a port that was free.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::process::{command, listen, root, run as run_program, target};
use crate::server::{Place, TOKEN};
use crate::setup::packages;
use crate::totals::Totals;

/// Runs the kit; skipped with a notice where it is not at hand.
pub(crate) fn run(shared: &Path) -> Result<Totals> {
    let source = shared.join("kits/graphql-conformance");
    if !source.exists() {
        println!(
            "no {}: GraphQL conformance is not checked",
            source.display()
        );
        return Ok(Totals {
            skipped: 1,
            ..Totals::default()
        });
    }
    let kit = target().join("graphql-conformance");
    copy(&source, &kit)?;
    packages(&kit)?;
    let place = Place::make("graphql-conformance-data")?;
    let configuration = place.folder.join("configuration.json");
    fs::write(&configuration, configure(&place).to_string())?;
    let mut checks = command("node", ["bin/all.mjs"]);
    let heard = listen(checks.arg(&configuration).arg("--quiet").current_dir(&kit))?;
    let mut totals = Totals::of_closing_line(&heard.text).context("the kit did not close")?;
    if !heard.status.success() && totals.failed == 0 {
        totals += Totals::FAILURE;
    }
    Ok(totals)
}

/// Copies the kit's own files; packages that are installed in the copy stay.
fn copy(source: &Path, kit: &Path) -> Result<()> {
    fs::create_dir_all(kit)?;
    let sources = source.join(".");
    let arguments = ["-R", "--no-preserve=mode,timestamps", "--update"];
    run_program(command("cp", arguments).arg(&sources).arg(kit))
}

/// What the kit is to check, in its own words.
fn configure(place: &Place) -> Value {
    let url = place.url();
    json!({
        "http": format!("{url}/graphql"),
        "ws": format!("ws{}/graphql", url.trim_start_matches("http")),
        "sse": true,
        "schema": root().join("schema.graphql"),
        "token": TOKEN,
        "spawn": place.line().join(" "),
        "env": { "ATELIER_RATE_LIMIT": "off" },
        "httpOptions": {
            "introspection": "off",
            "broken-query": "{ broken __typename }",
            "secret-pattern": "sqlite",
            "partial-query": "{ broken __typename }",
            "partial-path": "data.__typename",
            "max-body": 300_000,
        },
        "sseOptions": { "subscription": "subscription { ticks { cursor seq } }", "cursor-path": "ticks.seq" },
        "wsOptions": {
            "query": "{ __typename }",
            "subscription": "subscription T($after: String) { ticks(after: $after) { cursor seq } }",
            "cursor-var": "after",
            "cursor-path": "ticks.cursor",
            "seq-path": "ticks.seq",
            "init-timeout": 5000,
            "keepalive-ms": 20000,
            "max-message": 300_000,
            "max-ops": 100,
            "check-origin": true,
            "active-query": "{ activeSubscriptions }",
            "active-path": "data.activeSubscriptions",
            "silent-subscription": "subscription { silent { cursor } }",
            "flood-subscription": "subscription { flood { cursor } }",
        },
        "schemaOptions": { "version-arg": "baseVersion" },
    })
}
