//! DBOS for Rust with the workflow of `cargo xtask bench runtime`: so many steps that do nothing, each of which is durable before the next.
//!
//! Invariants
//! - Engine and callers are one process, as DBOS is meant to be used; nothing of it is tuned but the size of its pool.
//! - What is printed is a line as the measured part begins, and one of JSON at its end; the bench reads both.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use dbos::{Config, DBOS, Error, step};

/// Steps of one workflow.
const STEPS: u64 = 10;

/// What to measure.
#[derive(Debug, Parser)]
struct Arguments {
    /// An empty database of PostgreSQL.
    #[arg(long)]
    database: String,
    /// Workflows that are under way at once.
    #[arg(long, default_value_t = 16)]
    clients: u64,
    /// How long it is measured, in seconds.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let config = Config {
        app_version: Some("1".to_owned()),
        max_connections: 16,
        ..Config::new("bench", &arguments.database)
    };
    let dbos = DBOS::new(config);
    let workflow = dbos.register_workflow("ten_steps", |first: u64| async move {
        let mut number = first;
        for _ in 0..STEPS {
            number = step("next", || async move { Ok::<_, Error>(number + 1) }).await?;
        }
        Ok::<_, Error>(number)
    })?;
    dbos.launch().await?;
    let workflow = Arc::new(workflow);
    let next = Arc::new(AtomicU64::new(0));
    // What is prepared at its first use is no part of the load.
    for seconds in [1, arguments.seconds] {
        if seconds == arguments.seconds {
            println!("begins");
        }
        let before = processor_seconds()?;
        let began = Instant::now();
        let until = began + Duration::from_secs(seconds);
        let clients: Vec<_> = (0..arguments.clients)
            .map(|_| {
                let (workflow, next) = (workflow.clone(), next.clone());
                tokio::spawn(async move {
                    let mut times = Vec::new();
                    while Instant::now() < until {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let began = Instant::now();
                        let last = workflow.run(number).await?;
                        anyhow::ensure!(last == number + STEPS, "a workflow lost a step");
                        times.push(began.elapsed().as_micros() as u64);
                    }
                    Ok(times)
                })
            })
            .collect();
        let mut times = Vec::new();
        for client in clients {
            times.extend(client.await??);
        }
        if seconds == arguments.seconds {
            let elapsed = began.elapsed().as_secs_f64();
            let line = serde_json::json!({
                "elapsedS": elapsed, "processorS": processor_seconds()? - before, "memoryKib": peak_kib()?, "timesUs": times,
            });
            println!("{line}");
        }
    }
    dbos.shutdown().await;
    Ok(())
}

/// Seconds of a processor that this process has used, as the kernel counts them in hundredths.
fn processor_seconds() -> anyhow::Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit(") ").next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: Result<f64, _> = ticks.map(str::parse::<f64>).sum();
    Ok(ticks? / 100.0)
}

/// The most memory that this process has held, in KiB.
fn peak_kib() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.unwrap_or_default().parse()?)
}
