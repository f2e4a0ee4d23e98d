//! What one run of a load came to: printed by whoever ran it as one line of JSON, and read by whoever compares.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

/// Steps of one workflow.
pub(crate) const STEPS: u64 = 10;

/// What a program prints as its measured part begins.
pub(crate) const BEGINS: &str = "begins";

/// What a run came to.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    /// How long it ran, in seconds.
    pub(crate) elapsed_s: f64,
    /// Seconds of a processor that the measured side used, without the database server.
    pub(crate) processor_s: f64,
    /// The most memory that the measured side held, in KiB, without the database server.
    pub(crate) memory_kib: u64,
    /// How long each workflow took, in microseconds.
    pub(crate) times_us: Vec<u64>,
}

impl Outcome {
    /// It as a line.
    pub(crate) fn line(&self) -> String {
        json!({
            "elapsedS": self.elapsed_s, "processorS": self.processor_s, "memoryKib": self.memory_kib, "timesUs": self.times_us,
        })
        .to_string()
    }

    /// Reads the line among what a program printed.
    pub(crate) fn read(printed: &str) -> Result<Self> {
        let line = printed.lines().find(|line| line.starts_with('{'));
        let line: Value = serde_json::from_str(line.context("nothing was measured")?)?;
        let times = line["timesUs"].as_array().context("no times")?;
        Ok(Self {
            elapsed_s: line["elapsedS"].as_f64().context("no time")?,
            processor_s: line["processorS"].as_f64().unwrap_or_default(),
            memory_kib: line["memoryKib"].as_u64().unwrap_or_default(),
            times_us: times.iter().filter_map(Value::as_u64).collect(),
        })
    }

    /// Steps that were made.
    pub(crate) fn steps(&self) -> f64 {
        (self.times_us.len() as u64 * STEPS) as f64
    }

    /// The time below which this part of all workflows stayed, in milliseconds.
    pub(crate) fn quantile_ms(&self, part: f64) -> f64 {
        let mut times = self.times_us.clone();
        times.sort_unstable();
        let last = times.len().saturating_sub(1);
        let time = times.get((last as f64 * part) as usize);
        time.map_or(0.0, |time| *time as f64 / 1e3)
    }
}
