//! A private PostgreSQL for one run of the tests.
//!
//! Invariants
//! - It listens on loopback only, on a port that was free, with a data folder of its own that goes with it.
//! - It is stopped when the value is dropped, whatever happened before.
//! - Commits are synced to disk as in production: only what stands at risk is nobody's data.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::process::{capture, command, is_root, target};
use crate::setup::postgres_folder;

const READY_WITHIN: Duration = Duration::from_mins(1);

/// A running server that is stopped, and whose data is removed, when this is dropped.
pub(crate) struct Postgres {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    server: Child,
}

impl Postgres {
    /// Makes a data folder and starts a server on it; returns when it answers.
    pub(crate) fn start() -> Result<Self> {
        let programs = postgres_folder().context("PostgreSQL is not installed")?;
        let home = home()?;
        remove_abandoned(&programs, &home)?;
        let folder = home.join(std::process::id().to_string());
        make_data_folder(&programs, &folder)?;
        let port = free_port()?;
        let server = spawn(&programs, &folder, port)?;
        let mut started = Self {
            programs,
            folder,
            port,
            server,
        };
        started.wait_until_ready()?;
        println!("PostgreSQL for the tests answers at {}", started.url());
        Ok(started)
    }

    /// Where tests reach it, with the right to make databases.
    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// Its first process; all others are children of it.
    pub(crate) fn process(&self) -> u32 {
        self.server.id()
    }

    fn wait_until_ready(&mut self) -> Result<()> {
        let began = Instant::now();
        let port = self.port.to_string();
        let arguments = ["-q", "-h", "127.0.0.1", "-U", "postgres", "-p", &port];
        let probe = self.programs.join("pg_isready");
        while capture(&mut command(&probe.to_string_lossy(), arguments)).is_err() {
            if let Some(status) = self.server.try_wait()? {
                bail!("PostgreSQL ended with {status}\n{}", log(&self.folder));
            }
            if began.elapsed() > READY_WITHIN {
                bail!("PostgreSQL did not answer in time\n{}", log(&self.folder));
            }
            sleep(Duration::from_millis(50));
        }
        Ok(())
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Err(error) = stop(&self.programs, &self.folder) {
            println!("PostgreSQL did not stop by itself: {error:#}");
            // It is this process's own child; without it the data folder can not go.
            if let Err(error) = self.server.kill() {
                println!("nor could it be ended: {error}");
            }
        }
        if let Err(error) = self.server.wait() {
            println!("PostgreSQL's end was not seen: {error}");
        }
        if let Err(error) = fs::remove_dir_all(&self.folder) {
            println!("{} stays behind: {error}", self.folder.display());
        }
    }
}

/// Where the data folders lie: under `target/`, unless the user who runs PostgreSQL can not go there.
fn home() -> Result<PathBuf> {
    let mut home = target().join("test-postgres");
    fs::create_dir_all(&home)?;
    if is_root() {
        let path = home.to_string_lossy().into_owned();
        if capture(&mut as_postgres("test", &["-x", &path])).is_err() {
            home = std::env::temp_dir().join("atelier-test-postgres");
            fs::create_dir_all(&home)?;
        }
    }
    Ok(home)
}

/// Ends servers whose test run was killed before it could end them itself.
fn remove_abandoned(programs: &Path, home: &Path) -> Result<()> {
    for entry in fs::read_dir(home)? {
        let folder = entry?.path();
        let owner = folder.file_name().unwrap_or_default();
        if Path::new("/proc").join(owner).exists() {
            continue;
        }
        if folder.join("data/postmaster.pid").exists() && stop(programs, &folder).is_err() {
            println!("{} was not stopped before", folder.display());
        }
        fs::remove_dir_all(&folder)?;
    }
    Ok(())
}

fn make_data_folder(programs: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    if is_root() {
        let path = folder.to_string_lossy().into_owned();
        capture(&mut command("chown", ["postgres", &path]))?;
    }
    let initdb = programs.join("initdb").to_string_lossy().into_owned();
    let data = folder.join("data").to_string_lossy().into_owned();
    let arguments = ["-D", &data, "-U", "postgres", "-A", "trust", "-E", "UTF8"];
    let locale = ["--no-locale", "--no-instructions"];
    capture(&mut as_owner(&initdb, &[&arguments[..], &locale].concat()))?;
    Ok(())
}

fn spawn(programs: &Path, folder: &Path, port: u16) -> Result<Child> {
    let program = programs.join("postgres").to_string_lossy().into_owned();
    let data = folder.join("data").to_string_lossy().into_owned();
    let settings = [
        format!("port={port}"),
        "listen_addresses=127.0.0.1".into(),
        "unix_socket_directories=".into(),
        "max_connections=300".into(),
    ];
    let mut arguments = vec!["-D", &data];
    for setting in &settings {
        arguments.extend(["-c", setting]);
    }
    let log = fs::File::create(folder.join("log"))?;
    as_owner(&program, &arguments)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
        .with_context(|| format!("could not start {program}"))
}

fn stop(programs: &Path, folder: &Path) -> Result<()> {
    let program = programs.join("pg_ctl").to_string_lossy().into_owned();
    let data = folder.join("data").to_string_lossy().into_owned();
    let arguments = ["stop", "-D", &data, "-m", "immediate", "-w", "-t", "20"];
    capture(&mut as_owner(&program, &arguments)).map(drop)
}

/// PostgreSQL refuses to run as root; then the user of its package runs it.
fn as_owner(program: &str, arguments: &[&str]) -> Command {
    if is_root() {
        as_postgres(program, arguments)
    } else {
        command(program, arguments)
    }
}

fn as_postgres(program: &str, arguments: &[&str]) -> Command {
    let identity = ["--reuid=postgres", "--regid=postgres", "--init-groups"];
    let mut command = command("setpriv", identity);
    // Its own home: the caller's folder may be closed to it.
    command.arg(program).args(arguments).current_dir("/");
    command
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

fn log(folder: &Path) -> String {
    fs::read_to_string(folder.join("log")).unwrap_or_else(|error| format!("no log: {error}"))
}
