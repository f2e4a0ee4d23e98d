//! Values inside an update: lib0's own (`Any`) and JSON texts.
//!
//! Invariants
//! - Every value that is counted in the estimate takes at least one byte of input, so the walk ends.
//! - Nesting is bounded before it is followed.

use serde::de::IgnoredAny;

use super::{Rejection, UpdateLimits};
use crate::document::lib0::Reader;

/// Estimated memory of a value, a map, and what a structural character of JSON becomes, in bytes.
const VALUE: usize = 40;
const MAP: usize = 256;
const JSON_PART: usize = 96;

/// What decoding would take in memory, against its limit.
pub(super) struct Budget {
    left: usize,
}

impl Budget {
    pub(super) const fn new(limits: &UpdateLimits) -> Self {
        Self {
            left: limits.decoded_bytes,
        }
    }

    pub(super) const fn spent(&self, limits: &UpdateLimits) -> usize {
        limits.decoded_bytes - self.left
    }

    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), Rejection> {
        self.left = self
            .left
            .checked_sub(bytes)
            .ok_or_else(|| Rejection::new("the update holds too many parts"))?;
        Ok(())
    }
}

/// Reads a text. U+0000 is refused: what documents say goes into tables and journals, and `PostgreSQL` has no place for it.
pub(super) fn text<'bytes>(
    reader: &mut Reader<'bytes>,
    budget: &mut Budget,
) -> Result<&'bytes str, Rejection> {
    let text = reader.var_string()?;
    if text.contains('\0') {
        return Err(Rejection::new(
            "a text holds the character U+0000, which can not be stored",
        ));
    }
    budget.spend(text.len())?;
    Ok(text)
}

/// Reads past a number of values.
pub(super) fn skip_values(
    reader: &mut Reader<'_>,
    count: usize,
    depth: usize,
    budget: &mut Budget,
) -> Result<(), Rejection> {
    for _ in 0..count {
        skip_value(reader, depth, budget)?;
    }
    Ok(())
}

fn skip_value(reader: &mut Reader<'_>, depth: usize, budget: &mut Budget) -> Result<(), Rejection> {
    budget.spend(VALUE)?;
    match reader.byte()? {
        127 | 126 | 121 | 120 => {}
        125 => drop(reader.var_i53()?),
        124 => drop(reader.take(4)?),
        123 | 122 => drop(reader.take(8)?),
        119 => text(reader, budget).map(|_| ())?,
        118 => skip_map(reader, depth, budget)?,
        117 => {
            let count = count_of(reader, 1)?;
            skip_values(reader, count, deeper(depth)?, budget)?;
        }
        116 => budget.spend(reader.var_bytes()?.len())?,
        other => return Err(Rejection::new(format!("{other} is not a kind of value"))),
    }
    Ok(())
}

fn skip_map(reader: &mut Reader<'_>, depth: usize, budget: &mut Budget) -> Result<(), Rejection> {
    let depth = deeper(depth)?;
    let count = count_of(reader, 2)?;
    budget.spend(MAP)?;
    for _ in 0..count {
        budget.spend(VALUE)?;
        text(reader, budget)?;
        skip_value(reader, depth, budget)?;
    }
    Ok(())
}

fn deeper(depth: usize) -> Result<usize, Rejection> {
    depth
        .checked_sub(1)
        .ok_or_else(|| Rejection::new("a value is nested too deep"))
}

/// Reads a count of things that take at least so many bytes each.
pub(super) fn count_of(reader: &mut Reader<'_>, least: usize) -> Result<usize, Rejection> {
    let count = reader.var_u32()? as usize;
    if count > reader.remaining() / least {
        return Err(Rejection::new(
            "more parts are announced than there are bytes",
        ));
    }
    Ok(count)
}

/// Reads past a JSON text.
pub(super) fn skip_json(
    reader: &mut Reader<'_>,
    depth: usize,
    budget: &mut Budget,
) -> Result<(), Rejection> {
    let text = text(reader, budget)?;
    budget.spend(JSON_PART * check_json_depth(text, depth)?)?;
    serde_json::from_str::<IgnoredAny>(text)
        .map_err(|error| Rejection::new(format!("a value is not JSON: {error}")))?;
    Ok(())
}

/// Returns how many structural characters a JSON text has.
fn check_json_depth(text: &str, limit: usize) -> Result<usize, Rejection> {
    let (mut depth, mut parts, mut in_string, mut escaped) = (0_usize, 1, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => {
                depth += 1;
                parts += 1;
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' => parts += 1,
            _ => {}
        }
        if depth > limit {
            return Err(Rejection::new("a value is nested too deep"));
        }
    }
    Ok(parts)
}
