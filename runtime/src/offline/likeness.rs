//! How much a text and the tasks that a router is shown have to do with each other: words, meanings, and languages that are named.
//!
//! Invariants
//! - A word counts the more, the fewer of the tasks hold it; what stands in all of them tells nothing.
//! - Kinds of parts, numbers and positions are no words: every series has a second poster.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::LazyLock;

use frostem::{Algorithm, Stemmer};

use super::lexicon::{Phrase, is_han};
use super::route_words::{CHINESE, ENGLISH, NOTHING, RUSSIAN, SPELLINGS};
use crate::router::{RouterSituation, Shown};

/// What a word of a title, of a work's title and of other texts weighs.
const TITLE: f64 = 1.3;
const WORK: f64 = 1.2;
const TEXT: f64 = 1.0;
/// A cosine above which meanings are alike, and what each tenth above it weighs.
const MEANT: f64 = 0.25;
const MEANING: f64 = 10.0;
/// What it weighs that a text names the language of a task.
const LANGUAGE: f64 = 5.0;
/// What a word is worth that was found in spite of a slip.
const SLIP: f64 = 0.7;

/// How much a text has to do with one task.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Alike {
    /// The task, by its place among those that are shown.
    pub(super) place: usize,
    /// In all.
    pub(super) total: f64,
    /// Whether it is called so, or one of its works is.
    pub(super) is_named: bool,
}

/// The tasks of a situation, ready to be compared with texts.
pub(super) struct Tasks<'a> {
    shown: &'a [Shown],
    words: Vec<Words>,
}

impl<'a> Tasks<'a> {
    pub(super) fn of(situation: &'a RouterSituation) -> Self {
        let shown = situation.shown.as_slice();
        let words = shown.iter().map(Words::of).collect();
        Self { shown, words }
    }

    /// How much a text has to do with each task, most first.
    pub(super) fn likeness(&self, text: &str) -> Vec<Alike> {
        let phrase = Phrase::of(text);
        let told = (0..).zip(self.shown).map(|(place, shown)| Alike {
            place,
            total: beyond_words(&phrase, shown),
            is_named: false,
        });
        add_words(&self.words, text, told.collect())
    }
}

fn add_words(tasks: &[Words], text: &str, mut alike: Vec<Alike>) -> Vec<Alike> {
    let told = terms(text);
    for term in &told {
        let mut found: Vec<Option<f64>> = tasks.iter().map(|words| words.find(term)).collect();
        let mut worth = 1.0;
        if found.iter().all(Option::is_none) {
            found = tasks.iter().map(|words| words.find_slipped(term)).collect();
            worth = SLIP;
        }
        let count = found.iter().flatten().count();
        if count == 0 {
            continue;
        }
        let rarity = ((tasks.len() + 1) as f64 / count as f64).ln();
        for (one, weight) in alike.iter_mut().zip(found) {
            if let Some(weight) = weight {
                one.total += weight * rarity * worth;
                one.is_named |= weight > TEXT;
            }
        }
    }
    alike.sort_by(|one, other| other.total.total_cmp(&one.total));
    alike
}

/// What meanings and named languages say.
fn beyond_words(phrase: &Phrase<'_>, shown: &Shown) -> f64 {
    let cosine = shown.weighed.vector.unwrap_or_default();
    let meaning = MEANING * (cosine - MEANT).max(0.0);
    let title = Phrase::of(&shown.weighed.task.title);
    let named = [("en", &*ENGLISH), ("ru", &*RUSSIAN), ("zh", &*CHINESE)];
    let is_language = |(tag, names): &(&str, &Vec<&str>)| {
        let is_its_own = domain::task::detect_language(&shown.weighed.task.goal) == *tag;
        phrase.has(names) && (is_its_own || title.has(names))
    };
    meaning
        + if named.iter().any(is_language) {
            LANGUAGE
        } else {
            0.0
        }
}

/// The words of a task, each with the most that a place of it weighs.
struct Words(BTreeMap<String, f64>);

impl Words {
    fn of(shown: &Shown) -> Self {
        let task = &shown.weighed.task;
        let titles = shown.works.iter().map(|work| (work.title.as_str(), WORK));
        let fields = [
            (task.title.as_str(), TITLE),
            (&task.goal, TEXT),
            (&shown.short_line, TEXT),
        ];
        let mut words = BTreeMap::new();
        for (text, weight) in fields.into_iter().chain(titles) {
            for term in terms(text) {
                let known = words.entry(term.own).or_insert(weight);
                *known = f64::max(*known, weight);
            }
        }
        Self(words)
    }

    fn find(&self, term: &Term) -> Option<f64> {
        let own = self.0.get(&term.own);
        own.or_else(|| self.0.get(term.spelt.as_ref()?)).copied()
    }

    /// A word with one letter too many, too few or wrong.
    fn find_slipped(&self, term: &Term) -> Option<f64> {
        let is_near = |word: &&String| is_one_slip_away(word, &term.own);
        self.0.keys().find(is_near).map(|word| self.0[word])
    }
}

/// A word of a text: its stem, and how it is spelt in the other script.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Term {
    own: String,
    spelt: Option<String>,
}

/// Stems of words and pairs of Chinese characters, each once.
fn terms(text: &str) -> BTreeSet<Term> {
    let phrase = Phrase::of(text);
    let mut terms = BTreeSet::new();
    for at in 0..phrase.len() {
        let (word, next) = (phrase.word(at), phrase.word(at + 1));
        if says_nothing(word) {
            continue;
        }
        if word.chars().all(is_han) {
            let is_pair = next.chars().next().is_some_and(is_han) && phrase.gap(at).is_empty();
            if is_pair && !says_nothing(next) {
                terms.insert(Term {
                    own: format!("{word}{next}"),
                    spelt: None,
                });
            }
        } else if word.chars().count() > 2 && word.chars().all(char::is_alphabetic) {
            let stem = stem(word);
            let spelt = respelt(word);
            terms.insert(Term { own: stem, spelt });
        }
    }
    terms
}

fn says_nothing(word: &str) -> bool {
    static WHOLE: LazyLock<HashSet<&str>> = LazyLock::new(|| NOTHING.iter().copied().collect());
    let begins = |entry: &&str| {
        entry
            .strip_suffix('*')
            .is_some_and(|stem| word.starts_with(stem))
    };
    WHOLE.contains(word) || NOTHING.iter().any(begins)
}

fn stem(word: &str) -> String {
    let algorithm = if word.is_ascii() {
        Algorithm::English
    } else {
        Algorithm::Russian
    };
    Stemmer::new(algorithm).stem(word).into_owned()
}

/// The same word in the other of both scripts: people type Russian in Latin letters, and names travel.
fn respelt(word: &str) -> Option<String> {
    let is_latin = word.is_ascii();
    let mut rest = word;
    let mut spelt = String::new();
    while !rest.is_empty() {
        let (from, to) = SPELLINGS
            .iter()
            .map(|(latin, cyrillic)| {
                if is_latin {
                    (*latin, *cyrillic)
                } else {
                    (*cyrillic, *latin)
                }
            })
            .find(|(from, _)| !from.is_empty() && rest.starts_with(from))?;
        spelt.push_str(to);
        rest = &rest[from.len()..];
    }
    (spelt.chars().count() > 1).then(|| stem(&spelt))
}

fn is_one_slip_away(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let (short, long) = if one.len() <= other.len() {
        (one, other)
    } else {
        (other, one)
    };
    if short.len() < 4 || long.len() - short.len() > 1 || short.iter().any(|c| is_han(*c)) {
        return false;
    }
    let same = short.iter().zip(&long).take_while(|(a, b)| a == b).count();
    let (short, long) = (&short[same..], &long[same..]);
    match long.len() - short.len() {
        0 => short.is_empty() || short[1..] == long[1..],
        _ => short == &long[1..],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slip_is_forgiven_and_two_are_not() {
        assert!(is_one_slip_away("насик", "насек"));
        assert!(is_one_slip_away("азбк", "азбук"));
        assert!(!is_one_slip_away("насик", "носок"));
        assert!(!is_one_slip_away("кот", "код"));
    }

    #[test]
    fn a_word_is_known_in_both_scripts() {
        let spelt = |word| terms(word).pop_first().and_then(|term| term.spelt);
        assert_eq!(
            spelt("фестиваль"),
            terms("festival").pop_first().map(|term| term.own)
        );
        assert_eq!(
            spelt("poza"),
            terms("поза").pop_first().map(|term| term.own)
        );
    }
}
