//! Processes of servers: started on a processor of their own, and asked what they use.
//!
//! Invariants
//! - A process is ended when its value is dropped, whatever happened before.
//! - Time of the processor is that of the process alone, as the kernel counts it in hundredths of a second.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::{available_parallelism, sleep};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

/// How long a server may take to start or to stop.
const PATIENCE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(10);
/// Ticks of `/proc/PID/stat` in a second.
const TICKS: f64 = 100.0;

/// Who makes vectors.
const EMBEDDINGS: &str = "ATELIER_EMBEDDINGS_PROVIDER";

/// A running server.
pub(crate) struct Process {
    child: Child,
    port: u16,
}

/// Whether servers and editors get a processor each.
pub(crate) fn has_two_processors() -> bool {
    let has_two = available_parallelism().is_ok_and(|count| count.get() >= 2);
    has_two && run("taskset", &["--version"]).is_ok()
}

/// Moves this process to the second processor; call it before threads are started.
pub(crate) fn move_to_second_processor() -> Result<()> {
    run("taskset", &["-pc", "1", &std::process::id().to_string()])
}

/// A program on the first processor, where there are two.
pub(crate) fn program(path: &str, is_pinned: bool) -> Command {
    if !is_pinned {
        return Command::new(path);
    }
    let mut command = Command::new("taskset");
    command.args(["-c", "0", path]);
    command
}

/// What a server of Atelier that is measured listens on, keeps, and leaves out.
///
/// It makes no vectors for searching by meaning, unless the environment says who should: no other server does.
pub(crate) fn set_up_atelier(command: &mut Command, port: u16, data: &Path, secret: &str) {
    command
        .arg("serve")
        .env("ATELIER_LISTEN", format!("127.0.0.1:{port}"))
        .env("ATELIER_DATA_DIR", data)
        .env("ATELIER_BOOTSTRAP_TOKEN", secret)
        .env("ATELIER_RATE_LIMIT", "off");
    if std::env::var_os(EMBEDDINGS).is_none() {
        command.env(EMBEDDINGS, "none");
    }
}

/// A port of loopback that was free a moment ago.
pub(crate) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

impl Process {
    /// Starts a server and waits until it answers.
    pub(crate) fn start(mut command: Command, port: u16, log: &Path) -> Result<Self> {
        let log = File::options().create(true).append(true).open(log)?;
        let child = command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .context("a server can not be started")?;
        let mut process = Self { child, port };
        process.wait_for_answer()?;
        Ok(process)
    }

    /// Where it listens.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Seconds of a processor that it has used.
    pub(crate) fn processor_seconds(&self) -> Result<f64> {
        processor_seconds(self.child.id())
    }

    /// Its resident memory, in KiB.
    pub(crate) fn resident_kib(&self) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        Ok(number.context("no VmRSS in /proc/PID/status")?.parse()?)
    }

    /// The most memory that it has held, in KiB.
    pub(crate) fn peak_kib(&self) -> Result<u64> {
        peak_kib(&self.child.id().to_string())
    }

    /// Asks it to stop, and waits for its end.
    pub(crate) fn stop(mut self) -> Result<()> {
        run("kill", &["-TERM", &self.child.id().to_string()])?;
        let began = Instant::now();
        while self.child.try_wait()?.is_none() {
            ensure!(began.elapsed() < PATIENCE, "a server does not stop");
            sleep(POLL);
        }
        Ok(())
    }

    /// A port that takes connections is not enough: some listen before they have opened what they keep.
    fn wait_for_answer(&mut self) -> Result<()> {
        let began = Instant::now();
        loop {
            if let Ok(socket) = TcpStream::connect(("127.0.0.1", self.port)) {
                return ask(socket).context("the server does not answer");
            }
            if let Some(status) = self.child.try_wait()? {
                bail!("the server ended with {status} at once");
            }
            ensure!(began.elapsed() < PATIENCE, "the server does not listen");
            sleep(POLL);
        }
    }
}

/// Asks for something; whatever is answered, a closed socket too, somebody is there.
fn ask(mut socket: TcpStream) -> io::Result<()> {
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    match socket.read(&mut [0]) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(error),
        _ => Ok(()),
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Our own child; one that has ended already is no fault.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Seconds of a processor that this process has used.
pub(crate) fn own_processor_seconds() -> Result<f64> {
    processor_seconds(std::process::id())
}

/// The most memory that this process has held, in KiB.
pub(crate) fn own_peak_kib() -> Result<u64> {
    peak_kib("self")
}

fn peak_kib(process: &str) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.context("no VmHWM in /proc/PID/status")?.parse()?)
}

/// Seconds of a processor that a process and all its children have used, those that have ended included.
pub(crate) fn tree_processor_seconds(process: u32) -> Result<f64> {
    let mut sum = seconds_of(process, 11..15)?;
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(child) = name.to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        // One that has ended meanwhile is counted by its parent.
        if parent_of(child) == Some(process) {
            sum += seconds_of(child, 11..13).unwrap_or_default();
        }
    }
    Ok(sum)
}

fn parent_of(process: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let fields = stat.rsplit(") ").next()?;
    fields.split_whitespace().nth(1)?.parse().ok()
}

fn processor_seconds(process: u32) -> Result<f64> {
    seconds_of(process, 11..13)
}

/// The sum of some fields of a process that are counted in ticks.
fn seconds_of(process: u32, places: Range<usize>) -> Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The second field is a name in brackets, which may hold anything.
    let fields = stat.rsplit(") ").next().unwrap_or_default();
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks = fields.get(places).context("a short /proc/PID/stat")?;
    let sum: Result<f64, _> = ticks.iter().map(|ticks| ticks.parse::<f64>()).sum();
    Ok(sum? / TICKS)
}

fn run(program: &str, arguments: &[&str]) -> Result<()> {
    let output = Command::new(program).args(arguments).output();
    let output = output.with_context(|| format!("`{program}` can not be started"))?;
    ensure!(
        output.status.success(),
        "`{program}` ended with {}",
        output.status
    );
    Ok(())
}
