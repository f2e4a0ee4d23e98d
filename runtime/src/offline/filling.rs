//! The steps of a plan: making the work, putting its parts in one after the other, changes, the review, the end.
//!
//! Invariants
//! - Each part goes through at most four steps (ordered, put in, looked for, put in again) before it is done or left out.
//! - A step that has nothing to do leaves no item open without a reason to wait: no task turns in a circle.

use domain::document::Version;
use domain::ids::WorkId;
use domain::task::{Autonomy, ChecklistState};
use domain::work::Work;
use serde_json::json;

use super::begin::{ask_kind, order};
use super::changing;
use super::draft::Draft;
use super::film;
use super::language::fill;
use super::making::Recipe;
use super::place::{CHANGE, CLARIFY, FINISH, Outcome, Place, REVIEW, TROUBLE, WORK, parts_of};
use super::trouble;
use super::view::{Reading, reading};

/// Does what the plan says next.
pub(super) fn go_on(place: &Place<'_>, draft: &mut Draft) {
    if asks_again(place, draft) || work_is_gone(place, draft) || makes_work(place, draft) {
        return;
    }
    if fills(place, draft) || changing::change(place, draft) {
        return;
    }
    review(place, draft);
    if film::pictures(place, draft) {
        return;
    }
    finish(place, draft);
}

/// Whether something must be known first. A question that got lost is asked again, and given up where it can not be asked.
fn asks_again(place: &Place<'_>, draft: &mut Draft) -> bool {
    let is_open =
        |draft: &mut Draft, id| draft.item(id).is_some_and(|item| !item.state.is_closed());
    let (clarifies, is_trouble) = (is_open(draft, CLARIFY), is_open(draft, TROUBLE));
    if !clarifies && !is_trouble {
        return false;
    }
    if place.has_failed("ask") {
        trouble::close(place, draft, place.words.not_by_rules);
    } else if !place.has_open_card() && !draft.asks() {
        if is_trouble {
            trouble::ask(place, draft);
        } else {
            ask_kind(place, draft);
        }
    }
    true
}

/// A work in the bin is not written to: only a person brings it back.
fn work_is_gone(place: &Place<'_>, draft: &mut Draft) -> bool {
    let is_needed = draft
        .checklist
        .iter()
        .any(|item| !item.state.is_closed() && item.id != WORK);
    let gone = place
        .main_work(&draft.checklist)
        .filter(|(_, work)| is_needed && work.deleted_at.is_some());
    let Some((_, work)) = gone else {
        return false;
    };
    let reason = fill(place.words.trouble_bin, &[("work", &work.title)]);
    trouble::raise(place, draft, &reason);
    true
}

/// Makes the work, where it is not there yet; whether the rest has to wait for it.
fn makes_work(place: &Place<'_>, draft: &mut Draft) -> bool {
    let Some(item) = draft.item(WORK).filter(|item| !item.state.is_closed()) else {
        return false;
    };
    let is_second = item.evidence.as_deref() == Some(place.words.placing_again);
    let outcome = place.outcome("create_work");
    let made = outcome
        .filter(|outcome| outcome.is_done())
        .and_then(made_work);
    if let Some(work) = made {
        item.state = ChecklistState::Done;
        item.outputs = vec![work];
        item.evidence = None;
        return false;
    }
    let Some((kind, places)) = parts_of(&draft.checklist) else {
        return false;
    };
    if is_second && let Some(outcome) = outcome {
        let reason = fill(place.words.trouble_create, &[("reason", outcome.error)]);
        trouble::raise(place, draft, &reason);
        return true;
    }
    draft.because("the work is to be made");
    let wish = place.wish();
    let recipe = Recipe::of(kind, place.language, &wish, Some(places.len()));
    let evidence = outcome.map(|_| place.words.placing_again.to_owned());
    draft.set(WORK, ChecklistState::InProgress, evidence);
    draft.act("create_work", recipe.create());
    true
}

fn made_work(outcome: &Outcome<'_>) -> Option<WorkId> {
    outcome.result["work_id"].as_str()?.parse().ok()
}

/// Puts the parts in; whether there is still one to put in.
fn fills(place: &Place<'_>, draft: &mut Draft) -> bool {
    let Some((kind, places)) = parts_of(&draft.checklist) else {
        return false;
    };
    if places
        .iter()
        .all(|at| draft.checklist[*at].state.is_closed())
    {
        return false;
    }
    let Some(work) = draft
        .item(WORK)
        .and_then(|item| item.outputs.first().copied())
    else {
        return false;
    };
    let wish = place.wish();
    let mut filling = Filling {
        place,
        recipe: Recipe::of(kind, place.language, &wish, Some(places.len())),
        work,
        has_put: false,
    };
    draft.because("the draft is filled part by part");
    for (index, at) in places.iter().enumerate() {
        if draft.checklist[*at].state == ChecklistState::InProgress {
            filling.pursue(draft, index);
        }
    }
    let next = places
        .iter()
        .position(|at| draft.checklist[*at].state == ChecklistState::Todo);
    if let Some(index) = next {
        filling.start(draft, index);
    }
    places
        .iter()
        .any(|at| !draft.checklist[*at].state.is_closed())
}

/// Parts being put into a work.
struct Filling<'a> {
    place: &'a Place<'a>,
    recipe: Recipe<'a>,
    work: WorkId,
    has_put: bool,
}

impl Filling<'_> {
    /// Begins with a part: orders it, or puts it in at once.
    fn start(&mut self, draft: &mut Draft, index: usize) {
        if self.recipe.ideas.get(index).is_none() {
            return self.leave_out(draft, index, self.place.words.not_by_rules);
        }
        // An executor that has just failed is not asked in the very next step.
        let can_order = !self.place.has_failed("delegate");
        let is_ordered = can_order && order(self.place, draft, &self.recipe, index);
        if !is_ordered && !self.has_put {
            let own = self.recipe.own(index);
            self.put(draft, index, &own, self.place.words.placing);
        }
    }

    /// Goes on with a part that was begun.
    fn pursue(&mut self, draft: &mut Draft, index: usize) {
        let words = self.place.words;
        if self.recipe.ideas.get(index).is_none() {
            return self.leave_out(draft, index, words.not_by_rules);
        }
        let id = self.recipe.part_id(index);
        let evidence = draft.item(&id).and_then(|item| item.evidence.clone());
        match evidence.as_deref() {
            Some(stage) if stage == words.placing => self.after_put(draft, index),
            Some(stage) if stage == words.checking => self.after_look(draft, index),
            Some(stage) if stage == words.placing_again => match self.put_outcome(index) {
                Some(outcome) if outcome.is_done() => self.done(draft, index),
                Some(outcome) => self.leave_out(draft, index, outcome.error),
                None => self.leave_out(draft, index, words.not_by_rules),
            },
            _ => {
                let answer = self.answered(index);
                self.put(draft, index, &answer, words.placing);
            }
        }
    }

    /// What the executor answered, or what rules say where it did not.
    fn answered(&self, index: usize) -> String {
        let outcome = self
            .place
            .outcome("delegate")
            .filter(|outcome| outcome.is_done());
        let answer =
            outcome.and_then(|outcome| outcome.answer.or_else(|| outcome.result["text"].as_str()));
        match answer.map(str::trim) {
            Some(answer) if !answer.is_empty() => answer.to_owned(),
            _ => self.recipe.own(index),
        }
    }

    fn put(&mut self, draft: &mut Draft, index: usize, answer: &str, stage: &str) {
        let base = self.base();
        let (tool, arguments) = self.recipe.put(index, answer, self.work, base);
        draft.act(tool, arguments);
        draft.set(
            &self.recipe.part_id(index),
            ChecklistState::InProgress,
            Some(stage.to_owned()),
        );
        self.has_put = true;
    }

    /// The newest version that the task has seen of the work.
    fn base(&self) -> Version {
        match reading(self.place, self.work) {
            Some(Reading::View(view)) => view.version.max(self.place.seen(self.work)),
            _ => self.place.seen(self.work),
        }
    }

    /// What came of the call that put a part in.
    fn put_outcome(&self, index: usize) -> Option<&Outcome<'_>> {
        let summary = self.recipe.part_title(index);
        let mut puts = self
            .place
            .outcomes
            .iter()
            .filter(|outcome| ["edit_nodes", "edit_text"].contains(&outcome.tool));
        puts.find(|outcome| outcome.arguments["summary"].as_str() == Some(&summary))
    }

    fn after_put(&mut self, draft: &mut Draft, index: usize) {
        match self.put_outcome(index) {
            Some(outcome) if outcome.is_done() => self.done(draft, index),
            // Refused, or lost with a worker: what stands in the work decides.
            _ => {
                let mut arguments = json!({"work_id": self.work});
                if self.recipe.kind != super::kind::Kind::Text {
                    arguments["node_ids"] = json!([self.recipe.part_id(index)]);
                }
                draft.act("read_work", arguments);
                let stage = self.place.words.checking.to_owned();
                draft.set(
                    &self.recipe.part_id(index),
                    ChecklistState::InProgress,
                    Some(stage),
                );
            }
        }
    }

    fn after_look(&mut self, draft: &mut Draft, index: usize) {
        match reading(self.place, self.work) {
            Some(Reading::View(view)) if self.recipe.is_there(index, &view) => {
                self.done(draft, index);
            }
            Some(Reading::View(_)) => {
                let own = self.recipe.own(index);
                self.put(draft, index, &own, self.place.words.placing_again);
            }
            _ => self.leave_out(draft, index, self.place.words.not_by_rules),
        }
    }

    fn done(&self, draft: &mut Draft, index: usize) {
        let evidence = self.place.words.placed.to_owned();
        let id = self.recipe.part_id(index);
        draft.set(&id, ChecklistState::Done, Some(evidence));
        if let Some(item) = draft.item(&id) {
            item.outputs = vec![self.work];
        }
    }

    fn leave_out(&self, draft: &mut Draft, index: usize, reason: &str) {
        let reason = super::draft::one_line(reason, 200);
        let evidence = fill(self.place.words.left_out, &[("reason", &reason)]);
        draft.set(
            &self.recipe.part_id(index),
            ChecklistState::Skipped,
            Some(evidence),
        );
    }
}

/// Shows the draft to the person; the runtime asks for the confirmation.
fn review(place: &Place<'_>, draft: &mut Draft) {
    let words = place.words;
    let Some(item) = draft
        .item(REVIEW)
        .filter(|item| item.state != ChecklistState::Done)
    else {
        return;
    };
    if item.state == ChecklistState::Skipped {
        return;
    }
    let is_first = item.evidence.is_none();
    item.state = ChecklistState::Done;
    item.evidence = Some(words.placed.to_owned());
    draft.because("what was planned stands in the work: a person looks at it");
    let Some((_, work)) = place.main_work(&draft.checklist) else {
        return;
    };
    if let Some(item) = draft.item(REVIEW) {
        item.outputs = vec![work.id];
    }
    draft.show(work.id);
    if is_first && place.situation.task.autonomy != Autonomy::RunUntilDone {
        say_draft(place, draft, work);
    }
}

fn say_draft(place: &Place<'_>, draft: &mut Draft, work: &Work) {
    let words = place.words;
    let Some((kind, places)) = parts_of(&draft.checklist) else {
        return;
    };
    let items = |state: ChecklistState| {
        let found = places
            .iter()
            .map(|at| &draft.checklist[*at])
            .filter(|item| item.state == state);
        found.map(|item| item.title.clone()).collect::<Vec<_>>()
    };
    let (done, missing) = (items(ChecklistState::Done), items(ChecklistState::Skipped));
    let parts = place.language.counted(done.len(), kind.words(words).parts);
    let examples = words.examples[kind as usize];
    let ready = match kind {
        super::kind::Kind::Text => words.draft_ready_text,
        _ => words.draft_ready,
    };
    draft.say(fill(
        ready,
        &[
            ("work", &work.title),
            ("parts", &parts),
            ("examples", examples),
        ],
    ));
    if !missing.is_empty() {
        draft.say(fill(
            words.left_out_parts,
            &[("parts", &missing.join("; "))],
        ));
    }
}

/// Hands over, once a person has confirmed or need not.
fn finish(place: &Place<'_>, draft: &mut Draft) {
    let words = place.words;
    let is_open = draft
        .item(FINISH)
        .is_some_and(|item| !item.state.is_closed());
    let waits = place.waits_for_review(&draft.checklist);
    let has_open_change = draft
        .checklist
        .iter()
        .any(|item| item.id.starts_with(CHANGE) && !item.state.is_closed());
    if !is_open || waits || has_open_change {
        return;
    }
    draft.because("the draft is confirmed: the works are handed over");
    draft.set(FINISH, ChecklistState::Done, None);
    let mut named = Vec::new();
    for (linked, work) in &place.situation.works {
        if linked.last_written_at.is_some() && work.deleted_at.is_none() {
            named.push(fill(words.quoted, &[("text", &work.title)]));
            draft.show(work.id);
        }
    }
    if named.is_empty() {
        draft.say(words.delivered_nothing);
    } else {
        draft.say(fill(
            words.delivered,
            &[("works", &named.join(words.comma))],
        ));
    }
}
