//! How many tests passed, failed and were skipped, as the runners themselves say it.
//!
//! Invariants
//! - A runner whose closing line is not found counts as one failure: silence is not success.

use std::fmt;
use std::ops::AddAssign;

use serde_json::Value;

/// The counts of one runner, or of all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Tests that held.
    pub(crate) passed: u64,
    /// Tests that did not hold, or never ended.
    pub(crate) failed: u64,
    /// Tests that were not run.
    pub(crate) skipped: u64,
}

impl Totals {
    /// One failure.
    pub(crate) const FAILURE: Self = Self {
        passed: 0,
        failed: 1,
        skipped: 0,
    };

    /// Reads the closing line of `cargo nextest`.
    pub(crate) fn of_nextest(text: &str) -> Option<Self> {
        let line = text
            .lines()
            .rev()
            .find(|line| line.trim_start().starts_with("Summary ["))?;
        let (_, counts) = line.split_once(" run: ")?;
        Some(Self::of_counts(&without_remarks(counts)))
    }

    /// Sums up the closing lines of `cargo test`, one for each test binary.
    pub(crate) fn of_cargo_test(text: &str) -> Option<Self> {
        let mut totals = None;
        for line in text
            .lines()
            .filter(|line| line.starts_with("test result: "))
        {
            let (_, counts) = line.split_once(". ")?;
            *totals.get_or_insert_with(Self::default) += Self::of_counts(&counts.replace(';', ","));
        }
        totals
    }

    /// Reads the last line of the form `N passed, N failed, N skipped`.
    pub(crate) fn of_closing_line(text: &str) -> Option<Self> {
        let line = text.lines().rev().find(|line| line.contains(" passed, "))?;
        Some(Self::of_counts(line))
    }

    /// Reads the closing line of pytest, such as `2 failed, 40 passed, 1 error in 12.30s`.
    pub(crate) fn of_pytest(text: &str) -> Option<Self> {
        let line = text.lines().rev().find(|line| {
            let ends_in_time = line.rsplit_once(" in ").is_some();
            ends_in_time
                && (line.contains(" passed") || line.contains(" failed") || line.contains(" error"))
        })?;
        let (counts, _) = line.rsplit_once(" in ")?;
        Some(Self::of_counts(counts.trim_start_matches(['=', ' '])))
    }

    /// Reads the JSON report of Vitest.
    pub(crate) fn of_vitest(report: &Value) -> Option<Self> {
        Some(Self {
            passed: report.get("numPassedTests")?.as_u64()?,
            failed: report.get("numFailedTests")?.as_u64()?,
            skipped: report.get("numPendingTests")?.as_u64()?,
        })
    }

    /// Reads `N word, N word, …`; a word that is no success and no skip is a failure.
    fn of_counts(text: &str) -> Self {
        let mut totals = Self::default();
        for part in text.split(',') {
            let Some((number, word)) = part.trim().split_once(' ') else {
                continue;
            };
            let number = number.parse().unwrap_or(0);
            match word.trim() {
                "passed" => totals.passed += number,
                "skipped" | "ignored" => totals.skipped += number,
                "failed" | "timed out" | "exec failed" | "error" | "errors" => {
                    totals.failed += number;
                }
                // Filtered out, measured, finished in …: nothing about the outcome.
                _ => {}
            }
        }
        totals
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 {
            write!(formatter, ", {} skipped", self.skipped)?;
        }
        Ok(())
    }
}

/// The text without what stands in parentheses, such as `(2 slow, 1 flaky)`.
fn without_remarks(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('(') {
        kept.push_str(before.trim_end());
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(passed: u64, failed: u64, skipped: u64) -> Totals {
        Totals {
            passed,
            failed,
            skipped,
        }
    }

    #[test]
    fn nextest_counts_timeouts_as_failures() {
        let text = "noise\n     Summary [  12.3s] 8 tests run: 5 passed (1 slow, 2 flaky), 2 failed, 1 timed out, 4 skipped\nmore";
        assert_eq!(Totals::of_nextest(text), Some(totals(5, 3, 4)));
    }

    #[test]
    fn nextest_without_a_summary_has_no_totals() {
        assert_eq!(
            Totals::of_nextest("error: could not compile `domain`"),
            None
        );
    }

    #[test]
    fn all_binaries_of_cargo_test_are_summed_up() {
        let text = "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.01s\n\
                    test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n";
        assert_eq!(Totals::of_cargo_test(text), Some(totals(4, 2, 1)));
    }

    #[test]
    fn the_last_closing_line_counts() {
        let text = "1 passed, 1 failed\nwarnings 3, notices 1\n61 passed, 0 failed, 2 skipped\n";
        assert_eq!(Totals::of_closing_line(text), Some(totals(61, 0, 2)));
    }

    #[test]
    fn what_broke_off_before_a_test_of_pytest_is_a_failure() {
        let text = "F.E\n2 failed, 40 passed, 1 skipped, 1 warning, 1 error in 12.30s (0:00:12)\n";
        assert_eq!(Totals::of_pytest(text), Some(totals(40, 3, 1)));
        assert_eq!(
            Totals::of_pytest("===== 3 passed in 0.10s =====\n"),
            Some(totals(3, 0, 0))
        );
        assert_eq!(
            Totals::of_pytest("Traceback (most recent call last):\n"),
            None
        );
    }

    #[test]
    fn skipped_tests_are_named_only_where_there_are_some() {
        assert_eq!(totals(2, 0, 0).to_string(), "2 passed, 0 failed");
        assert_eq!(totals(2, 1, 3).to_string(), "2 passed, 1 failed, 3 skipped");
    }
}
