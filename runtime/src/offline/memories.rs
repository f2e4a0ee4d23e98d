//! Memories by rules: only what a person asks in so many words to remember.
//!
//! Invariants
//! - Each candidate is a piece of one message of a person, and names that message as its evidence; nothing is inferred (M3).
//! - What is said anew of something that is remembered changes that memory: "our brand is green" after "our brand is blue".

use domain::ids::{MemoryId, MessageId};
use serde_json::{Value, json};

use super::draft::one_line;
use super::lexicon::Phrase;
use crate::model::ModelRequest;

const REMEMBER: &[&str] = &[
    "please remember that",
    "remember that",
    "please remember",
    "remember",
    "запомни что",
    "запомните что",
    "запомни*",
    "请记住",
    "记住",
    "记一下",
];
/// Words before which a request to remember is none: "do you remember", "I can not remember".
const NOT_BEFORE: &[&str] = &["you", "i", "not", "t", "to", "не"];
const PREFERENCE: &[&str] = &[
    "prefer*",
    "like",
    "love",
    "always",
    "never",
    "hate",
    "люблю",
    "любим*",
    "предпочита*",
    "всегда",
    "никогда",
    "нравит*",
    "喜欢",
    "总是",
    "从不",
    "偏好",
    "永远",
];
const SHARED: &[&str] = &[
    "we",
    "our",
    "brand",
    "company",
    "team",
    "мы",
    "наш*",
    "бренд*",
    "компани*",
    "команд*",
    "我们",
    "品牌",
    "公司",
    "团队",
];
/// What stands between a thing and what is said of it.
const COPULAS: &[&str] = &[
    " is ", " are ", " was ", " = ", " — ", " – ", " - ", " это ", "：", ": ", "是", "为",
];
/// Characters of one memory.
const CONTENT: usize = 500;

/// A memory that the request says is known.
struct Known<'a> {
    id: &'a str,
    scope: &'a str,
    subject: String,
}

/// What is worth remembering of the messages in a request.
pub(super) fn extract(request: &ModelRequest) -> Value {
    let texts = || request.messages.iter().map(|message| message.text.as_str());
    let known: Vec<Known<'_>> = texts().flat_map(str::lines).filter_map(known).collect();
    let candidates: Vec<Value> = texts()
        .filter(|text| !text.contains(NO_SOURCE))
        .flat_map(messages)
        .filter_map(|(id, text)| candidate(id, text, &known))
        .collect();
    json!({"candidates": candidates})
}

/// What the first line of a part says whose messages are there for understanding alone.
const NO_SOURCE: &str = "(no source)";

/// A line such as `- memory_… [workspace, explicit] Our brand is blue`.
fn known(line: &str) -> Option<Known<'_>> {
    let (id, rest) = line.strip_prefix("- ")?.split_once(" [")?;
    let (marks, content) = rest.split_once("] ")?;
    id.parse::<MemoryId>().ok()?;
    Some(Known {
        id,
        scope: marks.split(',').next()?,
        subject: subject(content)?,
    })
}

/// What a sentence is about: what stands before its copula.
fn subject(sentence: &str) -> Option<String> {
    let lower = sentence.to_lowercase();
    let places = COPULAS.iter().filter_map(|copula| lower.find(copula));
    let subject = lower[..places.min()?].trim().to_owned();
    (!subject.is_empty()).then_some(subject)
}

/// Messages of a text: what stands between the id of one and that of the next.
fn messages(text: &str) -> Vec<(&str, &str)> {
    let starts: Vec<(usize, &str)> = text
        .match_indices("message_")
        .filter_map(|(at, _)| {
            let id = text.get(at..at + 40)?;
            id.parse::<MessageId>().is_ok().then_some((at, id))
        })
        .collect();
    let ends = starts.iter().skip(1).map(|(at, _)| *at).chain([text.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|((at, id), end)| (*id, &text[at + id.len()..end]))
        .collect()
}

fn candidate(id: &str, text: &str, known: &[Known<'_>]) -> Option<Value> {
    let phrase = Phrase::of(text);
    let verb = phrase.find(REMEMBER)?;
    let before = verb.from.checked_sub(1).map_or("", |at| phrase.word(at));
    if NOT_BEFORE.contains(&before) {
        return None;
    }
    let end = sentence_end(text, phrase.start_of(verb.to)?);
    let content = text[phrase.start_of(verb.to)?..end].trim();
    let said = Phrase::of(content);
    if said.len() < 2 {
        return None;
    }
    let scope = if said.has(SHARED) {
        "workspace"
    } else {
        "person"
    };
    let about = subject(content);
    let is_of_it = |one: &&Known<'_>| one.scope == scope && about.as_ref() == Some(&one.subject);
    let changed = known.iter().find(is_of_it);
    let mut candidate = json!({
        "content": one_line(content, CONTENT),
        "kind": if said.has(PREFERENCE) { "preference" } else { "fact" },
        "scope": scope,
        "basis": "explicit",
        "evidence": [id],
        "quote": content,
        "relation": if changed.is_some() { "refine" } else { "origin" },
        "for_profile": true,
    });
    if let Some(changed) = changed {
        candidate["memory_id"] = json!(changed.id);
    }
    Some(candidate)
}

/// Where the sentence ends that goes on at a place.
fn sentence_end(text: &str, from: usize) -> usize {
    let is_end = |c: char| matches!(c, '.' | '!' | '?' | '\n' | '。' | '\u{ff01}' | '\u{ff1f}');
    text[from..].find(is_end).map_or(text.len(), |at| from + at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Function, ModelMessage, Speaker, check};

    #[test]
    fn what_is_said_anew_of_something_known_changes_it() {
        let (memory, message) = (MemoryId::new(), MessageId::new());
        let part = |text: String| ModelMessage {
            speaker: Speaker::User,
            text,
        };
        let earlier = MessageId::new();
        let request = ModelRequest {
            function: Function::ExtractMemories,
            model: None,
            messages: vec![
                part(format!(
                    "Remembered already (no source):\n- {memory} [workspace, explicit] our brand is blue\n"
                )),
                part(format!(
                    "What was said before (no source):\n{earlier} by person x:\nremember that our dog is old\n"
                )),
                part(format!(
                    "New messages:\n{message} by person x:\nPlease remember that our brand is green.\n"
                )),
            ],
            summaries: 0,
            situation: None,
            router: None,
        };
        let found = extract(&request);
        let candidates = found["candidates"].as_array().expect("a list");
        assert_eq!(candidates.len(), 1, "{found}");
        assert_eq!(candidates[0]["relation"], "refine");
        assert_eq!(candidates[0]["memory_id"], memory.to_string());
        assert_eq!(candidates[0]["evidence"][0], message.to_string());
    }

    #[test]
    fn only_what_is_asked_to_be_remembered_is_remembered() {
        let ids: Vec<String> = (0..6).map(|_| MessageId::new().to_string()).collect();
        let said = [
            "Please remember that our brand is teal. Make it darker.",
            "Запомни: я люблю крупные планы",
            "记住我们的品牌是蓝色。",
            "Do you remember the fox?",
            "The fox is red.",
            "Не запоминай это",
        ];
        let told = |(id, text)| format!("{id} by person:\n{text}\n");
        let text = ids.iter().zip(said).map(told).collect::<Vec<_>>().concat();
        let request = ModelRequest {
            function: Function::ExtractMemories,
            model: None,
            messages: vec![ModelMessage {
                speaker: Speaker::User,
                text,
            }],
            summaries: 0,
            situation: None,
            router: None,
        };
        let found = extract(&request);
        assert_eq!(check(Function::ExtractMemories, &found), Ok(()));
        let found: Vec<_> = found["candidates"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|one| {
                (
                    one["content"].as_str().expect("text"),
                    one["kind"].as_str().expect("text"),
                    one["scope"].as_str().expect("text"),
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                ("our brand is teal", "fact", "workspace"),
                ("я люблю крупные планы", "preference", "person"),
                ("我们的品牌是蓝色", "fact", "workspace"),
            ]
        );
    }
}
