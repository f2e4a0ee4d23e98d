//! The scalars of the contract, and the integers that go through GraphQL's 32 bits.
//!
//! Invariants
//! - What one of them prints, it also reads, and gets the same value.
//! - `Bytes` is strict: one text for one value, so nobody can hide bytes in padding.
//!
//! Not here: what stands inside a cursor (`cursor`).

use async_graphql::{InputValueError, InputValueResult, Scalar, ScalarType, Value};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime as Instant, SecondsFormat, Utc};
use domain::document::Version;
use domain::time::Timestamp;
use domain::{Error, Result};

/// A moment: RFC 3339 in UTC, to the microsecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DateTime(pub(crate) Timestamp);

/// A moment: RFC 3339 in UTC, to the microsecond, such as `2026-11-30T04:38:00.123456Z`.
#[Scalar(
    name = "DateTime",
    specified_by_url = "https://www.rfc-editor.org/rfc/rfc3339"
)]
impl ScalarType for DateTime {
    fn parse(value: Value) -> InputValueResult<Self> {
        let Value::String(text) = &value else {
            return Err(InputValueError::expected_type(value));
        };
        let moment = Instant::parse_from_rfc3339(text).map_err(|_| {
            InputValueError::custom(
                "a moment is written as in RFC 3339, such as 2026-11-30T04:38:00Z",
            )
        })?;
        Ok(Self(Timestamp::from_micros(moment.timestamp_micros())))
    }

    fn to_value(&self) -> Value {
        // A time beyond what the calendar can show comes from damaged data alone; the epoch is shown then.
        let moment = Instant::<Utc>::from_timestamp_micros(self.0.micros()).unwrap_or_default();
        Value::String(moment.to_rfc3339_opts(SecondsFormat::Micros, true))
    }
}

/// Bytes as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bytes(pub(crate) bytes::Bytes);

/// Bytes as base64: standard alphabet, padded.
#[Scalar(
    name = "Bytes",
    specified_by_url = "https://www.rfc-editor.org/rfc/rfc4648#section-4"
)]
impl ScalarType for Bytes {
    fn parse(value: Value) -> InputValueResult<Self> {
        let Value::String(text) = &value else {
            return Err(InputValueError::expected_type(value));
        };
        match STANDARD.decode(text) {
            Ok(bytes) => Ok(Self(bytes.into())),
            Err(_) => Err(InputValueError::custom(
                "bytes are written as base64 with the standard alphabet and padding",
            )),
        }
    }

    fn to_value(&self) -> Value {
        Value::String(STANDARD.encode(&self.0))
    }
}

/// Any JSON value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Json(pub(crate) serde_json::Value);

/// Any JSON value: an object, list, string, number, boolean or null.
#[Scalar(
    name = "JSON",
    specified_by_url = "https://www.rfc-editor.org/rfc/rfc8259"
)]
impl ScalarType for Json {
    fn parse(value: Value) -> InputValueResult<Self> {
        Ok(Self(value.into_json()?))
    }

    fn to_value(&self) -> Value {
        // Fails for maps with keys that are no strings, and a JSON value has none.
        Value::from_json(self.0.clone()).unwrap_or_default()
    }
}

/// The numbers that every client reads exactly lie between plus and minus this.
const EXACT: i64 = 1 << 53;

/// An integer of 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Int64(pub(crate) i64);

/// An integer of 64 bits, as a JSON number or string; within ±2⁵³ it is sent as a number.
#[Scalar(
    name = "Int64",
    specified_by_url = "https://www.rfc-editor.org/rfc/rfc8259#section-6"
)]
impl ScalarType for Int64 {
    fn parse(value: Value) -> InputValueResult<Self> {
        let number = match &value {
            Value::Number(number) => number.as_i64(),
            Value::String(text) => text.parse().ok(),
            _ => return Err(InputValueError::expected_type(value)),
        };
        let missing =
            || InputValueError::custom("this is an integer of 64 bits, as a number or a string");
        number.map(Self).ok_or_else(missing)
    }

    fn to_value(&self) -> Value {
        if (-EXACT..=EXACT).contains(&self.0) {
            Value::Number(self.0.into())
        } else {
            Value::String(self.0.to_string())
        }
    }
}

/// A position in an event log or a connection, as clients hold it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cursor(pub(crate) String);

/// Opaque; a position in an event log or a connection. Hand it back where it came from.
#[Scalar(
    name = "Cursor",
    specified_by_url = "https://relay.dev/graphql/connections.htm#sec-Cursor"
)]
impl ScalarType for Cursor {
    fn parse(value: Value) -> InputValueResult<Self> {
        match value {
            Value::String(text) => Ok(Self(text)),
            other => Err(InputValueError::expected_type(other)),
        }
    }

    fn to_value(&self) -> Value {
        Value::String(self.0.clone())
    }
}

/// A number as GraphQL's Int, which ends at 2³¹ − 1: what is larger shows as that.
pub(crate) fn int(number: u64) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// A version that a client names in `argument`.
pub(crate) fn version(argument: &str, given: i32) -> Result<Version> {
    u64::try_from(given).map(Version).map_err(|_| {
        Error::Invalid(format!(
            "`{argument}` is a version, 0 or more, and was {given}"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Value {
        Value::String(value.to_owned())
    }

    #[test]
    fn a_moment_keeps_its_microseconds_and_loses_its_offset() {
        let parsed = DateTime::parse(text("2026-11-30T06:38:00.123456+02:00")).expect("a moment");
        assert_eq!(parsed.to_value(), text("2026-11-30T04:38:00.123456Z"));
        assert_eq!(DateTime::parse(parsed.to_value()).expect("reads"), parsed);
        assert!(DateTime::parse(text("yesterday")).is_err());
    }

    #[test]
    fn bytes_are_read_from_padded_standard_base64_only() {
        let parsed = Bytes::parse(text("+/8=")).expect("bytes");
        assert_eq!(parsed.0.as_ref(), [0xfb, 0xff]);
        for wrong in ["+/8", "-_8=", "+/9=", "+/8=\n"] {
            assert!(Bytes::parse(text(wrong)).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_large_integer_is_a_string_where_a_number_would_lose_digits() {
        let exact = Int64(9_007_199_254_740_992);
        assert_eq!(exact.to_value(), Value::Number(exact.0.into()));
        for large in [Int64(i64::MAX), Int64(i64::MIN), Int64(exact.0 + 1)] {
            assert_eq!(large.to_value(), text(&large.0.to_string()));
            assert_eq!(Int64::parse(large.to_value()).expect("reads"), large);
        }
        for wrong in [
            text("1.5"),
            text(""),
            text("9223372036854775808"),
            Value::Null,
        ] {
            assert!(Int64::parse(wrong).is_err());
        }
    }

    #[test]
    fn a_negative_version_is_refused_by_the_name_of_its_argument() {
        let error = version("baseVersion", -1).expect_err("negative");
        assert!(error.to_string().contains("`baseVersion`"));
        assert_eq!(version("baseVersion", 7).expect("a version"), Version(7));
    }
}
