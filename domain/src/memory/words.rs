//! Words as memories are compared by them: a normal form, the terms of a text, and whether a text rests on something forgotten.
//!
//! Invariants
//! - The same text gives the same terms, everywhere and at every time: keys of words are stored.
//! - Russian, English and Chinese are cut alike wherever they stand; words with a digit in them are kept whole.
//!
//! Not here: the words that are searched (`search`), which knows real stems.

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::ids::WorkspaceId;

/// Words that say nothing by themselves.
const EMPTY: &[&str] = &[
    "the",
    "and",
    "are",
    "was",
    "were",
    "for",
    "with",
    "that",
    "this",
    "from",
    "have",
    "has",
    "had",
    "not",
    "but",
    "you",
    "your",
    "our",
    "their",
    "his",
    "her",
    "its",
    "they",
    "them",
    "she",
    "all",
    "any",
    "can",
    "will",
    "would",
    "should",
    "may",
    "must",
    "let",
    "been",
    "being",
    "into",
    "than",
    "then",
    "there",
    "these",
    "those",
    "what",
    "when",
    "which",
    "who",
    "how",
    "about",
    "please",
    "person",
    "user",
    "prefers",
    "prefer",
    "likes",
    "like",
    "loves",
    "love",
    "wants",
    "want",
    "says",
    "said",
    "remember",
    "always",
    "never",
    "также",
    "это",
    "эта",
    "этот",
    "что",
    "чтобы",
    "как",
    "так",
    "для",
    "при",
    "под",
    "над",
    "или",
    "они",
    "она",
    "оно",
    "его",
    "наш",
    "наша",
    "наше",
    "наши",
    "мой",
    "моя",
    "мои",
    "ваш",
    "все",
    "всё",
    "всегда",
    "никогда",
    "был",
    "была",
    "было",
    "были",
    "есть",
    "нужно",
    "надо",
    "если",
    "уже",
    "ещё",
    "еще",
    "запомни",
    "пользователь",
    "человек",
    "предпочитает",
    "любит",
    "люблю",
    "хочет",
];

/// A text without what does not matter to what it says: case, punctuation, spaces.
pub fn normal(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    for character in text.chars().flat_map(char::to_lowercase) {
        match character {
            'ё' => normal.push('е'),
            letter if letter.is_alphanumeric() => normal.push(letter),
            _ if normal.ends_with(' ') || normal.is_empty() => {}
            _ => normal.push(' '),
        }
    }
    normal.trim_end().to_owned()
}

/// The key of what a text says: texts that differ in case and punctuation alone share it. Salted with the workspace, so that keys of
/// two workspaces can not be compared.
pub(super) fn key_of(workspace: WorkspaceId, text: &str) -> Uuid {
    Uuid::new_v5(&workspace.uuid(), normal(text).as_bytes())
}

/// The terms of a text: its words without their endings, Chinese in pairs of characters.
pub(super) fn terms(text: &str) -> BTreeSet<String> {
    let mut terms = BTreeSet::new();
    let normal = normal(text);
    for word in normal.split(' ') {
        let mut rest = word;
        while let Some(first) = rest.chars().next() {
            let is_han_run = is_han(first);
            let end = rest.find(|c| is_han(c) != is_han_run).unwrap_or(rest.len());
            let (run, behind) = rest.split_at(end);
            if is_han_run {
                add_pairs(&mut terms, run);
            } else {
                add_word(&mut terms, run);
            }
            rest = behind;
        }
    }
    terms
}

fn is_han(character: char) -> bool {
    matches!(character, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3134f}')
}

fn add_pairs(terms: &mut BTreeSet<String>, run: &str) {
    let characters: Vec<char> = run.chars().collect();
    if let [one] = characters.as_slice() {
        terms.insert(one.to_string());
    }
    terms.extend(characters.windows(2).map(|pair| pair.iter().collect()));
}

fn add_word(terms: &mut BTreeSet<String>, word: &str) {
    let length = word.chars().count();
    if word.chars().any(|c| c.is_ascii_digit()) {
        terms.insert(word.to_owned());
    } else if length > 2 && !EMPTY.contains(&word) {
        terms.insert(word.chars().take(stem_length(word, length)).collect());
    }
}

/// How much of a word stays in all of its forms, about.
fn stem_length(word: &str, length: usize) -> usize {
    let is_cyrillic = word.chars().any(|c| ('\u{400}'..='\u{52f}').contains(&c));
    match (is_cyrillic, length) {
        (_, 0..=4) => length,
        (true, 5 | 6) => 3,
        (true, 7 | 8) | (false, 5) => 4,
        (true, _) | (false, 6 | 7) => 5,
        (false, _) => 6,
    }
}

/// The share of a text's terms that stand in another; none where the text has no terms.
pub(super) fn share_in(text: &str, other: &BTreeSet<String>) -> Option<f64> {
    let own = terms(text);
    if own.is_empty() {
        return None;
    }
    let found = own.iter().filter(|term| other.contains(*term)).count();
    Some(found as f64 / own.len() as f64)
}

/// What stands in the place of words that are gone.
pub(super) const MARK: &str = "…";

/// What was forgotten, for telling whether a text rests on it.
///
/// A text rests on it that names it, that says a word of it which nothing else that is left says, or that says all of it.
#[derive(Debug, Clone, Default)]
pub struct Echo {
    /// Words that only what was forgotten has said.
    own: BTreeSet<String>,
    /// All terms of each thing that was forgotten.
    whole: Vec<BTreeSet<String>>,
    /// Ids that stand for it.
    names: Vec<String>,
}

impl Echo {
    /// What these texts and ids are an echo of, beside texts that may still be used.
    pub fn new<'a>(
        forgotten: impl IntoIterator<Item = &'a str>,
        names: Vec<String>,
        left: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let whole: Vec<BTreeSet<String>> = forgotten.into_iter().map(terms).collect();
        let mut own: BTreeSet<String> = whole.iter().flatten().cloned().collect();
        for text in left {
            for term in terms(text) {
                own.remove(&term);
            }
        }
        Self {
            own,
            whole: whole
                .into_iter()
                .filter(|terms| !terms.is_empty())
                .collect(),
            names,
        }
    }

    /// Whether a text rests on what was forgotten.
    pub fn is_in(&self, text: &str) -> bool {
        if text.is_empty() {
            return false;
        }
        if self.names.iter().any(|name| text.contains(name.as_str())) {
            return true;
        }
        let terms = terms(text);
        self.own.iter().any(|term| terms.contains(term))
            || self.whole.iter().any(|whole| whole.is_subset(&terms))
    }

    /// The text without the words that rest on what was forgotten; none where it has none of them.
    pub fn cut(&self, text: &str) -> Option<String> {
        let mut left = text.to_owned();
        for name in &self.names {
            left = left.replace(name.as_str(), MARK);
        }
        let all = terms(&left);
        let mut gone: BTreeSet<&str> = self.own.intersection(&all).map(String::as_str).collect();
        for whole in self.whole.iter().filter(|whole| whole.is_subset(&all)) {
            gone.extend(whole.iter().map(String::as_str));
        }
        if !gone.is_empty() {
            left = without(&left, &gone);
        }
        (left != text).then_some(left)
    }
}

/// A text without the words that have these terms: one mark for any number of them in a row.
fn without(text: &str, gone: &BTreeSet<&str>) -> String {
    let mut left = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let kind = |c: char| (c.is_alphanumeric(), is_han(c));
        let of_first = kind(first);
        let end = rest.find(|c| kind(c) != of_first).unwrap_or(rest.len());
        let (run, behind) = rest.split_at(end);
        match of_first {
            (_, true) => push_pairs(&mut left, run, gone),
            (true, false) if terms(run).iter().any(|term| gone.contains(term.as_str())) => {
                push_mark(&mut left);
            }
            _ => left.push_str(run),
        }
        rest = behind;
    }
    left
}

fn push_mark(left: &mut String) {
    let end = left.trim_end().len();
    if left[..end].ends_with(MARK) {
        left.truncate(end);
    } else {
        left.push_str(MARK);
    }
}

fn push_pairs(left: &mut String, run: &str, gone: &BTreeSet<&str>) {
    let characters: Vec<char> = run.chars().collect();
    let is_gone = |pair: &[char]| gone.contains(pair.iter().collect::<String>().as_str());
    for (place, character) in characters.iter().enumerate() {
        let former = place.checked_sub(1).map(|from| &characters[from..=place]);
        let next = characters.get(place..place + 2);
        let alone = (characters.len() == 1).then_some(&characters[..]);
        if [former, next, alone].into_iter().flatten().any(is_gone) {
            push_mark(left);
        } else {
            left.push(*character);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_in_case_and_punctuation_alone_is_the_same() {
        let workspace = WorkspaceId::new();
        assert_eq!(normal("  Наш бренд — СИНИЙ, ещё! "), "наш бренд синий еще");
        assert_eq!(
            key_of(workspace, "Our brand is blue."),
            key_of(workspace, "our  brand is BLUE")
        );
        assert_ne!(
            key_of(workspace, "Our brand is blue."),
            key_of(WorkspaceId::new(), "Our brand is blue.")
        );
    }

    #[test]
    fn forms_of_a_word_share_a_term_in_three_languages() {
        for (one, other) in [
            ("posters", "poster"),
            ("синий бренд", "синего бренда"),
            ("зелёный", "зелёного"),
            ("深蓝色", "蓝色"),
        ] {
            let share = share_in(other, &terms(one)).expect("terms");
            assert!(share > 0.4, "{one} {other}: {share}");
        }
        assert!(share_in("teal", &terms("blue")).expect("terms") < 0.1);
    }

    #[test]
    fn a_text_rests_on_what_only_the_forgotten_has_said() {
        let echo = Echo::new(
            ["Our brand is teal"],
            vec!["memory_1".to_owned()],
            ["A poster for the brand"],
        );
        assert!(echo.is_in("Draw it in teal"));
        assert!(echo.is_in("see memory_1"));
        assert!(!echo.is_in("The brand poster is drawn"));
    }

    #[test]
    fn only_the_words_that_rest_on_it_are_cut_out() {
        let echo = Echo::new(
            ["Our brand is deep teal, 朱红色"],
            vec!["memory_1".to_owned()],
            ["A poster for the brand"],
        );
        let cut = |text: &str| echo.cut(text);
        assert_eq!(
            cut("A brand poster in deep TEAL, signed"),
            Some("A brand poster in …, signed".to_owned())
        );
        assert_eq!(cut("做朱红色的海报"), Some("做…的海报".to_owned()));
        assert_eq!(cut("as memory_1 says"), Some("as … says".to_owned()));
        assert_eq!(cut("A brand poster"), None);
    }

    #[test]
    fn what_is_still_said_elsewhere_is_an_echo_only_as_a_whole() {
        let left = ["a blue whale", "the brand book"];
        let echo = Echo::new(["Our brand is blue"], Vec::new(), left);
        assert!(!echo.is_in("The whale is blue"));
        assert!(echo.is_in("Blue is what the brand is"));
    }
}
