//! What a person wants made, as far as rules can tell from their words.
//!
//! Invariants
//! - The same words always make the same wish: it is read anew at each step, and nowhere stored.
//! - Words that are not understood are kept where they can be: in the subject, as they were written.

use super::kind::{Kind, asked_for};
use super::lexicon::{Phrase, Span, quoted};
use super::numbers::number_at;
use super::style;

/// The most parts that a work is given by rules.
pub(super) const MOST: u32 = 12;

/// What a person wants made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Wish {
    /// The kind of work.
    pub(super) kind: Option<Kind>,
    /// How many parts.
    pub(super) count: Option<u32>,
    /// How long.
    pub(super) length: Option<Length>,
    /// What it is about.
    pub(super) subject: Option<Subject>,
    /// Looks that are named, as places in the table.
    pub(super) styles: Vec<usize>,
    /// A look in the person's own words.
    pub(super) own_style: Option<String>,
    /// Everything that was said.
    pub(super) said: String,
}

/// How long something is, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    /// The whole.
    Whole(u32),
    /// Each part.
    Each(u32),
}

/// What a work is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Subject {
    /// With the word before it, as the person wrote it: "about a fox", "про лису"; none where there was none.
    pub(super) led: Option<String>,
    /// Without.
    pub(super) plain: String,
}

impl Wish {
    /// Reads a goal and what was said since; what is said later holds.
    pub(super) fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut wish = Self::default();
        for text in texts {
            let more = Self::of_text(text);
            wish.kind = wish.kind.or(more.kind);
            wish.count = more.count.or(wish.count);
            wish.length = more.length.or(wish.length);
            wish.subject = wish.subject.or(more.subject);
            if !more.styles.is_empty() || more.own_style.is_some() {
                wish.styles = more.styles;
                wish.own_style = more.own_style;
            }
            wish.said.push_str(&more.said);
            wish.said.push('\n');
        }
        wish
    }

    fn of_text(text: &str) -> Self {
        let phrase = Phrase::of(text);
        let styles = style::named_in(&phrase);
        let kind = asked_for(&phrase);
        Self {
            count: count_of(&phrase, kind),
            length: length_of(&phrase),
            subject: subject_of(&phrase),
            own_style: if styles.is_empty() {
                own_style(&phrase)
            } else {
                None
            },
            styles,
            kind,
            said: text.to_owned(),
        }
    }
}

/// What is counted.
const PARTS: &[&str] = &[
    "shot",
    "shots",
    "scene",
    "scenes",
    "frame",
    "frames",
    "panel*",
    "poster",
    "posters",
    "section*",
    "paragraph*",
    "chapter*",
    "кадр*",
    "сцен",
    "сцена",
    "сцены",
    "план",
    "планов",
    "плана",
    "плакат*",
    "постер*",
    "афиш*",
    "раздел*",
    "абзац*",
    "глав",
    "главы",
    "镜头",
    "分镜",
    "画面",
    "海报",
    "段",
    "章",
];
/// Single things of the whole's own name are no count: one storyboard has several shots.
const WHOLES: &[&str] = &["分镜"];
/// What stands between a Chinese number and what it counts.
const MEASURES: &[&str] = &["个", "张", "幅", "条", "格", "组", "款", "篇"];

fn count_of(phrase: &Phrase<'_>, kind: Option<Kind>) -> Option<u32> {
    let mut at = 0;
    while at < phrase.len() {
        let Some(number) = number_at(phrase, at) else {
            at += 1;
            continue;
        };
        let behind = at + number.len;
        let is_counted = !number.is_ordinal && counts_parts(phrase, behind);
        let is_whole = number.value == 1
            && phrase
                .find_from(behind, WHOLES)
                .is_some_and(|span| span.from <= behind + 1);
        let is_one_of_text = kind == Some(Kind::Text) && number.value == 1;
        if is_counted && !is_whole && !is_one_of_text && number.value > 0 {
            return Some(number.value);
        }
        at = behind;
    }
    None
}

/// Whether the word at a place, or the one behind an adjective or a measure, is a part.
fn counts_parts(phrase: &Phrase<'_>, at: usize) -> bool {
    let has_part = |place: usize| phrase.at(place, PARTS).is_some();
    let is_open = |place: usize| at < place || !phrase.breaks_after(at);
    has_part(at)
        || (phrase.at(at, MEASURES).is_some() && has_part(at + 1))
        || (is_open(at)
            && phrase.at(at, SECONDS).is_none()
            && phrase.at(at, MINUTES).is_none()
            && has_part(at + 1))
}

pub(super) const SECONDS: &[&str] = &[
    "s",
    "sec",
    "secs",
    "second",
    "seconds",
    "с",
    "сек",
    "секунд*",
    "秒",
];
const MINUTES: &[&str] = &["min", "minute", "minutes", "мин", "минут*", "分钟"];
const EACH: &[&str] = &["each", "per shot", "every", "по", "каждый", "каждая", "每"];
const HALF_MINUTE: &[&str] = &["half a minute", "полминут*", "半分钟"];

fn length_of(phrase: &Phrase<'_>) -> Option<Length> {
    let found = |seconds: u32, span: Span| {
        let is_each = |place: usize| phrase.at(place, EACH).is_some();
        let before = (span.from.saturating_sub(4)..span.from).any(is_each);
        let behind = is_each(span.to);
        if before || behind {
            Length::Each(seconds)
        } else {
            Length::Whole(seconds)
        }
    };
    if let Some(span) = phrase.find(HALF_MINUTE) {
        return Some(found(30, span));
    }
    (0..phrase.len()).find_map(|from| {
        let number = number_at(phrase, from)?;
        let unit = from + number.len;
        let (span, factor) = match phrase.at(unit, SECONDS) {
            Some(span) => (span, 1),
            None => (phrase.at(unit, MINUTES)?, 60),
        };
        let seconds = number
            .value
            .checked_mul(factor)
            .filter(|seconds| (1..=36_000).contains(seconds))?;
        Some(found(seconds, Span { from, to: span.to }))
    })
}

const ABOUT: &[&str] = &[
    "about",
    "featuring",
    "on the topic of",
    "про",
    "о",
    "об",
    "обо",
    "на тему",
    "关于",
    "讲述",
    "讲",
    "介绍",
];
const FOR: &[&str] = &["for", "для", "к", "ко", "为"];
const OF: &[&str] = &["of"];
/// What a subject does not run into.
const ENDS: &[&str] = &[
    "in the style",
    "in a",
    "in style",
    "style",
    "в стиле",
    "в технике",
    "в духе",
    "стиль",
    "风格",
    "with",
    "lasting",
    "длиной",
    "длительностью",
    "длится",
    "时长",
    "共",
    "设计",
    "制作",
    "做",
    "写",
    "画",
    "创作",
];
/// A comma before these does not end a subject.
const GOES_ON: &[&str] = &[
    "who",
    "which",
    "that",
    "whose",
    "where",
    "котор*",
    "где",
    "чей",
    "что",
    "и",
];
/// What a subject does not end with.
const LOOSE: &[&str] = &[
    "in", "of", "with", "for", "and", "a", "the", "на", "из", "в", "с", "по", "и", "для", "за",
    "的", "有", "分成", "分为", "用", "一", "个",
];
const NOBODY: &[&str] = &[
    "me", "us", "you", "меня", "нас", "вас", "тебя", "我", "我们", "你",
];

fn subject_of(phrase: &Phrase<'_>) -> Option<Subject> {
    [ABOUT, FOR, OF]
        .into_iter()
        .find_map(|list| {
            phrase
                .find_all(list)
                .into_iter()
                .find_map(|span| led_subject(phrase, span))
        })
        .or_else(|| quoted_subject(phrase))
        .or_else(|| named_behind_colon(phrase))
}

fn led_subject(phrase: &Phrase<'_>, lead: Span) -> Option<Subject> {
    let from = lead.to;
    if from >= phrase.len()
        || phrase.at(from, NOBODY).is_some()
        || number_at(phrase, from).is_some_and(|_| counts_or_lasts(phrase, from))
    {
        return None;
    }
    let to = subject_end(phrase, from);
    let plain = phrase.slice(from, to);
    (!plain.is_empty()).then(|| Subject {
        led: (!phrase.is_chinese()).then(|| phrase.slice(lead.from, to).to_owned()),
        plain: plain.to_owned(),
    })
}

/// Whether a number counts parts or is a length.
fn counts_or_lasts(phrase: &Phrase<'_>, at: usize) -> bool {
    let behind = number_at(phrase, at).map_or(at, |number| at + number.len);
    counts_parts(phrase, behind)
        || phrase.at(behind, SECONDS).is_some()
        || phrase.at(behind, MINUTES).is_some()
}

fn subject_end(phrase: &Phrase<'_>, from: usize) -> usize {
    let mut end = from;
    while end < phrase.len() {
        let is_end = end > from
            && (phrase.at(end, ENDS).is_some()
                || counts_or_lasts_here(phrase, end)
                || is_kind_in_chinese(phrase, end));
        if is_end {
            break;
        }
        end += 1;
        let is_comma = phrase.gap(end - 1).trim() == ",";
        if phrase.breaks_after(end - 1) && !(is_comma && phrase.at(end, GOES_ON).is_some()) {
            break;
        }
    }
    while end > from + 1 && phrase.at(end - 1, LOOSE).is_some() {
        end -= 1;
    }
    end
}

fn counts_or_lasts_here(phrase: &Phrase<'_>, at: usize) -> bool {
    number_at(phrase, at).is_some() && counts_or_lasts(phrase, at)
}

/// 关于灯塔的分镜: the kind of work stands behind its subject.
fn is_kind_in_chinese(phrase: &Phrase<'_>, at: usize) -> bool {
    phrase.word(at) == "的" && {
        let end = phrase.clause_end(at);
        let rest = Phrase::of(phrase.slice(at + 1, end));
        asked_for(&rest).is_some() && !rest.source().contains('的')
    }
}

fn quoted_subject(phrase: &Phrase<'_>) -> Option<Subject> {
    let (_, text) = quoted(phrase.source()).into_iter().next()?;
    Some(Subject {
        led: None,
        plain: text.trim().to_owned(),
    })
}

/// "Storyboard: a fox and a crow".
fn named_behind_colon(phrase: &Phrase<'_>) -> Option<Subject> {
    let text = phrase.source();
    let (at, mark) = text
        .char_indices()
        .find(|(_, c)| matches!(c, ':' | '\u{ff1a}'))?;
    let from = phrase.word_at(at + mark.len_utf8());
    if from >= phrase.len() || counts_or_lasts_here(phrase, from) {
        return None;
    }
    let plain = phrase.slice(from, subject_end(phrase, from));
    (!plain.is_empty()).then(|| Subject {
        led: None,
        plain: plain.to_owned(),
    })
}

const STYLE_LEADS: &[&str] = &[
    "in the style of",
    "in style of",
    "в стиле",
    "в технике",
    "в духе",
    "风格是",
    "风格:",
];

fn own_style(phrase: &Phrase<'_>) -> Option<String> {
    let lead = phrase.find(STYLE_LEADS)?;
    let end = phrase.clause_end(lead.to).min(lead.to + 8);
    let text = phrase.slice(lead.to, end);
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(text: &str) -> Wish {
        Wish::of([text])
    }

    #[test]
    fn parts_are_counted() {
        for (text, count) in [
            ("A storyboard with 5 shots", Some(5)),
            ("a storyboard of five dark shots", Some(5)),
            ("раскадровка на пять кадров", Some(5)),
            ("Раскадровка, 7 кадров", Some(7)),
            ("分镜，三个镜头", Some(3)),
            ("六个分镜", Some(6)),
            ("做一个分镜", None),
            ("A poster series of four posters", Some(4)),
            ("три плаката", Some(3)),
            ("做三张海报", Some(3)),
            ("A film about three friends", None),
            ("the second shot", None),
            ("30 second film", None),
            ("40 shots", Some(40)),
        ] {
            assert_eq!(wish(text).count, count, "{text}");
        }
    }

    #[test]
    fn lengths_are_read_for_the_whole_and_for_each_part() {
        for (text, length) in [
            ("a 30-second film", Some(Length::Whole(30))),
            ("ролик на 30 секунд", Some(Length::Whole(30))),
            ("5 кадров по 4 секунды", Some(Length::Each(4))),
            ("6 shots, 3 s each", Some(Length::Each(3))),
            ("полминуты", Some(Length::Whole(30))),
            ("一分钟的短片", Some(Length::Whole(60))),
            ("每个镜头5秒", Some(Length::Each(5))),
            ("a film", None),
        ] {
            assert_eq!(wish(text).length, length, "{text}");
        }
    }

    #[test]
    fn subjects_are_taken_out_as_they_were_written() {
        for (text, plain) in [
            (
                "A storyboard about a lighthouse keeper's last night, 5 shots, noir",
                "a lighthouse keeper's last night",
            ),
            ("Storyboard of 5 shots about a fox", "a fox"),
            (
                "Раскадровка про смотрителя маяка на 5 кадров",
                "смотрителя маяка",
            ),
            (
                "Ролик о коте, который нашёл корабль, нуар",
                "коте, который нашёл корабль",
            ),
            (
                "Три плаката для фестиваля «Белые ночи» в стиле нуар",
                "фестиваля «Белые ночи»",
            ),
            (
                "Сделай для меня раскадровку: лиса и ворона",
                "лиса и ворона",
            ),
            ("做一个关于灯塔守护人的分镜，五个镜头", "灯塔守护人"),
            ("为咖啡店设计三张海报", "咖啡店"),
            ("Poster series “Night trains”", "Night trains"),
        ] {
            let subject = wish(text).subject;
            assert_eq!(
                subject.map(|subject| subject.plain).as_deref(),
                Some(plain),
                "{text}"
            );
        }
        assert_eq!(wish("Make a storyboard for me").subject, None);
    }

    #[test]
    fn looks_are_those_that_are_named_or_the_persons_own() {
        assert_eq!(wish("in noir and watercolor").styles, [0, 1]);
        assert_eq!(
            wish("постер в стиле детских рисунков").own_style.as_deref(),
            Some("детских рисунков")
        );
    }

    #[test]
    fn what_is_said_later_holds_for_numbers_and_looks_and_not_for_the_kind() {
        let wish = Wish::of([
            "A storyboard about a fox, 3 shots, noir",
            "Make it 5 shots, watercolor, for the poster",
        ]);
        assert_eq!((wish.kind, wish.count), (Some(Kind::Storyboard), Some(5)));
        assert_eq!(wish.styles, [1]);
        assert_eq!(
            wish.subject.map(|subject| subject.plain).as_deref(),
            Some("a fox")
        );
    }
}
