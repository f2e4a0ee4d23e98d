//! What rules can not go on with: the person is asked how, and the task ends in order where they say so.

use domain::task::ChecklistState;

use super::draft::Draft;
use super::language::fill;
use super::lexicon::Phrase;
use super::place::{FINISH, Place, REVIEW, TROUBLE, WORK, parts_of};

/// The options of the question.
pub(super) const AGAIN: &str = "again";
pub(super) const RESTORED: &str = "restored";
pub(super) const STOP: &str = "stop";

const SAYS_AGAIN: &[&str] = &[
    "again",
    "anew",
    "new one",
    "заново",
    "снова",
    "重新",
    "再来",
];
const SAYS_RESTORED: &[&str] = &[
    "restored",
    "go on",
    "continue",
    "вернул*",
    "восстанов*",
    "продолж*",
    "恢复",
    "继续",
];
const SAYS_STOP: &[&str] = &[
    "stop",
    "end",
    "enough",
    "законч*",
    "хватит",
    "стоп",
    "结束",
    "停止",
];

/// Stops here and asks.
pub(super) fn raise(place: &Place<'_>, draft: &mut Draft, reason: &str) {
    draft.because("rules can not go on by themselves");
    if draft.item(TROUBLE).is_none() {
        draft.add_before_review(
            TROUBLE,
            place.words.item_trouble,
            ChecklistState::InProgress,
        );
    }
    draft.set(
        TROUBLE,
        ChecklistState::InProgress,
        Some(super::draft::one_line(reason, 400)),
    );
    ask(place, draft);
}

/// Asks how to go on.
pub(super) fn ask(place: &Place<'_>, draft: &mut Draft) {
    let words = place.words;
    let reason = draft
        .item(TROUBLE)
        .and_then(|item| item.evidence.clone())
        .unwrap_or_default();
    let options = [
        (AGAIN, words.option_again),
        (RESTORED, words.option_restored),
        (STOP, words.option_stop),
    ];
    draft.ask(
        "clarification",
        &fill(words.ask_trouble, &[("reason", &reason)]),
        &options,
    );
}

/// The option that a person's own words stand for.
pub(super) fn option_said(text: &str) -> Option<&'static str> {
    let phrase = Phrase::of(text);
    let options = [
        (SAYS_AGAIN, AGAIN),
        (SAYS_STOP, STOP),
        (SAYS_RESTORED, RESTORED),
    ];
    options
        .into_iter()
        .find(|(list, _)| phrase.has(list))
        .map(|(_, option)| option)
}

/// Goes on as the person said.
pub(super) fn resolve(place: &Place<'_>, draft: &mut Draft, option: &str) {
    draft.set(TROUBLE, ChecklistState::Done, None);
    match option {
        AGAIN => anew(draft),
        STOP => return close(place, draft, place.words.option_stop),
        _ => {}
    }
    draft.say(place.words.going_on);
}

/// Everything that was made is to be made again.
fn anew(draft: &mut Draft) {
    let Some((_, places)) = parts_of(&draft.checklist) else {
        return;
    };
    let ids: Vec<String> = places
        .iter()
        .map(|at| draft.checklist[*at].id.clone())
        .collect();
    for id in ids.iter().map(String::as_str).chain([WORK, REVIEW, FINISH]) {
        draft.set(id, ChecklistState::Todo, None);
        if let Some(item) = draft.item(id) {
            item.outputs.clear();
        }
    }
}

/// Leaves out everything that is open; the task ends.
pub(super) fn close(place: &Place<'_>, draft: &mut Draft, reason: &str) {
    draft.because("what is open is left out");
    let evidence = fill(place.words.left_out, &[("reason", reason)]);
    for item in draft
        .checklist
        .iter_mut()
        .filter(|item| !item.state.is_closed())
    {
        item.state = ChecklistState::Skipped;
        item.evidence = Some(evidence.clone());
    }
    // What nobody confirmed and nobody will be asked about is not called done.
    if let Some(review) = draft.item(REVIEW).filter(|item| item.is_open_checkpoint()) {
        review.state = ChecklistState::Skipped;
    }
    draft.say(place.words.delivered_nothing);
}
