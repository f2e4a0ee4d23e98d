//! `read_result`: pages of a result of the task's own calls, and where a text stands in it (C3).
//!
//! Invariants
//! - A page is no larger than what a later request shows whole, so that reading never makes something else to be read.

use async_trait::async_trait;
use domain::error::{Error, Result};
use domain::turn::CallId;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::arguments::{SHOWN, json_width, object, read, text, whole};
use crate::tools::{Invocation, Ran, Tool, ToolSpec};

/// Characters of JSON that surround a page.
const AROUND: usize = 160;
/// Places that are shown of a search.
const PLACES: usize = 8;
/// Characters before and behind a place.
const EXCERPT: usize = 60;
/// Characters of a text that is looked for.
const FIND: usize = 200;

pub(super) struct ReadResult(ToolSpec);

#[derive(Deserialize)]
struct Arguments {
    call_id: String,
    #[serde(default)]
    offset: usize,
    limit: Option<usize>,
    find: Option<String>,
}

impl Default for ReadResult {
    fn default() -> Self {
        let properties = json!({
            "call_id": text("The call, or the handle of its digest."),
            "offset": whole(0, "The first character to read, 0 by default."),
            "limit": whole(1, "At most so many characters; as many as can be shown by default."),
            "find": {"type": "string", "maxLength": FIND, "description": "Gives the places where exactly this stands, from `offset` on, instead of a page."},
        });
        Self(ToolSpec::core(
            "read_result",
            "Reads the result of an earlier call, as JSON text, page by page, or finds places in it.",
            object(&["call_id"], properties),
        ))
    }
}

#[async_trait]
impl Tool for ReadResult {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn run(&self, invocation: &Invocation<'_>) -> Result<Ran> {
        let arguments: Arguments = read(&invocation.call.arguments)?;
        let body = body(invocation, &arguments.call_id).await?;
        let find = arguments.find.as_deref().filter(|find| !find.is_empty());
        Ok(Ran::done(match find {
            Some(find) => places(&body, find, arguments.offset),
            None => page(&body, arguments.offset, arguments.limit.unwrap_or(SHOWN)),
        }))
    }
}

/// The whole result of a call of this task, as JSON text.
async fn body(invocation: &Invocation<'_>, id: &str) -> Result<String> {
    let id: CallId = id.parse()?;
    let reads = invocation.services.store.reads();
    let calls = reads.list_step_calls(id.turn, id.step).await?;
    let call = calls
        .into_iter()
        .find(|call| call.id == id && call.task == invocation.task.id)
        .ok_or_else(|| Error::not_found("call", id))?;
    if let Some(large) = reads.find_large_result(&id).await? {
        return Ok(large.body);
    }
    let state = call.state.name().to_lowercase();
    let result = call.result.or(call.error.map(Value::String));
    result
        .map(|result| result.to_string())
        .ok_or_else(|| Error::Conflict(format!("call {id} is {state} and has no result")))
}

/// Characters from an offset on, at most `limit`, as many as can be shown whole.
fn page(body: &str, offset: usize, limit: usize) -> Value {
    let mut room = SHOWN - AROUND;
    let text: String = body
        .chars()
        .skip(offset)
        .take(limit)
        .take_while(|character| {
            let width = json_width(*character);
            let fits = width <= room;
            room = room.saturating_sub(width);
            fits
        })
        .collect();
    let total = body.chars().count();
    let end = offset.saturating_add(text.chars().count());
    let next = (end < total).then_some(end);
    json!({"characters": total, "next_offset": next, "text": text})
}

/// Where a text stands, from an offset on, in characters.
fn places(body: &str, find: &str, offset: usize) -> Value {
    let start = body
        .char_indices()
        .nth(offset)
        .map_or(body.len(), |(at, _)| at);
    let mut found = body[start..].match_indices(find);
    let (mut at, mut bytes) = (offset, start);
    let mut places = Vec::new();
    let mut room = SHOWN - AROUND;
    for (place, _) in found.by_ref().take(PLACES) {
        at += body[bytes..start + place].chars().count();
        bytes = start + place;
        let excerpt = excerpt(body, bytes, find.len());
        let width: usize = excerpt.chars().map(json_width).sum();
        if width + 30 > room {
            break;
        }
        room -= width + 30;
        places.push(json!({"offset": at, "excerpt": excerpt}));
    }
    let count = body.matches(find).count();
    json!({"occurrences": count, "places": places})
}

/// A place with what stands around it.
fn excerpt(body: &str, at: usize, length: usize) -> &str {
    let before = body[..at].char_indices().rev().take(EXCERPT).last();
    let behind = body[at + length..].char_indices().nth(EXCERPT);
    let start = before.map_or(at, |(start, _)| start);
    let end = behind.map_or(body.len(), |(end, _)| at + length + end);
    &body[start..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_follow_one_another_without_gap_and_each_can_be_shown() {
        for body in [
            json!({"text": "Маяк горит. \"Да\".\n".repeat(700)}).to_string(),
            "灯塔还亮着。".repeat(900),
            "\u{1}".repeat(2_000),
            String::new(),
        ] {
            let (mut offset, mut read) = (0, String::new());
            loop {
                let page = page(&body, offset, usize::MAX);
                assert!(page.to_string().chars().count() <= SHOWN);
                read.push_str(page["text"].as_str().expect("a text"));
                match page["next_offset"].as_u64() {
                    Some(next) => offset = next as usize,
                    None => break,
                }
            }
            assert_eq!(read, body);
        }
    }

    #[test]
    fn a_page_beyond_the_end_is_empty() {
        let page = page("abc", 10, 5);
        assert_eq!(page["text"], "");
        assert_eq!(page["next_offset"], Value::Null);
    }

    #[test]
    fn places_are_counted_in_characters_and_lead_to_a_page() {
        let body = format!("{}灯塔{}灯塔", "ы".repeat(100), "字".repeat(5_000));
        let found = places(&body, "灯塔", 0);
        assert_eq!(found["occurrences"], 2);
        let offsets: Vec<_> = found["places"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|place| place["offset"].as_u64().expect("a number") as usize)
            .collect();
        assert_eq!(offsets, [100, 5_102]);
        for offset in offsets {
            assert_eq!(page(&body, offset, 2)["text"], "灯塔");
        }
        let later = places(&body, "灯塔", 101);
        assert_eq!(later["places"][0]["offset"], 5_102);
    }

    #[test]
    fn a_text_that_stands_everywhere_is_shown_in_part() {
        let body = "ab".repeat(100_000);
        let found = places(&body, "a", 0);
        assert_eq!(found["occurrences"], 100_000);
        assert_eq!(found["places"].as_array().map(Vec::len), Some(PLACES));
        assert!(found.to_string().chars().count() <= SHOWN);
    }
}
