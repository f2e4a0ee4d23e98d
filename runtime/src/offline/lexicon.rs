//! Texts as the rules read them: words with their places, and lists of words to look for in three languages at once.
//!
//! Invariants
//! - A place in the words is a place in the text as it was written: what is taken out keeps its letters.
//! - People mix languages; every list holds all three.
//!
//! Not here: what the words mean (`understand`, `request`).

/// A word, or one Chinese character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    /// In lower case, with `е` for `ё`.
    pub(super) text: String,
    /// Where it begins in the text.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
}

/// A text and its words.
#[derive(Debug, Clone)]
pub(super) struct Phrase<'a> {
    source: &'a str,
    tokens: Vec<Token>,
}

/// Words of a phrase: from the first up to and without the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from: usize,
    pub(super) to: usize,
}

impl<'a> Phrase<'a> {
    pub(super) fn of(source: &'a str) -> Self {
        Self {
            source,
            tokens: tokenize(source),
        }
    }

    pub(super) fn source(&self) -> &'a str {
        self.source
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// A word in lower case; nothing behind the end.
    pub(super) fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &token.text)
    }

    /// Whether Chinese is written here.
    pub(super) fn is_chinese(&self) -> bool {
        let han = self.tokens.iter().filter(|token| is_han_word(token));
        han.count() * 2 > self.tokens.len()
    }

    /// How many words this entry of a list has at a place, where it stands there. `*` at its end means any ending.
    ///
    /// Entries are in lower case, their words apart; lists are long, and are looked through for each word.
    fn matches(&self, at: usize, entry: &str) -> Option<usize> {
        let (entry, is_stem) = match entry.strip_suffix('*') {
            Some(stem) => (stem, true),
            None => (entry, false),
        };
        let mut place = at;
        let mut rest = entry;
        while let Some(first) = rest.chars().next() {
            let end = if is_han(first) {
                first.len_utf8()
            } else {
                rest.find(|c| c == ' ' || is_han(c)).unwrap_or(rest.len())
            };
            let (word, behind) = (&rest[..end], rest[end..].trim_start());
            let there = self.word(place);
            let fits = if is_stem && behind.is_empty() {
                there.starts_with(word)
            } else {
                there == word
            };
            if !fits {
                return None;
            }
            place += 1;
            rest = behind;
        }
        (place > at).then_some(place - at)
    }

    /// Where another text stands in this one, word by word.
    pub(super) fn find_text(&self, text: &str) -> Option<Span> {
        let words = tokenize(text);
        let stands = |at: &usize| {
            words
                .iter()
                .enumerate()
                .all(|(index, word)| self.word(at + index) == word.text)
        };
        let from = (0..self.len()).find(stands).filter(|_| !words.is_empty())?;
        Some(Span {
            from,
            to: from + words.len(),
        })
    }

    /// The longest entry of a list that stands at a place.
    pub(super) fn at(&self, at: usize, list: &[&str]) -> Option<Span> {
        let longest = list
            .iter()
            .filter_map(|entry| self.matches(at, entry))
            .max();
        longest.map(|len| Span {
            from: at,
            to: at + len,
        })
    }

    /// The first entry of a list from a place on.
    pub(super) fn find_from(&self, from: usize, list: &[&str]) -> Option<Span> {
        (from..self.len()).find_map(|at| self.at(at, list))
    }

    /// The first entry of a list.
    pub(super) fn find(&self, list: &[&str]) -> Option<Span> {
        self.find_from(0, list)
    }

    /// Every entry of a list, from left to right, without overlaps.
    pub(super) fn find_all(&self, list: &[&str]) -> Vec<Span> {
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(span) = self.find_from(from, list) {
            from = span.to;
            found.push(span);
        }
        found
    }

    /// Whether an entry of the list is there.
    pub(super) fn has(&self, list: &[&str]) -> bool {
        self.find(list).is_some()
    }

    /// What stands between a word and the one after it.
    pub(super) fn gap(&self, at: usize) -> &'a str {
        let (Some(one), Some(next)) = (self.tokens.get(at), self.tokens.get(at + 1)) else {
            return "";
        };
        &self.source[one.end..next.start]
    }

    /// Whether nothing stands between a word and the one after it that keeps them apart: no end of a clause, no quotation mark.
    pub(super) fn runs_on(&self, at: usize) -> bool {
        let is_mark = |c: char| {
            QUOTES
                .iter()
                .any(|(open, close)| [*open, *close].contains(&c))
        };
        !self.breaks_after(at) && !self.gap(at).contains(is_mark)
    }

    /// Whether a clause ends behind a word.
    pub(super) fn breaks_after(&self, at: usize) -> bool {
        at + 1 >= self.len() || self.gap(at).contains(BREAKS)
    }

    /// Where the clause of a word ends: the place behind its last word.
    pub(super) fn clause_end(&self, at: usize) -> usize {
        let last = (at..self.len()).find(|place| self.breaks_after(*place));
        last.map_or(self.len(), |last| last + 1)
    }

    /// The text from a word up to another, as it was written.
    pub(super) fn slice(&self, from: usize, to: usize) -> &'a str {
        let to = to.min(self.len());
        let (Some(first), Some(last)) = (self.tokens.get(from), to.checked_sub(1)) else {
            return "";
        };
        match self.tokens.get(last) {
            Some(last) if last.end >= first.start => self.closed(first.start, last.end),
            _ => "",
        }
    }

    /// A part of the text, with the quotation mark that closes one it opened.
    fn closed(&self, start: usize, end: usize) -> &'a str {
        let (part, rest) = (&self.source[start..end], &self.source[end..]);
        let is_open = |(open, close): &&(char, char)| {
            open != close
                && part.matches(*open).count() > part.matches(*close).count()
                && rest.starts_with(*close)
        };
        match QUOTES.iter().find(is_open) {
            Some((_, close)) => &self.source[start..end + close.len_utf8()],
            None => part,
        }
    }

    /// Where a word begins in the text.
    pub(super) fn start_of(&self, at: usize) -> Option<usize> {
        self.tokens.get(at).map(|token| token.start)
    }

    /// The word that begins at or behind a place of the text.
    pub(super) fn word_at(&self, byte: usize) -> usize {
        self.tokens.partition_point(|token| token.start < byte)
    }
}

/// What ends a clause.
const BREAKS: &[char] = &[
    '.', ',', ';', ':', '!', '?', '\n', '(', ')', '—', '。', '、', '\u{ff0c}', '\u{ff1b}',
    '\u{ff1a}', '\u{ff01}', '\u{ff1f}', '\u{ff08}', '\u{ff09}',
];

/// Quotation marks, opening and closing.
const QUOTES: &[(char, char)] = &[
    ('«', '»'),
    ('\u{201c}', '\u{201d}'),
    ('„', '\u{201c}'),
    ('「', '」'),
    ('《', '》'),
    ('"', '"'),
];

/// What stands in quotation marks, from left to right, with its place in the text.
pub(super) fn quoted(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some((at, open)) = text[from..].char_indices().find(|(_, c)| is_opening(*c)) {
        let start = from + at + open.len_utf8();
        let closing = QUOTES
            .iter()
            .filter(|(one, _)| *one == open)
            .map(|(_, other)| *other);
        let end = closing
            .filter_map(|close| Some((text[start..].find(close)?, close.len_utf8())))
            .min();
        let Some((length, mark)) = end else {
            from = start;
            continue;
        };
        if length > 0 {
            found.push((start, &text[start..start + length]));
        }
        from = start + length + mark;
    }
    found
}

fn is_opening(c: char) -> bool {
    QUOTES.iter().any(|(open, _)| *open == c)
}

pub(super) fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}')
}

fn is_han_word(token: &Token) -> bool {
    token.text.chars().next().is_some_and(is_han)
}

/// What kind of character continues a word.
#[derive(PartialEq, Eq, Clone, Copy)]
enum Sort {
    Letter,
    Digit,
    Han,
    Other,
}

fn sort(c: char) -> Sort {
    match c {
        c if is_han(c) => Sort::Han,
        c if c.is_ascii_digit() => Sort::Digit,
        c if c.is_alphanumeric() => Sort::Letter,
        _ => Sort::Other,
    }
}

fn tokenize(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut former = Sort::Other;
    for (start, c) in text.char_indices() {
        let now = sort(c);
        let end = start + c.len_utf8();
        match tokens.last_mut() {
            _ if now == Sort::Other => {}
            Some(token) if now == former && now != Sort::Han => {
                token.end = end;
                push_lower(&mut token.text, c);
            }
            _ => {
                let mut text = String::new();
                push_lower(&mut text, c);
                tokens.push(Token { text, start, end });
            }
        }
        former = now;
    }
    tokens
}

fn push_lower(text: &mut String, c: char) {
    for lower in c.to_lowercase() {
        text.push(if lower == 'ё' { 'е' } else { lower });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        tokenize(text).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn words_are_split_as_the_three_languages_write_them() {
        assert_eq!(words("Five shots, 30s!"), ["five", "shots", "30", "s"]);
        assert_eq!(words("Ещё 2-й кадр"), ["еще", "2", "й", "кадр"]);
        assert_eq!(words("第2个镜头"), ["第", "2", "个", "镜", "头"]);
    }

    #[test]
    fn entries_are_found_by_word_stem_and_character() {
        let phrase = Phrase::of("Сделай раскадровку: story board, 三个镜头");
        assert_eq!(phrase.find(&["раскадровк*"]), Some(Span { from: 1, to: 2 }));
        assert_eq!(phrase.find(&["story board"]), Some(Span { from: 2, to: 4 }));
        assert_eq!(phrase.find(&["镜头"]), Some(Span { from: 6, to: 8 }));
        assert_eq!(phrase.find(&["board game"]), None);
    }

    #[test]
    fn what_is_taken_out_keeps_its_letters() {
        let phrase = Phrase::of("про Ёжика в тумане, пять кадров");
        assert_eq!(phrase.slice(1, phrase.clause_end(1)), "Ёжика в тумане");
        assert_eq!(phrase.slice(9, 3), "");
    }

    #[test]
    fn quotations_are_found_in_every_kind_of_marks() {
        let text = "«один» “two” 「三」 \"four\" „fünf“ «";
        let found: Vec<&str> = quoted(text).into_iter().map(|(_, text)| text).collect();
        assert_eq!(found, ["один", "two", "三", "four", "fünf"]);
    }
}
