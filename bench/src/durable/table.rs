//! What was measured, side by side.
//!
//! Invariants
//! - A number is the median of its rounds. A factor is how many steps a second a system makes for each one of the peer's.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Measured, System};

/// Runs by the number of clients and the system.
#[derive(Debug, Default)]
pub(super) struct Table(BTreeMap<(usize, System), Vec<Measured>>);

impl Table {
    pub(super) fn add(&mut self, system: System, clients: usize, measured: Measured) {
        self.0.entry((clients, system)).or_default().push(measured);
    }

    /// A table for each number of clients, the largest first.
    pub(super) fn markdown(&self) -> String {
        let mut sizes: Vec<usize> = self.0.keys().map(|(clients, _)| *clients).collect();
        sizes.dedup();
        let tables: Vec<_> = sizes
            .iter()
            .rev()
            .map(|clients| self.of(*clients))
            .collect();
        tables.join("\n")
    }

    fn of(&self, clients: usize) -> String {
        let mut text = format!(
            "{clients} at once | steps/s | of DBOS | of Restate | ten steps p50 ms | p99 ms | own CPU ms/step | PostgreSQL CPU ms/step | MB\n\
             --- | --- | --- | --- | --- | --- | --- | --- | ---\n"
        );
        let rate = |system| {
            let runs = self.0.get(&(clients, system))?;
            Some(median(runs, Measured::steps_per_second))
        };
        let (dbos, restate) = (rate(System::Dbos), rate(System::Restate));
        for ((_, system), runs) in self.0.iter().filter(|((size, _), _)| *size == clients) {
            let steps = median(runs, Measured::steps_per_second);
            let factor = |peer: Option<f64>| {
                peer.map_or_else(|| "-".to_owned(), |peer| format!("{:.2}", steps / peer))
            };
            // Writing to a text does not fail.
            let _ = writeln!(
                text,
                "{} | {steps:.0} | {} | {} | {:.1} | {:.1} | {:.3} | {:.3} | {:.0}",
                system.title(),
                factor(dbos),
                factor(restate),
                median(runs, |run| run.outcome.quantile_ms(0.5)),
                median(runs, |run| run.outcome.quantile_ms(0.99)),
                median(runs, Measured::own_ms_per_step),
                median(runs, Measured::database_ms_per_step),
                median(runs, |run| run.outcome.memory_kib as f64 / 1_024.0),
            );
        }
        text
    }
}

fn median(runs: &[Measured], of: impl Fn(&Measured) -> f64) -> f64 {
    let mut values: Vec<f64> = runs.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
