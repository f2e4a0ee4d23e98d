//! Reading and writing rows: the ports of the domain over one connection, pool or transaction.
//!
//! Invariants
//! - The SQL is one text for both databases, but for locks and for telling other processes; placeholders are `$1`, `$2`, ….
//! - A row that can not be read names its table and column.
//! - A statement that failed is remembered: whoever ends the transaction learns of it, whatever a command made of it.
//! - Rows that every step writes are gathered and written together; whatever else is asked of the database comes after them.
//!
//! Not here: transactions, retries, wake-ups (`store`).

mod calls;
mod cards;
mod documents;
mod each;
mod embeddings;
mod entered;
mod events;
mod gathered;
mod group;
mod history;
mod installation;
mod jobs;
mod journal;
mod lines;
mod linked;
mod made_since;
mod memories;
mod memory_reads;
mod memory_writes;
mod messages;
mod money;
mod moving;
mod notices;
mod people;
mod steps;
mod tasks;
mod tokens;
mod turns;
mod uploads;
mod window;
mod works;

use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::ids::TaskId;
use domain::time::Timestamp;
use domain::turn::StepRef;
use domain::{Error, Result};
use sea_orm::Value;
use uuid::Uuid;

use crate::error::{Fault, damaged, from_db, is_interrupted};
use crate::link::{Column, DatabaseRow, Link};

use group::Group;
pub(crate) use group::{Health, Written};

/// The key of the advisory lock under which PostgreSQL changes what belongs to no workspace.
const INSTALLATION_LOCK: i64 = 0x0061_7465_6c69_6573;

/// Values in one statement; both databases take at least 32,766.
const MAX_VALUES: usize = 32_000;
/// Finds the workspace of the work `$1`, where only the work is known: keys start with the workspace.
const WORKSPACE: &str = "workspace_id = (select w.workspace_id from works w where w.id = $1)";

/// Rows over a connection.
#[derive(Debug)]
pub(crate) struct Session<C> {
    connection: C,
    /// Whose statements these are, for the count of them.
    user: &'static str,
    group: Mutex<Group>,
}

impl<C: Link> Session<C> {
    fn new(connection: C, user: &'static str) -> Self {
        Self {
            connection,
            user,
            group: Mutex::default(),
        }
    }

    /// Waits for other processes' commands on what belongs to no workspace, so that these too run one after the other.
    pub(crate) async fn lock_installation(&self) -> Result<()> {
        if self.is_postgres() {
            let lock = format!("select pg_advisory_xact_lock({INSTALLATION_LOCK})");
            self.rows_beside(&lock, Vec::new()).await?;
        }
        Ok(())
    }

    fn is_postgres(&self) -> bool {
        self.connection.is_postgres()
    }

    /// Reads rows, those that were gathered among them.
    async fn rows(&self, sql: &str, values: Vec<Value>) -> Result<Vec<DatabaseRow>> {
        self.write_gathered().await?;
        self.rows_beside(sql, values).await
    }

    /// Reads rows of tables that are written at once, so that nothing of them can be gathered.
    async fn rows_beside(&self, sql: &str, values: Vec<Value>) -> Result<Vec<DatabaseRow>> {
        self.count_statement();
        let rows = self.connection.rows(sql, values).await;
        rows.map_err(|fault| self.fault(fault))
    }

    fn count_statement(&self) {
        metrics::counter!("atelier_store_statements_total", "of" => self.user).increment(1);
    }

    /// Remembers that a statement failed.
    fn fault(&self, fault: Fault) -> Error {
        let health = if is_interrupted(&fault) {
            Health::Interrupted
        } else {
            Health::Failed
        };
        lock(&self.group).note_health(health);
        from_db(fault)
    }

    async fn row(&self, sql: &str, values: Vec<Value>) -> Result<Option<DatabaseRow>> {
        Ok(self.rows(sql, values).await?.into_iter().next())
    }

    /// Writes rows, and reads them as they are then.
    async fn rows_written(&self, sql: &str, values: Vec<Value>) -> Result<Vec<DatabaseRow>> {
        self.write_directly().await?;
        self.rows_beside(sql, values).await
    }

    /// Runs a statement that writes; how many rows it touched.
    async fn execute(&self, sql: &str, values: Vec<Value>) -> Result<u64> {
        self.write_directly().await?;
        self.execute_beside(sql, values).await
    }

    async fn execute_beside(&self, sql: &str, values: Vec<Value>) -> Result<u64> {
        self.count_statement();
        let touched = self.connection.execute(sql, values).await;
        touched.map_err(|fault| self.fault(fault))
    }

    /// Inserts rows of `width` values each with one statement.
    async fn insert(&self, into: &str, width: usize, values: Vec<Value>) -> Result<()> {
        self.upsert(into, width, values, "").await
    }

    /// Inserts rows; `conflict` says what becomes of one that is there already: `on conflict …`.
    async fn upsert(
        &self,
        into: &str,
        width: usize,
        values: Vec<Value>,
        conflict: &str,
    ) -> Result<()> {
        if values.is_empty() {
            return Ok(());
        }
        let mut rest = values;
        while !rest.is_empty() {
            let tail = rest.split_off(rest.len().min(MAX_VALUES / width * width));
            let is_postgres = self.is_postgres();
            let row = |row: usize| {
                if is_postgres {
                    format!("({})", placeholders(row * width + 1, width))
                } else {
                    // SQLite and its driver look through all numbered placeholders for each one.
                    format!("({})", vec!["?"; width].join(", "))
                }
            };
            let rows: Vec<String> = (0..rest.len() / width).map(row).collect();
            let sql = format!("insert into {into} values {} {conflict}", rows.join(", "));
            self.execute(&sql, std::mem::replace(&mut rest, tail))
                .await?;
        }
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `count` placeholders from `$first` on.
fn placeholders(first: usize, count: usize) -> String {
    (first..first + count)
        .map(|number| format!("${number}"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// An id as it is stored.
fn id(uuid: Uuid) -> Value {
    Value::from(uuid.as_bytes().to_vec())
}

/// An id that may be missing.
fn optional_id(uuid: Option<Uuid>) -> Value {
    uuid.map(|uuid| uuid.as_bytes().to_vec()).into()
}

fn at(time: Timestamp) -> Value {
    Value::from(time.micros())
}

fn number(number: u64) -> Value {
    Value::from(i64::try_from(number).unwrap_or(i64::MAX))
}

/// A number that may be missing.
fn optional_number(value: Option<u64>) -> Value {
    value
        .map(|value| i64::try_from(value).unwrap_or(i64::MAX))
        .into()
}

fn json<T: serde::Serialize>(value: &T) -> Result<Value> {
    serde_json::to_string(value)
        .map(Value::from)
        .map_err(|error| Error::Internal(error.into()))
}

fn optional_json<T: serde::Serialize>(value: Option<&T>) -> Result<Value> {
    value.map_or(Ok(Value::String(None)), json)
}

/// A task's id as it is stored, and the numbers of a step of it.
fn step_key((task, step): &(TaskId, StepRef)) -> Vec<Value> {
    vec![
        id(task.uuid()),
        number(step.turn.into()),
        number(step.step.into()),
    ]
}

/// The part of a filter that names a column's values, none for any; its values follow those that are there.
fn among<'a>(
    column: &str,
    names: impl IntoIterator<Item = &'a str>,
    values: &mut Vec<Value>,
) -> String {
    let first = values.len() + 1;
    values.extend(names.into_iter().map(Value::from));
    match values.len() + 1 - first {
        0 => String::new(),
        count => format!(" and {column} in ({})", placeholders(first, count)),
    }
}

/// A row, with the name of its table for those who have to mend it.
#[expect(
    clippy::struct_field_names,
    reason = "a row around the row that it names"
)]
struct Row<'row> {
    table: &'static str,
    row: &'row DatabaseRow,
    /// What stands before the names of the table's columns, where rows of several are read as one.
    prefix: &'static str,
}

impl<'row> Row<'row> {
    fn of(table: &'static str, row: &'row DatabaseRow) -> Self {
        let prefix = "";
        Self { table, row, prefix }
    }

    fn get<T: Column>(&self, column: &str) -> Result<T> {
        self.read(column)
            .map_err(|error| self.damaged(column, &error))
    }

    fn read<T: Column>(&self, column: &str) -> Result<T, String> {
        self.row.get(self.prefix, column)
    }

    /// Whether a column of ids holds one: whether there is such a row where it was joined.
    fn has(&self, column: &str) -> Result<bool> {
        Ok(self.get::<Option<Vec<u8>>>(column)?.is_some())
    }

    fn uuid(&self, column: &str) -> Result<Uuid> {
        let bytes: Vec<u8> = self.get(column)?;
        Uuid::from_slice(&bytes).map_err(|error| self.damaged(column, &error))
    }

    fn optional_uuid(&self, column: &str) -> Result<Option<Uuid>> {
        let bytes: Option<Vec<u8>> = self.get(column)?;
        bytes
            .map(|bytes| Uuid::from_slice(&bytes).map_err(|error| self.damaged(column, &error)))
            .transpose()
    }

    fn time(&self, column: &str) -> Result<Timestamp> {
        Ok(Timestamp::from_micros(self.get(column)?))
    }

    fn optional_time(&self, column: &str) -> Result<Option<Timestamp>> {
        Ok(self.get::<Option<i64>>(column)?.map(Timestamp::from_micros))
    }

    fn number(&self, column: &str) -> Result<u64> {
        self.integer(column)
    }

    fn optional_number(&self, column: &str) -> Result<Option<u64>> {
        let number: Option<i64> = self.get(column)?;
        number
            .map(|number| u64::try_from(number).map_err(|_| self.damaged(column, &number)))
            .transpose()
    }

    /// A number of a type that need not hold every stored one.
    fn integer<T: TryFrom<i64>>(&self, column: &str) -> Result<T> {
        let number: i64 = self.get(column)?;
        T::try_from(number).map_err(|_| self.damaged(column, &number))
    }

    /// A step, by the columns of its turn's number and its own.
    fn step(&self, turn: &str, step: &str) -> Result<Option<StepRef>> {
        if self.get::<Option<i64>>(turn)?.is_none() {
            return Ok(None);
        }
        let (turn, step) = (self.integer(turn)?, self.integer(step)?);
        Ok(Some(StepRef { turn, step }))
    }

    fn parsed<T: FromStr>(&self, column: &str) -> Result<T> {
        let text: String = self.get(column)?;
        text.parse().map_err(|_| self.damaged(column, &text))
    }

    fn named<T>(&self, column: &str, from_name: impl FnOnce(&str) -> Option<T>) -> Result<T> {
        let text: String = self.get(column)?;
        from_name(&text).ok_or_else(|| self.damaged(column, &text))
    }

    fn json<T: serde::de::DeserializeOwned>(&self, column: &str) -> Result<T> {
        let text: String = self.get(column)?;
        serde_json::from_str(&text).map_err(|error| self.damaged(column, &error))
    }

    fn optional_json<T: serde::de::DeserializeOwned>(&self, column: &str) -> Result<Option<T>> {
        let text: Option<String> = self.get(column)?;
        text.map(|text| serde_json::from_str(&text).map_err(|error| self.damaged(column, &error)))
            .transpose()
    }

    fn hash(&self, column: &str) -> Result<[u8; 32]> {
        let bytes: Vec<u8> = self.get(column)?;
        bytes
            .try_into()
            .map_err(|_| self.damaged(column, &"other than 32 bytes"))
    }

    /// Says which row can not be read: its table, and what can be read of its key.
    fn damaged(&self, column: &str, found: &dyn std::fmt::Display) -> Error {
        let ids = [
            "workspace_id",
            "task_id",
            "turn_id",
            "line_id",
            "work_id",
            "user_id",
            "id",
        ]
        .map(|part| {
            let bytes: Option<Vec<u8>> = self.read(part).ok()?;
            let uuid = Uuid::from_slice(&bytes?).ok()?;
            Some(format!("{part} {}", uuid.simple()))
        });
        let numbers = [
            "version",
            "from_version",
            "sequence",
            "number",
            "step_number",
            "call_index",
        ]
        .map(|part| {
            let number: Option<i64> = self.read(part).ok()?;
            Some(format!("{part} {}", number?))
        });
        let key: Vec<String> = ids.into_iter().chain(numbers).flatten().collect();
        damaged(self.table, column, &key.join(", "), found)
    }
}
