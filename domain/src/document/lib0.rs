//! The byte format under Yjs (lib0): variable-length numbers, byte strings and texts.
//!
//! Invariants
//! - Reading never panics, never reads beyond the slice, and borrows instead of allocating.
//! - A number is refused where JavaScript or the document could not hold it, so that every peer reads the same one.
//!
//! Not here: what the numbers mean (`validate`, and the codecs of sockets).

/// The largest whole number that JavaScript holds exactly.
pub const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// Bytes that are not what was announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The bytes end inside a value.
    #[error("the bytes end too early")]
    Truncated,
    /// A number is longer or larger than its place allows.
    #[error("a number is too large")]
    NumberTooLarge,
    /// A text is not UTF-8.
    #[error("a text is not valid UTF-8")]
    NotUtf8,
}

/// Reads values from the front of a slice.
#[derive(Debug, Clone)]
pub struct Reader<'bytes> {
    rest: &'bytes [u8],
}

impl<'bytes> Reader<'bytes> {
    /// Starts at the first byte.
    pub const fn new(bytes: &'bytes [u8]) -> Self {
        Self { rest: bytes }
    }

    /// How many bytes are left.
    pub const fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Whether all was read.
    pub const fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// One byte.
    pub fn byte(&mut self) -> Result<u8, Malformed> {
        let (first, rest) = self.rest.split_first().ok_or(Malformed::Truncated)?;
        self.rest = rest;
        Ok(*first)
    }

    /// Exactly this many bytes.
    pub fn take(&mut self, count: usize) -> Result<&'bytes [u8], Malformed> {
        let (taken, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or(Malformed::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    /// An unsigned number below 2^53, in at most eight bytes.
    pub fn var_u53(&mut self) -> Result<u64, Malformed> {
        let mut number = 0_u64;
        for place in 0..8 {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << (7 * place);
            if byte < 0x80 {
                return fits(number);
            }
        }
        Err(Malformed::NumberTooLarge)
    }

    /// An unsigned number of 32 bits, in at most five bytes.
    pub fn var_u32(&mut self) -> Result<u32, Malformed> {
        let before = self.rest.len();
        let number = self.var_u53()?;
        if before - self.rest.len() > 5 {
            return Err(Malformed::NumberTooLarge);
        }
        u32::try_from(number).map_err(|_| Malformed::NumberTooLarge)
    }

    /// A signed number whose absolute value is below 2^53.
    pub fn var_i53(&mut self) -> Result<i64, Malformed> {
        let first = self.byte()?;
        let mut number = u64::from(first & 0x3f);
        let mut more = first & 0x80 != 0;
        let mut place = 6;
        while more {
            if place > 48 {
                return Err(Malformed::NumberTooLarge);
            }
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << place;
            more = byte & 0x80 != 0;
            place += 7;
        }
        let number = fits(number)? as i64;
        Ok(if first & 0x40 == 0 { number } else { -number })
    }

    /// Bytes with their length in front.
    pub fn var_bytes(&mut self) -> Result<&'bytes [u8], Malformed> {
        let length = self.var_u53()?;
        let length = usize::try_from(length).map_err(|_| Malformed::NumberTooLarge)?;
        self.take(length)
    }

    /// A text with its length in bytes in front.
    pub fn var_string(&mut self) -> Result<&'bytes str, Malformed> {
        std::str::from_utf8(self.var_bytes()?).map_err(|_| Malformed::NotUtf8)
    }
}

const fn fits(number: u64) -> Result<u64, Malformed> {
    if number > MAX_SAFE_INTEGER {
        return Err(Malformed::NumberTooLarge);
    }
    Ok(number)
}

/// Appends an unsigned number.
pub fn write_var(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Appends bytes with their length in front.
pub fn write_var_bytes(bytes: &mut Vec<u8>, value: &[u8]) {
    write_var(bytes, value.len() as u64);
    bytes.extend_from_slice(value);
}

/// Appends a text with its length in bytes in front.
pub fn write_var_string(bytes: &mut Vec<u8>, text: &str) {
    write_var_bytes(bytes, text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_come_back_as_they_were_written() {
        let numbers = [
            0,
            1,
            127,
            128,
            16_383,
            16_384,
            u64::from(u32::MAX),
            MAX_SAFE_INTEGER,
        ];
        let mut bytes = Vec::new();
        for number in numbers {
            write_var(&mut bytes, number);
        }
        write_var_string(&mut bytes, "Füße 😀");
        let mut reader = Reader::new(&bytes);
        for number in numbers {
            assert_eq!(reader.var_u53(), Ok(number));
        }
        assert_eq!(reader.var_string(), Ok("Füße 😀"));
        assert!(reader.is_at_end());
    }

    #[test]
    fn a_number_that_javascript_can_not_hold_is_refused() {
        let mut bytes = Vec::new();
        write_var(&mut bytes, MAX_SAFE_INTEGER + 1);
        assert_eq!(
            Reader::new(&bytes).var_u53(),
            Err(Malformed::NumberTooLarge)
        );
        let mut bytes = Vec::new();
        write_var(&mut bytes, u64::from(u32::MAX) + 1);
        assert_eq!(
            Reader::new(&bytes).var_u32(),
            Err(Malformed::NumberTooLarge)
        );
        assert_eq!(
            Reader::new(&[0xff; 12]).var_u53(),
            Err(Malformed::NumberTooLarge)
        );
        assert_eq!(
            Reader::new(&[0xff; 12]).var_i53(),
            Err(Malformed::NumberTooLarge)
        );
    }

    #[test]
    fn bytes_that_end_too_early_are_refused_without_reading_on() {
        assert_eq!(Reader::new(&[0x80]).var_u53(), Err(Malformed::Truncated));
        assert_eq!(
            Reader::new(&[5, 1, 2]).var_bytes(),
            Err(Malformed::Truncated)
        );
        assert_eq!(
            Reader::new(&[2, 0xc3, 0x28]).var_string(),
            Err(Malformed::NotUtf8)
        );
    }

    #[test]
    fn signed_numbers_are_read_as_lib0_writes_them() {
        assert_eq!(Reader::new(&[0x41]).var_i53(), Ok(-1));
        assert_eq!(Reader::new(&[0x80, 0x01]).var_i53(), Ok(64));
        assert_eq!(Reader::new(&[0xc0, 0x01]).var_i53(), Ok(-64));
    }
}
