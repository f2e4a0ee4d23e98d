//! Reading and writing rows: the ports of the domain over one connection, pool or transaction.
//!
//! Invariants
//! - The SQL is one text for both databases, but for locks and for telling other processes; placeholders are `$1`, `$2`, ….
//! - A row that can not be read names its table and column.
//! - A statement that failed is remembered: whoever ends the transaction learns of it, whatever a command made of it.
//!
//! Not here: transactions, retries, wake-ups (`store`).

mod calls;
mod cards;
mod documents;
mod each;
mod embeddings;
mod events;
mod history;
mod installation;
mod journal;
mod lines;
mod linked;
mod messages;
mod notices;
mod people;
mod steps;
mod tasks;
mod tokens;
mod turns;
mod uploads;
mod window;
mod works;

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::event::Sequence;
use domain::ids::{TaskId, WorkspaceId};
use domain::time::Timestamp;
use domain::turn::{StepRef, TurnWake};
use domain::{Error, Result};
use sea_orm::Value;
use uuid::Uuid;

use crate::error::{Fault, damaged, from_db, is_interrupted};
use crate::link::{Column, DatabaseRow, Link};

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
    written: Mutex<Written>,
    health: Mutex<Health>,
    /// Whether a statement ran that is more than a question.
    has_written: AtomicBool,
    /// Heads of event logs whose workspace this transaction holds; nobody else moves them.
    held: Mutex<HashMap<WorkspaceId, Sequence>>,
}

/// How the statements of a session went, the worst of them. After one that failed PostgreSQL takes no more in the same
/// transaction, and ends it undone even when it is asked to commit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Health {
    /// None failed.
    #[default]
    Sound,
    /// One failed, and would fail again.
    Failed,
    /// One met another transaction, or lost its connection: another run may end better.
    Interrupted,
}

/// How a session went.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// What it will have told.
    pub(crate) written: Written,
    /// How its statements went.
    pub(crate) health: Health,
    /// Whether it ran any statement that is more than a question.
    pub(crate) has_written: bool,
}

/// What a transaction will have told when it is committed.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// Heads of the event logs that it wrote to.
    pub(crate) heads: Vec<(WorkspaceId, Sequence)>,
    /// Whether tokens or memberships changed.
    pub(crate) access_changed: bool,
    /// Turns that somebody is to look at.
    pub(crate) turns: Vec<TurnWake>,
}

impl<C: Link> Session<C> {
    /// Reads of what is committed.
    pub(crate) fn of_reads(connection: C) -> Self {
        Self::new(connection, "reads")
    }

    /// The transaction of a command.
    pub(crate) fn of_command(connection: C) -> Self {
        Self::new(connection, "command")
    }

    fn new(connection: C, user: &'static str) -> Self {
        Self {
            connection,
            user,
            written: Mutex::default(),
            health: Mutex::default(),
            has_written: AtomicBool::new(false),
            held: Mutex::default(),
        }
    }

    /// Ends the session: its connection, and how it went.
    pub(crate) fn into_parts(self) -> (C, Outcome) {
        let written = self.written.into_inner();
        let health = self.health.into_inner();
        let outcome = Outcome {
            written: written.unwrap_or_else(PoisonError::into_inner),
            health: health.unwrap_or_else(PoisonError::into_inner),
            has_written: self.has_written.into_inner(),
        };
        (self.connection, outcome)
    }

    /// Takes the workspace's row on PostgreSQL, so that commands of one workspace run one after the other; whether it
    /// exists. SQLite has one writer, and looks when the command is done: see [`Session::has_workspace`].
    pub(crate) async fn lock_workspace(&self, workspace: WorkspaceId) -> Result<bool> {
        Ok(!self.is_postgres() || self.hold(workspace).await?.is_some())
    }

    /// Takes the workspace's row; the head of its log, if it exists.
    async fn hold(&self, workspace: WorkspaceId) -> Result<Option<Sequence>> {
        let held = lock(&self.held).get(&workspace).copied();
        if held.is_some() {
            return Ok(held);
        }
        let sql = "select event_sequence from workspaces where id = $1 for update";
        let Some(row) = self.row(sql, vec![id(workspace.uuid())]).await? else {
            return Ok(None);
        };
        let row = Row {
            table: "workspaces",
            row: &row,
        };
        let reached = Sequence(row.number("event_sequence")?);
        lock(&self.held).insert(workspace, reached);
        Ok(Some(reached))
    }

    /// Whether a workspace exists; asks only where the transaction has not met it yet.
    pub(crate) async fn has_workspace(&self, workspace: WorkspaceId) -> Result<bool> {
        let is_met = lock(&self.held).contains_key(&workspace)
            || lock(&self.written)
                .heads
                .iter()
                .any(|(written, _)| *written == workspace);
        if is_met {
            return Ok(true);
        }
        let sql = "select 1 from workspaces where id = $1";
        Ok(self.row(sql, vec![id(workspace.uuid())]).await?.is_some())
    }

    /// Waits for other processes' commands on what belongs to no workspace, so that these too run one after the other.
    pub(crate) async fn lock_installation(&self) -> Result<()> {
        if self.is_postgres() {
            let lock = format!("select pg_advisory_xact_lock({INSTALLATION_LOCK})");
            self.rows(&lock, Vec::new()).await?;
        }
        Ok(())
    }

    fn is_postgres(&self) -> bool {
        self.connection.is_postgres()
    }

    async fn rows(&self, sql: &str, values: Vec<Value>) -> Result<Vec<DatabaseRow>> {
        self.count_statement(sql);
        let rows = self.connection.rows(sql, values).await;
        rows.map_err(|fault| self.fault(fault))
    }

    fn count_statement(&self, sql: &str) {
        if !sql.starts_with("select ") {
            self.has_written.store(true, Ordering::Relaxed);
        }
        metrics::counter!("atelier_store_statements_total", "of" => self.user).increment(1);
    }

    /// Remembers that a statement failed.
    fn fault(&self, fault: Fault) -> Error {
        let health = if is_interrupted(&fault) {
            Health::Interrupted
        } else {
            Health::Failed
        };
        let mut worst = lock(&self.health);
        *worst = health.max(*worst);
        from_db(fault)
    }

    async fn row(&self, sql: &str, values: Vec<Value>) -> Result<Option<DatabaseRow>> {
        Ok(self.rows(sql, values).await?.into_iter().next())
    }

    /// Runs a statement; how many rows it touched.
    async fn execute(&self, sql: &str, values: Vec<Value>) -> Result<u64> {
        self.count_statement(sql);
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
struct Row<'row> {
    table: &'static str,
    row: &'row DatabaseRow,
}

impl Row<'_> {
    fn get<T: Column>(&self, column: &str) -> Result<T> {
        self.row
            .get(column)
            .map_err(|error| self.damaged(column, &error))
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
            let bytes: Option<Vec<u8>> = self.row.get(part).ok()?;
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
            let number: Option<i64> = self.row.get(part).ok()?;
            Some(format!("{part} {}", number?))
        });
        let key: Vec<String> = ids.into_iter().chain(numbers).flatten().collect();
        damaged(self.table, column, &key.join(", "), found)
    }
}
