//! What was measured, and the tables that show it.
//!
//! Invariants
//! - A number is the median of its rounds; a server that has failed a round says so instead.
//! - Ratios are of Atelier to the others: below 1 is less of what is measured.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::peer::Peer;

/// A number that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    /// Closed loop.
    DeliveriesPerSecond,
    /// Closed loop.
    MicrosPerDelivery,
    /// At the pace of people.
    RoomsP50,
    /// At the pace of people.
    RoomsP99,
    /// At the pace of people.
    RoomsMicrosPerDelivery,
    /// Memory of one small work.
    KibPerWork,
    /// Memory before anything is open.
    IdleMib,
    /// 200 editors.
    ReconnectSeconds,
    /// All edits of the trace.
    TraceSeconds,
    /// Time of the server's processor for them.
    TraceProcessorSeconds,
    /// Opening it while it is open.
    WarmMs,
    /// Opening it after a restart.
    ColdMs,
}

/// A row of the table.
struct Row {
    key: Key,
    what: &'static str,
    decimals: usize,
    aim: &'static str,
}

const ROWS: &[Row] = &[
    Row::new(
        Key::DeliveriesPerSecond,
        "closed loop, 10 works x 4 editors: deliveries/s",
        0,
        "",
    ),
    Row::new(
        Key::MicrosPerDelivery,
        "closed loop: server CPU per delivery, us",
        1,
        "<= 6",
    ),
    Row::new(
        Key::RoomsP50,
        "20 works x 5 editors x 8 edits/s: p50, ms",
        2,
        "",
    ),
    Row::new(
        Key::RoomsP99,
        "20 works x 5 editors x 8 edits/s: p99, ms",
        2,
        "< 8",
    ),
    Row::new(
        Key::RoomsMicrosPerDelivery,
        "the same: server CPU per delivery, us",
        1,
        "",
    ),
    Row::new(
        Key::KibPerWork,
        "500 open works, 200 edits each: KiB per work",
        0,
        "< 60",
    ),
    Row::new(Key::IdleMib, "resident memory before that, MiB", 0, ""),
    Row::new(
        Key::ReconnectSeconds,
        "200 editors of 10 works back at once, s",
        3,
        "< 0.15",
    ),
    Row::new(Key::TraceSeconds, "259,778 edits of one text, s", 2, "< 3"),
    Row::new(Key::TraceProcessorSeconds, "the same: server CPU, s", 2, ""),
    Row::new(Key::WarmMs, "opening that text, open already, ms", 1, ""),
    Row::new(
        Key::ColdMs,
        "opening that text after a restart, ms",
        1,
        "< 40",
    ),
];

impl Row {
    const fn new(key: Key, what: &'static str, decimals: usize, aim: &'static str) -> Self {
        Self {
            key,
            what,
            decimals,
            aim,
        }
    }
}

/// What one run of a scenario gave.
#[derive(Debug, Clone, Default)]
pub(crate) struct Values(BTreeMap<Key, f64>);

impl<const COUNT: usize> From<[(Key, f64); COUNT]> for Values {
    fn from(values: [(Key, f64); COUNT]) -> Self {
        Self(values.into())
    }
}

impl Values {
    /// Adds one.
    pub(crate) fn add(&mut self, key: Key, value: f64) {
        self.0.insert(key, value);
    }

    /// Drops all but these.
    pub(crate) fn keep(&mut self, keys: &[Key]) {
        self.0.retain(|key, _| keys.contains(key));
    }

    /// As one line.
    pub(crate) fn line(&self) -> String {
        let parts: Vec<String> = ROWS
            .iter()
            .filter_map(|row| {
                let value = self.0.get(&row.key)?;
                Some(format!("{:?} {}", row.key, number(*value, row.decimals)))
            })
            .collect();
        parts.join(", ")
    }
}

/// All that was measured.
#[derive(Debug, Default)]
pub(crate) struct Table {
    values: BTreeMap<(usize, Key), Vec<f64>>,
    peers: Vec<Peer>,
}

impl Table {
    /// A table with these columns.
    pub(crate) fn new(peers: &[Peer]) -> Self {
        Self {
            values: BTreeMap::new(),
            peers: peers.to_vec(),
        }
    }

    /// Adds what a round gave.
    pub(crate) fn add(&mut self, peer: Peer, values: &Values) {
        let column = self.peers.iter().position(|known| *known == peer);
        for (key, value) in &values.0 {
            let place = (column.unwrap_or_default(), *key);
            self.values.entry(place).or_default().push(*value);
        }
    }

    /// The table in Markdown: numbers, and in brackets how many times Atelier's that is.
    pub(crate) fn markdown(&self) -> String {
        let mut text = String::from("| |");
        for peer in &self.peers {
            let _ = write!(text, " {} |", peer.title());
        }
        text.push_str(" aim |\n| --- |");
        text.push_str(&" ---: |".repeat(self.peers.len() + 1));
        text.push('\n');
        for row in ROWS {
            let cells: Vec<Option<f64>> = (0..self.peers.len())
                .map(|column| self.median(column, row.key))
                .collect();
            if cells.iter().all(Option::is_none) {
                continue;
            }
            let ours = self.peers.iter().position(|peer| *peer == Peer::Atelier);
            let ours = ours.and_then(|column| cells[column]);
            let _ = write!(text, "| {} |", row.what);
            for (peer, value) in self.peers.iter().zip(cells) {
                let _ = write!(text, " {} |", cell(row, *peer, value, ours));
            }
            let _ = writeln!(text, " {} |", row.aim);
        }
        text
    }

    fn median(&self, column: usize, key: Key) -> Option<f64> {
        let mut values = self.values.get(&(column, key))?.clone();
        Some(median(&mut values))
    }
}

fn cell(row: &Row, peer: Peer, value: Option<f64>, ours: Option<f64>) -> String {
    let Some(value) = value else {
        return "–".to_owned();
    };
    let text = number(value, row.decimals);
    match ours {
        Some(ours) if ours > 0.0 && peer != Peer::Atelier => {
            format!("{text} ({:.1}x)", value / ours)
        }
        _ => text,
    }
}

fn number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    if decimals > 0 {
        return text;
    }
    let mut grouped = String::new();
    for (index, digit) in text.chars().enumerate() {
        if index > 0 && digit != '-' && (text.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The value that this part of sorted values does not exceed.
pub(crate) fn quantile(sorted: &[f64], part: f64) -> f64 {
    let index = (sorted.len() as f64 * part) as usize;
    let value = sorted.get(index.min(sorted.len().saturating_sub(1)));
    value.copied().unwrap_or(f64::NAN)
}

/// The middle one.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    quantile(values, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_shows_medians_and_how_many_times_ours_they_are() {
        let mut table = Table::new(&[Peer::Atelier, Peer::Relay]);
        for value in [1_000.0, 3_000.0, 2_000.0] {
            let values = Values::from([(Key::DeliveriesPerSecond, value)]);
            table.add(Peer::Atelier, &values);
        }
        table.add(
            Peer::Relay,
            &Values::from([(Key::DeliveriesPerSecond, 5_000.0)]),
        );
        let text = table.markdown();
        assert!(text.contains("| 2,000 | 5,000 (2.5x) |  |"), "{text}");
        assert_eq!(text.lines().count(), 3);
    }
}
