//! The server that the tests were built with, started for checks that look at it from outside.
//!
//! Invariants
//! - It has a data folder of its own under `target/`, empty at the start, and a port of loopback that was free.
//! - It is stopped when the value is dropped, whatever happened before.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::process::{command, status, target};

/// The secret of the first owner's token, for servers that live as long as a check.
pub(crate) const TOKEN: &str = "check-only-0123456789abcdef0123456789abcdef";

const PATIENCE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(50);

/// Where a server is to run.
pub(crate) struct Place {
    /// An empty folder; the data folder and the log lie in it.
    pub(crate) folder: PathBuf,
    /// A port that was free a moment ago.
    pub(crate) port: u16,
}

impl Place {
    /// An empty folder of this name under `target/`, and a free port.
    pub(crate) fn make(name: &str) -> Result<Self> {
        let folder = target().join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        Ok(Self { folder, port })
    }

    /// Program and arguments of a server here, one string each.
    pub(crate) fn line(&self) -> Vec<String> {
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let listen = format!("127.0.0.1:{}", self.port);
        let data = text(self.folder.join("data"));
        let program = text(target().join("debug/atelier"));
        let arguments = ["serve", "--data-dir", &data, "--listen", &listen];
        let token = ["--bootstrap-token", TOKEN];
        let words = arguments.iter().chain(&token).map(ToString::to_string);
        std::iter::once(program).chain(words).collect()
    }

    /// Where a server here is reached.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

/// A running server that is stopped when this is dropped.
pub(crate) struct Server {
    /// Where it runs.
    pub(crate) place: Place,
    process: Child,
}

impl Server {
    /// Starts a server and returns when it is ready.
    pub(crate) fn start(place: Place) -> Result<Self> {
        let line = place.line();
        let log = File::create(place.folder.join("log"))?;
        let process = command(&line[0], &line[1..])
            .env("ATELIER_RATE_LIMIT", "off")
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("could not start {}", line[0]))?;
        let mut server = Self { place, process };
        server.wait_until_ready()?;
        Ok(server)
    }

    fn wait_until_ready(&mut self) -> Result<()> {
        let began = Instant::now();
        while !is_ready(self.place.port) {
            let ended = self.process.try_wait()?;
            if ended.is_some() || began.elapsed() > PATIENCE {
                let log = fs::read_to_string(self.place.folder.join("log"))?;
                bail!("the server did not become ready\n{log}");
            }
            sleep(POLL);
        }
        Ok(())
    }

    fn ends_within(&mut self, patience: Duration) -> bool {
        let began = Instant::now();
        while began.elapsed() < patience {
            if matches!(self.process.try_wait(), Ok(Some(_))) {
                return true;
            }
            sleep(POLL);
        }
        false
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let id = self.process.id().to_string();
        if let Err(error) = status(&mut command("kill", ["-TERM", &id])) {
            println!("the server was not asked to stop: {error:#}");
        }
        if !self.ends_within(PATIENCE) {
            println!("the server did not stop in time and is killed");
            if let Err(error) = self.process.kill() {
                println!("the server could not be killed: {error}");
            }
        }
    }
}

/// Whether the server says that it can serve.
fn is_ready(port: u16) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream
            .write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    ask().is_ok_and(|answer| answer.starts_with("HTTP/1.1 200 "))
}
