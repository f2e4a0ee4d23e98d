//! Reading an archive, without believing it.
//!
//! Invariants
//! - A line or file that is larger than it may be ends the reading, however small the archive is.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use serde::de::DeserializeOwned;
use zip::ZipArchive;

use super::HEAD;
use super::rows::{FORM, Head};

/// Bytes of one line at most: a change of the largest document in base64, with room around it.
const LINE_BYTES: u64 = 128 << 20;

/// An archive that can be read.
pub(crate) struct ArchiveReader(ZipArchive<BufReader<File>>);

impl ArchiveReader {
    /// Opens an archive.
    pub(crate) fn open(file: &Path) -> Result<Self> {
        let input =
            File::open(file).with_context(|| format!("{} can not be read", file.display()))?;
        let zip = ZipArchive::new(BufReader::new(input))
            .with_context(|| format!("{} is no archive of a workspace", file.display()))?;
        Ok(Self(zip))
    }

    /// What kind of archive it is; refuses forms of later versions.
    pub(crate) fn head(&mut self) -> Result<Head> {
        let head: Option<Head> = self.lines(HEAD)?.next().transpose()?;
        let head = head.context("the archive has no head")?;
        ensure!(
            (1..=FORM).contains(&head.atelier_archive),
            "the archive has form {}, and this version reads forms up to {FORM}; use a newer one",
            head.atelier_archive
        );
        Ok(head)
    }

    /// The rows of an entry, one after another.
    pub(crate) fn lines<T: DeserializeOwned>(
        &mut self,
        entry: &'static str,
    ) -> Result<impl Iterator<Item = Result<T>>> {
        let file = self.0.by_name(entry);
        let file = file.with_context(|| format!("the archive has no {entry}"))?;
        let mut reader = BufReader::new(file);
        let mut number = 0;
        Ok(std::iter::from_fn(move || {
            number += 1;
            line(&mut reader)
                .and_then(|line| line.map(|line| parse(&line)).transpose())
                .with_context(|| format!("line {number} of {entry} can not be read"))
                .transpose()
        }))
    }

    /// The same of an entry that older forms do not have.
    pub(crate) fn lines_if_there<T: DeserializeOwned>(
        &mut self,
        entry: &'static str,
    ) -> Result<Option<impl Iterator<Item = Result<T>>>> {
        if self.0.index_for_name(entry).is_none() {
            return Ok(None);
        }
        self.lines(entry).map(Some)
    }

    /// The bytes of an entry, at most so many.
    pub(crate) fn bytes(&mut self, entry: &str, most: u64) -> Result<impl Read> {
        let file = self.0.by_name(entry);
        let file = file.with_context(|| format!("the archive has no {entry}"))?;
        Ok(file.take(most))
    }
}

fn line(reader: &mut impl BufRead) -> Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let length = reader.take(LINE_BYTES).read_until(b'\n', &mut line)?;
    if length as u64 == LINE_BYTES {
        bail!("the line is too long");
    }
    Ok((length > 0).then_some(line))
}

fn parse<T: DeserializeOwned>(line: &[u8]) -> Result<T> {
    let row = serde_json::from_slice(line)?;
    ensure!(
        !holds_null_character(line),
        "a text holds the character U+0000, which can not be stored; remove it from the line"
    );
    Ok(row)
}

/// Whether a line of JSON writes U+0000. It can only do that as an escape; an even number of backslashes before `u` is none.
fn holds_null_character(line: &[u8]) -> bool {
    let escapes = line.windows(5).enumerate();
    let mut found = escapes.filter(|(_, window)| *window == b"u0000");
    found.any(|(at, _)| {
        let backslashes = line[..at].iter().rev().take_while(|byte| **byte == b'\\');
        backslashes.count() % 2 == 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_what_no_database_stores_is_refused() {
        for (line, is_right) in [
            (r#""a""#, true),
            (r#""a u0000""#, true),
            (r#""a\\u0000""#, true),
            (r#""a\u0000""#, false),
            (r#""a\\\u0000""#, false),
        ] {
            assert_eq!(parse::<String>(line.as_bytes()).is_ok(), is_right, "{line}");
        }
    }
}
