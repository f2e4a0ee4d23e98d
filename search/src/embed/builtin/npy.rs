//! Reading the arrays of a numpy archive, as far as the weights need it.
//!
//! Invariants
//! - An array of another type or another order than was asked for is an error, never a misread one.

use std::io::{Cursor, Read as _};

use zip::ZipArchive;

use crate::{Error, Result};

/// Arrays by name, read one by one.
pub(super) struct Arrays(ZipArchive<Cursor<Vec<u8>>>);

impl Arrays {
    pub(super) fn new(bytes: Vec<u8>) -> Result<Self> {
        ZipArchive::new(Cursor::new(bytes))
            .map(Self)
            .map_err(|error| Error::Weights(error.to_string()))
    }

    /// An array of bytes with this many values.
    pub(super) fn bytes(&mut self, name: &str, count: usize) -> Result<Vec<u8>> {
        let body = self.body(name, "|u1")?;
        checked(name, body, count)
    }

    /// An array of floats with this many values.
    pub(super) fn floats(&mut self, name: &str, count: usize) -> Result<Vec<f32>> {
        let body = self.body(name, "<f4")?;
        let (numbers, _) = body.as_chunks::<4>();
        let numbers = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes));
        checked(name, numbers.collect(), count)
    }

    /// A single double.
    pub(super) fn double(&mut self, name: &str) -> Result<f64> {
        let body = self.body(name, "<f8")?;
        let (numbers, _) = body.as_chunks::<8>();
        let number = numbers.first().map(|bytes| f64::from_le_bytes(*bytes));
        number.ok_or_else(|| wrong(name, "it is empty"))
    }

    /// What follows the header of an array of this type.
    fn body(&mut self, name: &str, kind: &str) -> Result<Vec<u8>> {
        let mut file = self
            .0
            .by_name(&format!("{name}.npy"))
            .map_err(|error| wrong(name, &error.to_string()))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)
            .map_err(|error| wrong(name, &error.to_string()))?;
        let length = match bytes.get(..10) {
            Some([0x93, b'N', b'U', b'M', b'P', b'Y', 1, _, low, high]) => {
                usize::from(u16::from_le_bytes([*low, *high]))
            }
            _ => return Err(wrong(name, "it is no array of version 1")),
        };
        let header = bytes.get(10..10 + length).unwrap_or_default();
        let header = String::from_utf8_lossy(header).into_owned();
        let is_expected = header.contains(&format!("'descr': '{kind}'"))
            && header.contains("'fortran_order': False");
        if !is_expected {
            return Err(wrong(name, &header));
        }
        Ok(bytes.split_off(10 + length))
    }
}

fn checked<T>(name: &str, values: Vec<T>, count: usize) -> Result<Vec<T>> {
    if values.len() == count {
        return Ok(values);
    }
    let text = format!("it has {} values, not {count}", values.len());
    Err(wrong(name, &text))
}

fn wrong(name: &str, text: &str) -> Error {
    Error::Weights(format!("the array {name}: {text}"))
}
