//! lib0's binary encoding, as far as sockets need it: variable-length integers, bytes and strings.
use bytes::{BufMut, Bytes, BytesMut};

/// Bytes that are no lib0 encoding of what was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

/// Reads from a slice, front to back.
#[derive(Debug, Clone)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }
    pub(crate) fn remaining(&self) -> usize {
        self.0.len()
    }
    pub(crate) fn var_uint(&mut self) -> Result<u64, Malformed> {
        let mut value = 0u64;
        for shift in (0..53).step_by(7) {
            let (byte, rest) = self.0.split_first().ok_or(Malformed)?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return if value < 1 << 53 { Ok(value) } else { Err(Malformed) };
            }
        }
        Err(Malformed)
    }
    pub(crate) fn var_bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let length = usize::try_from(self.var_uint()?).map_err(|_| Malformed)?;
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(Malformed)?;
        self.0 = rest;
        Ok(bytes)
    }
    pub(crate) fn var_string(&mut self) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.var_bytes()?).map_err(|_| Malformed)
    }
}

/// Writes into a buffer.
#[derive(Debug, Default)]
pub(crate) struct Writer(BytesMut);

impl Writer {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self(BytesMut::with_capacity(bytes))
    }
    pub(crate) fn var_uint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.put_u8(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.put_u8(value as u8);
    }
    pub(crate) fn var_bytes(&mut self, bytes: &[u8]) {
        self.var_uint(bytes.len() as u64);
        self.0.put_slice(bytes);
    }
    pub(crate) fn var_string(&mut self, text: &str) {
        self.var_bytes(text.as_bytes());
    }
    pub(crate) fn finish(self) -> Bytes {
        self.0.freeze()
    }
}
