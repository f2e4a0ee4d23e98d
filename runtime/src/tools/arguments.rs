//! What tools do with their arguments and results alike: schemas, typed reading, works that the task may see, sizes.
//!
//! Invariants
//! - A work of another workspace is not there, whatever the person whose task it is may see elsewhere.

use std::time::{Duration, UNIX_EPOCH};

use domain::error::{Error, Result};
use domain::ids::WorkId;
use domain::time::Timestamp;
use domain::turn::Risk;
use domain::work::{Work, visible_work};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Invocation, ToolSpec};

/// Characters of a result, as JSON, that a later request shows whole.
pub(super) const SHOWN: usize = 1_400;
/// Characters of an editor's own words for the history.
const SUMMARY: usize = 500;

impl ToolSpec {
    /// A tool that reads and may always run again, of the core.
    pub(super) fn core(name: &'static str, description: &'static str, parameters: Value) -> Self {
        Self {
            name,
            domain: "core",
            risk: Risk::Read,
            idempotent: true,
            description,
            parameters,
        }
    }

    /// A tool that writes works; it may run again under the same call id.
    pub(super) fn works(name: &'static str, description: &'static str, parameters: Value) -> Self {
        Self {
            domain: "works",
            risk: Risk::Write,
            ..Self::core(name, description, parameters)
        }
    }
}

/// The schema of an object.
#[expect(
    clippy::needless_pass_by_value,
    reason = "callers make the value on the spot"
)]
pub(super) fn object(required: &[&str], properties: Value) -> Value {
    json!({"type": "object", "required": required, "properties": properties})
}

/// The schema of a text with a description.
pub(super) fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

/// The schema of a list of texts with a description.
pub(super) fn texts(description: &str) -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": description})
}

/// The schema of a whole number from `least` on.
pub(super) fn whole(least: i64, description: &str) -> Value {
    json!({"type": "integer", "minimum": least, "description": description})
}

/// The schema of what an editor says of a change.
pub(super) fn summary() -> Value {
    json!({"type": "string", "maxLength": SUMMARY, "description": "What was changed, for the history."})
}

/// Arguments in the type that a tool works with; they fit the tool's schema already.
pub(super) fn read<T: DeserializeOwned>(arguments: &Value) -> Result<T> {
    T::deserialize(arguments).map_err(|error| Error::Invalid(format!("the arguments: {error}")))
}

/// A work of the task's workspace that the person whose task it is may see, in the bin or not.
pub(super) async fn any_work(invocation: &Invocation<'_>, id: &str) -> Result<Work> {
    let id: WorkId = id.parse()?;
    let reads = invocation.services.store.reads();
    let (work, _) = visible_work(reads, id, invocation.task.created_by).await?;
    if work.workspace == invocation.task.workspace {
        Ok(work)
    } else {
        Err(Error::not_found("work", id))
    }
}

/// The same, and not in the bin.
pub(super) async fn work(invocation: &Invocation<'_>, id: &str) -> Result<Work> {
    let work = any_work(invocation, id).await?;
    if work.deleted_at.is_none() {
        return Ok(work);
    }
    Err(Error::Conflict(format!(
        "work {} lies in the bin; only a person can bring it back",
        work.id
    )))
}

/// The ids of such works.
pub(super) async fn work_ids(invocation: &Invocation<'_>, ids: &[String]) -> Result<Vec<WorkId>> {
    let mut works = Vec::new();
    for id in ids {
        let work = work(invocation, id).await?.id;
        if !works.contains(&work) {
            works.push(work);
        }
    }
    Ok(works)
}

/// A time as models read it.
pub(super) fn time(at: Timestamp) -> String {
    let since = Duration::from_micros(at.micros().unsigned_abs());
    httpdate::fmt_http_date(UNIX_EPOCH + since)
}

/// How many characters of JSON a character takes inside a text.
pub(super) fn json_width(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => 1,
    }
}
