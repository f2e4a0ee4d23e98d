//! How a work is made by rules: its title, its parts, what executors are asked for each, and the calls that put the parts in.
//!
//! Invariants
//! - The same wish makes the same parts, in every process and at every step.
//! - The id of a part in a work is the id of its item in the plan, so that one finds the other.
//!
//! Not here: when which part is made (`filling`).

use domain::document::Version;
use domain::ids::WorkId;
use serde_json::{Value, json};

use super::executor::{self, Picture};
use super::kind::Kind;
use super::language::{Idea, Language, Words, fill};
use super::view::View;
use super::wish::{Length, MOST, Wish};
use super::{flow, text};
use crate::context::cut;

/// Characters of a work's title.
const TITLE: usize = 120;
/// Seconds of a shot where nobody said how long it is.
const SHOT_SECONDS: u32 = 5;

/// Which ideas of a book are taken first, by their places in it.
const SHOTS_FIRST: [usize; 12] = [0, 11, 1, 8, 3, 6, 2, 4, 9, 5, 7, 10];
const SECTIONS_FIRST: [usize; 12] = [0, 11, 3, 5, 1, 8, 2, 4, 9, 6, 7, 10];
const SCENES_FIRST: [usize; 6] = [0, 1, 2, 3, 4, 5];

/// How one work is made.
pub(super) struct Recipe<'a> {
    pub(super) kind: Kind,
    pub(super) words: &'static Words,
    pub(super) language: Language,
    pub(super) wish: &'a Wish,
    pub(super) ideas: Vec<Idea>,
}

impl<'a> Recipe<'a> {
    /// A recipe with as many parts as are wanted, or as a plan has.
    pub(super) fn of(kind: Kind, language: Language, wish: &'a Wish, count: Option<usize>) -> Self {
        let words = language.words();
        let wanted = wish.count.map(|count| count.min(MOST) as usize);
        let count = count.or(wanted);
        let ideas = match kind {
            Kind::Storyboard => chosen(&words.shots, &SHOTS_FIRST, count.unwrap_or(6)),
            Kind::Posters => words
                .posters
                .iter()
                .take(count.unwrap_or(4))
                .copied()
                .collect(),
            Kind::Flow => flow::ideas(words, wish),
            Kind::Text if text::is_script(wish) => {
                chosen(&words.scenes, &SCENES_FIRST, count.unwrap_or(6))
            }
            Kind::Text => chosen(&words.sections, &SECTIONS_FIRST, count.unwrap_or(4)),
        };
        Self {
            kind,
            words,
            language,
            wish,
            ideas,
        }
    }

    /// The title of the work.
    pub(super) fn title(&self) -> String {
        let words = self.kind.words(self.words);
        let title = match &self.wish.subject {
            Some(subject) => match &subject.led {
                Some(led) => fill(words.title_led, &[("subject", led)]),
                None => fill(words.title_plain, &[("subject", &subject.plain)]),
            },
            None => words.name.to_owned(),
        };
        super::draft::one_line(&title, TITLE)
    }

    /// "5 shots".
    pub(super) fn parts(&self) -> String {
        self.language
            .counted(self.ideas.len(), self.kind.words(self.words).parts)
    }

    /// The id of a part, counted from 0.
    pub(super) fn part_id(&self, index: usize) -> String {
        format!("{}-{}", self.kind.part(), index + 1)
    }

    /// "Shot 2: First look".
    pub(super) fn part_title(&self, index: usize) -> String {
        let title = self.ideas.get(index).map_or("", |idea| idea.title);
        named_part(self.kind, self.words, index + 1, title)
    }

    /// The name of the look that is wanted.
    pub(super) fn style_name(&self) -> Option<String> {
        let known = self
            .wish
            .styles
            .iter()
            .map(|style| self.words.styles[*style].name);
        let names: Vec<&str> = known.chain(self.wish.own_style.as_deref()).collect();
        (!names.is_empty()).then(|| names.join(self.words.comma))
    }

    /// What the look means for a picture.
    pub(super) fn look(&self) -> String {
        let looks: Vec<&str> = self
            .wish
            .styles
            .iter()
            .map(|style| self.words.styles[*style].look)
            .collect();
        if looks.is_empty() {
            self.words.no_style.to_owned()
        } else {
            looks.join(self.words.comma)
        }
    }

    /// What it is about, or what was said where rules found no subject.
    pub(super) fn subject(&self) -> String {
        match &self.wish.subject {
            Some(subject) => subject.plain.clone(),
            None => super::draft::one_line(&self.wish.said, 160),
        }
    }

    /// The arguments of `create_work`.
    pub(super) fn create(&self) -> Value {
        let mut arguments = json!({"kind": self.kind.tool_name(), "title": self.title()});
        if self.kind == Kind::Text {
            arguments["text"] = json!(text::outline(self));
        }
        arguments
    }

    /// Who is asked for a part, and what.
    pub(super) fn order(&self, index: usize) -> Option<(&'static str, String)> {
        let idea = self.ideas.get(index)?;
        match self.kind {
            Kind::Text => Some((
                "writer",
                executor::section_order(self.words, idea, &self.subject()),
            )),
            Kind::Flow if idea.frame != "prompt" => None,
            _ => Some((
                "prompt_engineer",
                executor::picture_order(self.words, &self.picture(idea)),
            )),
        }
    }

    /// What an executor would have answered, where none did.
    pub(super) fn own(&self, index: usize) -> String {
        let Some(idea) = self.ideas.get(index) else {
            return String::new();
        };
        match self.kind {
            Kind::Text => executor::section(self.words, idea.what, &self.subject()),
            _ => executor::picture(self.words, &self.picture(idea)),
        }
    }

    fn picture(&self, idea: &Idea) -> Picture {
        Picture {
            title: idea.title.to_owned(),
            subject: self.subject(),
            what: idea.what.to_owned(),
            frame: match self.kind {
                Kind::Flow => String::new(),
                _ => idea.frame.to_owned(),
            },
            style: match self.style_name() {
                Some(name) => format!("{name}{}{}", self.words.comma, self.look()),
                None => self.look(),
            },
        }
    }

    /// The call that puts a part in.
    pub(super) fn put(
        &self,
        index: usize,
        answer: &str,
        work: WorkId,
        base: Version,
    ) -> (&'static str, Value) {
        let summary = self.part_title(index);
        if self.kind == Kind::Text {
            let replacements = [text::written(self, index, answer)];
            return (
                "edit_text",
                json!({"work_id": work, "replacements": replacements, "summary": summary}),
            );
        }
        let operations = match self.kind {
            Kind::Flow => flow::operations(self, index, answer),
            _ => vec![json!({"put": self.node(index, answer)})],
        };
        let arguments = json!({"work_id": work, "base_version": base, "operations": operations, "summary": summary});
        ("edit_nodes", arguments)
    }

    fn node(&self, index: usize, prompt: &str) -> Value {
        let idea = &self.ideas[index];
        let fields = match self.kind {
            Kind::Posters => json!({
                "title": idea.title,
                "description": sentence(idea.what, self.words),
                "prompt": prompt,
                "palette": self.palette(),
                "format": self.words.poster_format,
                "notes": fill(self.words.poster_notes, &[("frame", &capital(idea.frame))]),
            }),
            _ => json!({
                "title": idea.title,
                "description": format!("{} {}", sentence(idea.frame, self.words), sentence(idea.what, self.words)).trim(),
                "prompt": prompt,
                "duration": self.seconds(index),
            }),
        };
        json!({"id": self.part_id(index), "type": self.kind.part(), "fields": fields})
    }

    fn palette(&self) -> [&'static str; 5] {
        match self.wish.styles.first() {
            Some(style) => super::style::STYLES[*style].palette,
            None => super::style::palette_for(&self.subject()),
        }
    }

    /// Seconds of a shot; of a whole length each gets its share, the first ones what is left over.
    pub(super) fn seconds(&self, index: usize) -> u32 {
        let count = (self.ideas.len() as u32).max(1);
        match self.wish.length {
            Some(Length::Each(seconds)) => seconds,
            Some(Length::Whole(seconds)) => {
                (seconds / count + u32::from((index as u32) < seconds % count)).max(1)
            }
            None => SHOT_SECONDS,
        }
    }

    /// Whether a part stands in the work already.
    pub(super) fn is_there(&self, index: usize, view: &View) -> bool {
        match self.kind {
            Kind::Text => !view.text.contains(&text::gap(self, index)),
            _ => view.nodes.iter().any(|node| node.id == self.part_id(index)),
        }
    }
}

/// "Shot 2: First look".
pub(super) fn named_part(kind: Kind, words: &'static Words, number: usize, title: &str) -> String {
    let title = cut(title, 80);
    let text = fill(
        kind.words(words).part,
        &[("number", &number.to_string()), ("title", &title)],
    );
    text.trim_end_matches([':', ' ', '\u{ff1a}']).to_owned()
}

/// The ideas that come first, in the order of the book.
fn chosen(book: &[Idea], first: &[usize], count: usize) -> Vec<Idea> {
    let mut places: Vec<usize> = first.iter().take(count.max(1)).copied().collect();
    places.sort_unstable();
    places
        .into_iter()
        .filter_map(|place| book.get(place))
        .copied()
        .collect()
}

/// The text with its first letter large.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// The text as a sentence.
pub(super) fn sentence(text: &str, words: &Words) -> String {
    let text = text.trim();
    match text.chars().last() {
        None => String::new(),
        Some('.' | '!' | '?' | '。' | '\u{ff01}' | '\u{ff1f}' | '…') => capital(text),
        Some(_) => format!("{}{}", capital(text), words.stop),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_storyboard_has_as_many_shots_as_wanted_and_keeps_beginning_and_end() {
        for count in 1..=12 {
            let wish = Wish {
                count: Some(count),
                ..Wish::default()
            };
            let recipe = Recipe::of(Kind::Storyboard, Language::English, &wish, None);
            assert_eq!(recipe.ideas.len(), count as usize);
            assert_eq!(recipe.ideas[0].title, "The place");
            assert!(
                count < 2
                    || recipe
                        .ideas
                        .last()
                        .is_some_and(|idea| idea.title == "Last image")
            );
        }
    }

    #[test]
    fn a_length_is_shared_out_over_the_shots() {
        let wish = Wish::of(["a storyboard of 4 shots, 30 seconds"]);
        let recipe = Recipe::of(Kind::Storyboard, Language::English, &wish, None);
        let seconds: Vec<u32> = (0..4).map(|index| recipe.seconds(index)).collect();
        assert_eq!(seconds, [8, 8, 7, 7]);
    }

    #[test]
    fn titles_read_well_in_each_language() {
        for (language, text, title) in [
            (
                Language::English,
                "A storyboard about a fox, 3 shots",
                "Storyboard about a fox",
            ),
            (
                Language::English,
                "Posters “Night trains”",
                "Posters: Night trains",
            ),
            (
                Language::Russian,
                "Раскадровка про смотрителя маяка",
                "Раскадровка про смотрителя маяка",
            ),
            (
                Language::Chinese,
                "做一个关于灯塔守护人的分镜",
                "灯塔守护人·分镜",
            ),
            (Language::English, "a flow please", "Flow"),
        ] {
            let wish = Wish::of([text]);
            let kind = wish.kind.expect("it names a kind");
            assert_eq!(Recipe::of(kind, language, &wish, None).title(), title);
        }
    }
}
