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
        Ok(Self {
            first: checked("first", first)?,
            after,
        })
    }
}

/// A number of rows that a caller names in `argument`.
fn checked(argument: &str, rows: i64) -> Result<u32> {
    match u32::try_from(rows) {
        Ok(rows) if (1..=PAGE_LIMIT).contains(&rows) => Ok(rows),
        _ => Err(Error::Invalid(format!(
            "`{argument}` must be between 1 and {PAGE_LIMIT}, and was {rows}"
        ))),
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
    /// The only page of an empty list.
    pub const fn empty() -> Self {
        Self {
            rows: Vec::new(),
            has_next: false,
        }
    }

    /// Cuts a page out of rows that were read with a limit of `first + 1`.
    pub fn from_overread(mut rows: Vec<T>, first: u32) -> Self {
        let has_next = rows.len() > first as usize;
        rows.truncate(first as usize);
        Self { rows, has_next }
    }

    /// Cuts a page out of rows in the list's order, of which `limit + 1` were read from this end.
    pub fn from_overread_end(mut rows: Vec<T>, limit: u32, end: End) -> Self {
        let over = rows.len().saturating_sub(limit as usize);
        match end {
            End::First => Self::from_overread(rows, limit),
            End::Last => {
                rows.drain(..over);
                Self {
                    rows,
                    has_next: over > 0,
                }
            }
        }
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

impl<K> Window<K> {
    /// Checks the numbers against the limits and each other; without both the default is read from the beginning.
    pub fn try_new(
        first: Option<i64>,
        last: Option<i64>,
        after: Option<K>,
        before: Option<K>,
    ) -> Result<Self> {
        let (end, limit) = match (first, last) {
            (Some(_), Some(_)) => {
                return Err(Error::Invalid(
                    "a page has either `first` or `last`, and not both".to_owned(),
                ));
            }
            (None, Some(last)) => (End::Last, checked("last", last)?),
            (first, None) => {
                let first = first.unwrap_or(i64::from(PAGE_DEFAULT));
                (End::First, checked("first", first)?)
            }
        };
        Ok(Self {
            limit,
            end,
            after,
            before,
        })
    }

    /// Whether rows that are not in a page of this window stand after it, and whether some stand before it; `has_more` is
    /// what the page says of the direction it was read in.
    pub const fn surroundings(&self, has_more: bool) -> (bool, bool) {
        match self.end {
            End::First => (has_more, self.after.is_some()),
            End::Last => (self.before.is_some(), has_more),
        }
    }
}

/// An end of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// The first rows.
    First,
    /// The last rows; they still come in the list's order, and [`Page::has_next`] then says whether rows come before them.
    Last,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_from_the_end_keeps_the_last_rows_in_order_and_knows_of_earlier_ones() {
        let page = Page::from_overread_end(vec![3, 4, 5], 2, End::Last);
        assert_eq!((page.rows, page.has_next), (vec![4, 5], true));
        let page = Page::from_overread_end(vec![4, 5], 2, End::Last);
        assert_eq!((page.rows, page.has_next), (vec![4, 5], false));
        let page = Page::from_overread_end(vec![1, 2, 3], 2, End::First);
        assert_eq!((page.rows, page.has_next), (vec![1, 2], true));
    }

    #[test]
    fn a_window_is_read_from_one_end_and_is_never_longer_than_the_limit() {
        let window = |first, last| Window::<u32>::try_new(first, last, None, None);
        let of = |window: Window<u32>| (window.end, window.limit);
        assert_eq!(
            of(window(None, None).expect("the default")),
            (End::First, 20)
        );
        assert_eq!(of(window(None, Some(3)).expect("the end")), (End::Last, 3));
        for wrong in [
            window(Some(1), Some(1)),
            window(Some(0), None),
            window(None, Some(101)),
        ] {
            assert!(matches!(wrong, Err(Error::Invalid(_))));
        }
    }
}
