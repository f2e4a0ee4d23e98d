//! The folder of an index: opening it, and beginning anew where it can not be used.
//!
//! Invariants
//! - A folder belongs to one process, by a lock beside it; a second process on the same data folder takes the next one.
//! - What was not written by this version, or is damaged, is removed: all of it can be made from the store.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use tantivy::directory::MmapDirectory;
use tantivy::{Index, IndexReader, IndexSettings, ReloadPolicy};

use super::{FORMAT, Fields, Payload, Positions, Writer};
use crate::{Error, Result};

/// The folder of the first process.
const FOLDER: &str = "search";
/// Processes that may share one data folder.
const PROCESSES: usize = 16;

/// A folder that belongs to this process.
pub(crate) struct Folder {
    path: PathBuf,
    /// Held for as long as the folder is this process's.
    _lock: File,
}

/// An index that can be read and written.
pub(crate) struct Opened {
    pub(crate) fields: Fields,
    pub(crate) reader: IndexReader,
    pub(crate) writer: Writer,
    /// How far it has come; empty where it was begun anew.
    pub(crate) positions: Positions,
}

impl Folder {
    /// Takes the first folder below `data` that no other process has.
    pub(crate) fn take(data: &Path) -> Result<Self> {
        fs::create_dir_all(data)?;
        for number in 1..=PROCESSES {
            if let Some(folder) = Self::take_numbered(data, number)? {
                return Ok(folder);
            }
        }
        let text = format!(
            "{PROCESSES} processes use the data folder {}",
            data.display()
        );
        Err(Error::Index(text.into()))
    }

    /// Takes this folder of those below `data`; none where another process has it.
    pub(crate) fn take_numbered(data: &Path, number: usize) -> Result<Option<Self>> {
        let name = match number {
            1 => FOLDER.to_owned(),
            number => format!("{FOLDER}-{number}"),
        };
        let lock = File::create(data.join(format!("{name}.lock")))?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Self {
                path: data.join(name),
                _lock: lock,
            })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }

    /// Opens what lies in it, or begins anew. What readers of a former index hold stays readable for them.
    pub(crate) fn open(&self) -> Result<Opened> {
        match open_whole(&self.path) {
            Ok(Some(opened)) => return Ok(opened),
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(error = ?error, "the search index can not be used as it is; it is built anew");
            }
        }
        self.begin()
    }

    /// Removes what lies in it, and begins anew.
    pub(crate) fn begin(&self) -> Result<Opened> {
        if self.path.exists() {
            fs::remove_dir_all(&self.path)?;
        }
        fs::create_dir_all(&self.path)?;
        let fields = Fields::new();
        let directory = MmapDirectory::open(&self.path).map_err(tantivy::TantivyError::from)?;
        let index = Index::create(directory, fields.schema.clone(), IndexSettings::default())?;
        ready(&index, fields, Positions::new())
    }

    /// Whether an index lies in it.
    pub(crate) fn is_there(&self) -> bool {
        self.path.join("meta.json").exists()
    }
}

/// Opens an index that is there, whole, and of this version; none where there is none.
fn open_whole(path: &Path) -> Result<Option<Opened>> {
    if !path.join("meta.json").exists() {
        return Ok(None);
    }
    let fields = Fields::new();
    let (index, positions) = checked(path, &fields)?;
    ready(&index, fields, positions).map(Some)
}

fn checked(path: &Path, fields: &Fields) -> Result<(Index, Positions)> {
    let damaged = |text: &str| Error::Index(text.into());
    let index = Index::open_in_dir(path)?;
    if index.schema() != fields.schema {
        return Err(damaged("it has other fields"));
    }
    let payload = index.load_metas()?.payload;
    // An index without any commit holds nothing.
    let payload: Payload = match payload {
        Some(text) => serde_json::from_str(&text).map_err(|error| Error::Index(error.into()))?,
        None => return Err(damaged("it was never filled")),
    };
    if payload.format != FORMAT {
        return Err(damaged("another version wrote it"));
    }
    if !index.validate_checksum()?.is_empty() {
        return Err(damaged("files of it are damaged"));
    }
    Ok((index, payload.positions))
}

fn ready(index: &Index, fields: Fields, positions: Positions) -> Result<Opened> {
    let reader = index
        .reader_builder()
        .reload_policy(ReloadPolicy::Manual)
        .try_into()?;
    let writer = Writer::new(index, fields.clone())?;
    Ok(Opened {
        fields,
        reader,
        writer,
        positions,
    })
}

/// Removes the index of a data folder beside the process that has it open, which then makes a new one.
pub(crate) fn remove_beside(data: &Path) -> Result<()> {
    let path = data.join(FOLDER);
    if !path.exists() {
        return Ok(());
    }
    // Moved away first: a folder in which somebody still makes files can not be removed.
    let away = data.join(format!("{FOLDER}-gone-{}", uuid::Uuid::new_v4().simple()));
    fs::rename(path, &away)?;
    fs::remove_dir_all(away)?;
    Ok(())
}

/// Every word of the index of a data folder under its scope, and the number of its segments.
#[cfg(feature = "test-support")]
pub fn words_on_disk(data: &Path) -> Result<(Vec<String>, usize)> {
    let fields = Fields::new();
    let index = Index::open_in_dir(data.join(FOLDER))?;
    let searcher = index.reader()?.searcher();
    let mut words = Vec::new();
    for segment in searcher.segment_readers() {
        for field in &fields.words {
            let inverted = segment.inverted_index(*field)?;
            let mut terms = inverted.terms().stream()?;
            while terms.advance() {
                words.push(String::from_utf8_lossy(terms.key()).into_owned());
            }
        }
    }
    Ok((words, searcher.segment_readers().len()))
}

/// Opens the index of a data folder for reading, also while a process writes it.
pub(crate) fn open_beside(data: &Path) -> Result<Option<(Fields, IndexReader, Positions)>> {
    let path = data.join(FOLDER);
    if !path.join("meta.json").exists() {
        return Ok(None);
    }
    let fields = Fields::new();
    let (index, positions) = checked(&path, &fields)?;
    let reader = index
        .reader_builder()
        .reload_policy(ReloadPolicy::Manual)
        .try_into()?;
    Ok(Some((fields, reader, positions)))
}
