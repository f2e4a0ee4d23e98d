//! The real clients of both protocols, unmodified, against a real server: see `tests/clients/README.md` for what each shows.
//!
//! Not here: what a client does not show (close codes byte by byte, hostile bytes).

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the scripts.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients")
}

/// The server that was built beside this test.
fn server() -> PathBuf {
    let test = std::env::current_exe().expect("the test has a path");
    let profile = test.parent().and_then(Path::parent);
    profile
        .expect("a test lies in target/PROFILE/deps")
        .join("atelier")
}

/// Installs the clients once, however many tests want them at the same time.
fn install() {
    let lock = File::create(server().with_file_name("clients.lock")).expect("a lock file");
    lock.lock().expect("locked");
    let installed = folder().join("node_modules/.package-lock.json");
    let is_fresh = |installed: &Path| {
        let wanted = folder().join("package-lock.json").metadata()?.modified()?;
        std::io::Result::Ok(installed.metadata()?.modified()? >= wanted)
    };
    if is_fresh(&installed).unwrap_or(false) {
        return;
    }
    let status = Command::new("npm")
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .current_dir(folder())
        .status()
        .expect("npm runs");
    assert!(status.success(), "npm ci: {status}");
}

/// Runs one group of checks.
pub(crate) fn run(check: &str) {
    install();
    let status = Command::new("node")
        .arg(folder().join("run.mjs"))
        .arg(server())
        .arg(check)
        .status()
        .expect("node runs");
    assert!(status.success(), "{check}: {status}; its lines are above");
}

#[test]
fn two_people_see_each_other_and_viewers_only_read() {
    run("sync.mjs");
}

#[test]
fn edits_survive_being_offline_and_a_server_that_dies() {
    run("offline.mjs");
}

#[test]
fn nobody_connects_anew_in_forty_idle_seconds() {
    run("idle.mjs");
}

#[test]
fn rights_that_change_are_felt_by_live_sockets() {
    run("tokens.mjs");
}

#[test]
fn ten_megabytes_are_written_and_opened() {
    run("large.mjs");
}
