//! Parts of lists that can be read from both ends.

use domain::Result;
use domain::page::{End, Page, Window};
use sea_orm::Value;

use super::each::at_end;
use super::{Session, number, placeholders};
use crate::link::{DatabaseRow, Link};

/// A list in the order of its key.
pub(super) struct List<'sql> {
    /// A query with a condition and without an order.
    pub(super) sql: &'sql str,
    /// What its placeholders stand for.
    pub(super) values: Vec<Value>,
    /// The columns that order it.
    pub(super) key: &'static [&'static str],
}

impl<C: Link> Session<C> {
    /// Reads a part of a list; `position` gives the values of its key.
    pub(super) async fn window<K: Copy, T>(
        &self,
        list: List<'_>,
        window: Window<K>,
        position: fn(K) -> Vec<Value>,
        read: fn(&DatabaseRow) -> Result<T>,
    ) -> Result<Page<T>> {
        let mut values = list.values;
        let key = list.key.join(", ");
        let mut bounds = String::new();
        for (bound, comparison) in [(window.after, ">"), (window.before, "<")] {
            let Some(bound) = bound.map(position) else {
                continue;
            };
            let place = placeholders(values.len() + 1, bound.len());
            bounds = format!("{bounds} and ({key}) {comparison} ({place})");
            values.extend(bound);
        }
        values.push(number(u64::from(window.limit) + 1));
        let end = at_end(list.key, window.end, values.len());
        let sql = format!("{}{bounds} {end}", list.sql);
        let rows = self.rows(&sql, values).await?;
        let mut rows: Vec<_> = rows.iter().map(read).collect::<Result<_>>()?;
        if window.end == End::Last {
            rows.reverse();
        }
        Ok(Page::from_overread_end(rows, window.limit, window.end))
    }
}
