//! Pages of lists: keyset positions, never offsets.
//!
//! Invariants
//! - `first` is between 1 and 100; the default is 20.
//! - A position is the sort key of the row it stands at, so rows that come or go elsewhere move nothing.
//!
//! Not here: the opaque cursor that clients see (`api`).

use crate::error::{Error, Result};

/// The most rows that one page may hold.
pub const PAGE_LIMIT: u32 = 100;
/// Rows of a page where the caller names no number.
pub const PAGE_DEFAULT: u32 = 20;

/// Which rows of a list are wanted: at most `first`, standing after the row at `after`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest<K> {
    /// At most this many rows; see [`PageRequest::try_new`].
    pub first: u32,
    /// The position after which the page starts; none for the beginning.
    pub after: Option<K>,
}

impl<K> PageRequest<K> {
    /// Checks `first` against the limits; none asks for the default.
    pub fn try_new(first: Option<i64>, after: Option<K>) -> Result<Self> {
        let first = first.unwrap_or(i64::from(PAGE_DEFAULT));
        match u32::try_from(first) {
            Ok(first) if (1..=PAGE_LIMIT).contains(&first) => Ok(Self { first, after }),
            _ => Err(Error::Invalid(format!(
                "`first` must be between 1 and {PAGE_LIMIT}, and was {first}"
            ))),
        }
    }
}

/// Some rows of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The rows, in the list's order.
    pub rows: Vec<T>,
    /// Whether rows follow the last of these.
    pub has_next: bool,
}

impl<T> Page<T> {
    /// Cuts a page out of rows that were read with a limit of `first + 1`.
    pub fn from_overread(mut rows: Vec<T>, first: u32) -> Self {
        let has_next = rows.len() > first as usize;
        rows.truncate(first as usize);
        Self { rows, has_next }
    }
}

/// Which part of a list that can be read from both ends is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window<K> {
    /// At most this many rows.
    pub limit: u32,
    /// From which end.
    pub end: End,
    /// Only rows after this position.
    pub after: Option<K>,
    /// Only rows before this position.
    pub before: Option<K>,
}

/// An end of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The first rows.
    First,
    /// The last rows; they still come in the list's order, and [`Page::has_next`] then says whether rows come before them.
    Last,
}
