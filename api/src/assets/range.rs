//! Single ranges of bytes, as `Range` asks for them.
//!
//! Invariants
//! - What is no single range of bytes is ignored, as the standard lets a server do; the whole file is sent then.

use std::ops::Range;

/// What a request wants of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    /// All of it.
    Whole,
    /// A part that is there.
    Part(Range<u64>),
    /// A part that is not there.
    Nothing,
}

/// What a `Range` header wants of a file of this size.
pub(super) fn wanted(header: Option<&str>, size: u64) -> Wanted {
    let Some(range) = header.and_then(|header| header.trim().strip_prefix("bytes=")) else {
        return Wanted::Whole;
    };
    let Some((start, end)) = range.split_once('-') else {
        return Wanted::Whole;
    };
    let (start, end) = (start.trim(), end.trim());
    match (number(start), number(end)) {
        (Some(start), Some(end)) if start <= end => part(start, end.saturating_add(1).min(size)),
        (Some(start), None) if end.is_empty() => part(start, size),
        (None, Some(length)) if start.is_empty() => part(size.saturating_sub(length), size),
        _ => Wanted::Whole,
    }
}

fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

fn part(start: u64, end: u64) -> Wanted {
    if start < end {
        Wanted::Part(start..end)
    } else {
        Wanted::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_ranges_are_cut_to_the_file() {
        for (header, expected) in [
            ("bytes=0-4", Wanted::Part(0..5)),
            ("bytes=5-", Wanted::Part(5..10)),
            ("bytes=-3", Wanted::Part(7..10)),
            ("bytes=-30", Wanted::Part(0..10)),
            ("bytes=8-99999999999999999999999", Wanted::Part(8..10)),
            ("bytes=10-", Wanted::Nothing),
            ("bytes=-0", Wanted::Nothing),
        ] {
            assert_eq!(wanted(Some(header), 10), expected, "{header}");
        }
    }

    #[test]
    fn what_is_no_single_range_asks_for_the_whole_file() {
        for header in [
            "bytes=0-1,3-4",
            "lines=1-2",
            "bytes=5-1",
            "bytes=x-",
            "bytes=-",
            "5-6",
        ] {
            assert_eq!(wanted(Some(header), 10), Wanted::Whole, "{header}");
        }
        assert_eq!(wanted(None, 10), Wanted::Whole);
    }
}
