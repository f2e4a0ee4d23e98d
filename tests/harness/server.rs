//! A server: the real binary as a child process.
//!
//! Invariants
//! - It listens on a port that the system chose, and is ready when [`Server::start`] returns.
//! - It is killed when the value is dropped, if it still runs.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use super::{SOON, eventually};

/// The program that was built beside this test.
pub(crate) static BINARY: LazyLock<PathBuf> = LazyLock::new(|| {
    let test = std::env::current_exe().expect("the test has a path");
    let profile = test.parent().and_then(Path::parent);
    let binary = profile
        .expect("a test lies in target/PROFILE/deps")
        .join("atelier");
    assert!(binary.exists(), "{} is not built", binary.display());
    binary
});

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    address: String,
    log: PathBuf,
    /// From the start of the process until it said that it is ready.
    pub(crate) ready_after: Duration,
}

impl Server {
    /// Starts the command, with its log in a file, and waits until it is ready.
    pub(crate) async fn start(mut command: Command, log: PathBuf) -> Self {
        let said = log.with_extension("out");
        let began = Instant::now();
        let child = command
            .stdin(Stdio::null())
            .stdout(File::create(&said).expect("a file for its words"))
            .stderr(File::create(&log).expect("a file for its log"))
            .spawn()
            .expect("the program starts");
        let mut server = Self {
            child,
            address: String::new(),
            log,
            ready_after: Duration::ZERO,
        };
        server.address = server.wait_for_address(&said).await;
        server.wait_until_ready().await;
        server.ready_after = began.elapsed();
        server
    }

    /// `http://127.0.0.1:PORT`.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// `ws://127.0.0.1:PORT`.
    pub(crate) fn socket_address(&self) -> String {
        self.address.replacen("http", "ws", 1)
    }

    /// What it has logged so far.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).expect("its log can be read")
    }

    /// Ends it as a power failure would: SIGKILL.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("its end is seen");
    }

    /// Asks it to stop: SIGTERM.
    pub(crate) fn ask_to_stop(&self) {
        let status = Command::new("kill")
            .args(["-TERM", &self.child.id().to_string()])
            .status()
            .expect("`kill` runs");
        assert!(status.success(), "it can be asked to stop");
    }

    /// Lets no file of it grow over a size from now on, as if the disk were full; none takes the limit away.
    pub(crate) fn limit_files(&self, bytes: Option<u64>) {
        let soft = bytes.map_or("unlimited".to_owned(), |bytes| bytes.to_string());
        let status = Command::new("prlimit")
            .arg(format!("--pid={}", self.child.id()))
            .arg(format!("--fsize={soft}:unlimited"))
            .status()
            .expect("`prlimit` runs");
        assert!(status.success(), "the limit can be set");
    }

    /// Waits for its end, and returns how it ended.
    pub(crate) async fn ended(mut self) -> ExitStatus {
        let mut status = None;
        eventually("the server ends", async || {
            status = self.child.try_wait().expect("its state can be read");
            status.is_some()
        })
        .await;
        status.expect("it has ended")
    }

    /// Stops it in order.
    pub(crate) async fn stop(self) {
        self.ask_to_stop();
        let status = self.ended().await;
        assert!(status.success(), "the server ended with {status}");
    }

    /// The id of its process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Its resident memory in bytes, now.
    pub(crate) fn resident_bytes(&self) -> u64 {
        self.memory("VmRSS:")
    }

    /// The most resident memory that it ever had, in bytes.
    pub(crate) fn peak_resident_bytes(&self) -> u64 {
        self.memory("VmHWM:")
    }

    fn memory(&self, name: &str) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).expect("the process runs");
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kibibytes = line.and_then(|line| line.split_whitespace().next());
        let kibibytes: u64 = kibibytes
            .and_then(|text| text.parse().ok())
            .expect("a size");
        kibibytes * 1_024
    }

    /// The server says where it listens on its standard output.
    async fn wait_for_address(&mut self, said: &Path) -> String {
        let began = Instant::now();
        loop {
            let words = std::fs::read_to_string(said).expect("its words can be read");
            let at = words.find("http://").map(|start| &words[start..]);
            if let Some((address, _)) = at.and_then(|text| text.split_once('\n')) {
                let end = address.find(['#', ' ']).unwrap_or(address.len());
                return address[..end].trim_end_matches('/').to_owned();
            }
            if let Some(status) = self.child.try_wait().expect("its state can be read") {
                panic!("the server ended with {status} at once:\n{}", self.log());
            }
            assert!(
                began.elapsed() < SOON,
                "the server does not say where it listens:\n{}",
                self.log()
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn wait_until_ready(&self) {
        let url = format!("{}/readyz", self.address);
        eventually("the server is ready", async || {
            let answer = reqwest::get(&url).await;
            answer.is_ok_and(|answer| answer.status().is_success())
        })
        .await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            // It is this test's own child; a failure to end it is seen by whoever looks for processes.
            let ended = self.child.kill().and_then(|()| self.child.wait());
            if let Err(error) = ended {
                eprintln!("a server stays behind: {error}");
            }
        }
    }
}
