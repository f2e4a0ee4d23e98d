//! Carrying out what people asked to be changed: look, edit, and once more where somebody was quicker.
//!
//! Invariants
//! - A request is read again from its words at each step, and judged against the work as it was read, never as it is remembered.
//! - Each request ends after at most two readings and two edits, and the person is told how.

use domain::document::Version;
use domain::ids::WorkId;
use domain::task::ChecklistState;
use domain::work::Work;
use serde_json::{Value, json};

use super::draft::{Draft, one_line};
use super::editing::{Edit, Editing, Problem};
use super::kind::Kind;
use super::language::fill;
use super::place::{CHANGE, Outcome, Place, parts_of};
use super::request::{self, Request};
use super::view::{Reading, View, reading};

/// Nodes that are read at once where the whole work is too large.
const SLICE: usize = 4;
/// Characters of a request in a reply.
const SHOWN: usize = 160;

/// Goes on with the first change that is open; whether there is still something to do for one.
pub(super) fn change(place: &Place<'_>, draft: &mut Draft) -> bool {
    loop {
        let open = draft
            .checklist
            .iter()
            .find(|item| item.id.starts_with(CHANGE) && !item.state.is_closed());
        let Some(item) = open.cloned() else {
            return false;
        };
        let work = item
            .outputs
            .first()
            .and_then(|id| place.find_work(*id))
            .or_else(|| place.main_work(&draft.checklist));
        let text = request_text(place, &item.title);
        let known = work.and_then(|(_, work)| Some((work, Kind::of_work(work.kind)?)));
        let Some((work, kind)) = known.filter(|(work, _)| work.deleted_at.is_none()) else {
            draft.set(&item.id, ChecklistState::Skipped, None);
            draft.say(place.words.no_work_yet);
            continue;
        };
        draft.because("a person asked for a change");
        let mut changing = Changing {
            place,
            id: item.id.clone(),
            text,
            work,
            kind,
        };
        if changing.advance(draft, item.evidence.as_deref()) {
            return true;
        }
    }
}

/// The words of a request, out of the title of its item.
fn request_text(place: &Place<'_>, title: &str) -> String {
    let begins = place
        .words
        .item_change
        .split('{')
        .next()
        .unwrap_or_default();
    title.strip_prefix(begins).unwrap_or(title).to_owned()
}

/// One request on its way.
struct Changing<'a> {
    place: &'a Place<'a>,
    id: String,
    text: String,
    work: &'a Work,
    kind: Kind,
}

impl Changing<'_> {
    /// Does the next thing; false once the request has ended.
    fn advance(&mut self, draft: &mut Draft, stage: Option<&str>) -> bool {
        let words = self.place.words;
        match stage {
            Some(stage) if stage == words.looking => self.after_look(draft, Round::First),
            Some(stage) if stage == words.looking_again => self.after_look(draft, Round::Second),
            Some(stage) if stage == words.editing => self.after_edit(draft, Round::First),
            Some(stage) if stage == words.editing_again => self.after_edit(draft, Round::Second),
            _ => self.start(draft),
        }
    }

    fn start(&mut self, draft: &mut Draft) -> bool {
        match self.replacement() {
            // It finds its place by itself.
            Some((find, replace)) => {
                let edit = super::editing_text::replacement(
                    self.place.words,
                    self.work.id,
                    &find,
                    &replace,
                );
                self.edit(draft, edit, Round::First)
            }
            None => self.look(draft, Round::First),
        }
    }

    /// The words that the person wants replaced in a text: where they do not stand once, looking again does not help.
    fn replacement(&self) -> Option<(String, String)> {
        match request::read(&self.text, self.kind, &[]) {
            Some(Request::Replace { find, replace }) if self.kind == Kind::Text => {
                Some((find, replace))
            }
            _ => None,
        }
    }

    fn look(&self, draft: &mut Draft, round: Round) -> bool {
        draft.act("read_work", json!({"work_id": self.work.id}));
        self.stage(draft, round.looking(self.place));
        true
    }

    fn stage(&self, draft: &mut Draft, stage: &str) {
        draft.set(&self.id, ChecklistState::InProgress, Some(stage.to_owned()));
    }

    fn after_look(&mut self, draft: &mut Draft, round: Round) -> bool {
        match reading(self.place, self.work.id) {
            Some(Reading::View(view)) => self.try_edit(draft, &view, round),
            Some(Reading::TooLarge) if round == Round::First => self.look_at_slices(draft),
            Some(Reading::TooLarge) => self.give_up(draft, self.place.words.unreadable),
            None => {
                let failed = self
                    .place
                    .outcomes
                    .iter()
                    .find(|outcome| outcome.tool == "read_work");
                let reason = failed.map_or("", |outcome| outcome.error);
                self.fail(draft, reason)
            }
        }
    }

    /// A large work is read in pieces, by the ids of the parts that the plan put in.
    fn look_at_slices(&self, draft: &mut Draft) -> bool {
        let words = self.place.words;
        let ids: Vec<String> = match parts_of(&draft.checklist) {
            Some((kind, places)) if kind == self.kind && kind != Kind::Text => places
                .iter()
                .map(|at| draft.checklist[*at].id.clone())
                .collect(),
            _ => return self.give_up(draft, words.unreadable),
        };
        for slice in ids.chunks(SLICE) {
            draft.act(
                "read_work",
                json!({"work_id": self.work.id, "node_ids": slice}),
            );
        }
        self.stage(draft, words.looking_again);
        true
    }

    fn try_edit(&mut self, draft: &mut Draft, view: &View, round: Round) -> bool {
        let titles: Vec<String> = view
            .nodes
            .iter()
            .map(|node| node.prose("title").to_owned())
            .collect();
        let words = self.place.words;
        let Some(request) = request::read(&self.text, self.kind, &titles) else {
            return self.not_understood(draft);
        };
        let wish = self.place.wish();
        let editing = Editing {
            words,
            language: self.place.language,
            kind: self.kind,
            work: self.work.id,
            wish: &wish,
            view,
        };
        match editing.edit(&request) {
            Ok(edit) => self.edit(draft, edit, round),
            Err(problem) => self.object(draft, view, problem),
        }
    }

    fn edit(&self, draft: &mut Draft, edit: Edit, round: Round) -> bool {
        draft.act(edit.tool, edit.arguments);
        self.stage(draft, round.editing(self.place));
        true
    }

    fn after_edit(&mut self, draft: &mut Draft, round: Round) -> bool {
        let edits = ["edit_nodes", "edit_text", "replace_text"];
        let is_of = |outcome: &&Outcome<'_>| {
            let work = outcome.arguments["work_id"]
                .as_str()
                .and_then(|id| id.parse::<WorkId>().ok());
            edits.contains(&outcome.tool) && work == Some(self.work.id)
        };
        let place = self.place;
        match place.outcomes.iter().find(is_of) {
            Some(outcome) if outcome.is_done() => self.done(draft, outcome),
            Some(outcome) if self.replacement().is_some() && is_not_unique(outcome.result) => {
                self.text_not_found(draft, outcome)
            }
            // Somebody was quicker, or nobody knows: what stands in the work decides.
            _ if round == Round::First => self.look(draft, Round::Second),
            Some(outcome) if is_conflict(outcome.result) => {
                self.give_up(draft, place.words.conflict)
            }
            Some(outcome) => self.fail(draft, outcome.error),
            None => self.fail(draft, place.words.not_by_rules),
        }
    }

    fn done(&self, draft: &mut Draft, outcome: &Outcome<'_>) -> bool {
        let words = self.place.words;
        let version = outcome.result["version"].as_u64().unwrap_or_default();
        let told = outcome.arguments["summary"].as_str().unwrap_or_default();
        let evidence = format!("{told} ({})", Version(version));
        draft.set(
            &self.id,
            ChecklistState::Done,
            Some(one_line(&evidence, 400)),
        );
        draft.say(fill(words.changed, &[("changes", told)]));
        draft.show(self.work.id);
        false
    }

    fn object(&self, draft: &mut Draft, view: &View, problem: Problem) -> bool {
        let words = self.place.words;
        match problem {
            Problem::NothingToChange => {
                let request = self.shown();
                draft.set(&self.id, ChecklistState::Done, None);
                draft.say(fill(words.nothing_to_change, &[("request", &request)]));
            }
            Problem::NoSuchPart => {
                let parts = self.parts(view);
                self.skip(draft);
                draft.say(fill(
                    words.no_such_part,
                    &[("request", &self.shown()), ("parts", &parts)],
                ));
            }
            Problem::NotPossible => {
                self.skip(draft);
                let work = self.kind.words(words).work;
                draft.say(fill(
                    words.not_possible,
                    &[("request", &self.shown()), ("work", work)],
                ));
            }
            Problem::WholeWork => {
                self.skip(draft);
                draft.say(words.cannot_rename_work);
            }
        }
        false
    }

    /// The parts that there are, by number and title.
    fn parts(&self, view: &View) -> String {
        let words = self.place.words;
        let titles: Vec<String> = match self.kind {
            Kind::Text => super::editing_text::sections(&view.text)
                .into_iter()
                .map(|section| section.title.to_owned())
                .collect(),
            _ => view
                .nodes
                .iter()
                .map(|node| node.prose("title").to_owned())
                .collect(),
        };
        let named = (1..)
            .zip(&titles)
            .take(12)
            .map(|(number, title)| super::making::named_part(self.kind, words, number, title));
        let named: Vec<String> = named.collect();
        if named.is_empty() {
            "—".to_owned()
        } else {
            named.join("; ")
        }
    }

    fn text_not_found(&self, draft: &mut Draft, outcome: &Outcome<'_>) -> bool {
        let words = self.place.words;
        let count = outcome.result["occurrences"].as_u64().unwrap_or_default();
        let find = one_line(outcome.result["find"].as_str().unwrap_or_default(), 80);
        self.skip(draft);
        let sentence = if count == 0 {
            words.text_missing
        } else {
            words.text_often
        };
        draft.say(fill(
            sentence,
            &[("text", &find), ("count", &count.to_string())],
        ));
        false
    }

    fn not_understood(&self, draft: &mut Draft) -> bool {
        let words = self.place.words;
        self.skip(draft);
        let examples = words.examples[self.kind as usize];
        draft.say(fill(
            words.not_understood,
            &[("request", &self.shown()), ("examples", examples)],
        ));
        false
    }

    fn fail(&self, draft: &mut Draft, reason: &str) -> bool {
        self.skip(draft);
        let reason = one_line(reason, 300);
        draft.say(fill(
            self.place.words.failed,
            &[("request", &self.shown()), ("reason", &reason)],
        ));
        false
    }

    fn give_up(&self, draft: &mut Draft, sentence: &str) -> bool {
        self.skip(draft);
        draft.say(fill(sentence, &[("request", &self.shown())]));
        false
    }

    fn skip(&self, draft: &mut Draft) {
        let evidence = fill(self.place.words.left_out, &[("reason", &self.shown())]);
        draft.set(&self.id, ChecklistState::Skipped, Some(evidence));
    }

    fn shown(&self) -> String {
        one_line(&self.text, SHOWN)
    }
}

/// Which try it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    First,
    Second,
}

impl Round {
    fn looking(self, place: &Place<'_>) -> &'static str {
        match self {
            Self::First => place.words.looking,
            Self::Second => place.words.looking_again,
        }
    }

    fn editing(self, place: &Place<'_>) -> &'static str {
        match self {
            Self::First => place.words.editing,
            Self::Second => place.words.editing_again,
        }
    }
}

fn is_conflict(result: &Value) -> bool {
    let name = result["__typename"].as_str().unwrap_or_default();
    name.ends_with("Conflict")
}

fn is_not_unique(result: &Value) -> bool {
    result["__typename"].as_str() == Some("TextNotUnique")
}
