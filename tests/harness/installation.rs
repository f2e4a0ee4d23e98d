//! One installation: a database, blobs, and the servers that were started on them.
//!
//! Invariants
//! - All servers of an installation share its database and its blobs; on SQLite one runs at a time.
//! - A passed test leaves nothing; a failed one leaves the folder and prints the ends of the servers' logs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use super::server::{BINARY, Server};
use super::{Client, Database, Person, SOON};

/// The secret of the first owner's token.
pub(crate) const OWNER_SECRET: &str = "proof-owner-0123456789abcdef";
/// How much of each log is shown when a test has failed.
const LOG_TAIL: usize = 8_000;

/// One installation.
#[derive(Debug)]
pub(crate) struct Installation {
    folder: PathBuf,
    database: Database,
    servers: AtomicUsize,
}

impl Installation {
    /// A new one; nothing runs yet.
    pub(crate) fn new(database: Database) -> Self {
        let name = format!("atelier-test-{}", uuid::Uuid::new_v4().simple());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        Self {
            folder,
            database,
            servers: AtomicUsize::new(0),
        }
    }

    /// Its folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether several servers can run at once.
    pub(crate) fn takes_several_servers(&self) -> bool {
        matches!(self.database, Database::Postgres { .. })
    }

    /// Starts a server and waits until it is ready.
    pub(crate) async fn start(&self) -> Server {
        self.start_with(&[]).await
    }

    /// Starts a server with further settings, by their variables.
    pub(crate) async fn start_with(&self, settings: &[(&str, &str)]) -> Server {
        self.start_as(&["serve"], settings).await
    }

    /// Starts a server without the agent, so that tasks stay as people leave them.
    pub(crate) async fn start_without_agent(&self) -> Server {
        self.start_as(&["serve", "--no-worker"], &[]).await
    }

    async fn start_as(&self, arguments: &[&str], settings: &[(&str, &str)]) -> Server {
        let number = self.servers.fetch_add(1, Ordering::Relaxed);
        let mut command = self.command(arguments);
        command.envs(settings.iter().copied());
        let log = self.folder.join(format!("server-{number}.log"));
        Server::start(command, log).await
    }

    /// Starts a server, and signs its first owner in with a workspace of a test's own.
    pub(crate) async fn open(&self) -> (Server, Person) {
        self.open_with(&[]).await
    }

    /// The same with further settings.
    pub(crate) async fn open_with(&self, settings: &[(&str, &str)]) -> (Server, Person) {
        let server = self.start_with(settings).await;
        let owner = Self::owner_at(&server).await;
        (server, owner)
    }

    /// The same without the agent.
    pub(crate) async fn open_without_agent(&self) -> (Server, Person) {
        let server = self.start_without_agent().await;
        let owner = Self::owner_at(&server).await;
        (server, owner)
    }

    async fn owner_at(server: &Server) -> Person {
        let client = Client::new(server.address(), OWNER_SECRET);
        Person::with_workspace(client, "Proof").await
    }

    /// Runs another command of the program on this installation, and waits for its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let mut command = self.command(arguments);
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let child = child.expect("the program starts");
        let process = child.id();
        let (ended, end) = mpsc::channel();
        let waiting = std::thread::spawn(move || {
            let output = child.wait_with_output();
            // Where nobody listens any more it was given up.
            if ended.send(()).is_err() {
                eprintln!("it ended late");
            }
            output
        });
        if end.recv_timeout(SOON).is_err() {
            let killed = Command::new("kill")
                .args(["-KILL", &process.to_string()])
                .status();
            killed.expect("`kill` runs");
            let output = waiting.join().expect("its end is seen");
            panic!("{arguments:?} does not end: {output:?}");
        }
        waiting
            .join()
            .expect("its end is seen")
            .expect("the program runs")
    }

    /// The program with the settings of this installation.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&*BINARY);
        command
            .args(arguments)
            .current_dir(&self.folder)
            .env("ATELIER_LISTEN", "127.0.0.1:0")
            .env("ATELIER_DATA_DIR", self.folder.join("data"))
            .env("ATELIER_BOOTSTRAP_TOKEN", OWNER_SECRET)
            .env("ATELIER_RATE_LIMIT", "off")
            // Documents rest and close while tests are at work, as they do in days of work.
            .env("ATELIER_DOCUMENT_IDLE", "300ms")
            // Reading the weights costs each server some tenths of a second; meanings have tests of their own.
            .env("ATELIER_EMBEDDINGS_PROVIDER", "none");
        if let Some(url) = self.database.url() {
            command.env("ATELIER_DATABASE_URL", url);
        }
        command
    }

    /// Removes everything: the test has passed.
    pub(crate) async fn remove(&self) {
        self.database.remove().await;
        std::fs::remove_dir_all(&self.folder).expect("the folder can be removed");
    }
}

impl Drop for Installation {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        eprintln!("the folder of the failed test: {}", self.folder.display());
        for number in 0..self.servers.load(Ordering::Relaxed) {
            let path = self.folder.join(format!("server-{number}.log"));
            let log = std::fs::read_to_string(path).unwrap_or_default();
            let start = log.ceil_char_boundary(log.len().saturating_sub(LOG_TAIL));
            eprintln!("--- server {number}\n{}", &log[start..]);
        }
    }
}
