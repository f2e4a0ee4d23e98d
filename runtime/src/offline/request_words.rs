//! The words that requests are made of, in three languages; and how a message is taken apart into single requests.

use super::lexicon::{Phrase, quoted};

pub(super) const MAKE: &[&str] = &[
    "make",
    "let",
    "сделай*",
    "сделать",
    "пусть",
    "让",
    "调",
    "弄",
    "使",
];
pub(super) const REMOVE: &[&str] = &[
    "remove",
    "delete",
    "drop",
    "take out",
    "cut out",
    "убери*",
    "убрать",
    "удали*",
    "удалить",
    "выкинь*",
    "вырежи*",
    "删除",
    "删掉",
    "去掉",
    "去除",
    "移除",
];
pub(super) const ADD: &[&str] = &[
    "add",
    "insert",
    "append",
    "another",
    "one more",
    "добав*",
    "встав*",
    "допиши*",
    "еще",
    "增加",
    "添加",
    "加上",
    "加入",
    "插入",
    "再加",
    "加",
];
pub(super) const RENAME: &[&str] = &[
    "rename",
    "call",
    "title",
    "retitle",
    "переименуй*",
    "переименовать",
    "назови*",
    "назвать",
    "озаглав*",
    "改名",
    "改名为",
    "命名",
    "命名为",
    "重命名",
    "标题改成",
    "标题改为",
];
pub(super) const MOVE: &[&str] = &[
    "move",
    "put",
    "перенеси*",
    "перенести",
    "передвинь*",
    "перемести*",
    "переставь*",
    "поставь*",
    "移到",
    "移动",
    "移动到",
    "放到",
    "挪到",
];
pub(super) const REPLACE: &[&str] = &["replace", "замени*", "заменить", "替换", "换成", "替换为"];
pub(super) const CHANGE: &[&str] = &[
    "change",
    "turn",
    "измени*",
    "изменить",
    "поменяй*",
    "переделай*",
    "преврати*",
    "改成",
    "改为",
    "变成",
    "改",
];
pub(super) const SHOULD: &[&str] = &[
    "should show",
    "should be",
    "must show",
    "shall show",
    "shows",
    "пусть",
    "должен показывать",
    "должна показывать",
    "должен быть",
    "должно быть",
    "показывает",
    "应该是",
    "应该有",
    "应该",
    "要有",
];
pub(super) const CONNECT: &[&str] = &[
    "connect",
    "link",
    "join",
    "соедини*",
    "соединить",
    "свяжи*",
    "连接",
    "连到",
];
/// What leads to what something becomes.
pub(super) const INTO: &[&str] = &[
    "to",
    "into",
    "with",
    "by",
    "as",
    "на",
    "в",
    "改成",
    "改为",
    "变成",
    "换成",
    "改名为",
    "命名为",
    "为",
    "成",
];
/// What leads to the part that something is taken from.
pub(super) const FROM: &[&str] = &[
    "from", "in", "out of", "of", "из", "с", "со", "в", "во", "на", "от",
];
/// What stands behind a part that something is inside of.
pub(super) const INSIDE: &[&str] = &["里的", "中的", "上的", "里", "中", "里面的", "里面"];
/// What leads to the part that something is added to.
pub(super) const HERE: &[&str] = &[
    "to", "in", "into", "on", "в", "во", "на", "к", "给", "在", "到",
];
pub(super) const ABOUT: &[&str] = &[
    "about", "of", "with", "where", "showing", "про", "о", "об", "обо", "с", "со", "где", "关于",
];
pub(super) const AFTER: &[&str] = &["after", "behind", "после", "后面", "之后"];
pub(super) const BEFORE: &[&str] = &["before", "перед", "前面", "之前"];
pub(super) const BEGINNING: &[&str] = &[
    "at the beginning",
    "to the beginning",
    "to the start",
    "at the start",
    "to the front",
    "to the top",
    "в начало",
    "в начале",
    "первым",
    "最前面",
    "最前",
    "开头",
    "第一位",
];
pub(super) const END: &[&str] = &[
    "at the end",
    "to the end",
    "в конец",
    "в конце",
    "последним",
    "最后",
    "末尾",
    "结尾",
];
pub(super) const SHORTER: &[&str] = &[
    "shorter",
    "shorten",
    "короче",
    "сократи*",
    "укороти*",
    "短一点",
    "更短",
    "缩短",
    "短一些",
    "too long",
    "слишком длин*",
    "слишком долг*",
    "太长",
];
pub(super) const LONGER: &[&str] = &[
    "longer",
    "lengthen",
    "extend",
    "длиннее",
    "дольше",
    "удлини*",
    "продли*",
    "长一点",
    "更长",
    "延长",
    "长一些",
    "too short",
    "слишком корот*",
    "太短",
];
/// What a wish begins with that says nothing of it.
pub(super) const FILLERS: &[&str] = &[
    "please",
    "can",
    "could",
    "you",
    "i",
    "we",
    "want",
    "would",
    "like",
    "make",
    "let",
    "the",
    "in",
    "on",
    "at",
    "it",
    "so",
    "that",
    "and",
    "пожалуйста",
    "можешь",
    "можно",
    "хочу",
    "давай*",
    "надо",
    "нужно",
    "чтобы",
    "мне",
    "сделай*",
    "сделать",
    "пусть",
    "в",
    "во",
    "на",
    "и",
    "а",
    "там",
    "请",
    "能",
    "可",
    "以",
    "帮",
    "我",
    "想",
    "把",
    "让",
    "在",
    "里",
    "中",
    "的",
    "将",
    "给",
];
/// What a wish ends with that says nothing of it.
pub(super) const TRAILING: &[&str] = &[
    "please",
    "пожалуйста",
    "吧",
    "吗",
    "in",
    "on",
    "в",
    "во",
    "на",
    "把",
    "让",
    "将",
    "给",
    "请",
    "的",
];
/// What joins two requests.
const JOINTS: &[&str] = &[
    "and",
    "then",
    "also",
    "и",
    "а",
    "потом",
    "затем",
    "также",
    "然后",
    "再",
    "并",
    "并且",
];
/// What a request does something with.
pub(super) const VERBS: [&[&str]; 10] = [
    MAKE,
    REMOVE,
    ADD,
    RENAME,
    MOVE,
    REPLACE,
    CHANGE,
    CONNECT,
    SHOULD,
    &["把"],
];
const NOT: &[&str] = &[
    "not", "don t", "do not", "never", "не", "不要", "别", "不用", "不",
];
pub(super) const PRAISE: &[&str] = &[
    "like",
    "love",
    "great",
    "good",
    "nice",
    "perfect",
    "cool",
    "fine",
    "нравит*",
    "отличн*",
    "класс",
    "классно",
    "супер",
    "хорош*",
    "здорово",
    "прекрасн*",
    "喜欢",
    "很好",
    "不错",
    "很棒",
    "满意",
    "好看",
];
pub(super) const TOO: &[&str] = &["too", "слишком", "чересчур", "太"];
const DARK: &[&str] = &["dark", "темн*", "暗", "黑"];
const BRIGHT: &[&str] = &["bright", "light", "светл*", "ярк*", "亮"];

/// Whether a request says what is not to be done.
pub(super) fn is_negated(phrase: &Phrase<'_>) -> bool {
    let Some(not) = phrase.find(NOT) else {
        return false;
    };
    not.from <= 1 || VERBS.iter().any(|list| phrase.at(not.to, list).is_some())
}

/// What is wanted of something that is too dark or too bright, in the language of the phrase.
pub(super) fn opposite(phrase: &Phrase<'_>, at: usize) -> Option<String> {
    let words = super::language::Language::of_text(phrase.source()).words();
    let option = match (phrase.at(at, DARK), phrase.at(at, BRIGHT)) {
        (Some(_), _) => words.option_brighter,
        (_, Some(_)) => words.option_darker,
        _ => return None,
    };
    Some(option.to_lowercase())
}

/// The single requests of a message: its sentences, and what is joined with a verb of its own.
pub(super) fn requests_of(message: &str) -> Vec<&str> {
    let phrase = Phrase::of(message);
    let quotes: Vec<_> = quoted(message)
        .into_iter()
        .map(|(at, text)| at..at + text.len())
        .collect();
    let mut requests = Vec::new();
    let mut from = 0;
    for at in 1..phrase.len() {
        let is_quoted = phrase
            .start_of(at)
            .is_some_and(|byte| quotes.iter().any(|range| range.contains(&byte)));
        if is_quoted || at <= from {
            continue;
        }
        if let Some(next) = next_request(&phrase, from, at) {
            requests.push(whole(message, &phrase, from, at));
            from = next;
        }
    }
    requests.push(whole(message, &phrase, from, phrase.len()));
    requests.retain(|request| !request.is_empty());
    requests
}

/// Where the next request begins, if one does at a word; what joins it to the one before is left out.
fn next_request(phrase: &Phrase<'_>, from: usize, at: usize) -> Option<usize> {
    let gap = phrase.gap(at - 1);
    let joint = phrase.at(at, JOINTS);
    let begin = joint.map_or(at, |joint| joint.to);
    if ends_sentence(gap) {
        return Some(begin.min(phrase.len()));
    }
    let verb_in = |from: usize, to: usize| {
        (from..to).any(|place| VERBS.iter().any(|list| phrase.at(place, list).is_some()))
    };
    let is_new_clause = gap.contains([',', '\u{ff0c}', '、', '—']) && begin < phrase.len();
    let begins = verb_in(begin, (begin + 1).min(phrase.len()));
    // "In shot 2, add rain" is one request; "make shot 2 darker, and shot 3 remove" are two.
    let is_next = match (begins, is_new_clause) {
        (true, true) => true,
        (true, false) => joint.is_some(),
        (false, true) => {
            verb_in(begin, phrase.clause_end(begin))
                && super::aim::aim_from(phrase, begin).is_some()
        }
        (false, false) => false,
    };
    (is_next && verb_in(from, at)).then_some(begin)
}

fn ends_sentence(gap: &str) -> bool {
    let is_end = |c: char| {
        matches!(
            c,
            '!' | '?' | '\n' | ';' | '。' | '\u{ff01}' | '\u{ff1f}' | '\u{ff1b}'
        )
    };
    gap.contains(is_end)
        || gap
            .split_once('.')
            .is_some_and(|(_, rest)| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

/// The words with the quotation marks around them.
fn whole<'a>(message: &'a str, phrase: &Phrase<'a>, from: usize, to: usize) -> &'a str {
    let start = phrase.start_of(from).unwrap_or(message.len());
    let start = match from {
        0 => 0,
        _ => message[..start]
            .trim_end_matches(['«', '\u{201c}', '„', '「', '《', '"'])
            .len(),
    };
    let end = phrase.start_of(to).unwrap_or(message.len());
    let end = message[..end]
        .trim_end_matches(['«', '\u{201c}', '„', '「', '《'])
        .len();
    let text = message[start.min(end)..end].trim();
    text.trim_end_matches([',', '\u{ff0c}', ';', '\u{ff1b}', '.', '。', ' '])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_taken_apart_into_requests() {
        for (text, requests) in [
            (
                "Make shot 2 darker and remove shot 4.",
                vec!["Make shot 2 darker", "remove shot 4"],
            ),
            (
                "Add salt and pepper to shot 2",
                vec!["Add salt and pepper to shot 2"],
            ),
            (
                "Rename shot 1 to “Stop, make way”",
                vec!["Rename shot 1 to “Stop, make way”"],
            ),
            (
                "Сделай второй кадр темнее, а третий кадр удали!",
                vec!["Сделай второй кадр темнее", "третий кадр удали"],
            ),
            ("In shot 2, add rain", vec!["In shot 2, add rain"]),
            (
                "Убери дождь из кадра 2, добавь кадр про море",
                vec!["Убери дождь из кадра 2", "добавь кадр про море"],
            ),
            (
                "Hello! Make it 2.5 times larger",
                vec!["Hello", "Make it 2.5 times larger"],
            ),
            (
                "把第二个镜头调暗，然后删除镜头3。",
                vec!["把第二个镜头调暗", "删除镜头3"],
            ),
            ("", vec![]),
        ] {
            let found: Vec<&str> = requests_of(text)
                .into_iter()
                .map(|text| text.trim_end_matches('!'))
                .collect();
            assert_eq!(found, requests, "{text}");
        }
    }
}
