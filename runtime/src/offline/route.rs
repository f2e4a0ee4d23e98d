//! Routing by rules: where a message of the main thread belongs.
//!
//! Invariants
//! - What is not clear is asked, and never guessed.
//!
//! Not here: the router itself, which makes the request and checks what comes of it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::draft::one_line;
use super::intake::{is_question, is_small_talk};
use super::kind::asked_for;
use super::language::{Language, fill};
use super::lexicon::{Phrase, is_han};
use crate::model::{ModelRequest, Speaker};

/// Words that say that something new is wanted.
const NEW_TASK: &[&str] = &[
    "new task",
    "create",
    "make",
    "start",
    "draw",
    "write",
    "i need",
    "i want",
    "новая задача",
    "новую задачу",
    "создай*",
    "сделай*",
    "нарисуй*",
    "напиши*",
    "нужен",
    "нужна",
    "нужно",
    "хочу",
    "新任务",
    "做",
    "创建",
    "制作",
    "设计",
    "写",
    "画",
    "我要",
    "我想",
];
/// Words of a message that a task must share to be its place, in hundredths.
const ALIKE: usize = 34;
/// How much more the best task must share than the next, in hundredths.
const AHEAD: usize = 15;
/// Words of two goals that are alike, in hundredths.
const SAME: usize = 60;
/// Characters of a title.
const TITLE: usize = 80;

/// A task that a request names, with the words beside its id.
struct Candidate<'a> {
    id: &'a str,
    words: BTreeSet<String>,
}

/// Decides where a message belongs.
pub(super) fn route(request: &ModelRequest) -> Value {
    let (told, message) = parts(request);
    let words = Language::of_text(message).words();
    let phrase = Phrase::of(message);
    let candidates = candidates(&told);
    if let Some(named) = candidates
        .iter()
        .find(|candidate| message.contains(candidate.id))
    {
        return json!({"outcome": "existing_task", "task_id": named.id, "rationale": "the message names the task"});
    }
    let mut ranked: Vec<(usize, &Candidate<'_>)> = candidates
        .iter()
        .map(|candidate| (shared(message, candidate), candidate))
        .collect();
    ranked.sort_by_key(|(share, _)| std::cmp::Reverse(*share));
    let best = ranked.first().filter(|(share, _)| *share >= ALIKE);
    let next = ranked.get(1).map_or(0, |(share, _)| *share);
    if let Some((share, task)) = best.filter(|(share, _)| *share >= next + AHEAD) {
        let rationale = format!("the task shares {share} % of the message's words");
        return json!({"outcome": "existing_task", "task_id": task.id, "rationale": rationale});
    }
    let wants_work = asked_for(&phrase).is_some();
    if wants_work && (phrase.has(NEW_TASK) || best.is_none()) {
        return json!({
            "outcome": "new_task", "title": one_line(message, TITLE), "goal": message, "rationale": "the message asks for a work of its own",
        });
    }
    if best.is_none() && (is_small_talk(message) || is_question(message)) {
        return json!({"outcome": "answer", "answer": words.main_answer, "rationale": "a greeting or a question"});
    }
    let ids: Vec<&str> = ranked
        .iter()
        .take(4)
        .filter(|(share, _)| *share > 0)
        .map(|(_, task)| task.id)
        .collect();
    let question = fill(words.ask_place, &[("text", &one_line(message, TITLE))]);
    json!({"outcome": "clarify", "question": question, "candidate_task_ids": ids, "rationale": "rules do not tell where the message belongs"})
}

/// Decides whether a goal is made a new task although others look like it.
pub(super) fn confirm(request: &ModelRequest) -> Value {
    let (told, goal) = parts(request);
    let candidates = candidates(&told);
    let best = candidates
        .iter()
        .map(|candidate| (shared(goal, candidate), candidate))
        .max_by_key(|(share, _)| *share);
    match best.filter(|(share, _)| *share >= SAME) {
        Some((share, task)) => json!({
            "decision": "continue_existing", "task_id": task.id, "rationale": format!("the task shares {share} % of the goal's words"),
        }),
        None => {
            json!({"decision": "create_new", "rationale": "no task shares most of the goal's words"})
        }
    }
}

/// What the request tells, and the message that it is about: the last one that a person or the runtime said.
fn parts(request: &ModelRequest) -> (String, &str) {
    let last = request
        .messages
        .iter()
        .rposition(|message| message.speaker == Speaker::User);
    let message = last.map_or("", |at| request.messages[at].text.as_str());
    let told = request.messages[..last.unwrap_or(0)]
        .iter()
        .map(|message| message.text.as_str());
    let told = told.collect::<Vec<_>>().join("\n");
    // A request in a single message puts what the person wrote behind its last empty line.
    match (told.contains("task_"), message.rsplit_once("\n\n")) {
        (false, Some((before, message))) if before.contains("task_") => {
            (format!("{told}\n{before}"), message.trim())
        }
        _ => (told, message.trim()),
    }
}

fn candidates(told: &str) -> Vec<Candidate<'_>> {
    let mut candidates: Vec<Candidate<'_>> = Vec::new();
    for line in told.lines() {
        let Some(id) = task_id(line) else {
            if let Some(last) = candidates.last_mut().filter(|_| !line.trim().is_empty()) {
                last.words.extend(words_of(line));
            }
            continue;
        };
        candidates.push(Candidate {
            id,
            words: words_of(&line.replace(id, " ")),
        });
    }
    candidates
}

fn task_id(line: &str) -> Option<&str> {
    let at = line.find("task_")?;
    let id = line.get(at..at + 37)?;
    id[5..]
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit())
        .then_some(id)
}

/// How much of a message a task shares, in hundredths.
fn shared(message: &str, candidate: &Candidate<'_>) -> usize {
    let words = words_of(message);
    let known = words
        .iter()
        .filter(|word| candidate.words.contains(*word))
        .count();
    match words.len() {
        0 => 0,
        count => known * 100 / count,
    }
}

/// Words without their endings, and pairs of Chinese characters; short ones say nothing.
fn words_of(text: &str) -> BTreeSet<String> {
    let phrase = Phrase::of(text);
    let mut words = BTreeSet::new();
    for at in 0..phrase.len() {
        let word = phrase.word(at);
        let next = phrase.word(at + 1);
        if word.chars().all(is_han)
            && next.chars().next().is_some_and(is_han)
            && phrase.gap(at).is_empty()
        {
            words.insert(format!("{word}{next}"));
        } else if word.chars().count() > 3 {
            words.insert(word.chars().take(5).collect());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Function, ModelMessage, check};

    const FOX: &str = "task_11111111111111111111111111111111";
    const BEES: &str = "task_22222222222222222222222222222222";

    fn asked(function: Function, message: &str) -> Value {
        let index = format!(
            "{FOX} QUEUED Storyboard about a fox in the forest, six shots\n{BEES} DELIVERED Плакаты про пчёл и мёд для ярмарки\n"
        );
        let message_of = |speaker, text: &str| ModelMessage {
            speaker,
            text: text.to_owned(),
        };
        let request = ModelRequest {
            function,
            model: None,
            messages: vec![
                message_of(Speaker::System, "You are the router."),
                message_of(Speaker::User, &index),
                message_of(Speaker::User, message),
            ],
            summaries: 0,
            situation: None,
        };
        let arguments = match function {
            Function::Route => route(&request),
            _ => confirm(&request),
        };
        assert_eq!(check(function, &arguments), Ok(()));
        arguments
    }

    #[test]
    fn messages_find_their_place_by_simple_rules() {
        for (message, outcome, task) in [
            (format!("Go on with {BEES}"), "existing_task", Some(BEES)),
            (
                "Make the fox in the forest red".to_owned(),
                "existing_task",
                Some(FOX),
            ),
            (
                "Плакаты про пчёл сделай ярче".to_owned(),
                "existing_task",
                Some(BEES),
            ),
            (
                "Сделай раскадровку про маяк, 5 кадров".to_owned(),
                "new_task",
                None,
            ),
            ("做一个关于灯塔的分镜".to_owned(), "new_task", None),
            ("Hello!".to_owned(), "answer", None),
            ("你好".to_owned(), "answer", None),
            ("Что ты умеешь?".to_owned(), "answer", None),
            ("a bit brighter".to_owned(), "clarify", None),
        ] {
            let routed = asked(Function::Route, &message);
            assert_eq!(
                routed["outcome"].as_str(),
                Some(outcome),
                "{message}: {routed}"
            );
            assert_eq!(routed["task_id"].as_str(), task, "{message}");
        }
    }

    #[test]
    fn a_goal_that_says_the_same_as_a_task_continues_it() {
        let same = asked(
            Function::ConfirmNewTask,
            "A storyboard about a fox in the forest",
        );
        assert_eq!(same["task_id"].as_str(), Some(FOX));
        let other = asked(
            Function::ConfirmNewTask,
            "A storyboard about a lighthouse by the sea",
        );
        assert_eq!(other["decision"].as_str(), Some("create_new"));
    }
}
