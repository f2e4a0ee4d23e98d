//! Summaries by rules: the words of people, the works, what failed, taken out of a span of the journal as it is written for models.
//!
//! Invariants
//! - Nothing is put in other words: what a summary says stands in the span.
//! - A summary has about the same size whatever the span holds.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::draft::one_line;
use super::language::Language;
use crate::context::tokens;
use crate::model::{ModelRequest, Speaker};

/// Estimated tokens of a summary.
const TOKENS: u32 = 190;
/// Words of a summary.
const WORDS: usize = 110;
/// Characters of one part of it.
const PART: usize = 160;

/// One entry of the journal in the form of `context::render`.
struct Entry<'a> {
    kind: &'a str,
    body: String,
}

/// Labels in one language.
struct Labels {
    asked: &'static str,
    works: &'static str,
    failed: &'static str,
    open: &'static str,
    done: &'static str,
}

fn labels(language: Language) -> Labels {
    match language {
        Language::English => Labels {
            asked: "Asked",
            works: "Works",
            failed: "Failed",
            open: "Question",
            done: "Done",
        },
        Language::Russian => Labels {
            asked: "Просили",
            works: "Работы",
            failed: "Не удалось",
            open: "Вопрос",
            done: "Сделано",
        },
        Language::Chinese => Labels {
            asked: "要求",
            works: "作品",
            failed: "失败",
            open: "问题",
            done: "已做",
        },
    }
}

/// Summarises the span that a request holds.
pub(super) fn summarize(request: &ModelRequest) -> Value {
    let asked = request
        .messages
        .iter()
        .rfind(|message| message.speaker == Speaker::User);
    let span = asked.map_or("", |message| message.text.as_str());
    json!({"summary": summary(span)})
}

fn summary(span: &str) -> String {
    let entries = entries(span);
    let of = |kind: &str| {
        entries
            .iter()
            .filter(move |entry| entry.kind == kind)
            .map(|entry| entry.body.as_str())
            .collect::<Vec<_>>()
    };
    let people = of("INCOMING_MESSAGE");
    let labels = labels(Language::of_text(&people.join(" ")));
    let results = of("RESULT");
    let failed: Vec<&str> = results
        .iter()
        .copied()
        .filter(|body| is_failure(body))
        .collect();
    let plans = of("PLAN");
    let mut summary = Summary::default();
    // What matters most comes first; what finds no more room is left to the journal.
    for text in people.iter().rev().take(4) {
        summary.add(labels.asked, text);
    }
    let works = ids(span, "work_");
    if !works.is_empty() {
        summary.add(labels.works, &works.join(", "));
    }
    for text in failed.iter().rev().take(2) {
        summary.add(labels.failed, text);
    }
    if let Some(text) = of("QUESTION").last() {
        summary.add(labels.open, text.lines().next_back().unwrap_or_default());
    }
    for text in plans.iter().rev() {
        summary.add(labels.done, &actions(text));
    }
    if summary.lines.is_empty() {
        summary.add(labels.done, span.lines().next().unwrap_or("-"));
    }
    summary.lines.join("\n")
}

/// Lines within a budget.
#[derive(Default)]
struct Summary {
    lines: Vec<String>,
    tokens: u32,
    words: usize,
}

impl Summary {
    fn add(&mut self, label: &str, text: &str) {
        let line = format!("{label}: {}", one_line(text, PART));
        let (cost, words) = (tokens(&line) + 1, line.split_whitespace().count());
        let fits = self.tokens + cost <= TOKENS && self.words + words <= WORDS;
        if fits && !text.trim().is_empty() && !self.lines.contains(&line) {
            self.tokens += cost;
            self.words += words;
            self.lines.push(line);
        }
    }
}

fn entries(span: &str) -> Vec<Entry<'_>> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for line in span.lines() {
        match (head(line), entries.last_mut()) {
            (Some(kind), _) => entries.push(Entry {
                kind,
                body: String::new(),
            }),
            (None, Some(entry)) => {
                if !entry.body.is_empty() {
                    entry.body.push('\n');
                }
                entry.body.push_str(line);
            }
            (None, None) => {}
        }
    }
    entries
}

/// The kind that the head of an entry names: `#12 RESULT turn 1 step 2 by you`.
fn head(line: &str) -> Option<&str> {
    let (number, rest) = line.strip_prefix('#')?.split_once(' ')?;
    let kind = rest.split(' ').next()?;
    let is_head = !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && rest.contains(" by ")
        && kind
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    is_head.then_some(kind)
}

fn is_failure(body: &str) -> bool {
    let first = body.lines().next().unwrap_or_default();
    let said = first.split_once(": ").map_or("", |(_, said)| said);
    !said.starts_with("done")
}

/// What a plan did: its actions by tool, without their arguments.
fn actions(plan: &str) -> String {
    let tools = plan.lines().filter_map(|line| line.strip_prefix("-> "));
    let names: Vec<&str> = tools.filter_map(|line| line.split(' ').next()).collect();
    let reason = plan.lines().next().unwrap_or_default();
    if names.is_empty() {
        reason.to_owned()
    } else {
        format!("{} ({})", one_line(reason, 80), names.join(", "))
    }
}

/// Ids with a prefix, each once.
fn ids<'a>(text: &'a str, prefix: &str) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    let found = text.match_indices(prefix).filter_map(|(at, _)| {
        let id = text.get(at..at + prefix.len() + 32)?;
        let is_id = id[prefix.len()..]
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit());
        (is_id && seen.insert(id)).then_some(id)
    });
    found.take(3).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(digit: char) -> String {
        format!("work_{}", digit.to_string().repeat(32))
    }

    #[test]
    fn a_summary_keeps_what_people_asked_the_works_and_what_failed() {
        let work = work('a');
        let span = format!(
            "#1 INCOMING_MESSAGE by person user_1\nСделай второй кадр темнее\n#2 PLAN turn 1 step 1 by you\nправлю\n-> edit_nodes {{}}\n\
             #3 RESULT turn 1 step 1 by you\nedit_nodes: somebody else changed shot-2 [turn_1/1/0]\n{{\"work_id\":\"{work}\"}}\n\
             #4 RESULT turn 1 step 1 by you\nread_work: done [turn_1/1/1]\n"
        );
        let summary = summary(&span);
        assert_eq!(
            summary,
            format!(
                "Просили: Сделай второй кадр темнее\nРаботы: {work}\nНе удалось: edit_nodes: somebody else changed shot-2 [turn_1/1/0] \
                 {{\"work_id\":\"{work}\"}}\nСделано: правлю (edit_nodes)"
            )
        );
    }

    #[test]
    fn a_summary_stays_small_whatever_the_span_holds() {
        for filler in ["слово ", "word ", "字"] {
            let entry = format!(
                "#7 INCOMING_MESSAGE by person user_1\n{}\n",
                filler.repeat(3_000)
            );
            let span = (0..50)
                .map(|number| entry.replace("#7", &format!("#{number}")))
                .collect::<String>();
            let summary = summary(&span);
            assert!(tokens(&summary) <= TOKENS, "{}", tokens(&summary));
            assert!(summary.split_whitespace().count() <= WORDS);
            assert!(!summary.is_empty());
        }
        assert!(!summary("").is_empty());
    }
}
