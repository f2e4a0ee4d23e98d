//! Calls of tools, and what comes of them (D3).

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::Epoch;
use crate::card::Card;
use crate::document::Version;
use crate::error::Error;
use crate::ids::{TaskId, TurnId, WorkId, WorkspaceId};
use crate::line::{Line, LineExchange};
use crate::message::Message;
use crate::names::named;
use crate::task::Usage;
use crate::time::Timestamp;

/// The stable id of a call: `turn/step/index`, the same at every attempt and for every worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CallId {
    /// The turn.
    pub turn: TurnId,
    /// The step.
    pub step: u32,
    /// Its place in the decision, from 0 on.
    pub index: u32,
}

impl fmt::Display for CallId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}/{}", self.turn, self.step, self.index)
    }
}

impl FromStr for CallId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut parts = text.split('/');
        let mut part = || parts.next().unwrap_or_default();
        let (turn, step, index) = (part().parse(), part().parse(), part().parse());
        match (turn, step, index, parts.next()) {
            (Ok(turn), Ok(step), Ok(index), None) => Ok(Self { turn, step, index }),
            _ => Err(Error::Invalid(format!(
                "`{}` is not the id of a call; ids look like `turn_…/2/0`",
                text.chars().take(80).collect::<String>()
            ))),
        }
    }
}

impl TryFrom<String> for CallId {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<CallId> for String {
    fn from(id: CallId) -> Self {
        id.to_string()
    }
}

named! {
    /// What a tool can do to the world (A6).
    Risk {
        /// Nothing.
        Read = "READ",
        /// Changes a work: its version and the permission are checked.
        Write = "WRITE",
        /// Costs money.
        Paid = "PAID",
        /// Can not be undone: a person confirms it.
        Irreversible = "IRREVERSIBLE",
    }
}

named! {
    /// Where a call stands (D3).
    CallState {
        /// Decided, and not begun.
        Pending = "PENDING",
        /// Begun; perhaps it had its effect.
        Started = "STARTED",
        /// It had its effect, and the result is stored.
        Done = "DONE",
        /// It had no effect, and the reason is stored.
        Failed = "FAILED",
        /// Begun by a worker that is gone, and not to be repeated blindly.
        OutcomeUnknown = "OUTCOME_UNKNOWN",
        /// Never begun: it may not, or can not be.
        Refused = "REFUSED",
    }
}

impl CallState {
    /// Whether nothing more happens for it.
    pub const fn is_over(self) -> bool {
        !matches!(self, Self::Pending | Self::Started)
    }
}

/// A call as the model decided it, checked against the tool's schema.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedCall {
    /// The tool's name, as the model wrote it.
    pub tool: String,
    /// What it can do.
    pub risk: Risk,
    /// Whether it may run again under the same id.
    pub idempotent: bool,
    /// Its arguments.
    pub arguments: Value,
    /// Why it can not be run; such a call is stored as refused.
    pub refusal: Option<String>,
}

/// A stored call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Its id.
    pub id: CallId,
    /// Its workspace.
    pub workspace: WorkspaceId,
    /// Its task.
    pub task: TaskId,
    /// The tool's name.
    pub tool: String,
    /// What it can do.
    pub risk: Risk,
    /// Whether it may run again under the same id.
    pub idempotent: bool,
    /// Its arguments.
    pub arguments: Value,
    /// Where it stands.
    pub state: CallState,
    /// How often it was begun.
    pub attempts: u32,
    /// The epoch in which it was begun last.
    pub epoch: Epoch,
    /// What came of it; a digest with a handle where the whole is large (C3).
    pub result: Option<Value>,
    /// Why it failed or was refused.
    pub error: Option<String>,
    /// When it was begun last.
    pub started_at: Option<Timestamp>,
    /// When it was over.
    pub ended_at: Option<Timestamp>,
}

impl Call {
    /// What two calls share that ask for the same; see [`equal_key`].
    pub fn equal_key(&self) -> Uuid {
        equal_key(&self.tool, &self.arguments)
    }

    /// Whether doing it twice would be worse than doing it once.
    pub fn is_worth_guarding(&self) -> bool {
        !self.idempotent || self.risk != Risk::Read
    }
}

/// What two calls of a task share that ask for the same: a name-based UUID (RFC 9562, version 5) of tool and canonical
/// arguments.
pub fn equal_key(tool: &str, arguments: &Value) -> Uuid {
    let name = format!("{tool}\n{}", canonical(arguments));
    Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes())
}

/// A JSON value with its keys in order, so that equal values have equal texts.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let sorted: BTreeMap<_, _> = map.iter().collect();
            let fields: Vec<_> = sorted
                .into_iter()
                .map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), canonical(value)))
                .collect();
            format!("{{{}}}", fields.join(","))
        }
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        plain => plain.to_string(),
    }
}

/// A result that was too large for its call, whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LargeResult {
    /// The result as JSON text.
    pub body: String,
}

/// What came of running a call.
#[derive(Debug, Clone, PartialEq)]
pub enum CallOutcome {
    /// It had its effect.
    Done(Value),
    /// It had none. The value carries what helps the model, such as a conflict.
    Failed {
        /// Why.
        error: String,
        /// Details.
        result: Option<Value>,
    },
    /// Nobody knows whether it had its effect.
    OutcomeUnknown(String),
}

/// What a finished call brings about, in the transaction that stores its result.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// A message to the person.
    Reply(Box<Message>),
    /// A card.
    Ask(Box<Card>),
    /// An exchange with an executor; the line is made where it is new.
    Exchange {
        /// The line.
        line: Line,
        /// The exchange.
        exchange: LineExchange,
    },
    /// Tools of a domain stand in the next requests.
    LoadTools(String),
    /// The task has read a work up to a version.
    Read(WorkId, Version),
    /// The task has written a work; it has this version now.
    Wrote(WorkId, Version),
    /// A model was asked; what that took counts for the task's limits.
    Used(Usage),
}
