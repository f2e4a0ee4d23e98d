//! Texts by rules: an outline with gaps, and what fills a gap.
//!
//! Invariants
//! - A gap stands exactly once in a text, because its heading does: an edit finds it whatever people write around it.

use serde_json::{Value, json};

use super::lexicon::Phrase;
use super::making::Recipe;
use super::wish::Wish;

const SCRIPT: &[&str] = &["script*", "screenplay*", "сценар*", "剧本", "脚本"];

/// Whether a script is wanted.
pub(super) fn is_script(wish: &Wish) -> bool {
    Phrase::of(&wish.said).has(SCRIPT)
}

/// The whole outline.
pub(super) fn outline(recipe: &Recipe<'_>) -> String {
    let mut text = format!("# {}\n\n{}\n", recipe.title(), recipe.words.text_note);
    for index in 0..recipe.ideas.len() {
        text.push_str(&format!("\n{}\n", gap(recipe, index)));
    }
    text
}

/// The heading of a section with nothing written below it yet.
pub(super) fn gap(recipe: &Recipe<'_>, index: usize) -> String {
    format!(
        "{}\n\n{}",
        heading(recipe.ideas[index].title),
        recipe.words.to_be_written
    )
}

/// The heading of a section.
pub(super) fn heading(title: &str) -> String {
    format!("## {title}")
}

/// The replacement that fills a gap.
pub(super) fn written(recipe: &Recipe<'_>, index: usize, answer: &str) -> Value {
    let heading = heading(recipe.ideas[index].title);
    json!({"find": gap(recipe, index), "replace": format!("{heading}\n\n{}", below_heading(answer))})
}

/// What an executor wrote, without headings that would look like those of the text.
fn below_heading(answer: &str) -> String {
    let lines = answer
        .trim()
        .lines()
        .map(|line| line.trim_start_matches('#').trim_end());
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::kind::Kind;
    use super::super::language::Language;
    use super::*;

    #[test]
    fn every_gap_of_an_outline_stands_there_once() {
        for (language, text) in [
            (Language::English, "an article about bees, 12 sections"),
            (Language::Russian, "сценарий про пчёл"),
            (Language::Chinese, "写一篇关于蜜蜂的文章"),
        ] {
            let wish = Wish::of([text]);
            let recipe = Recipe::of(Kind::Text, language, &wish, None);
            let outline = outline(&recipe);
            for index in 0..recipe.ideas.len() {
                assert_eq!(
                    outline.matches(&gap(&recipe, index)).count(),
                    1,
                    "{outline}"
                );
            }
        }
    }

    #[test]
    fn headings_of_an_executor_do_not_become_sections() {
        assert_eq!(below_heading("## Intro\n\nText\n"), "Intro\n\nText");
    }
}
