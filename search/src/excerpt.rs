//! The part of a text that shows why it was found.
//!
//! Invariants
//! - It is on one line, no longer than was asked for, and stands so in the text, but for line breaks.

use std::collections::HashSet;

use crate::words;

/// What stands where something was left out.
const LEFT_OUT: char = '…';
/// Words that are looked through.
const LOOKED_AT: usize = 20_000;

/// The stretch of a text that holds the most of what was asked for.
pub(crate) fn excerpt(text: &str, question: &str, length: usize) -> String {
    let asked: HashSet<String> = words::question(question)
        .into_iter()
        .map(|word| word.stem)
        .collect();
    let matching = words::places(text).into_iter().take(LOOKED_AT);
    let matching: Vec<_> = matching.filter(|word| asked.contains(&word.stem)).collect();
    let start = best_start(&matching, length);
    // A little of what stands before shows what the words belong to.
    let before = text[..start].char_indices().rev();
    let lead = before.take(length / 4).last().map_or(start, |(at, _)| at);
    let from = whole_word(text, lead, start);
    line(text, from, length)
}

/// Where the stretch begins that holds the most different words.
fn best_start(matching: &[words::Word], length: usize) -> usize {
    let mut best = (0, 0);
    for (first, word) in matching.iter().enumerate() {
        // Bytes are no characters, but a stretch of as many bytes is about as good everywhere in one text.
        let end = word.place.start + length;
        let inside = matching[first..]
            .iter()
            .take_while(|other| other.place.start < end);
        let different: HashSet<&str> = inside.map(|other| other.stem.as_str()).collect();
        if different.len() > best.0 {
            best = (different.len(), word.place.start);
        }
    }
    best.1
}

/// The beginning of the first whole word between two places.
fn whole_word(text: &str, from: usize, to: usize) -> usize {
    if from == 0 {
        return 0;
    }
    let spaces = text[from..to].char_indices();
    let mut ends = spaces.filter(|(_, character)| character.is_whitespace());
    ends.next()
        .map_or(from, |(at, space)| from + at + space.len_utf8())
}

fn line(text: &str, from: usize, length: usize) -> String {
    let mut line = String::new();
    let mut count = 0;
    if from > 0 {
        line.push(LEFT_OUT);
        count += 1;
    }
    let mut rest = text[from..].chars().peekable();
    while let Some(character) = rest.next() {
        let is_space = character.is_whitespace() || character.is_control();
        if is_space && line.ends_with(' ') {
            continue;
        }
        if count + 1 >= length && rest.peek().is_some() {
            line.push(LEFT_OUT);
            break;
        }
        line.push(if is_space { ' ' } else { character });
        count += 1;
    }
    line.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stretch_with_the_most_words_is_shown() {
        let text = format!(
            "{} A red poster. {} Шесть плакатов для маяка, красный фон. {}",
            "nothing here. ".repeat(40),
            "и так далее. ".repeat(40),
            "конец. ".repeat(40)
        );
        let found = excerpt(&text, "плакат маяк", 80);
        assert!(found.contains("плакатов для маяка"), "{found}");
        assert!(found.chars().count() <= 80 && found.starts_with('…') && found.ends_with('…'));
        assert!(excerpt(&text, "red", 60).contains("A red poster"));
    }

    #[test]
    fn a_short_text_is_shown_whole_on_one_line() {
        assert_eq!(excerpt("One\n\ntwo", "two", 100), "One two");
        assert_eq!(excerpt("", "two", 100), "");
        assert_eq!(excerpt("一张红色的海报", "海报", 100), "一张红色的海报");
    }

    #[test]
    fn no_text_and_no_length_breaks_it() {
        for length in [0, 1, 2, 5] {
            for text in ["", "a", "海报海报海报", "é\u{301}🎨 🎨", "  \n "] {
                let found = excerpt(text, "海报 a", length);
                assert!(found.chars().count() <= length.max(1), "{found:?}");
            }
        }
    }
}
