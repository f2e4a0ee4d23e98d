//! The first step of a task: who speaks, what was understood, and the plan; or the question what is wanted.

use domain::document::Version;
use domain::task::ChecklistState;
use domain::work::Work;
use serde_json::json;

use super::draft::Draft;
use super::film;
use super::intake;
use super::kind::Kind;
use super::language::fill;
use super::making::Recipe;
use super::place::{CLARIFY, FINISH, LOOK, Place, REVIEW, WORK};
use super::wish::{MOST, Wish};

/// Begins a task that has no plan yet.
pub(super) fn begin(place: &Place<'_>, draft: &mut Draft) {
    draft.say(place.words.intro);
    let goal = place.situation.task.goal.as_str();
    let said: Vec<&str> = place
        .situation
        .messages
        .iter()
        .map(|message| message.text.as_str())
        .collect();
    let more: Vec<&str> = said
        .into_iter()
        .filter(|text| !goal.contains(text.trim()))
        .collect();
    for text in &more {
        draft.remember(text);
    }
    let wish = wish_with(place, &more);
    if let Some((_, work)) = place.given_work() {
        return begin_with(place, draft, work, (&wish, &more));
    }
    begin_anew(place, draft, &wish);
}

/// Plans a goal anew whose former plan was given up.
pub(super) fn begin_anew(place: &Place<'_>, draft: &mut Draft, wish: &Wish) {
    match wish.kind {
        Some(kind) => plan(place, draft, kind, wish),
        None => clarify(place, draft),
    }
}

/// What is wanted, with what was said in this very step.
pub(super) fn wish_with(place: &Place<'_>, more: &[&str]) -> Wish {
    let task = &place.situation.task;
    let texts = [task.goal.as_str(), task.brief.as_str()]
        .into_iter()
        .filter(|text| !text.trim().is_empty());
    Wish::of(texts.chain(place.also_asked()).chain(more.iter().copied()))
}

/// A work is given: what is asked for is done there, unless it is clearly another work.
fn begin_with(place: &Place<'_>, draft: &mut Draft, work: &Work, (wish, more): (&Wish, &[&str])) {
    let goal = place.situation.task.goal.as_str();
    let own = Kind::of_work(work.kind);
    let is_empty = work.version == Version(0);
    let is_other = wish.kind.is_some() && wish.kind != own;
    let texts = [goal].into_iter().chain(more.iter().copied());
    if let Some(kind) = own.filter(|_| !is_empty || !is_other)
        && texts
            .map(|text| intake::take_changes(place, draft, text, work))
            .sum::<usize>()
            > 0
    {
        draft.because("the goal asks for changes of a work that is there");
        draft.say(fill(place.words.understood_edits, &[("work", &work.title)]));
        let changes: Vec<String> = draft
            .checklist
            .iter()
            .map(|item| format!("- {}", item.title))
            .collect();
        draft.say(changes.join("\n"));
        let before = draft.checklist.iter().map(|item| item.id.clone()).collect();
        return review_and_finish(place, draft, kind, before);
    }
    match (wish.kind, own) {
        (Some(kind), Some(own)) if kind == own && is_empty => {
            plan_in(place, draft, kind, wish, Some(work));
        }
        (Some(kind), _) if is_other => plan(place, draft, kind, wish),
        _ => {
            clarify(place, draft);
        }
    }
}

/// Asks what is wanted.
fn clarify(place: &Place<'_>, draft: &mut Draft) {
    draft.because("rules do not tell what is wanted");
    draft.add(
        CLARIFY,
        place.words.item_clarify,
        ChecklistState::InProgress,
    );
    ask_kind(place, draft);
}

/// The question what is to be made.
pub(super) fn ask_kind(place: &Place<'_>, draft: &mut Draft) {
    let labels = place.words.kind_options;
    let options: Vec<_> = Kind::ALL
        .iter()
        .zip(labels)
        .map(|(kind, label)| (kind.option(), label))
        .collect();
    draft.ask("clarification", place.words.ask_kind, &options);
}

/// Plans a new work and begins with it.
pub(super) fn plan(place: &Place<'_>, draft: &mut Draft, kind: Kind, wish: &Wish) {
    plan_in(place, draft, kind, wish, None);
}

fn plan_in(place: &Place<'_>, draft: &mut Draft, kind: Kind, wish: &Wish, given: Option<&Work>) {
    let words = place.words;
    let recipe = Recipe::of(kind, place.language, wish, None);
    let title = given.map_or_else(|| recipe.title(), |work| work.title.clone());
    draft.because("the wish is understood: the plan, and the first part of it");
    say_understood(place, draft, &recipe, &title);
    if let Some(style) = recipe.style_name() {
        let text = fill(
            words.item_look,
            &[("style", &style), ("look", &recipe.look())],
        );
        draft.add(LOOK, &text, ChecklistState::Done);
    }
    let item = draft.add(
        WORK,
        &fill(words.item_work, &[("title", &title)]),
        ChecklistState::InProgress,
    );
    match given {
        Some(work) => {
            item.state = ChecklistState::Done;
            item.outputs = vec![work.id];
        }
        None => draft.act("create_work", recipe.create()),
    }
    let mut before = vec![WORK.to_owned()];
    for index in 0..recipe.ideas.len() {
        let id = recipe.part_id(index);
        draft
            .add(&id, &recipe.part_title(index), ChecklistState::Todo)
            .depends_on = vec![WORK.to_owned()];
        before.push(id);
    }
    review_and_finish(place, draft, kind, before);
    if film::is_wanted(kind, wish) {
        film::plan(place, draft, &recipe);
    }
    order(place, draft, &recipe, 0);
}

/// Asks an executor for a part, if one is to be asked.
pub(super) fn order(
    place: &Place<'_>,
    draft: &mut Draft,
    recipe: &Recipe<'_>,
    index: usize,
) -> bool {
    let Some((executor, prompt)) = recipe.order(index) else {
        return false;
    };
    let arguments = match place.line(executor) {
        Some(line) => json!({"line_id": line.id, "prompt": prompt}),
        None => json!({"executor": executor, "purpose": recipe.title(), "prompt": prompt}),
    };
    draft.act("delegate", arguments);
    draft.set(&recipe.part_id(index), ChecklistState::InProgress, None);
    true
}

fn say_understood(place: &Place<'_>, draft: &mut Draft, recipe: &Recipe<'_>, title: &str) {
    let words = place.words;
    let mut what = vec![title.to_owned(), recipe.parts()];
    if recipe.kind == Kind::Storyboard && recipe.wish.length.is_some() {
        let seconds = recipe.seconds(0).to_string();
        what.push(fill(words.each_seconds, &[("seconds", &seconds)]));
    }
    if let Some(style) = recipe.style_name() {
        what.push(fill(words.in_style, &[("style", &style)]));
    }
    let mut text = vec![fill(words.understood, &[("what", &what.join(words.comma))])];
    if recipe.wish.count.is_some_and(|count| count > MOST) {
        text.push(fill(words.too_many, &[("most", &MOST.to_string())]));
    }
    text.push(words.steps_ahead.to_owned());
    draft.say(text.join(" "));
}

/// The items that every plan ends with: a person looks at the draft, then it is handed over.
fn review_and_finish(place: &Place<'_>, draft: &mut Draft, kind: Kind, before: Vec<String>) {
    let words = place.words;
    let count = before
        .len()
        .saturating_sub(usize::from(before.iter().any(|id| id == WORK)));
    let parts = place.language.counted(count, kind.words(words).parts);
    let title = if before.iter().any(|id| id == WORK) {
        fill(kind.words(words).review, &[("parts", &parts)])
    } else {
        words.item_review_changes.to_owned()
    };
    let review = draft.add(REVIEW, &title, ChecklistState::Todo);
    review.needs_confirmation = true;
    review.depends_on = before;
    draft
        .add(FINISH, words.item_finish, ChecklistState::Todo)
        .depends_on = vec![REVIEW.to_owned()];
}
