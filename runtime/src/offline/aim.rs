//! Which parts of a work a request means: "shot 2", "во втором кадре", "最后一个镜头", all of them, or those of a title.

use super::lexicon::{Phrase, Span};
use super::numbers::{Number, number_at};

/// Which parts are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// Every part.
    All,
    /// The last one.
    Last,
    /// By number, from 1 on.
    Numbers(Vec<u32>),
    /// The parts of this title.
    Titled(String),
}

/// A target, and the words that name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Aim {
    pub(super) target: Target,
    pub(super) span: Span,
}

/// What parts are called.
pub(super) const UNITS: &[&str] = &[
    "shot",
    "shots",
    "scene",
    "scenes",
    "frame",
    "frames",
    "poster",
    "posters",
    "item",
    "items",
    "node",
    "nodes",
    "section",
    "sections",
    "paragraph",
    "paragraphs",
    "chapter",
    "chapters",
    "кадр*",
    "сцен",
    "сцена",
    "сцену",
    "сцены",
    "сцене",
    "сцен*",
    "плакат*",
    "постер*",
    "узел",
    "узл*",
    "раздел*",
    "абзац*",
    "глава",
    "главу",
    "главы",
    "главе",
    "镜头",
    "分镜",
    "画面",
    "海报",
    "节点",
    "段落",
    "章节",
    "部分",
];
/// What may stand between a Chinese number and a part.
const MEASURES: &[&str] = &["个", "张", "幅", "条", "格"];
const LAST: &[&str] = &["last", "final", "последн*", "最后"];
const EVERY: &[&str] = &[
    "all",
    "every",
    "each",
    "все",
    "всех",
    "всем",
    "каждый",
    "каждом",
    "каждую",
    "每",
    "所有",
    "全部",
];
const EVERYTHING: &[&str] = &[
    "everything",
    "all of it",
    "all of them",
    "все",
    "全部",
    "整体",
    "所有",
];
const NUMBER_SIGNS: &[&str] = &["number", "no", "nr", "номер", "№"];
const AND: &[&str] = &["and", "и", "和", "与"];

/// The first target from a word on.
pub(super) fn aim_from(phrase: &Phrase<'_>, from: usize) -> Option<Aim> {
    (from..phrase.len()).find_map(|at| {
        let unit = phrase.at(at, UNITS)?;
        aim_at(phrase, from, unit)
    })
}

/// The target of a request: parts by number, by title, or everything.
pub(super) fn aim_of(phrase: &Phrase<'_>, titles: &[String]) -> Option<Aim> {
    aim_from(phrase, 0)
        .or_else(|| titled(phrase, titles))
        .or_else(|| {
            phrase.find(EVERYTHING).map(|span| Aim {
                target: Target::All,
                span,
            })
        })
}

/// The target that a word for parts makes together with the words around it.
fn aim_at(phrase: &Phrase<'_>, from: usize, unit: Span) -> Option<Aim> {
    let behind = unit.to + usize::from(phrase.at(unit.to, NUMBER_SIGNS).is_some());
    if phrase.runs_on(unit.to - 1)
        && let Some(number) = number_at(phrase, behind)
        && !is_length(phrase, behind + number.len)
    {
        let (numbers, to) = list(phrase, behind, number);
        return Some(Aim {
            target: Target::Numbers(numbers),
            span: Span {
                from: unit.from,
                to,
            },
        });
    }
    let before = unit.from.saturating_sub(4).max(from)..unit.from;
    before
        .clone()
        .find_map(|at| ordinal(phrase, at, unit))
        .or_else(|| {
            let word = |list: &[&str]| {
                before.clone().find(|at| {
                    phrase
                        .at(*at, list)
                        .is_some_and(|span| is_near(phrase, span, unit))
                })
            };
            let (target, at) = match (word(LAST), word(EVERY)) {
                (Some(at), _) => (Target::Last, at),
                (None, Some(at)) => (Target::All, at),
                (None, None) => return None,
            };
            Some(Aim {
                target,
                span: Span {
                    from: at,
                    to: unit.to,
                },
            })
        })
}

/// An ordinal before a word for parts.
fn ordinal(phrase: &Phrase<'_>, at: usize, unit: Span) -> Option<Aim> {
    let number = number_at(phrase, at).filter(|number| number.is_ordinal)?;
    let to = at + number.len;
    let is_joined = to == unit.from
        || phrase
            .at(to, MEASURES)
            .is_some_and(|measure| measure.to == unit.from)
        || is_list_before(phrase, to, unit);
    if !is_joined {
        return None;
    }
    let mut numbers = vec![number.value];
    if let Some(next) = number_at(phrase, to + 1).filter(|_| is_list_before(phrase, to, unit)) {
        numbers.push(next.value);
    }
    Some(Aim {
        target: Target::Numbers(numbers),
        span: Span {
            from: at,
            to: unit.to,
        },
    })
}

/// "the second and third shot".
fn is_list_before(phrase: &Phrase<'_>, to: usize, unit: Span) -> bool {
    phrase.at(to, AND).is_some()
        && number_at(phrase, to + 1)
            .is_some_and(|next| next.is_ordinal && to + 1 + next.len == unit.from)
}

/// "last shot", "last of the shots", "最后一个镜头": nothing but small words between.
fn is_near(phrase: &Phrase<'_>, span: Span, unit: Span) -> bool {
    (span.to..unit.from).all(|at| {
        let is_small = ["of", "the", "из", "一", "的", "这"].contains(&phrase.word(at));
        is_small || phrase.at(at, MEASURES).is_some()
    })
}

/// "shot 8 seconds" is no eighth shot.
fn is_length(phrase: &Phrase<'_>, at: usize) -> bool {
    phrase.at(at, super::wish::SECONDS).is_some()
}

/// "2, 3 and 5", "2-4".
fn list(phrase: &Phrase<'_>, at: usize, first: Number) -> (Vec<u32>, usize) {
    let mut numbers = vec![first.value];
    let mut to = at + first.len;
    loop {
        let skipped = usize::from(phrase.at(to, AND).is_some());
        let gap = phrase.gap((to + skipped).saturating_sub(1)).trim();
        let is_range = skipped == 0 && matches!(gap, "-" | "–" | "—");
        let is_listed = skipped == 1 || is_range || matches!(gap, "," | "、" | "\u{ff0c}");
        let next = number_at(phrase, to + skipped).filter(|_| is_listed);
        let Some(next) = next.filter(|next| !is_length(phrase, to + skipped + next.len)) else {
            return (numbers, to);
        };
        let last = numbers.last().copied().unwrap_or_default();
        if is_range && next.value > last && next.value - last <= 100 {
            numbers.extend(last + 1..=next.value);
        } else {
            numbers.push(next.value);
        }
        to += skipped + next.len;
    }
}

/// The longest title that stands in the phrase.
fn titled(phrase: &Phrase<'_>, titles: &[String]) -> Option<Aim> {
    let long_enough = |title: &&String| title.chars().count() >= 2;
    let found = titles.iter().filter(long_enough).filter_map(|title| {
        let span = phrase.find_text(title)?;
        Some((span.to - span.from, title, span))
    });
    let (_, title, span) = found.max_by_key(|(len, ..)| *len)?;
    Some(Aim {
        target: Target::Titled(title.clone()),
        span,
    })
}

/// A bare number, as in "after the third".
pub(super) fn bare_number(phrase: &Phrase<'_>, at: usize) -> Option<u32> {
    let at = at + usize::from(["the", "number", "номер"].contains(&phrase.word(at)));
    number_at(phrase, at).map(|number| number.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_found_in_three_languages() {
        use Target::{All, Last, Numbers, Titled};
        let titles = ["Dawn".to_owned(), "Dawn in the harbour".to_owned()];
        for (text, target) in [
            ("make shot 2 darker", Some(Numbers(vec![2]))),
            ("make the second shot darker", Some(Numbers(vec![2]))),
            ("remove shots 2, 3 and 5", Some(Numbers(vec![2, 3, 5]))),
            ("shots 2-4 in blue", Some(Numbers(vec![2, 3, 4]))),
            ("the second and third shot", Some(Numbers(vec![2, 3]))),
            ("shorten the last shot", Some(Last)),
            ("all shots darker", Some(All)),
            ("make everything darker", Some(All)),
            (
                "make Dawn in the Harbour darker",
                Some(Titled("Dawn in the harbour".into())),
            ),
            ("add two shots", None),
            ("во втором кадре нужен дождь", Some(Numbers(vec![2]))),
            ("кадр номер 4", Some(Numbers(vec![4]))),
            ("2-й кадр", Some(Numbers(vec![2]))),
            ("последний плакат", Some(Last)),
            ("все кадры", Some(All)),
            ("把第二个镜头改成雨天", Some(Numbers(vec![2]))),
            ("第3张海报", Some(Numbers(vec![3]))),
            ("镜头2和3", Some(Numbers(vec![2, 3]))),
            ("最后一个镜头", Some(Last)),
            ("所有镜头", Some(All)),
            ("an hour of nothing", None),
        ] {
            let found = aim_of(&Phrase::of(text), &titles).map(|aim| aim.target);
            assert_eq!(found, target, "{text}");
        }
    }
}
