//! Whether a prompt stands on its own: an executor sees it and nothing else (J5).
//!
//! Invariants
//! - What stands in quotation marks is material, and says nothing about the prompt.
//! - On a line that has a history, words that point back to it are in order; ids of others never are.
//!
//! Not here: looking up which ids are known (`tools::delegate`).

use std::collections::HashSet;

/// A shorter prompt can not say what is to be done with what.
const SHORTEST: usize = 20;

/// What the executor knows besides the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum History {
    /// Nothing: the prompt opens its line.
    None,
    /// The earlier exchanges of its line.
    Line,
}

/// Phrases that point to something outside the prompt, in lower case. One that ends with `*` is the beginning of words.
const POINTING: &[&str] = &[
    "as discussed",
    "as we discussed",
    "as agreed",
    "as we agreed",
    "as before",
    "as above",
    "as mentioned",
    "as previously",
    "as usual",
    "same as before",
    "same as last time",
    "like last time",
    "like before",
    "the above",
    "above-mentioned",
    "aforementioned",
    "see above",
    "see previous",
    "see the previous",
    "mentioned earlier",
    "mentioned above",
    "discussed earlier",
    "described above",
    "the previous message",
    "the previous conversation",
    "our conversation",
    "our last conversation",
    "continue as",
    "continue where",
    "continue from where",
    "please continue",
    "pick up where",
    "как договорились",
    "как договаривались",
    "как мы договорились",
    "как мы договаривались",
    "как раньше",
    "как и раньше",
    "как прежде",
    "как и прежде",
    "как обсуждали",
    "как обсудили",
    "как мы обсуждали",
    "как мы обсудили",
    "как обсуждалось",
    "как уже обсуждали",
    "как в прошлый раз",
    "как обычно",
    "как сказано выше",
    "как указано выше",
    "как описано выше",
    "см. выше",
    "см выше",
    "см. ранее",
    "смотри выше",
    "смотрите выше",
    "вышеуказанн*",
    "вышеописанн*",
    "вышеупомянут*",
    "то же, что раньше",
    "如前所述",
    "如前述",
    "如上所",
    "如上述",
    "如上文",
    "如上面",
    "如上，",
    "如上,",
    "如上。",
    "同上",
    "见上文",
    "上文提到",
    "上文所述",
    "上述",
    "继续之前",
    "接着之前",
    "按照之前",
    "按之前",
    "和之前一样",
    "跟之前一样",
    "像之前一样",
    "像以前一样",
    "和上次一样",
    "跟上次一样",
    "之前说的",
    "之前讨论",
    "之前说好",
    "上次说的",
    "上次讨论",
    "我们讨论过",
    "照旧",
    "繼續之前",
    "之前討論",
];

/// Words that, at the beginning of a sentence, ask for more of something.
const ONWARD: &[&str] = &[
    "continue",
    "go on",
    "carry on",
    "keep going",
    "продолжай",
    "продолжайте",
    "继续",
    "繼續",
];

/// What may follow them, because it names what stands in the prompt.
const NAMED: &[&str] = &[
    " this ",
    " the following ",
    " этот ",
    " эту ",
    " это ",
    " следующ",
    "以下",
    "下面",
    "这",
];

/// What makes a prompt depend on something that its reader does not see; none where it stands on its own.
pub(crate) fn dangling(prompt: &str, history: History) -> Option<String> {
    let length = prompt.trim().chars().count();
    if length == 0 {
        return Some("the prompt is empty".to_owned());
    }
    if history == History::Line {
        return None;
    }
    if length < SHORTEST {
        return Some(format!(
            "the prompt has {length} characters, which can not stand on their own: say what is to be made, of what, in which form"
        ));
    }
    let outside = outside_quotes(prompt).to_lowercase();
    let found = pointing(&flat(&outside)).or_else(|| onward(&outside))?;
    Some(format!(
        "the prompt says \u{201c}{found}\u{201d}, and the executor has seen nothing but this prompt: write out what is meant, or continue the line \
         that knows it with `line_id`"
    ))
}

/// Ids of works, tasks and lines that a prompt names.
pub(crate) fn ids(prompt: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in prompt.match_indices('_') {
        let Some(digits) = prompt.get(at + 1..at + 33) else {
            continue;
        };
        let ends = !prompt[at + 33..].starts_with(|next: char| next.is_ascii_hexdigit());
        if !ends || !digits.chars().all(|digit| digit.is_ascii_hexdigit()) {
            continue;
        }
        for noun in ["work", "task", "line"] {
            let is_noun = prompt[..at]
                .strip_suffix(noun)
                .is_some_and(|before| !before.ends_with(|last: char| last.is_alphanumeric()));
            let id = format!("{noun}_{}", digits.to_lowercase());
            if is_noun && !found.contains(&id) {
                found.push(id);
            }
        }
    }
    found
}

/// Says which ids of a prompt are not among the known ones; none where all are.
pub(crate) fn foreign_ids(prompt: &str, known: &HashSet<String>) -> Option<String> {
    let mut foreign = ids(prompt);
    foreign.retain(|id| !known.contains(id));
    (!foreign.is_empty()).then(|| {
        format!(
            "the prompt names {}, which this task does not know; leave unknown ids out",
            foreign.join(", ")
        )
    })
}

/// One line, with single spaces.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn pointing(text: &str) -> Option<&'static str> {
    if text.ends_with("如上") {
        return Some("如上");
    }
    POINTING.iter().copied().find_map(|phrase| {
        let words = phrase.trim_end_matches('*');
        let is_whole = words.len() == phrase.len();
        let stands = |(at, _): (usize, &str)| {
            let (before, behind) = (&text[..at], &text[at + words.len()..]);
            is_ideographic(words)
                || !(before.ends_with(char::is_alphanumeric)
                    || is_whole && behind.starts_with(char::is_alphanumeric))
        };
        text.match_indices(words).any(stands).then_some(words)
    })
}

fn onward(text: &str) -> Option<&'static str> {
    let ends = |mark: char| {
        matches!(
            mark,
            '.' | '!' | '?' | ':' | ';' | '\n' | '。' | '！' | '？' | '；' | '：'
        )
    };
    text.split(ends).map(flat).find_map(|sentence| {
        let sentence = sentence.trim_start_matches(|first: char| !first.is_alphanumeric());
        ONWARD.iter().copied().find(|word| {
            let Some(behind) = sentence.strip_prefix(word) else {
                return false;
            };
            let is_word = is_ideographic(word) || !behind.starts_with(char::is_alphanumeric);
            let behind = format!("{behind} ");
            is_word && !NAMED.iter().any(|named| behind.starts_with(named))
        })
    })
}

/// Whether it is written without spaces between words.
fn is_ideographic(words: &str) -> bool {
    words.starts_with(|first| ('\u{4e00}'..='\u{9fff}').contains(&first))
}

/// The text without what stands in pairs of quotation marks.
fn outside_quotes(text: &str) -> String {
    let mut outside = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let behind = &rest[first.len_utf8()..];
        let end = closing(first).and_then(|marks| behind.find(marks));
        let end = end.and_then(|at| Some(at + behind[at..].chars().next()?.len_utf8()));
        if let Some(end) = end {
            outside.push_str(" \u{2026} ");
            rest = &behind[end..];
        } else {
            outside.push(first);
            rest = behind;
        }
    }
    outside
}

fn closing(opening: char) -> Option<&'static [char]> {
    Some(match opening {
        '"' => &['"'],
        '\u{201c}' => &['\u{201d}'],
        '\u{201e}' => &['\u{201c}', '\u{201d}'],
        '«' => &['»'],
        '「' => &['」'],
        '『' => &['』'],
        '《' => &['》'],
        '`' => &['`'],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn stands(prompt: &str) {
        assert_eq!(dangling(prompt, History::None), None, "{prompt}");
    }

    #[track_caller]
    fn dangles(prompt: &str, said: &str) {
        let objection = dangling(prompt, History::None);
        let objection = objection.unwrap_or_else(|| panic!("{prompt} stands on its own"));
        assert!(objection.contains(said), "{prompt}: {objection}");
    }

    #[test]
    fn a_prompt_that_says_everything_stands_on_its_own() {
        for prompt in [
            "Write a caption of at most twelve words for a poster of a lighthouse at dusk.",
            "The story shall continue with a chase over the roofs; write that scene, 200 words, no dialogue.",
            "A bridge above the river, as beforehand unseen from the town: describe it in one sentence.",
            "Опиши маяк на закате: свет, цвет, настроение. Не больше трёх предложений.",
            "Герой должен продолжать путь, как раньшевековый пилигрим. Опиши его плащ.",
            "请写一段关于灯塔的文字，例如上海外滩的黄昏，不超过一百字。",
            "为海报写一句话，主题是黄昏的灯塔，十五个字以内，语气平静。",
            "Continue this text by two sentences: \"The keeper lit the lamp.\"",
            "Продолжайте этот текст двумя предложениями: «Смотритель зажёг лампу.»",
        ] {
            stands(prompt);
        }
    }

    #[expect(clippy::too_many_lines, reason = "a table of cases")]
    #[test]
    fn words_that_point_to_what_the_executor_has_not_seen_are_found_in_three_languages() {
        for (prompt, said) in [
            (
                "Continue as agreed, with the third shot of the board.",
                "as agreed",
            ),
            (
                "Make the poster in the style we want, as discussed.",
                "as discussed",
            ),
            (
                "Keep the palette AS BEFORE and add a second figure.",
                "as before",
            ),
            (
                "Turn the above into three captions of ten words each.",
                "the above",
            ),
            (
                "Write the next scene in the same tone; see\nprevious.",
                "see previous",
            ),
            (
                "Use the tone of our last conversation for this text.",
                "our last conversation",
            ),
            (
                "Thank you for the first part.\nContinue, please.",
                "continue",
            ),
            (
                "Shot two: the same keeper.\n- go on with the stairs",
                "go on",
            ),
            (
                "Сделай ещё два варианта, как договорились вчера.",
                "как договорились",
            ),
            (
                "Оставь палитру как раньше, добавь вторую фигуру.",
                "как раньше",
            ),
            (
                "Напиши следующую сцену, как обсуждали, в том же тоне.",
                "как обсуждали",
            ),
            (
                "Вторая часть готова. Продолжай с третьей сценой.",
                "продолжай",
            ),
            ("Перепиши текст (см. выше) короче на треть.", "см. выше"),
            (
                "Возьми вышеуказанные цвета и опиши постер целиком.",
                "вышеуказанн",
            ),
            (
                "如前所述，请写出第三个镜头的画面描述，一百字以内。",
                "如前所述",
            ),
            ("海报的风格如上，请再写两个版本，每个不超过五十字。", "如上"),
            (
                "请继续之前的故事，写下一场戏，两百字左右，不要对白。",
                "继续之前",
            ),
            (
                "按照之前的风格，再画一张黄昏的灯塔，竖版，适合海报。",
                "按照之前",
            ),
            (
                "第一部分很好。继续写第二部分，保持同样的语气和长度吧。",
                "继续",
            ),
        ] {
            dangles(prompt, said);
        }
    }

    #[test]
    fn what_stands_in_quotation_marks_is_material() {
        for prompt in [
            "Translate \"as discussed, the above stays\" into Russian, keep its tone.",
            "Translate \u{201c}as agreed\u{201d} into formal Russian, three variants.",
            "Переведи «как договорились, продолжай» на английский, два варианта.",
            "把「如前所述，继续之前的工作」翻译成英文，给出两个不同的版本，语气正式。",
        ] {
            stands(prompt);
        }
        dangles(
            "The size is 5\" wide; do it as agreed, in one piece.",
            "as agreed",
        );
    }

    #[test]
    fn a_prompt_that_says_next_to_nothing_is_refused() {
        dangles("", "empty");
        dangles("  \n ", "empty");
        dangles("Write a poem.", "13 characters");
    }

    #[test]
    fn a_line_knows_its_own_history() {
        for prompt in [
            "Continue.",
            "As discussed, but shorter.",
            "продолжай",
            "继续",
        ] {
            assert_eq!(dangling(prompt, History::Line), None, "{prompt}");
        }
        assert!(dangling(" ", History::Line).is_some());
    }

    #[test]
    fn ids_that_the_task_does_not_know_are_named() {
        let id = |noun: &str, digit: char| format!("{noun}_{}", digit.to_string().repeat(32));
        let (own, other, line) = (id("work", 'a'), id("work", 'b'), id("line", '1'));
        let prompt = format!(
            "Describe {own} and ({other}), {line}; network_{} and work_12 are no ids of ours.",
            "c".repeat(32)
        );
        assert_eq!(ids(&prompt), [own.clone(), other.clone(), line.clone()]);
        let known = HashSet::from([own.clone(), line]);
        let objection = foreign_ids(&prompt, &known).expect("names another work");
        assert!(objection.contains(&other) && !objection.contains(&own));
        assert_eq!(foreign_ids("Describe a lighthouse.", &known), None);
    }
}
