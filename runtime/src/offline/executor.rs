//! Executors by rules: what they are asked in known words, and what they answer to those and to any others.
//!
//! Invariants
//! - An order stands on its own: everything an executor needs stands in it, a person's words in quotation marks.
//! - An answer claims nothing that rules can not do.

use serde_json::{Value, json};

use super::language::{Idea, Language, Words, fill};
use crate::context::cut;
use crate::model::{ModelRequest, Speaker};

/// What a picture is to show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Picture {
    pub(super) title: String,
    pub(super) subject: String,
    pub(super) what: String,
    pub(super) frame: String,
    pub(super) style: String,
}

/// Characters of a person's words that go into an order or an answer.
const QUOTED: usize = 300;

/// The order of a prompt for a picture.
pub(super) fn picture_order(words: &Words, picture: &Picture) -> String {
    let labels = [
        (words.label_title, &picture.title),
        (words.label_subject, &picture.subject),
        (words.label_seen, &picture.what),
        (words.label_frame, &picture.frame),
        (words.label_style, &picture.style),
    ];
    let lines = labels.iter().filter(|(_, text)| !text.is_empty());
    lines.fold(words.order_picture.to_owned(), |order, (label, text)| {
        format!("{order}\n{}", labelled(label, text))
    })
}

/// The order of a section of a text.
pub(super) fn section_order(words: &Words, idea: &Idea, subject: &str) -> String {
    [
        words.order_section.to_owned(),
        labelled(words.label_title, idea.title),
        labelled(words.label_subject, subject),
        labelled(words.label_seen, idea.what),
    ]
    .join("\n")
}

/// A line of an order; quotation marks inside become plain ones, so that the outer pair is found again.
fn labelled(label: &str, text: &str) -> String {
    let text = text.replace(['\u{201c}', '\u{201d}'], "\"");
    format!(
        "{label}: \u{201c}{}\u{201d}",
        super::draft::one_line(&text, QUOTED)
    )
}

/// What stands behind a label of an order.
fn behind<'a>(order: &'a str, label: &str) -> Option<&'a str> {
    let (_, rest) = order.split_once(&format!("{label}: \u{201c}"))?;
    rest.split_once('\u{201d}').map(|(text, _)| text)
}

/// A prompt for a picture.
pub(super) fn picture(words: &Words, picture: &Picture) -> String {
    let parts = [
        &picture.subject,
        &picture.frame,
        &picture.what,
        &picture.style,
    ];
    let parts: Vec<&str> = parts
        .into_iter()
        .map(|part| part.trim())
        .filter(|part| !part.is_empty())
        .collect();
    parts.join(words.comma)
}

/// A section of a text, outlined.
pub(super) fn section(words: &Words, what: &str, subject: &str) -> String {
    fill(
        words.section_draft,
        &[("what", what), ("subject", &cut(subject, QUOTED))],
    )
}

/// Answers as an executor.
pub(super) fn answer(request: &ModelRequest) -> Value {
    let asked = request
        .messages
        .iter()
        .rfind(|message| message.speaker == Speaker::User);
    let prompt = asked.map_or("", |message| message.text.as_str());
    let words = words_of(prompt);
    let text = match prompt {
        order if order.starts_with(words.order_picture) => {
            picture(words, &read_picture(words, order))
        }
        order if order.starts_with(words.order_section) => {
            let part = |label| behind(order, label).unwrap_or_default();
            section(words, part(words.label_seen), part(words.label_subject))
        }
        other => fill(
            words.offline_note,
            &[("text", &super::draft::one_line(other, QUOTED))],
        ),
    };
    json!({"text": text})
}

/// The words of the language that an order is put in, whatever the language of what it quotes.
fn words_of(prompt: &str) -> &'static Words {
    let all = [Language::English, Language::Russian, Language::Chinese].map(Language::words);
    let is_order = |words: &&'static Words| {
        prompt.starts_with(words.order_picture) || prompt.starts_with(words.order_section)
    };
    all.into_iter()
        .find(is_order)
        .unwrap_or_else(|| Language::of_text(prompt).words())
}

fn read_picture(words: &Words, order: &str) -> Picture {
    let part = |label| behind(order, label).unwrap_or_default().to_owned();
    Picture {
        title: part(words.label_title),
        subject: part(words.label_subject),
        what: part(words.label_seen),
        frame: part(words.label_frame),
        style: part(words.label_style),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Function, ModelMessage, check};

    fn answered(prompt: &str) -> String {
        let request = ModelRequest {
            function: Function::Answer,
            model: None,
            messages: vec![ModelMessage {
                speaker: Speaker::User,
                text: prompt.to_owned(),
            }],
            summaries: 0,
            situation: None,
            router: None,
        };
        let arguments = answer(&request);
        assert_eq!(check(Function::Answer, &arguments), Ok(()));
        arguments["text"].as_str().expect("a text").to_owned()
    }

    #[test]
    fn an_order_is_answered_with_what_stands_in_it_in_each_language() {
        for language in [Language::English, Language::Russian, Language::Chinese] {
            let words = language.words();
            let wanted = Picture {
                title: words.shots[0].title.to_owned(),
                subject: "«Кот» “cat” 猫".to_owned(),
                what: words.shots[0].what.to_owned(),
                frame: words.shots[0].frame.to_owned(),
                style: words.styles[0].look.to_owned(),
            };
            let answer = answered(&picture_order(words, &wanted));
            for part in [&wanted.what, &wanted.frame, &wanted.style] {
                assert!(answer.contains(part.as_str()), "{answer}");
            }
            assert!(answer.contains("«Кот» \"cat\" 猫"), "{answer}");
            let order = section_order(words, &words.sections[3], "bees");
            assert!(answered(&order).contains(words.sections[3].what));
        }
    }

    #[test]
    fn an_order_in_other_words_is_answered_honestly() {
        let answer = answered("Draw me a dragon in the evening sun");
        assert!(
            answer.contains("without a language model") && answer.contains("dragon"),
            "{answer}"
        );
        assert!(answered("").contains("without a language model"));
    }
}
