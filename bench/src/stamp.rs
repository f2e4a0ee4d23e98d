//! Stamps: what every edit carries, so that its way can be followed through any server.
//!
//! Invariants
//! - A stamp is found in the bytes of an update without reading the update, also where a server joined several.
//! - All stamps have one length, so places in a text can be counted in stamps.

use std::sync::OnceLock;
use std::time::Instant;

/// Characters of a stamp.
pub(crate) const LENGTH: usize = 24;
const OPEN: u8 = b'<';
const CLOSE: u8 = b'>';

/// Who made an edit, which one of theirs it is, and when it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// The editor, counted within its document.
    pub(crate) author: usize,
    /// Counted from 0 for each author.
    pub(crate) number: usize,
    /// Microseconds since the start of this process.
    pub(crate) at: u64,
}

/// Microseconds since this was first asked.
pub(crate) fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_micros() as u64
}

impl Stamp {
    /// As it is written into a document.
    pub(crate) fn text(self) -> String {
        format!("<{:04x}{:06x}{:012x}>", self.author, self.number, self.at)
    }
}

/// The stamps in some bytes.
pub(crate) fn find(bytes: &[u8]) -> impl Iterator<Item = Stamp> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        loop {
            let at = rest.iter().position(|byte| *byte == OPEN)?;
            rest = &rest[at..];
            if let Some(stamp) = read(rest) {
                rest = &rest[LENGTH..];
                return Some(stamp);
            }
            rest = &rest[1..];
        }
    })
}

fn read(bytes: &[u8]) -> Option<Stamp> {
    if bytes.len() < LENGTH || bytes[LENGTH - 1] != CLOSE {
        return None;
    }
    let number = |from: usize, to: usize| {
        bytes[from..to].iter().try_fold(0_u64, |number, digit| {
            let digit = char::from(*digit).to_digit(16)?;
            Some(number << 4 | u64::from(digit))
        })
    };
    Some(Stamp {
        author: number(1, 5)? as usize,
        number: number(5, 11)? as usize,
        at: number(11, 23)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_found_among_other_bytes() {
        let stamps = [(3, 70_000, 123_456_789), (1, 2, 3)].map(|(author, number, at)| Stamp {
            author,
            number,
            at,
        });
        assert_eq!(stamps[0].text().len(), LENGTH);
        let bytes = format!("x<{}<<y{}z", stamps[0].text(), stamps[1].text());
        assert!(find(bytes.as_bytes()).eq(stamps));
    }
}
