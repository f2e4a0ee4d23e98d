//! Numbers as people write them: digits, and words up to twelve, in three languages.

use super::lexicon::Phrase;

/// A number in a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number {
    /// How many, or which.
    pub(super) value: u32,
    /// Whether it says which.
    pub(super) is_ordinal: bool,
    /// How many words it has.
    pub(super) len: usize,
}

/// Words for 1 to 12.
const CARDINALS: [&[&str]; 12] = [
    &[
        "one",
        "один",
        "одна",
        "одну",
        "одно",
        "одного",
        "одной",
        "一",
    ],
    &["two", "два", "две", "двух", "двумя", "двум", "二", "两"],
    &["three", "три", "трех", "тремя", "трем", "三"],
    &["four", "четыре", "четырех", "четырьмя", "四"],
    &["five", "пять", "пяти", "пятью", "五"],
    &["six", "шесть", "шести", "шестью", "六"],
    &["seven", "семь", "семи", "семью", "七"],
    &["eight", "восемь", "восьми", "восемью", "八"],
    &["nine", "девять", "девяти", "девятью", "九"],
    &["ten", "десять", "десяти", "десятью", "十"],
    &["eleven", "одиннадцать", "одиннадцати", "十一"],
    &[
        "twelve",
        "dozen",
        "двенадцать",
        "двенадцати",
        "дюжина",
        "дюжину",
        "十二",
    ],
];

/// Words for first to twelfth; Russian ones without their endings.
const ORDINALS: [(&str, &str); 12] = [
    ("first", "перв"),
    ("second", "втор"),
    ("third", "трет"),
    ("fourth", "четверт"),
    ("fifth", "пят"),
    ("sixth", "шест"),
    ("seventh", "седьм"),
    ("eighth", "восьм"),
    ("ninth", "девят"),
    ("tenth", "десят"),
    ("eleventh", "одиннадцат"),
    ("twelfth", "двенадцат"),
];

const RUSSIAN_ENDINGS: &[&str] = &[
    "ый", "ой", "ий", "ая", "ое", "ье", "ья", "ью", "ую", "ого", "ьего", "ому", "ьему", "ом",
    "ьем", "ым", "ьим", "ые", "ых", "ей",
];

/// What makes an ordinal of digits: "2-й", "2nd".
const DIGIT_ENDINGS: &[&str] = &[
    "st", "nd", "rd", "th", "й", "я", "е", "го", "му", "м", "ю", "ой", "ый", "ая", "ого", "ом",
    "ую",
];

/// The number that begins at a word.
pub(super) fn number_at(phrase: &Phrase<'_>, at: usize) -> Option<Number> {
    if phrase.word(at) == "第" {
        let number = cardinal_at(phrase, at + 1)?;
        return Some(Number {
            is_ordinal: true,
            len: number.len + 1,
            ..number
        });
    }
    ordinal_at(phrase, at).or_else(|| cardinal_at(phrase, at))
}

fn cardinal_at(phrase: &Phrase<'_>, at: usize) -> Option<Number> {
    let number = |value, is_ordinal, len| {
        Some(Number {
            value,
            is_ordinal,
            len,
        })
    };
    let word = phrase.word(at);
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        let value = word.parse().ok()?;
        let is_joined = matches!(phrase.gap(at), "" | "-");
        let is_ordinal = is_joined && DIGIT_ENDINGS.contains(&phrase.word(at + 1));
        return number(value, is_ordinal, 1 + usize::from(is_ordinal));
    }
    if let Some(value) = chinese_tens(phrase, at) {
        return number(value.0, false, value.1);
    }
    let found = (1..)
        .zip(CARDINALS)
        .find(|(_, words)| words.contains(&word));
    found.and_then(|(value, _)| number(value, false, 1))
}

/// 十一, 二十, 二十三.
fn chinese_tens(phrase: &Phrase<'_>, at: usize) -> Option<(u32, usize)> {
    let digit = |place: usize| {
        let found = (1..).zip(CARDINALS).find(|(value, words)| {
            *value < 10
                && words.iter().any(|word| {
                    *word == phrase.word(place) && !word.is_ascii() && word.chars().count() == 1
                })
        });
        found.map(|(value, _)| value)
    };
    let (tens, ten_at) = match (phrase.word(at), digit(at)) {
        ("十", _) => (1, at),
        (_, Some(tens)) if phrase.word(at + 1) == "十" => (tens, at + 1),
        _ => return None,
    };
    let ones = digit(ten_at + 1);
    Some((
        tens * 10 + ones.unwrap_or(0),
        ten_at + 1 - at + usize::from(ones.is_some()),
    ))
}

fn ordinal_at(phrase: &Phrase<'_>, at: usize) -> Option<Number> {
    let word = phrase.word(at);
    let is_this = |(english, russian): &(&str, &str)| {
        let ending = word.strip_prefix(russian);
        word == *english || ending.is_some_and(|ending| RUSSIAN_ENDINGS.contains(&ending))
    };
    let found = (1..).zip(ORDINALS).find(|(_, names)| is_this(names));
    found.map(|(value, _)| Number {
        value,
        is_ordinal: true,
        len: 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_three_languages() {
        for (text, value, is_ordinal, len) in [
            ("5 shots", 5, false, 1),
            ("five shots", 5, false, 1),
            ("second shot", 2, true, 1),
            ("2nd shot", 2, true, 2),
            ("пять кадров", 5, false, 1),
            ("третьем кадре", 3, true, 1),
            ("пятого кадра", 5, true, 1),
            ("2-й кадр", 2, true, 2),
            ("三个镜头", 3, false, 1),
            ("两个镜头", 2, false, 1),
            ("十二个镜头", 12, false, 2),
            ("二十个镜头", 20, false, 2),
            ("第二个镜头", 2, true, 2),
            ("第12个镜头", 12, true, 2),
        ] {
            let expected = Number {
                value,
                is_ordinal,
                len,
            };
            assert_eq!(number_at(&Phrase::of(text), 0), Some(expected), "{text}");
        }
    }

    #[test]
    fn words_that_only_begin_like_a_number_are_none() {
        for text in ["пятно", "шестерня", "трещина", "someone", "99999999999"] {
            assert_eq!(number_at(&Phrase::of(text), 0), None, "{text}");
        }
    }
}
