//! Candidates for memory, as an extractor names them: read one by one, so that one that is malformed loses no other (M6).

use serde_json::Value;

use super::{CONTENT_LENGTH, MemoryBasis, MemoryKind, ScopeKind};
use crate::names::named;
use crate::time::Timestamp;

/// Messages that one candidate can name.
const EVIDENCE: usize = 20;

named! {
    /// What a candidate is to what is known.
    Relation {
        /// It is new.
        Origin = "origin",
        /// It changes a memory.
        Refine = "refine",
        /// It supports a memory.
        Confirm = "confirm",
    }
}

/// Something that may be worth remembering.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// What is remembered.
    pub content: String,
    /// What it is.
    pub kind: MemoryKind,
    /// How far it reaches.
    pub scope: ScopeKind,
    /// Whether it was said.
    pub basis: MemoryBasis,
    /// Messages that say so, as they were named.
    pub evidence: Vec<String>,
    /// What it is to what is known.
    pub relation: Relation,
    /// The memory that it changes or supports, as it was named.
    pub memory: Option<String>,
    /// Since when it is so, where that was said.
    pub valid_from: Option<Timestamp>,
    /// Whether it is one of the few things to know always.
    pub for_profile: bool,
    /// The words in the message.
    pub quote: Option<String>,
}

/// Why something is no candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CandidateError {
    /// What it said, where it said anything.
    pub content: String,
    /// What is wrong with it.
    pub detail: String,
    /// Messages that it named.
    pub evidence: Vec<String>,
}

impl Candidate {
    /// Reads one; members that are not known are let through.
    pub fn read(value: &Value) -> Result<Self, CandidateError> {
        let error = |detail: String| CandidateError {
            content: cut(value["content"].as_str().unwrap_or_default()),
            detail,
            evidence: texts(&value["evidence"]).unwrap_or_default(),
        };
        let content = match value["content"].as_str().map(str::trim) {
            Some(content) if !content.is_empty() => content.to_owned(),
            _ => return Err(error("`content` is missing".to_owned())),
        };
        if content.chars().count() > CONTENT_LENGTH {
            return Err(error(format!(
                "`content` has more than {CONTENT_LENGTH} characters"
            )));
        }
        let evidence = match texts(&value["evidence"]) {
            Some(evidence) if evidence.len() <= EVIDENCE => evidence,
            Some(_) => return Err(error(format!("more than {EVIDENCE} messages are named"))),
            None => return Err(error("`evidence` must be a list of ids".to_owned())),
        };
        Ok(Self {
            kind: name(value, "kind", |text| {
                MemoryKind::from_name(&text.to_uppercase())
            })
            .map_err(error)?,
            scope: name(value, "scope", |text| {
                ScopeKind::from_name(&text.to_uppercase())
            })
            .map_err(error)?,
            basis: name(value, "basis", |text| {
                MemoryBasis::from_name(&text.to_uppercase())
            })
            .map_err(error)?,
            relation: name(value, "relation", Relation::from_name).map_err(error)?,
            memory: text(value, "memory_id").map_err(error)?,
            valid_from: date(value).map_err(error)?,
            for_profile: value["for_profile"].as_bool().unwrap_or(false),
            quote: text(value, "quote").map_err(error)?,
            content,
            evidence,
        })
    }
}

fn cut(text: &str) -> String {
    text.chars().take(CONTENT_LENGTH).collect()
}

fn texts(value: &Value) -> Option<Vec<String>> {
    let items = value.as_array()?;
    items
        .iter()
        .map(|item| item.as_str().map(str::to_owned))
        .collect()
}

fn name<T>(
    value: &Value,
    member: &str,
    from_name: impl FnOnce(&str) -> Option<T>,
) -> Result<T, String> {
    let text = value[member].as_str().unwrap_or_default();
    from_name(text).ok_or_else(|| format!("`{member}` can not be \u{201c}{}\u{201d}", cut(text)))
}

fn text(value: &Value, member: &str) -> Result<Option<String>, String> {
    match &value[member] {
        Value::Null => Ok(None),
        Value::String(text) if text.trim().is_empty() => Ok(None),
        Value::String(text) => Ok(Some(text.trim().to_owned())),
        _ => Err(format!("`{member}` must be a text")),
    }
}

fn date(value: &Value) -> Result<Option<Timestamp>, String> {
    match text(value, "valid_from")? {
        None => Ok(None),
        Some(text) => match read_date(&text) {
            Some(at) => Ok(Some(at)),
            None => Err("`valid_from` must be a date such as 2026-05-01".to_owned()),
        },
    }
}

/// The beginning of a day, by UTC; a time behind it is let through.
fn read_date(text: &str) -> Option<Timestamp> {
    let day = text.get(..10)?;
    let mut parts = day.split('-');
    let year: i64 = parts.next()?.parse().ok()?;
    let month: i64 = parts.next()?.parse().ok()?;
    let date: i64 = parts.next()?.parse().ok()?;
    let is_date =
        (1900..=2200).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&date);
    if !is_date || parts.next().is_some() {
        return None;
    }
    // Days since 1970 of the proleptic Gregorian calendar; years begin in March, so that leap days end them.
    let year = if month > 2 { year } else { year - 1 };
    let (era, month) = (year.div_euclid(400), (month + 9) % 12);
    let in_era = year.rem_euclid(400);
    let in_year = (153 * month + 2) / 5 + date - 1;
    let days = era * 146_097 + in_era * 365 + in_era / 4 - in_era / 100 + in_year - 719_468;
    Some(Timestamp::from_micros(days * 86_400_000_000))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn candidate() -> Value {
        json!({"content": " Our brand is teal ", "kind": "fact", "scope": "workspace", "basis": "explicit", "evidence": ["m"],
            "relation": "origin", "valid_from": "2026-05-01T10:00:00Z", "more": 1})
    }

    #[test]
    fn a_candidate_is_read_with_what_it_leaves_out() {
        let read = Candidate::read(&candidate()).expect("it fits");
        assert_eq!(read.content, "Our brand is teal");
        assert_eq!(
            (read.memory, read.quote, read.for_profile),
            (None, None, false)
        );
        let micros = 1_777_593_600_000_000;
        assert_eq!(read.valid_from, Some(Timestamp::from_micros(micros)));
    }

    #[test]
    fn what_does_not_fit_is_told_and_loses_its_words_nowhere() {
        for (member, value) in [
            ("content", json!("")),
            ("content", json!("x".repeat(1_001))),
            ("kind", json!("opinion")),
            ("scope", json!(3)),
            ("relation", json!(null)),
            ("evidence", json!("m")),
            ("evidence", json!([1])),
            ("memory_id", json!({})),
            ("valid_from", json!("last May")),
        ] {
            let mut wrong = candidate();
            wrong[member] = value;
            let error = Candidate::read(&wrong).expect_err("it does not fit");
            assert!(!error.detail.is_empty(), "{member}");
        }
        assert!(Candidate::read(&json!("{")).is_err());
    }
}
