//! Rows that are gathered, and the statements that write them: with SQLite one for each row, with PostgreSQL one over arrays for all of
//! them, because each journey to it costs more than most of what is done there.
//!
//! Invariants
//! - Tables are written in the order of their references.
//! - A turn is written only over the epoch that its writer presents: fewer rows written than gathered means that one was not.
//! - Texts of statements do not depend on how many rows there are, so that each is prepared once.
//!
//! Not here: when they are written (`group`).

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::OnceLock;

use sea_orm::Value;
use sea_orm::sea_query::ArrayType;

use super::turns::UNDER_WAY;

/// What a column holds. Arrays of PostgreSQL are sent without nulls: what may be missing has a value there that stands for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Id,
    OptionalId,
    Text,
    OptionalText,
    Number,
    OptionalNumber,
    Flag,
}

/// A table whose rows are gathered.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: &'static str,
    /// The key first, then what changes, then what stays.
    pub(super) columns: &'static [(&'static str, Kind)],
    key: usize,
    changing: usize,
}

use Kind::{Flag, Id, Number, OptionalId, OptionalNumber, OptionalText, Text};

/// Where rows are gathered for, in the order of their references.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Into {
    Tasks,
    Turns,
    Steps,
    Projections,
    Calls,
    Messages,
    Journal,
    Events,
}

/// What becomes of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rule {
    /// It is new.
    Insert,
    /// It is new, or takes the place of what is there.
    Put,
    /// It takes the place of a turn that is not over and has the same epoch.
    OverSameEpoch,
    /// The same where the epoch is the one before.
    OverFormerEpoch,
}

/// A gathered row.
#[derive(Debug, Clone)]
pub(super) struct GatheredRow {
    pub(super) into: Into,
    pub(super) rule: Rule,
    pub(super) values: Vec<Value>,
}

static TASKS: Table = Table {
    name: "tasks",
    columns: &[
        ("workspace_id", Id),
        ("id", Id),
        ("kind", Text),
        ("status", Text),
        ("status_reason", OptionalText),
        ("title", Text),
        ("brief", Text),
        ("language", Text),
        ("autonomy", Text),
        ("budget_micros", OptionalNumber),
        ("updated_at", Number),
        ("journal_head", Number),
        ("news_head", Number),
        ("active_turn", OptionalId),
        ("course", Text),
        ("usage", Text),
        ("goal", Text),
        ("created_by", Id),
        ("origin", OptionalId),
        ("created_at", Number),
        ("main_of", OptionalId),
    ],
    key: 2,
    changing: 14,
};

static TURNS: Table = Table {
    name: "turns",
    columns: &[
        ("workspace_id", Id),
        ("id", Id),
        ("state", Text),
        ("epoch", Number),
        ("lease_owner", OptionalText),
        ("lease_expires_at", OptionalNumber),
        ("queued_at", Number),
        ("not_before", OptionalNumber),
        ("started_at", OptionalNumber),
        ("ended_at", OptionalNumber),
        ("settled_steps", Number),
        ("moved_at", Number),
        ("idle_claims", Number),
        ("has_progress", Flag),
        ("task_id", Id),
        ("number", Number),
    ],
    key: 2,
    changing: 12,
};

static STEPS: Table = Table {
    name: "steps",
    columns: &[
        ("workspace_id", Id),
        ("turn_id", Id),
        ("number", Number),
        ("state", Text),
        ("epoch", Number),
        ("opened_at", Number),
        ("decided_at", OptionalNumber),
        ("rationale", Text),
        ("seen", Text),
        ("context", OptionalText),
        ("task_id", Id),
        ("turn_number", Number),
    ],
    key: 3,
    changing: 7,
};

static PROJECTIONS: Table = Table {
    name: "projections",
    columns: &[
        ("workspace_id", Id),
        ("task_id", Id),
        ("summary", Text),
        ("short_line", Text),
        ("checklist", Text),
        ("rewritten_at", OptionalNumber),
        ("journal_sequence", Number),
    ],
    key: 2,
    changing: 5,
};

static CALLS: Table = Table {
    name: "calls",
    columns: &[
        ("workspace_id", Id),
        ("turn_id", Id),
        ("step_number", Number),
        ("call_index", Number),
        ("state", Text),
        ("attempts", Number),
        ("epoch", Number),
        ("result", OptionalText),
        ("error", OptionalText),
        ("started_at", OptionalNumber),
        ("ended_at", OptionalNumber),
        ("task_id", Id),
        ("tool", Text),
        ("risk", Text),
        ("idempotent", Flag),
        ("arguments", Text),
        ("equal_key", Id),
    ],
    key: 4,
    changing: 7,
};

static MESSAGES: Table = Table {
    name: "messages",
    columns: &[
        ("workspace_id", Id),
        ("id", Id),
        ("state", Text),
        ("task_id", OptionalId),
        ("taken_turn", OptionalNumber),
        ("taken_step", OptionalNumber),
        ("replaced_by", OptionalId),
        ("routing", OptionalText),
        ("main_of", OptionalId),
        ("author", Text),
        ("text", Text),
        ("language", OptionalText),
        ("created_at", Number),
        ("reply_to", OptionalId),
        ("attachments", Text),
        ("by_program", Flag),
    ],
    key: 2,
    changing: 0,
};

static JOURNAL: Table = Table {
    name: "journal",
    columns: &[
        ("workspace_id", Id),
        ("task_id", Id),
        ("sequence", Number),
        ("kind", Text),
        ("at", Number),
        ("actor", Text),
        ("turn_number", OptionalNumber),
        ("step_number", OptionalNumber),
        ("text", Text),
        ("data", Text),
    ],
    key: 3,
    changing: 0,
};

static EVENTS: Table = Table {
    name: "events",
    columns: &[
        ("workspace_id", Id),
        ("sequence", Number),
        ("kind", Text),
        ("work_id", OptionalId),
        ("user_id", OptionalId),
        ("task_id", OptionalId),
        ("message_id", OptionalId),
        ("card_id", OptionalId),
        ("job_id", OptionalId),
        ("memory_id", OptionalId),
        ("actor", Text),
        ("at", Number),
        ("data", Text),
    ],
    key: 2,
    changing: 0,
};

impl Into {
    pub(super) fn table(self) -> &'static Table {
        match self {
            Self::Tasks => &TASKS,
            Self::Turns => &TURNS,
            Self::Steps => &STEPS,
            Self::Projections => &PROJECTIONS,
            Self::Calls => &CALLS,
            Self::Messages => &MESSAGES,
            Self::Journal => &JOURNAL,
            Self::Events => &EVENTS,
        }
    }
}

/// What writes one row of SQLite, by table and rule.
static WRITE_ROW: [[OnceLock<String>; RULES]; TABLES] =
    [const { [const { OnceLock::new() }; RULES] }; TABLES];

/// Variants of [`Into`] and [`Rule`].
const TABLES: usize = Into::Events as usize + 1;
const RULES: usize = Rule::OverFormerEpoch as usize + 1;

impl GatheredRow {
    /// The statement that writes it, in SQLite's words.
    pub(super) fn write_row(&self) -> &'static str {
        let place = &WRITE_ROW[self.into as usize][self.rule as usize];
        place.get_or_init(|| self.into.table().write_row(self.rule))
    }

    /// A hash of what no two rows of a table share; none where a row is never written a second time.
    pub(super) fn key(&self) -> Option<u64> {
        if matches!(self.into, Into::Messages | Into::Journal | Into::Events) {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        self.into.hash(&mut hasher);
        for value in &self.values[..self.into.table().key] {
            match value {
                Value::Bytes(bytes) => bytes.hash(&mut hasher),
                Value::BigInt(number) => number.hash(&mut hasher),
                // Keys are ids and numbers; another value could only make two keys look alike.
                _ => {}
            }
        }
        Some(hasher.finish())
    }
}

impl Table {
    /// The names of its columns, each with this before it.
    pub(super) fn list(&self, before: &str) -> String {
        let names: Vec<_> = self
            .columns
            .iter()
            .map(|(name, _)| format!("{before}{name}"))
            .collect();
        names.join(", ")
    }

    fn write_row(&self, rule: Rule) -> String {
        let places = vec!["?"; self.columns.len()].join(", ");
        format!(
            "insert into {} ({}) values ({places}){}",
            self.name,
            self.list(""),
            self.conflict(rule)
        )
    }

    /// Rows from arrays, in PostgreSQL's words; their placeholders follow `first`.
    pub(super) fn write_arrays(&self, rule: Rule, first: usize) -> String {
        let arrays: Vec<_> = (first..)
            .zip(self.columns)
            .map(|(place, (_, kind))| format!("${place}::{}[]", kind.type_name()))
            .collect();
        let values: Vec<_> = self
            .columns
            .iter()
            .map(|(name, kind)| kind.cell_of_array(name))
            .collect();
        format!(
            "insert into {} ({}) select {} from unnest({}) as v({}){}",
            self.name,
            self.list(""),
            values.join(", "),
            arrays.join(", "),
            self.list(""),
            self.conflict(rule)
        )
    }

    fn conflict(&self, rule: Rule) -> String {
        let former = match rule {
            Rule::Insert => return String::new(),
            Rule::Put => String::new(),
            Rule::OverSameEpoch => {
                format!(" where turns.epoch = excluded.epoch and turns.{UNDER_WAY}")
            }
            Rule::OverFormerEpoch => {
                format!(" where turns.epoch = excluded.epoch - 1 and turns.{UNDER_WAY}")
            }
        };
        let names: Vec<_> = self.columns.iter().map(|(name, _)| *name).collect();
        let (key, rest) = names.split_at(self.key);
        let set: Vec<_> = rest[..self.changing]
            .iter()
            .map(|name| format!("{name} = excluded.{name}"))
            .collect();
        format!(
            " on conflict ({}) do update set {}{former}",
            key.join(", "),
            set.join(", ")
        )
    }

    /// The rows as one array for each column.
    pub(super) fn arrays(&self, rows: Vec<Vec<Value>>) -> Vec<Value> {
        let mut columns: Vec<Vec<Value>> = self
            .columns
            .iter()
            .map(|_| Vec::with_capacity(rows.len()))
            .collect();
        for row in rows {
            for ((column, (_, kind)), value) in columns.iter_mut().zip(self.columns).zip(row) {
                column.push(kind.to_array(value));
            }
        }
        columns
            .into_iter()
            .zip(self.columns)
            .map(|(column, (_, kind))| Value::Array(kind.array(), Some(Box::new(column))))
            .collect()
    }
}

/// The number that stands for a missing one.
const NO_NUMBER: i64 = i64::MIN;

impl Kind {
    fn type_name(self) -> &'static str {
        match self {
            Id | OptionalId => "bytea",
            Text | OptionalText => "text",
            Number | OptionalNumber => "bigint",
            Flag => "boolean",
        }
    }

    fn array(self) -> ArrayType {
        match self {
            Id | OptionalId => ArrayType::Bytes,
            Text | OptionalText => ArrayType::String,
            Number | OptionalNumber => ArrayType::BigInt,
            Flag => ArrayType::Bool,
        }
    }

    /// A value without null: no id is empty, a text that is there has a mark before it, and no number is that small.
    fn to_array(self, value: Value) -> Value {
        match (self, value) {
            (OptionalId, Value::Bytes(None)) => Value::from(Vec::<u8>::new()),
            (OptionalText, Value::String(None)) => Value::from(String::new()),
            (OptionalText, Value::String(Some(text))) => Value::from(format!("={text}")),
            (OptionalNumber, Value::BigInt(None)) => Value::from(NO_NUMBER),
            (_, value) => value,
        }
    }

    fn cell_of_array(self, name: &str) -> String {
        match self {
            Id | Text | Number | Flag => format!("v.{name}"),
            OptionalId => format!("nullif(v.{name}, ''::bytea)"),
            OptionalText => format!("case when v.{name} <> '' then substr(v.{name}, 2) end"),
            OptionalNumber => format!("nullif(v.{name}, '{NO_NUMBER}'::bigint)"),
        }
    }
}
