//! What a text is searched by: its words, in mixed Russian, English and Chinese.
//!
//! Invariants
//! - A text and a question about it are cut by the same rules, but for two: a run of Han characters is indexed as single
//!   characters and pairs and asked for as pairs, and words that say nothing are asked for only where there are no others.
//! - Cutting never fails and is linear in the length of the text.
//! - Whoever changes what comes out here raises `index::FORMAT`, so that every index is built anew.
//!
//! Not here: who may find what (`index`), highlighting (`excerpt`).

mod stop_words;
mod transliteration;

use std::collections::HashSet;

use frostem::{Algorithm, Stemmer};

/// Characters of one word; what follows is cut off.
const WORD_LENGTH: usize = 48;

/// A word of a text, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// Its searchable form.
    pub(crate) stem: String,
    /// Byte range in the text.
    pub(crate) place: std::ops::Range<usize>,
    /// Whether it says nothing by itself.
    pub(crate) is_stop: bool,
    /// Its letters, where they are Latin ones.
    latin: Option<String>,
}

/// What a character is written in, as far as cutting is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
    /// Han, kana and the like: written without spaces.
    Dense,
    Cyrillic,
    /// Latin and every other alphabet, and digits.
    Other,
}

/// The words of a text by which it is found.
pub(crate) fn indexed(text: &str) -> Vec<String> {
    let mut stems = Vec::new();
    for run in runs(text) {
        if run.script == Script::Dense {
            stems.extend(run.characters().map(|(stem, _)| stem));
            stems.extend(run.pairs().into_iter().map(|(stem, _)| stem));
        } else {
            stems.push(stem(&run.text, run.script));
        }
    }
    stems
}

/// The words that a question asks for, each once; those that say nothing only where it has no others.
pub(crate) fn question(text: &str) -> Vec<Word> {
    let words = places(text);
    let is_only_stops = words.iter().all(|word| word.is_stop);
    let mut seen = HashSet::new();
    let mut asked = words;
    asked.retain(|word| (is_only_stops || !word.is_stop) && seen.insert(word.stem.clone()));
    asked
}

/// The words of a text as a question has them, in their order, with their places.
pub(crate) fn places(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    for run in runs(text) {
        if run.script == Script::Dense {
            words.extend(run.pairs().into_iter().map(|(stem, place)| Word {
                is_stop: stop_words::is_dense_stop(&stem),
                latin: None,
                place,
                stem,
            }));
        } else {
            words.push(Word {
                stem: stem(&run.text, run.script),
                place: run.start..run.end,
                is_stop: stop_words::is_stop(&run.text),
                latin: (run.script == Script::Other).then_some(run.text),
            });
        }
    }
    words
}

impl Word {
    /// The Cyrillic word that this one may be, typed in Latin letters.
    pub(crate) fn in_cyrillic(&self) -> Option<String> {
        transliteration::in_cyrillic(self.latin.as_deref()?)
    }
}

fn stem(word: &str, script: Script) -> String {
    let algorithm = match script {
        Script::Cyrillic => Algorithm::Russian,
        Script::Other if word.is_ascii() => Algorithm::English,
        Script::Other | Script::Dense => return word.to_owned(),
    };
    Stemmer::new(algorithm).stem(word).into_owned()
}

/// Characters of one script that stand together, in lower case.
struct Run {
    text: String,
    script: Script,
    start: usize,
    end: usize,
    /// For dense runs: where each character stands.
    at: Vec<(usize, usize)>,
}

impl Run {
    fn characters(&self) -> impl Iterator<Item = (String, std::ops::Range<usize>)> + '_ {
        let places = self.at.iter().map(|(start, end)| *start..*end);
        self.text.chars().map(String::from).zip(places)
    }

    /// Neighbours two by two; a single character stands for itself.
    fn pairs(&self) -> Vec<(String, std::ops::Range<usize>)> {
        let characters: Vec<_> = self.characters().collect();
        if let [one] = characters.as_slice() {
            return vec![one.clone()];
        }
        let pair = |pair: &[(String, std::ops::Range<usize>)]| {
            let stem = format!("{}{}", pair[0].0, pair[1].0);
            (stem, pair[0].1.start..pair[1].1.end)
        };
        characters.windows(2).map(pair).collect()
    }
}

fn runs(text: &str) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut is_open = false;
    for (start, raw) in text.char_indices() {
        let end = start + raw.len_utf8();
        if is_mark(raw) {
            if let Some(run) = runs.last_mut().filter(|_| is_open) {
                compose(&mut run.text, raw);
                run.end = end;
            }
            continue;
        }
        let character = folded(raw);
        let Some(script) = script_of(character) else {
            is_open = false;
            continue;
        };
        let continues = is_open
            && runs.last().is_some_and(|run| {
                run.script == script
                    // A digit goes with the letters beside it: `v2`, `1км`.
                    || (character.is_ascii_digit() && run.script == Script::Cyrillic)
            });
        if !continues {
            runs.push(Run {
                text: String::new(),
                script,
                start,
                end,
                at: Vec::new(),
            });
        }
        is_open = true;
        let Some(run) = runs.last_mut() else { continue };
        run.end = end;
        if run.script == Script::Dense {
            run.text.push(character);
            run.at.push((start, end));
        } else if run.text.chars().count() < WORD_LENGTH {
            run.text.extend(
                character
                    .to_lowercase()
                    .map(|c| if c == 'ё' { 'е' } else { c }),
            );
        }
    }
    runs
}

/// The plain form of a full-width character.
fn folded(character: char) -> char {
    match character {
        '\u{ff01}'..='\u{ff5e}' => {
            char::from_u32(character as u32 - 0xff01 + 0x21).unwrap_or(character)
        }
        other => other,
    }
}

const fn is_mark(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200d}' | '\u{ad}')
}

/// Letters that were typed as a letter and a mark; other marks, such as those of stress, are left out.
fn compose(text: &mut String, mark: char) {
    if mark == '\u{306}' && text.ends_with('и') {
        text.pop();
        text.push('й');
    }
}

fn script_of(character: char) -> Option<Script> {
    let is_dense = matches!(character as u32,
        0x2e80..=0x2fdf | 0x3005..=0x3007 | 0x3040..=0x30ff | 0x31f0..=0x31ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff
        | 0xac00..=0xd7af | 0xf900..=0xfaff | 0x20000..=0x3ffff);
    if is_dense {
        return Some(Script::Dense);
    }
    if matches!(character as u32, 0x400..=0x52f) {
        return Some(Script::Cyrillic);
    }
    character.is_alphanumeric().then_some(Script::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str) -> Vec<String> {
        let words = question(text).into_iter();
        words.map(|word| word.stem).collect()
    }

    #[test]
    fn forms_of_a_word_are_one_word_in_russian_and_english() {
        assert_eq!(indexed("Плакаты")[0], indexed("плакатами")[0]);
        assert_eq!(indexed("ещё"), indexed("еще"));
        assert_eq!(indexed("posters")[0], indexed("Poster")[0]);
    }

    #[test]
    fn chinese_is_found_by_any_two_neighbours() {
        let stems = indexed("客户的海报颜色");
        for pair in asked("海报颜色") {
            assert!(stems.contains(&pair), "{pair} of {stems:?}");
        }
        assert_eq!(asked("色"), ["色"]);
        assert!(stems.contains(&"色".to_owned()));
    }

    #[test]
    fn scripts_that_stand_together_are_cut_apart() {
        assert_eq!(asked("AI海报v2"), ["ai", "海报", "v2"]);
        assert_eq!(asked("３Ｄ"), ["3d"]);
    }

    #[test]
    fn letters_typed_as_letter_and_mark_are_the_same_letters() {
        assert_eq!(indexed("чаи\u{306}"), indexed("чай"));
        assert_eq!(indexed("за\u{301}мок"), indexed("замок"));
    }

    #[test]
    fn words_that_say_nothing_are_asked_for_only_where_there_are_no_others() {
        assert_eq!(asked("the poster and the film"), ["poster", "film"]);
        assert_eq!(asked("to be or not to be").len(), 4);
        assert!(!asked("и не то").is_empty());
    }

    #[test]
    fn places_lead_back_into_the_text() {
        let text = "Где Плакат? 海报";
        let words = places(text);
        let shown: Vec<&str> = words.iter().map(|word| &text[word.place.clone()]).collect();
        assert_eq!(shown, ["Где", "Плакат", "海报"]);
    }

    #[test]
    fn russian_in_latin_letters_has_a_russian_form() {
        let words = places("plakaty kofejni");
        let forms: Vec<_> = words.iter().filter_map(Word::in_cyrillic).collect();
        assert_eq!(
            forms,
            [indexed("плакаты")[0].clone(), indexed("кофейни")[0].clone()]
        );
    }
}
