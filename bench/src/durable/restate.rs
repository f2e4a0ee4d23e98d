//! Restate with the same workflow behind its HTTP ingress: one server, one endpoint of its SDK for Node, and the load here.
//!
//! Invariants
//! - All three run in a network of their own that has only loopback: the server asks for its newest release at each start, and that can
//!   not be turned off.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use serde_json::json;

use super::outcome::{Outcome, STEPS};
use crate::process::Process;

const INGRESS: u16 = 18_080;
const ADMIN: u16 = 19_070;
const ENDPOINT: u16 = 19_081;

/// A run inside the network of its own.
#[derive(Debug, Args)]
pub(crate) struct Inside {
    /// The folder of the npm packages.
    #[arg(long)]
    peer: PathBuf,
    /// An empty folder for data and logs.
    #[arg(long)]
    data: PathBuf,
    /// Workflows that are under way at once.
    #[arg(long)]
    clients: usize,
    /// How long it is measured, in seconds.
    #[arg(long)]
    seconds: u64,
}

/// Runs this program again in a network of its own.
pub(super) fn run(peers: &Path, data: &Path, (clients, seconds): (usize, u64)) -> Result<Outcome> {
    std::fs::create_dir_all(data)?;
    let this = std::env::current_exe()?;
    let inside = "ip link set lo up && exec \"$0\" \"$@\"";
    let output = Command::new("unshare")
        .args(["-n", "sh", "-c", inside])
        .arg(this)
        .arg("restate")
        .arg("--peer")
        .arg(peers.join("restate"))
        .arg("--data")
        .arg(data)
        .args(["--clients", &clients.to_string()])
        .args(["--seconds", &seconds.to_string()])
        .output()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{errors}");
    Outcome::read(&String::from_utf8_lossy(&output.stdout))
}

/// Measures, and prints one line.
pub(crate) async fn inside(options: Inside) -> Result<()> {
    let server = server(&options)?;
    let mut endpoint = Command::new("node");
    endpoint
        .arg("service.mjs")
        .arg(ENDPOINT.to_string())
        .current_dir(&options.peer);
    let endpoint = Process::start(endpoint, ENDPOINT, &options.data.join("endpoint.log"))?;
    register().await?;
    let next = Arc::new(AtomicU64::new(0));
    load(&next, options.clients, Duration::from_secs(1)).await?;
    let used =
        || -> Result<f64> { Ok(server.processor_seconds()? + endpoint.processor_seconds()?) };
    let before = used()?;
    let began = Instant::now();
    let seconds = Duration::from_secs(options.seconds);
    let times_us = load(&next, options.clients, seconds).await?;
    let outcome = Outcome {
        elapsed_s: began.elapsed().as_secs_f64(),
        processor_s: used()? - before,
        memory_kib: server.peak_kib()? + endpoint.peak_kib()?,
        times_us,
    };
    println!("{}", outcome.line());
    Ok(())
}

fn server(options: &Inside) -> Result<Process> {
    let base = options.data.join("restate");
    let configuration = options.data.join("restate.toml");
    let text = format!(
        "listen-mode = \"tcp\"\nbind-ip = \"127.0.0.1\"\nbind-port = 15122\nnode-name = \"bench\"\ncluster-name = \"bench\"\n\
         disable-telemetry = true\nbase-dir = {:?}\nlog-filter = \"warn\"\n[admin]\nbind-address = \"127.0.0.1:{ADMIN}\"\n\
         disable-web-ui = true\n[ingress]\nbind-address = \"127.0.0.1:{INGRESS}\"\n",
        base.display().to_string()
    );
    std::fs::write(&configuration, text)?;
    let program = "node_modules/@restatedev/restate-server-linux-x64/bin/restate-server";
    let mut command = Command::new(options.peer.join(program));
    command
        .arg("--no-logo")
        .arg("-c")
        .arg(&configuration)
        .env("DO_NOT_TRACK", "1")
        .env("RESTATE_DISABLE_TELEMETRY", "true");
    Process::start(command, INGRESS, &options.data.join("server.log"))
}

/// Tells the server where the endpoint is, as soon as it listens.
async fn register() -> Result<()> {
    let requests = reqwest::Client::new();
    let url = format!("http://127.0.0.1:{ADMIN}/deployments");
    let body = json!({"uri": format!("http://127.0.0.1:{ENDPOINT}")});
    let began = Instant::now();
    loop {
        let answer = requests.post(&url).json(&body).send().await;
        if answer.is_ok_and(|answer| answer.status().is_success()) {
            return Ok(());
        }
        if began.elapsed() > Duration::from_mins(1) {
            bail!("Restate takes no deployment");
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

async fn load(next: &Arc<AtomicU64>, clients: usize, time: Duration) -> Result<Vec<u64>> {
    let until = Instant::now() + time;
    let running: Vec<_> = (0..clients)
        .map(|_| tokio::spawn(client(next.clone(), until)))
        .collect();
    let mut times = Vec::new();
    for client in running {
        times.extend(client.await??);
    }
    Ok(times)
}

async fn client(next: Arc<AtomicU64>, until: Instant) -> Result<Vec<u64>> {
    let requests = reqwest::Client::new();
    let url = format!("http://127.0.0.1:{INGRESS}/bench/ten_steps");
    let mut times = Vec::new();
    while Instant::now() < until {
        let first = next.fetch_add(1, Ordering::Relaxed);
        let began = Instant::now();
        let answer = requests.post(&url).json(&first).send().await?;
        let last: u64 = answer.json().await.context("no number came back")?;
        ensure!(last == first + STEPS, "a workflow lost a step");
        times.push(began.elapsed().as_micros() as u64);
    }
    Ok(times)
}
