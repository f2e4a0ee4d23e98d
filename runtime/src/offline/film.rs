//! Pictures of a storyboard by rules: a reference of the hero that a person confirms, then all frames side by side, and again only what
//! rests on a change.
//!
//! Invariants
//! - Nothing is ordered before a person has confirmed the draft, unless the task runs until it is done.
//! - Where a picture stands is read from the plan and the journal; an order that is under way is waited for.
//! - A picture that did not come is left out with its reason: no order is repeated by itself.

use domain::ids::WorkId;
use domain::journal::JournalKind;
use domain::task::{Autonomy, ChecklistItem, ChecklistState};
use serde_json::{Value, json};

use super::draft::{Draft, one_line};
use super::kind::Kind;
use super::language::fill;
use super::lexicon::Phrase;
use super::making::Recipe;
use super::place::{FINISH, Place, REVIEW, WORK, number_of};
use super::view::{Reading, View, reading};
use super::wish::Wish;

/// The item of the hero's reference, and the node that describes the hero.
const HERO: &str = "hero";
/// What ids of items of frames begin with; the number of a shot follows.
const FRAME: &str = "frame-";
/// The field of a node that holds its picture.
const FIELD: &str = "image";
/// Shots from which on the hero is in the middle ones alone.
const MANY: usize = 4;

/// Words that ask for pictures of the shots.
const ASKED_FOR_BY: &[&str] = &[
    "with pictures",
    "with images",
    "with frames",
    "short film",
    "draw the frames",
    "с картинками",
    "с изображениями",
    "с кадрами",
    "короткометраж*",
    "короткий фильм",
    "короткого фильма",
    "配图",
    "带图",
    "短片",
    "画面",
];
/// Words that ask for what is stale.
const ANEW: &[&str] = &[
    "update*",
    "redraw*",
    "refresh*",
    "again",
    "changed",
    "обнов*",
    "перерис*",
    "заново",
    "изменил*",
    "更新",
    "重画",
    "重新",
    "改了",
];

/// Whether pictures are wanted.
pub(super) fn is_wanted(kind: Kind, wish: &Wish) -> bool {
    kind == Kind::Storyboard && Phrase::of(&wish.said).has(ASKED_FOR_BY)
}

/// Adds the items of the pictures to a new plan, before its end.
pub(super) fn plan(place: &Place<'_>, draft: &mut Draft, recipe: &Recipe<'_>) {
    let words = place.words;
    let count = recipe.ideas.len();
    let finish = draft.checklist.pop_if(|item| item.id == FINISH);
    let hero = draft.add(
        HERO,
        &fill(words.item_hero, &[("subject", &recipe.subject())]),
        ChecklistState::Todo,
    );
    hero.needs_confirmation = true;
    hero.needs = vec!["image".to_owned()];
    hero.depends_on = vec![REVIEW.to_owned()];
    let mut frames = vec![REVIEW.to_owned(), HERO.to_owned()];
    for index in 0..count {
        let title = fill(words.item_frame, &[("part", &recipe.part_title(index))]);
        let id = format!("{FRAME}{}", index + 1);
        let frame = draft.add(&id, &title, ChecklistState::Todo);
        frame.needs = vec!["image".to_owned()];
        frame.depends_on = vec![REVIEW.to_owned(), recipe.part_id(index)];
        if shows_hero(index, count) {
            frame.depends_on.push(HERO.to_owned());
        }
        frames.push(id);
    }
    if let Some(mut finish) = finish {
        finish.depends_on = frames;
        draft.checklist.push(finish);
    }
}

/// The first shot says where it is, the last one lets go: the hero is between them.
fn shows_hero(index: usize, count: usize) -> bool {
    count < MANY || (index > 0 && index + 1 < count)
}

/// Whether a message asks for what is stale, and is answered by making it.
pub(super) fn takes(place: &Place<'_>, draft: &mut Draft, text: &str) -> bool {
    let is_stale = |item: &ChecklistItem| item.state == ChecklistState::Stale;
    if !place.checklist().iter().any(is_stale) || !Phrase::of(text).has(ANEW) {
        return false;
    }
    let stale = place.checklist().iter().filter(|item| is_stale(item));
    let titles: Vec<_> = stale.map(|item| item.title.as_str()).collect();
    draft.because("what rests on a change is asked for anew");
    draft.say(fill(place.words.remaking, &[("items", &titles.join("; "))]));
    true
}

/// Orders pictures, and takes in those that came; whether the rest of the plan waits for them.
pub(super) fn pictures(place: &Place<'_>, draft: &mut Draft) -> bool {
    let has_plan = draft.item(HERO).is_some();
    let is_reviewed = draft
        .item(REVIEW)
        .is_some_and(|item| item.state.is_closed());
    if !has_plan || !is_reviewed || place.waits_for_review(&draft.checklist) {
        return false;
    }
    for id in ordered(draft) {
        take_result(place, draft, &id);
    }
    if !hero(place, draft) {
        return true;
    }
    frames(place, draft);
    draft
        .checklist
        .iter()
        .any(|item| is_picture(item) && !item.state.is_closed())
}

fn is_picture(item: &ChecklistItem) -> bool {
    item.id == HERO || number_of(&item.id, FRAME).is_some()
}

/// Items whose orders were made and have not come back.
fn ordered(draft: &Draft) -> Vec<String> {
    let is_ordered =
        |item: &&ChecklistItem| is_picture(item) && item.state == ChecklistState::InProgress;
    let items = draft.checklist.iter().filter(is_ordered);
    items.map(|item| item.id.clone()).collect()
}

/// What came of the last order for an item, if it has come to its end.
fn take_result(place: &Place<'_>, draft: &mut Draft, id: &str) {
    let words = place.words;
    let evidence = draft.item(id).and_then(|item| item.evidence.clone());
    if evidence.as_deref() != Some(words.ordered) {
        return;
    }
    let refused = place.outcomes.iter().find(|outcome| {
        outcome.tool == "generate"
            && !outcome.is_done()
            && outcome.arguments["item_id"].as_str() == Some(id)
    });
    if let Some(outcome) = refused {
        return leave_out(place, draft, id, outcome.error);
    }
    if place
        .situation
        .jobs
        .iter()
        .any(|job| job.item.as_deref() == Some(id))
    {
        return;
    }
    let mut ends = place.situation.recent.iter().rev().filter(|entry| {
        entry.kind == JournalKind::SystemEvent
            && entry.data["job"].is_string()
            && entry.data["item"].as_str() == Some(id)
    });
    match ends.next() {
        Some(entry) if entry.data["state"] == "SUCCEEDED" => {
            let made: Option<WorkId> =
                serde_json::from_value(entry.data["outputs"][0].clone()).ok();
            draft.set(
                id,
                ChecklistState::Done,
                Some(words.picture_there.to_owned()),
            );
            if let (Some(item), Some(made)) = (draft.item(id), made) {
                // The hero's first output is the work that describes the hero.
                item.outputs.truncate(usize::from(id == HERO));
                item.outputs.push(made);
            }
            draft.because("a picture has come");
        }
        Some(entry) => {
            let reason = entry.data["error"].as_str().unwrap_or_default().to_owned();
            leave_out(place, draft, id, &reason);
        }
        None => leave_out(place, draft, id, words.not_by_rules),
    }
}

fn leave_out(place: &Place<'_>, draft: &mut Draft, id: &str, reason: &str) {
    let reason = one_line(reason, 200);
    let evidence = fill(place.words.left_out, &[("reason", &reason)]);
    draft.say(fill(place.words.picture_missing, &[("reason", &reason)]));
    draft.set(id, ChecklistState::Skipped, Some(evidence));
}

/// Makes the hero's reference; whether frames can be made after it.
fn hero(place: &Place<'_>, draft: &mut Draft) -> bool {
    let words = place.words;
    let Some(item) = draft.item(HERO).cloned() else {
        return true;
    };
    let described = item.outputs.first().copied();
    match (item.state, item.evidence.as_deref()) {
        (ChecklistState::Done, _) => {
            // A person looks at the reference before anything is made after it.
            item.is_confirmed || place.situation.task.autonomy == Autonomy::RunUntilDone
        }
        (ChecklistState::Skipped, _) => true,
        (ChecklistState::InProgress, Some(stage)) if stage == words.ordered => false,
        (ChecklistState::InProgress, Some(stage)) if stage == words.looking => {
            match described.and_then(|work| Some((work, reading(place, work)?))) {
                Some((work, Reading::View(view))) => order_hero(place, draft, (work, &view)),
                _ => leave_out(place, draft, HERO, words.not_by_rules),
            }
            false
        }
        (ChecklistState::InProgress, Some(stage)) if stage == words.placing => {
            let made = place
                .outcome("create_work")
                .filter(|outcome| outcome.is_done());
            let made = made.and_then(|outcome| outcome.result["work_id"].as_str()?.parse().ok());
            match made {
                Some(work) => look_at(place, draft, HERO, work),
                None => leave_out(place, draft, HERO, words.not_by_rules),
            }
            false
        }
        _ => {
            match described {
                Some(work) => look_at(place, draft, HERO, work),
                None => describe_hero(place, draft),
            }
            false
        }
    }
}

/// Makes the work in which people find and change the hero.
fn describe_hero(place: &Place<'_>, draft: &mut Draft) {
    let words = place.words;
    let wish = place.wish();
    let recipe = Recipe::of(Kind::Storyboard, place.language, &wish, None);
    let subject = recipe.subject();
    let description = fill(
        words.hero_description,
        &[("subject", &subject), ("look", &recipe.look())],
    );
    draft.because("the hero is described, so that it stays the same");
    draft.act(
        "create_work",
        json!({
            "kind": "collection",
            "title": fill(words.hero_title, &[("subject", &subject)]),
            "nodes": [{"id": HERO, "type": "character", "fields": {"title": subject, "description": description}}],
        }),
    );
    draft.set(
        HERO,
        ChecklistState::InProgress,
        Some(words.placing.to_owned()),
    );
}

/// Reads a work before an order is made from it.
fn look_at(place: &Place<'_>, draft: &mut Draft, id: &str, work: WorkId) {
    draft.act("read_work", json!({"work_id": work}));
    draft.set(
        id,
        ChecklistState::InProgress,
        Some(place.words.looking.to_owned()),
    );
    if let Some(item) = draft.item(id)
        && item.outputs.is_empty()
    {
        item.outputs = vec![work];
    }
}

fn order_hero(place: &Place<'_>, draft: &mut Draft, (work, view): (WorkId, &View)) {
    let node = view.nodes.iter().find(|node| node.id == HERO);
    let Some(node) = node else {
        return leave_out(place, draft, HERO, place.words.not_by_rules);
    };
    let prompt = format!("{}. {}", node.prose("title"), node.prose("description"));
    let target = json!({"work_id": work, "node_id": HERO, "field": FIELD});
    order(
        place,
        draft,
        HERO,
        (&prompt, node.prose("title"), target, &[]),
    );
    draft.because("the hero's reference is ordered");
}

fn order(
    place: &Place<'_>,
    draft: &mut Draft,
    id: &str,
    (prompt, title, target, references): (&str, &str, Value, &[WorkId]),
) {
    let mut arguments = json!({
        "kind": "image", "prompt": prompt, "item_id": id, "place": target, "parameters": {"title": title},
    });
    if !references.is_empty() {
        arguments["references"] = json!(references);
    }
    draft.act("generate", arguments);
    draft.set(
        id,
        ChecklistState::InProgress,
        Some(place.words.ordered.to_owned()),
    );
}

/// Orders all frames that are to be made, side by side, from what stands in the storyboard now.
fn frames(place: &Place<'_>, draft: &mut Draft) {
    let words = place.words;
    let is_due = |item: &&ChecklistItem| {
        let is_looking = item.evidence.as_deref() == Some(words.looking);
        number_of(&item.id, FRAME).is_some()
            && (matches!(item.state, ChecklistState::Todo | ChecklistState::Stale)
                || (item.state == ChecklistState::InProgress && is_looking))
    };
    let due: Vec<_> = draft.checklist.iter().filter(is_due).cloned().collect();
    let board = draft
        .item(WORK)
        .and_then(|item| item.outputs.first().copied());
    let (Some(first), Some(board)) = (due.first(), board) else {
        return;
    };
    let view = match reading(place, board) {
        Some(Reading::View(view)) => view,
        Some(Reading::TooLarge) => {
            for item in &due {
                leave_out(place, draft, &item.id, words.unreadable);
            }
            return;
        }
        None if first.evidence.as_deref() == Some(words.looking) => {
            for item in &due {
                leave_out(place, draft, &item.id, words.not_by_rules);
            }
            return;
        }
        None => {
            draft.because("the shots are read as they stand now");
            draft.act("read_work", json!({"work_id": board}));
            for item in &due {
                draft.set(
                    &item.id,
                    ChecklistState::InProgress,
                    Some(words.looking.to_owned()),
                );
            }
            return;
        }
    };
    draft.because("frames are ordered side by side");
    let reference = draft
        .item(HERO)
        .and_then(|item| item.outputs.get(1).copied());
    for item in &due {
        order_frame(place, draft, item, (board, &view, reference));
    }
}

fn order_frame(
    place: &Place<'_>,
    draft: &mut Draft,
    item: &ChecklistItem,
    (board, view, reference): (WorkId, &View, Option<WorkId>),
) {
    let shot = item
        .depends_on
        .iter()
        .find(|id| number_of(id, "shot-").is_some());
    let node = shot.and_then(|shot| view.nodes.iter().find(|node| node.id == *shot));
    let Some(node) = node else {
        return leave_out(place, draft, &item.id, place.words.not_by_rules);
    };
    let prompt = match node.prose("prompt") {
        "" => node.prose("description"),
        prompt => prompt,
    };
    let references: Vec<_> = reference
        .filter(|_| item.depends_on.iter().any(|id| id == HERO))
        .into_iter()
        .collect();
    let target = json!({"work_id": board, "node_id": node.id, "field": FIELD});
    order(
        place,
        draft,
        &item.id,
        (prompt, node.prose("title"), target, &references),
    );
}

/// Whether the reference waits for a person's look at it.
pub(super) fn waits_for_hero(place: &Place<'_>, draft: &Draft) -> bool {
    let mut items = draft.checklist.iter();
    let hero = items.find(|item| item.id == HERO);
    place.situation.task.autonomy != Autonomy::RunUntilDone
        && hero.is_some_and(ChecklistItem::is_open_checkpoint)
}
