//! A plan that a language model made, found by the rules because no model is configured any more.

use domain::task::{ChecklistItem, ChecklistState};

use super::begin;
use super::draft::Draft;
use super::intake;
use super::language::fill;
use super::place::Place;
use super::trouble;
use super::wish::Wish;

/// The options of the question.
pub(super) const CLOSE: &str = "close";
pub(super) const ANEW: &str = "anew";
/// Items that the question names.
const NAMED: usize = 5;

/// Requests of people are carried out; the plan itself is not, and the person says what becomes of it.
pub(super) fn go_on(place: &Place<'_>, draft: &mut Draft) {
    intake::take_in(place, draft);
    let is_theirs =
        |item: &&ChecklistItem| !item.state.is_closed() && place.item(&item.id).is_some();
    let open: Vec<String> = draft
        .checklist
        .iter()
        .filter(is_theirs)
        .map(|item| item.title.clone())
        .collect();
    if super::changing::change(place, draft)
        || open.is_empty()
        || place.has_open_card()
        || draft.asks()
    {
        return;
    }
    if place.has_failed("ask") {
        return trouble::close(place, draft, place.words.not_by_rules);
    }
    draft.because("rules can not carry out a plan that they did not make");
    let items = open
        .iter()
        .take(NAMED)
        .cloned()
        .collect::<Vec<_>>()
        .join("; ");
    let prompt = fill(place.words.ask_foreign, &[("items", &items)]);
    let options = [
        (ANEW, place.words.option_anew),
        (CLOSE, place.words.option_close),
    ];
    draft.ask("clarification", &prompt, &options);
}

/// Goes on as the person said.
pub(super) fn resolve(place: &Place<'_>, draft: &mut Draft, option: &str) {
    let evidence = fill(
        place.words.left_out,
        &[("reason", place.words.not_by_rules)],
    );
    for item in draft
        .checklist
        .iter_mut()
        .filter(|item| !item.state.is_closed())
    {
        item.state = ChecklistState::Skipped;
        item.evidence = Some(evidence.clone());
    }
    if option == CLOSE {
        return draft.say(place.words.delivered_nothing);
    }
    let wish: Wish = begin::wish_with(place, &[]);
    begin::begin_anew(place, draft, &wish);
}
