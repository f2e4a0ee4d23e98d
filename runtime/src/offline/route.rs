//! Routing by rules: where a message of the main thread belongs.
//!
//! Invariants
//! - What is not clear is asked, and never guessed: two places that fit about equally are a question.
//! - A function of the situation alone.
//!
//! Not here: the router itself, which makes the request and checks what comes of it.

use domain::actor::Actor;
use domain::ids::TaskId;
use domain::task::TaskStatus;
use serde_json::{Value, json};

use super::draft::one_line;
use super::intake::{is_question, is_small_talk};
use super::kind::asked_for;
use super::language::{Language, fill};
use super::lexicon::Phrase;
use super::likeness::{Alike, Tasks};
use super::request_words::PRAISE;
use super::route_words::{
    ABILITIES, BEGINS, MAKES, MEDIA, ORDERS, PAUSED, POINTS, SEPARATE, SINGLE, WAITS,
};
use crate::model::ModelRequest;
use crate::router::{RouterSituation, Shown};

/// What a task must have to do with a message to be its place: less where it is called so.
const NAMED: f64 = 2.0;
const ALIKE: f64 = 3.5;
/// How much more than the next one: so much, and this part of its own.
const AHEAD: f64 = 0.9;
const AHEAD_PART: f64 = 0.25;
/// From here on, what begins something new looks like it.
const SAME: f64 = 3.4;
/// Words of a message that a task in work must share to be the same goal, where a second look is asked for.
const CONFIRMED: f64 = 9.0;
/// Characters of a title.
const TITLE: usize = 80;
/// Tasks that a question offers.
const OFFERED: usize = 5;

/// Decides where a message belongs.
pub(super) fn route(request: &ModelRequest) -> Value {
    let Some(situation) = request.router.as_deref() else {
        return json!({"outcome": "clarify", "rationale": "the request has no stored state"});
    };
    let message = situation.message.text.trim();
    if let Some(named) = situation
        .shown
        .iter()
        .find(|shown| message.contains(&shown.id().to_string()))
    {
        return existing(named.id(), "the message names the task");
    }
    Router::new(message, situation).decide()
}

/// Decides whether a goal is made a new task although others look like it.
pub(super) fn confirm(request: &ModelRequest) -> Value {
    let none = || json!({"decision": "create_new", "rationale": "no task shares most of the goal's words"});
    let Some(situation) = request.router.as_deref() else {
        return none();
    };
    let goal = situation.message.text.trim();
    let phrase = Phrase::of(goal);
    let best = Tasks::of(situation).likeness(goal).into_iter().next();
    match best.filter(|best| best.total >= CONFIRMED && !phrase.has(&SEPARATE)) {
        Some(best) => {
            let task = situation.shown[best.place].id();
            json!({"decision": "continue_existing", "task_id": task, "rationale": "the task shares most of the goal's words"})
        }
        None => none(),
    }
}

fn existing(task: TaskId, why: &str) -> Value {
    json!({"outcome": "existing_task", "task_id": task, "rationale": why})
}

/// One message being looked at.
struct Router<'a> {
    message: &'a str,
    phrase: Phrase<'a>,
    situation: &'a RouterSituation,
    tasks: Tasks<'a>,
    alike: Vec<Alike>,
}

impl<'a> Router<'a> {
    fn new(message: &'a str, situation: &'a RouterSituation) -> Self {
        let tasks = Tasks::of(situation);
        Self {
            message,
            phrase: Phrase::of(message),
            situation,
            alike: tasks.likeness(message),
            tasks,
        }
    }

    fn decide(&self) -> Value {
        if let Some(answer) = self.answer() {
            return answer;
        }
        let is_single = self.phrase.has(&SINGLE) && self.phrase.has(&MEDIA);
        if self.phrase.has(&SEPARATE) {
            return self.new_task("it is to be apart from what is there");
        }
        if let Some(places) = self.two_addresses() {
            return self.ask(&places, "it asks two tasks for something");
        }
        if is_single
            && !self
                .best()
                .is_some_and(|best| best.is_named && best.total >= SAME)
        {
            return self.light();
        }
        if self.phrase.has(&BEGINS) {
            return match self.best() {
                Some(best) if best.total >= SAME => self.ask(
                    &self.places(),
                    "it looks new, and like a task that is there",
                ),
                _ => self.new_task("it begins something that lasts"),
            };
        }
        if let Some(linked) = self.linked() {
            return linked;
        }
        if let Some(clear) = self.clear() {
            return existing(self.id(clear), "the task has by far the most to do with it");
        }
        if let Some(place) = self.pointed_at() {
            return existing(place, "it speaks of what was just shown");
        }
        let wants_work = asked_for(&self.phrase).is_some() && self.phrase.has(&MAKES);
        if wants_work && self.best().is_none_or(|best| best.total < SAME) {
            return self.new_task("the message asks for a work of its own");
        }
        self.ask(&self.places(), "rules do not tell where it belongs")
    }

    fn best(&self) -> Option<&Alike> {
        self.alike.first()
    }

    fn shown(&self, alike: &Alike) -> &Shown {
        &self.situation.shown[alike.place]
    }

    fn id(&self, alike: &Alike) -> TaskId {
        self.shown(alike).id()
    }

    fn places(&self) -> Vec<TaskId> {
        let alike = self.alike.iter().take(OFFERED);
        alike.map(|alike| self.id(alike)).collect()
    }

    /// The task that has by far the most to do with the message.
    fn clear(&self) -> Option<&Alike> {
        clear_among(&self.alike)
    }

    /// A question or a greeting is answered from the index.
    fn answer(&self) -> Option<Value> {
        let words = Language::of_text(self.message).words();
        let first = first_sentence(self.message);
        let asks = is_question(first) || is_question(self.message) && first == self.message;
        let says =
            |text: String, why| json!({"outcome": "answer", "answer": text, "rationale": why});
        if asks && self.phrase.has(&ABILITIES) {
            return Some(says(
                words.main_answer.to_owned(),
                "a question about the agent",
            ));
        }
        if asks && !self.phrase.has(&ORDERS) && !self.phrase.has(&BEGINS) {
            let told = self.told().unwrap_or_else(|| words.main_answer.to_owned());
            return Some(says(told, "a question"));
        }
        let begin = self.phrase.word(0);
        let begins_with_talk = is_small_talk(begin) && !Phrase::of(begin).has(PRAISE);
        let is_short = self.phrase.len() <= 4 && is_small_talk(self.message);
        let is_talk = begins_with_talk || is_short;
        (is_talk && !self.phrase.has(&ORDERS) && self.clear().is_none())
            .then(|| says(words.main_answer.to_owned(), "small talk"))
    }

    /// What the index says to a question: where one task stands, or which tasks wait or are held.
    fn told(&self) -> Option<String> {
        let line = |shown: &Shown| {
            let task = &shown.weighed.task;
            let state = task.status.name().to_lowercase().replace('_', " ");
            format!("«{}» ({state}): {}", task.title, shown.short_line)
        };
        if let Some(clear) = self.clear() {
            return Some(line(self.shown(clear)));
        }
        let wanted = [
            (&*PAUSED, TaskStatus::Paused),
            (&*WAITS, TaskStatus::WaitingForPerson),
        ];
        let (_, status) = wanted.into_iter().find(|(list, _)| self.phrase.has(list))?;
        let shown = self.situation.shown.iter();
        let lines: Vec<String> = shown
            .filter(|shown| shown.weighed.task.status == status)
            .map(line)
            .collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// Parts of the message that each have a place of their own.
    fn two_addresses(&self) -> Option<Vec<TaskId>> {
        let parts = self
            .message
            .split(['，', '。', '；', ';', '\n'])
            .flat_map(|part| part.split(". "))
            .filter(|part| part.trim().chars().count() > 3);
        let mut places: Vec<TaskId> = Vec::new();
        for part in parts {
            let alike = self.tasks.likeness(part);
            let is_order = Phrase::of(part).has(&ORDERS);
            if let Some(clear) = clear_among(&alike).filter(|clear| clear.is_named && is_order) {
                let id = self.id(clear);
                if !places.contains(&id) {
                    places.push(id);
                }
            }
        }
        (places.len() > 1).then_some(places)
    }

    /// A message about a work of several tasks: the one that the words speak of, or a question.
    fn linked(&self) -> Option<Value> {
        let works = &self.situation.message.attachments;
        let holds = |alike: &&Alike| {
            let own = &self.shown(alike).works;
            own.iter().any(|work| works.contains(&work.id))
        };
        let linked: Vec<Alike> = self.alike.iter().filter(holds).copied().collect();
        if linked.is_empty() {
            return None;
        }
        if let Some(clear) = clear_among(&linked) {
            return Some(existing(
                self.id(clear),
                "it works on what came with the message",
            ));
        }
        let places: Vec<TaskId> = linked.iter().map(|alike| self.id(alike)).collect();
        Some(self.ask(&places, "several tasks work on what came with the message"))
    }

    /// The task of the last word in the thread, where the message only points at something.
    fn pointed_at(&self) -> Option<TaskId> {
        let points = self.phrase.has(&POINTS) || self.phrase.has(PRAISE);
        let is_open = self.best().is_none_or(|best| best.total < NAMED);
        let last = self.situation.thread.last()?;
        let is_agent = matches!(last.author, Actor::Agent { .. });
        let task = last.task.filter(|_| points && is_open && is_agent)?;
        self.situation.find(task).map(Shown::id)
    }

    fn light(&self) -> Value {
        json!({"outcome": "lightweight_task", "title": one_line(self.message, TITLE), "rationale": "one thing to look at"})
    }

    fn new_task(&self, why: &str) -> Value {
        json!({"outcome": "new_task", "title": one_line(self.message, TITLE), "goal": self.message, "rationale": why})
    }

    fn ask(&self, places: &[TaskId], why: &str) -> Value {
        let words = Language::of_text(self.message).words();
        let question = fill(words.ask_place, &[("text", &one_line(self.message, TITLE))]);
        json!({"outcome": "clarify", "question": question, "candidate_task_ids": places, "rationale": why})
    }
}

/// The first of these, most first, where it is far enough ahead.
fn clear_among(alike: &[Alike]) -> Option<&Alike> {
    let best = alike.first()?;
    let least = if best.is_named { NAMED } else { ALIKE };
    let next = alike.get(1).map_or(0.0, |next| next.total);
    let ahead = AHEAD.max(AHEAD_PART * best.total);
    (best.total >= least && best.total - next >= ahead).then_some(best)
}

fn first_sentence(text: &str) -> &str {
    let end = text.find(['.', '!', '?', '。', '！', '？', '\n']);
    let end = end.map(|at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    text[..end.unwrap_or(text.len())].trim()
}
