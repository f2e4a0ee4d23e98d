//! The three languages of the offline planner, and what all its sentences are.
//!
//! Invariants
//! - Every language has every sentence: a missing one does not compile.
//! - Names in braces are the only thing that is filled into a sentence.

use super::style::StyleWords;
use super::{words_en, words_ru, words_zh};

/// A language that the planner speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    English,
    Russian,
    Chinese,
}

/// What the planner calls one kind of thing that it can make.
#[derive(Debug)]
pub(super) struct KindWords {
    /// The work, as a title begins.
    pub(super) name: &'static str,
    /// The work, within a sentence.
    pub(super) work: &'static str,
    /// Its title, where the {subject} has a word before it, as in "about a fox".
    pub(super) title_led: &'static str,
    /// Its title with a bare {subject}.
    pub(super) title_plain: &'static str,
    /// One, few and many of its parts.
    pub(super) parts: [&'static str; 3],
    /// An item of the plan that makes one part: {number}, {title}.
    pub(super) part: &'static str,
    /// The item that a person looks at.
    pub(super) review: &'static str,
}

/// One part in an idea book: a shot, a poster, a section, a node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Idea {
    /// What it is called.
    pub(super) title: &'static str,
    /// How it is framed or composed; for nodes, their type; sections have none.
    pub(super) frame: &'static str,
    /// What is seen or said.
    pub(super) what: &'static str,
}

/// An idea of an idea book.
pub(super) const fn idea(title: &'static str, frame: &'static str, what: &'static str) -> Idea {
    Idea { title, frame, what }
}

/// Everything that is said in one language.
#[derive(Debug)]
pub(super) struct Words {
    /// By kind: storyboard, posters, flow, text.
    pub(super) kinds: [KindWords; 4],
    /// The first reply: what this planner is, what it can do, how a model is configured.
    pub(super) intro: &'static str,
    /// What was understood: {what}.
    pub(super) understood: &'static str,
    /// Parts of that.
    pub(super) each_seconds: &'static str,
    pub(super) in_style: &'static str,
    pub(super) steps_ahead: &'static str,
    pub(super) too_many: &'static str,
    pub(super) understood_edits: &'static str,
    /// Items of the plan.
    pub(super) item_clarify: &'static str,
    pub(super) item_look: &'static str,
    pub(super) item_work: &'static str,
    pub(super) item_change: &'static str,
    pub(super) item_review_changes: &'static str,
    pub(super) item_finish: &'static str,
    /// The hero's reference: {subject}; a frame: {part}.
    pub(super) item_hero: &'static str,
    pub(super) item_frame: &'static str,
    /// The work that describes the hero: {subject}, {look}.
    pub(super) hero_title: &'static str,
    pub(super) hero_description: &'static str,
    pub(super) item_trouble: &'static str,
    /// Evidence on items.
    pub(super) placing: &'static str,
    pub(super) checking: &'static str,
    pub(super) placing_again: &'static str,
    pub(super) placed: &'static str,
    pub(super) looking: &'static str,
    pub(super) editing: &'static str,
    pub(super) looking_again: &'static str,
    pub(super) editing_again: &'static str,
    pub(super) left_out: &'static str,
    pub(super) not_by_rules: &'static str,
    pub(super) ordered: &'static str,
    pub(super) picture_there: &'static str,
    /// Replies about pictures: {reason}, {items}.
    pub(super) picture_missing: &'static str,
    pub(super) remaking: &'static str,
    /// Replies.
    pub(super) draft_ready: &'static str,
    pub(super) draft_ready_text: &'static str,
    pub(super) left_out_parts: &'static str,
    pub(super) delivered: &'static str,
    pub(super) delivered_nothing: &'static str,
    pub(super) noted_for_later: &'static str,
    pub(super) changed: &'static str,
    pub(super) no_such_part: &'static str,
    pub(super) nothing_to_change: &'static str,
    pub(super) not_possible: &'static str,
    pub(super) conflict: &'static str,
    pub(super) failed: &'static str,
    pub(super) unreadable: &'static str,
    pub(super) text_missing: &'static str,
    pub(super) text_often: &'static str,
    pub(super) not_understood: &'static str,
    pub(super) not_understood_kind: &'static str,
    /// Requests that are understood, by kind.
    pub(super) examples: [&'static str; 4],
    pub(super) press_confirm: &'static str,
    pub(super) thanks: &'static str,
    pub(super) status: &'static str,
    pub(super) another_work: &'static str,
    pub(super) no_work_yet: &'static str,
    pub(super) cannot_rename_work: &'static str,
    pub(super) going_on: &'static str,
    /// Questions and their options.
    pub(super) ask_kind: &'static str,
    pub(super) kind_options: [&'static str; 4],
    pub(super) ask_change: &'static str,
    pub(super) option_darker: &'static str,
    pub(super) option_brighter: &'static str,
    pub(super) option_add: &'static str,
    pub(super) option_fine: &'static str,
    pub(super) request_darker: &'static str,
    pub(super) request_brighter: &'static str,
    pub(super) request_add: [&'static str; 4],
    pub(super) ask_trouble: &'static str,
    pub(super) trouble_bin: &'static str,
    pub(super) trouble_create: &'static str,
    pub(super) option_again: &'static str,
    pub(super) option_restored: &'static str,
    pub(super) option_stop: &'static str,
    pub(super) ask_foreign: &'static str,
    pub(super) option_close: &'static str,
    pub(super) option_anew: &'static str,
    /// What an edit did, for the reply and the history.
    pub(super) did_describe: &'static str,
    pub(super) did_note: &'static str,
    pub(super) did_add_text: &'static str,
    pub(super) did_without: &'static str,
    pub(super) did_rename: &'static str,
    pub(super) did_duration: &'static str,
    pub(super) did_add: &'static str,
    pub(super) did_remove: &'static str,
    pub(super) did_move: &'static str,
    pub(super) did_replace: &'static str,
    pub(super) did_connect: &'static str,
    pub(super) without: &'static str,
    pub(super) new_part: &'static str,
    /// Of the main thread.
    pub(super) main_answer: &'static str,
    pub(super) ask_place: &'static str,
    /// Summary and short line.
    pub(super) asked: &'static str,
    pub(super) also_asked: &'static str,
    pub(super) work_line: &'static str,
    pub(super) done_line: &'static str,
    pub(super) line_waiting: &'static str,
    pub(super) line_clarify: &'static str,
    pub(super) line_review: &'static str,
    pub(super) line_changing: &'static str,
    pub(super) line_delivered: &'static str,
    pub(super) line_trouble: &'static str,
    /// Orders to executors, and the labels by which an offline executor reads them.
    pub(super) order_picture: &'static str,
    pub(super) order_section: &'static str,
    pub(super) label_title: &'static str,
    pub(super) label_seen: &'static str,
    pub(super) label_frame: &'static str,
    pub(super) label_style: &'static str,
    pub(super) label_subject: &'static str,
    pub(super) no_style: &'static str,
    pub(super) to_be_written: &'static str,
    pub(super) section_draft: &'static str,
    pub(super) offline_note: &'static str,
    pub(super) poster_format: &'static str,
    pub(super) poster_notes: &'static str,
    pub(super) text_note: &'static str,
    pub(super) quoted: &'static str,
    pub(super) comma: &'static str,
    pub(super) stop: &'static str,
    /// Idea books.
    pub(super) shots: [Idea; 12],
    pub(super) posters: [Idea; 12],
    pub(super) sections: [Idea; 12],
    pub(super) scenes: [Idea; 6],
    pub(super) nodes: [Idea; 8],
    /// Styles, in the order of the table.
    pub(super) styles: [StyleWords; 12],
}

impl Language {
    /// The language of a BCP 47 tag; where there is none, that of the text.
    pub(super) fn of(tag: &str, text: &str) -> Self {
        match tag
            .split(['-', '_'])
            .next()
            .unwrap_or_default()
            .to_lowercase()
            .as_str()
        {
            "ru" => Self::Russian,
            "zh" => Self::Chinese,
            "" | "und" => Self::of_text(text),
            _ => Self::English,
        }
    }

    /// The language that most letters of a text are of.
    pub(super) fn of_text(text: &str) -> Self {
        let count = |is_letter: fn(char) -> bool| text.chars().filter(|c| is_letter(*c)).count();
        let han = count(super::lexicon::is_han) * 3;
        let cyrillic = count(|c| matches!(c, '\u{400}'..='\u{4ff}'));
        let latin = count(|c| c.is_ascii_alphabetic());
        if han > cyrillic && han > latin {
            Self::Chinese
        } else if cyrillic > latin {
            Self::Russian
        } else {
            Self::English
        }
    }

    /// What is said in it.
    pub(super) fn words(self) -> &'static Words {
        match self {
            Self::English => &words_en::WORDS,
            Self::Russian => &words_ru::WORDS,
            Self::Chinese => &words_zh::WORDS,
        }
    }

    /// "1 shot", "2 shots"; "2 кадра", "5 кадров".
    pub(super) fn counted(self, count: usize, [one, few, many]: [&str; 3]) -> String {
        let word = match (self, count % 10, count % 100) {
            (Self::Russian, 1, rest) if rest != 11 => one,
            (Self::Russian, 2..=4, rest) if !(12..=14).contains(&rest) => few,
            (Self::English, ..) if count == 1 => one,
            _ => many,
        };
        match self {
            Self::Chinese => format!("{count}{word}"),
            _ => format!("{count} {word}"),
        }
    }
}

/// A sentence with its names in braces filled in.
pub(super) fn fill(sentence: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(sentence.len() + 40);
    let mut rest = sentence;
    while let Some((before, behind)) = rest.split_once('{') {
        text.push_str(before);
        let Some((name, after)) = behind.split_once('}') else {
            text.push('{');
            rest = behind;
            continue;
        };
        let value = values.iter().find(|(known, _)| *known == name);
        text.push_str(value.map_or("", |(_, value)| value));
        rest = after;
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_of_a_task_is_taken_from_its_tag_and_else_from_its_words() {
        assert_eq!(Language::of("ru-RU", "film"), Language::Russian);
        assert_eq!(Language::of("zh-Hans", "film"), Language::Chinese);
        assert_eq!(Language::of("de", "Plakat"), Language::English);
        assert_eq!(Language::of("", "три плаката"), Language::Russian);
        assert_eq!(Language::of("und", "三张海报 poster"), Language::Chinese);
        assert_eq!(Language::of("", ""), Language::English);
    }

    #[test]
    fn things_are_counted_as_each_language_does() {
        let forms = ["кадр", "кадра", "кадров"];
        for (count, text) in [
            (1, "1 кадр"),
            (3, "3 кадра"),
            (5, "5 кадров"),
            (11, "11 кадров"),
            (21, "21 кадр"),
        ] {
            assert_eq!(Language::Russian.counted(count, forms), text);
        }
        assert_eq!(
            Language::English.counted(1, ["shot", "shots", "shots"]),
            "1 shot"
        );
        assert_eq!(Language::Chinese.counted(3, ["个镜头"; 3]), "3个镜头");
    }

    #[test]
    fn a_sentence_is_filled_once_and_never_from_what_was_filled_in() {
        let values = [("a", "{b}"), ("b", "no")];
        assert_eq!(fill("{a}, {c}{b} {", &values), "{b}, no {");
    }

    #[test]
    fn no_sentence_of_one_language_stands_in_another() {
        for language in [Language::Russian, Language::Chinese] {
            let words = language.words();
            for text in [
                words.intro,
                words.draft_ready,
                words.not_understood,
                words.ask_kind,
            ] {
                assert_eq!(Language::of_text(text), language, "{text}");
            }
        }
    }
}
