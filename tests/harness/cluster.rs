//! A PostgreSQL of a test's own, which it may restart: the one that all tests share has to stand.
//!
//! Invariants
//! - Its programs are those of the PostgreSQL for tests, and it runs as the same kind of user: PostgreSQL refuses root.
//! - It is stopped, and its folder goes, when the value is dropped.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Output};

use sea_orm::{ConnectionTrait as _, Database as Connector, DbBackend, Statement};

use super::Database;
use super::database::POSTGRES;

/// A running cluster.
#[derive(Debug)]
pub(crate) struct Cluster {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
}

/// How a cluster goes down.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Going {
    /// It ends its connections and leaves everything in order.
    Fast,
    /// As in a crash: it has to recover when it starts again.
    Immediate,
}

impl Cluster {
    /// Starts one; none, with a printed notice, where no PostgreSQL for tests is named.
    pub(crate) async fn start() -> Option<Self> {
        let Ok(server) = std::env::var(POSTGRES) else {
            eprintln!("left out: {POSTGRES} names no PostgreSQL");
            return None;
        };
        let name = format!("atelier-cluster-{}", uuid::Uuid::new_v4().simple());
        let free = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let cluster = Self {
            programs: programs(&server).await,
            folder: std::env::temp_dir().join(name),
            port: free.local_addr().expect("an address").port(),
        };
        drop(free);
        cluster.make();
        cluster.control("start");
        Some(cluster)
    }

    /// A fresh database in it.
    pub(crate) async fn database(&self) -> Database {
        let server = format!("postgres://postgres@127.0.0.1:{}/postgres", self.port);
        Database::made_in(server).await
    }

    /// Stops it and starts it again; returns when it takes connections.
    pub(crate) fn restart(&self, going: Going) {
        match going {
            Going::Fast => self.control("restart -m fast"),
            Going::Immediate => self.control("restart -m immediate"),
        }
    }

    fn make(&self) {
        fs::create_dir(&self.folder).expect("the folder is made");
        if is_root() {
            done(Command::new("chown").arg("postgres").arg(&self.folder));
        }
        let mut initdb = self.program("initdb");
        initdb.args(
            "-U postgres -A trust -E UTF8 --no-locale --no-instructions --no-sync".split(' '),
        );
        done(initdb.arg("-D").arg(self.folder.join("data")));
    }

    fn control(&self, action: &str) {
        let options = format!(
            "-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories=",
            self.port
        );
        let mut control = self.program("pg_ctl");
        control.args(action.split(' ')).args(["-w", "-t", "60"]);
        control.arg("-D").arg(self.folder.join("data"));
        control.arg("-l").arg(self.folder.join("log"));
        if !action.starts_with("stop") {
            control.args(["-o", &options]);
        }
        done(&mut control);
    }

    fn program(&self, name: &str) -> Command {
        let program = self.programs.join(name);
        let mut command = if is_root() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--init-groups"]);
            command.arg(program);
            command
        } else {
            Command::new(program)
        };
        // The caller's folder may be closed to its user.
        command.current_dir("/");
        command
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.control("stop -m immediate");
        if std::thread::panicking() {
            eprintln!("the failed test's cluster: {}", self.folder.display());
        } else {
            fs::remove_dir_all(&self.folder).expect("the folder can be removed");
        }
    }
}

/// Where the programs of the PostgreSQL for tests lie.
async fn programs(server: &str) -> PathBuf {
    let connection = Connector::connect(server).await;
    let connection = connection.expect("the PostgreSQL for tests answers");
    let sql = "select setting from pg_config where name = 'BINDIR'";
    let statement = Statement::from_string(DbBackend::Postgres, sql);
    let row = connection.query_one_raw(statement).await.expect("it says");
    let folder: String = row
        .expect("a row")
        .try_get_by_index(0)
        .expect("a folder's name");
    connection.close().await.expect("closes");
    folder.into()
}

fn is_root() -> bool {
    let Output { stdout, .. } = Command::new("id").arg("-u").output().expect("`id` runs");
    stdout.trim_ascii() == b"0"
}

fn done(command: &mut Command) {
    let status = command.stdout(std::process::Stdio::null()).status();
    let status = status.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}");
}
