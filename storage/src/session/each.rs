//! The same small query for each of many keys, in few statements.
//!
//! Invariants
//! - Each key's query can use an index and a limit of its own, which one query over all keys could not.

use domain::Result;
use domain::page::End;
use sea_orm::Value;

use super::Session;
use crate::link::{DatabaseRow, Link};

/// Queries that are joined into one statement; SQLite takes 500.
const JOINED: usize = 100;
/// What stands in a query for the place of its task's list: rows of one task alone.
pub(super) const OF_TASK: &str =
    "workspace_id = (select workspace_id from tasks where id = #1) and task_id = #1";

/// A query, and how its rows are ordered.
pub(super) struct Each {
    /// The query; `#1`, `#2` stand for the values of a key.
    pub(super) sql: String,
    /// Values that it uses besides, as `$1`, `$2`.
    pub(super) shared: Vec<Value>,
    /// The columns that order the rows of all keys together.
    pub(super) order: &'static str,
}

impl<C: Link> Session<C> {
    /// Runs the query for each key; rows of one key stand in their order.
    pub(super) async fn each<T>(
        &self,
        each: Each,
        keys: &[Vec<Value>],
        read: fn(&DatabaseRow) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut found = Vec::new();
        for keys in keys.chunks(JOINED) {
            let mut values = each.shared.clone();
            let mut parts = Vec::with_capacity(keys.len());
            for key in keys {
                let mut part = each.sql.clone();
                for (place, value) in (1..).zip(key) {
                    values.push(value.clone());
                    part = part.replace(&format!("#{place}"), &format!("${}", values.len()));
                }
                parts.push(format!("select * from ({part}) part"));
            }
            let all = parts.join(" union all ");
            let sql = format!("select * from ({all}) parts order by {}", each.order);
            for row in self.rows(&sql, values).await? {
                found.push(read(&row)?);
            }
        }
        Ok(found)
    }
}

/// The rows at one end of a list; their number is the value at `$limit`.
pub(super) fn at_end(key: &[&str], end: End, limit: usize) -> String {
    let direction = match end {
        End::First => "",
        End::Last => " desc",
    };
    let columns: Vec<_> = key
        .iter()
        .map(|column| format!("{column}{direction}"))
        .collect();
    format!("order by {} limit ${limit}", columns.join(", "))
}
