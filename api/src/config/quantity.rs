//! Quantities as people write them: `512MiB`, `500ms`, `100`, `off`.
//!
//! Invariants
//! - A number without a unit is refused where a unit decides its meaning (times), and means bytes for sizes.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::graphql::budget::RateLimit;

/// A size in bytes: `65536`, `64KiB`, `16MB`, `2GiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(pub u64);

const SIZE_UNITS: &[(&str, u64)] = &[
    ("b", 1),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
];

impl FromStr for ByteSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no size; sizes look like 512MiB, 64KiB or 65536");
        let (number, unit) = split(text).ok_or_else(wrong)?;
        let factor = match unit.to_lowercase().as_str() {
            "" => 1,
            unit => {
                SIZE_UNITS
                    .iter()
                    .find(|(name, _)| *name == unit)
                    .ok_or_else(wrong)?
                    .1
            }
        };
        number.checked_mul(factor).map(Self).ok_or_else(wrong)
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
        let whole = units
            .into_iter()
            .find(|(_, factor)| self.0 >= *factor && self.0.is_multiple_of(*factor));
        match whole {
            Some((unit, factor)) => write!(formatter, "{} {unit}", self.0 / factor),
            None => write!(formatter, "{} bytes", self.0),
        }
    }
}

/// A length of time: `500ms`, `10s`, `5m`, `24h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub Duration);

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no length of time; they look like 500ms, 10s or 5m");
        let (number, unit) = split(text).ok_or_else(wrong)?;
        let factor = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return Err(wrong()),
        };
        let millis = number.checked_mul(factor).ok_or_else(wrong)?;
        Ok(Self(Duration::from_millis(millis)))
    }
}

/// A rate limit: points per second, or `off`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace(pub Option<RateLimit>);

/// Seconds' worth of points that can be saved up.
const BURST_SECONDS: f64 = 20.0;

impl FromStr for Pace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case("off") {
            return Ok(Self(None));
        }
        match text.parse::<u32>() {
            Ok(points) if points > 0 => Ok(Self(Some(RateLimit {
                per_second: f64::from(points),
                burst: f64::from(points) * BURST_SECONDS,
            }))),
            _ => Err(format!(
                "`{text}` is neither a number of points per second nor `off`"
            )),
        }
    }
}

/// The number at the front, and what follows it.
fn split(text: &str) -> Option<(u64, &str)> {
    let text = text.trim();
    let end = text
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    Some((number.parse().ok()?, unit.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_read_as_people_write_them() {
        for (text, bytes) in [
            ("512MiB", 512 << 20),
            ("64 KiB", 64 << 10),
            ("10MB", 10_000_000),
            ("7", 7),
        ] {
            assert_eq!(text.parse(), Ok(ByteSize(bytes)), "{text}");
        }
        assert_eq!("500ms".parse(), Ok(Span(Duration::from_millis(500))));
        assert_eq!("24h".parse(), Ok(Span(Duration::from_hours(24))));
        assert_eq!(ByteSize(512 << 20).to_string(), "512 MiB");
    }

    #[test]
    fn what_is_no_quantity_is_refused_with_an_example() {
        for text in ["", "MiB", "-1", "1.5MiB", "5 apples", "99999999999TiB"] {
            let error = text.parse::<ByteSize>().expect_err(text);
            assert!(error.contains("512MiB"), "{error}");
        }
        for text in ["10", "s", "10 years"] {
            assert!(
                text.parse::<Span>().expect_err(text).contains("500ms"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_rate_limit_is_a_number_or_off() {
        assert_eq!("off".parse(), Ok(Pace(None)));
        let Pace(limit) = "50".parse().expect("a limit");
        assert_eq!(
            limit.map(|limit| (limit.per_second, limit.burst)),
            Some((50.0, 1_000.0))
        );
        assert!("0".parse::<Pace>().is_err());
    }
}
