//! Summaries of old history: which span is due, how it is asked for, which of them stand in a request (C2).

use std::collections::HashSet;

use domain::journal::{JournalEntry, JournalKind};
use domain::line::ContextSegment;

use super::{ContextLimits, Situation, message, render, tokens};
use crate::model::{Function, ModelRequest, Speaker};

const RULES: &str = "\
You summarise a span of the journal of a creative task, for the planner of that task, who will not see the span itself any more.
Keep: what people asked for and decided, in their language; what was made, with ids of works, nodes, lines and calls; what failed and why; what is still open.
Leave out: how it was done, greetings, repetition. At most 120 words. Call `summarize_segment`.
";

/// A span of the journal that is to be summarised.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Span {
    /// Place of the segment that it makes.
    pub(crate) number: u32,
    /// Its first entry.
    pub(crate) from_sequence: u64,
    /// Its last entry.
    pub(crate) to_sequence: u64,
    /// It in words.
    pub(crate) text: String,
}

/// The newest summaries that fit into this many tokens, oldest first.
pub(super) fn that_fit(segments: &[ContextSegment], most: u32) -> &[ContextSegment] {
    let mut sum = 0;
    let fitting = segments.iter().rev().take_while(|segment| {
        sum += segment.tokens + 15;
        sum <= most
    });
    let count = fitting.count();
    &segments[segments.len() - count..]
}

/// Entries of the recent journal that a request shows: messages that wait in the inbox stand in its tail, and those that were taken back
/// nowhere.
pub(super) fn readable(situation: &Situation) -> Vec<&JournalEntry> {
    let mut hidden: HashSet<String> = situation
        .messages
        .iter()
        .map(|message| message.id.to_string())
        .collect();
    for entry in &situation.recent {
        if let Some(withdrawn) = entry.data["withdrawn"].as_str() {
            hidden.insert(withdrawn.to_owned());
        }
    }
    let is_readable = |entry: &&JournalEntry| {
        entry.kind != JournalKind::IncomingMessage
            || !entry.data["message"]
                .as_str()
                .is_some_and(|message| hidden.contains(message))
    };
    situation.recent.iter().filter(is_readable).collect()
}

/// The oldest part of the recent history, where it has outgrown its budget.
pub(crate) fn span_to_summarise(situation: &Situation, limits: ContextLimits) -> Option<Span> {
    let entries = readable(situation);
    let texts: Vec<String> = entries.iter().map(|entry| render::entry(entry)).collect();
    let sizes: Vec<u32> = texts.iter().map(|text| tokens(text)).collect();
    let sum: u32 = sizes.iter().sum();
    if sum <= limits.recent {
        return None;
    }
    let mut left = sum;
    let count = sizes
        .iter()
        .take_while(|size| {
            let is_over = left > limits.recent_kept;
            left -= **size;
            is_over
        })
        .count()
        // The newest entry is never summarised away.
        .min(entries.len().saturating_sub(1));
    let (first, last) = (entries.first()?, entries.get(count.checked_sub(1)?)?);
    Some(Span {
        number: situation
            .segments
            .last()
            .map_or(1, |segment| segment.number + 1),
        from_sequence: first.sequence,
        to_sequence: last.sequence,
        text: texts[..count].concat(),
    })
}

/// Asks for the summary of a span.
pub(crate) fn summary_request(span: &Span) -> ModelRequest {
    ModelRequest {
        function: Function::SummarizeSegment,
        model: None,
        messages: vec![
            message(Speaker::System, RULES.to_owned()),
            message(Speaker::User, span.text.clone()),
        ],
        summaries: 0,
        situation: None,
        router: None,
    }
}
