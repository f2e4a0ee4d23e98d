//! Parts of lists that can be read from both ends.

use domain::Result;
use domain::page::{End, Page, Window};
use sea_orm::{ConnectionTrait, QueryResult, Value};

use super::{Session, number, placeholders};

/// A list in the order of its key.
pub(super) struct List<'sql> {
    /// A query with a condition and without an order.
    pub(super) sql: &'sql str,
    /// What its placeholders stand for.
    pub(super) values: Vec<Value>,
    /// The columns that order it.
    pub(super) key: &'static [&'static str],
}

impl<C: ConnectionTrait + Send + Sync> Session<C> {
    /// Reads a part of a list; `position` gives the values of its key.
    pub(super) async fn window<K: Copy, T>(
        &self,
        list: List<'_>,
        window: Window<K>,
        position: fn(K) -> Vec<Value>,
        read: fn(&QueryResult) -> Result<T>,
    ) -> Result<Page<T>> {
        let mut values = list.values;
        let mut sql = list.sql.to_owned();
        for (bound, comparison) in [(window.after, ">"), (window.before, "<")] {
            let Some(bound) = bound.map(position) else {
                continue;
            };
            let bounds = placeholders(values.len() + 1, bound.len());
            let key = list.key.join(", ");
            sql.push_str(&format!(" and ({key}) {comparison} ({bounds})"));
            values.extend(bound);
        }
        let direction = match window.end {
            End::First => "",
            End::Last => " desc",
        };
        let order: Vec<_> = list
            .key
            .iter()
            .map(|column| format!("{column}{direction}"))
            .collect();
        values.push(number(u64::from(window.limit) + 1));
        sql.push_str(&format!(
            " order by {} limit ${}",
            order.join(", "),
            values.len()
        ));
        let rows = self.rows(&sql, values).await?;
        let rows = rows.iter().map(read).collect::<Result<_>>()?;
        let mut page = Page::from_overread(rows, window.limit);
        if window.end == End::Last {
            page.rows.reverse();
        }
        Ok(page)
    }
}
