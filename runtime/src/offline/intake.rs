//! What people said since the last step: answers to cards and messages, and what each of them starts.
//!
//! Invariants
//! - Everything that a person said has an effect or an answer.
//! - A confirmation is taken from a card alone: words that sound like one are answered with where to click (A7).

use domain::card::{ADJUST, CONFIRM};
use domain::task::ChecklistState;
use domain::work::Work;

use super::begin;
use super::draft::{Draft, next_change, one_line};
use super::film;
use super::foreign;
use super::kind::{Kind, asked_for};
use super::language::fill;
use super::lexicon::Phrase;
use super::place::{CHANGE, CLARIFY, CardReply, Place, REVIEW, TROUBLE, parts_of};
use super::request::{self, Request};
use super::request_words::{PRAISE, requests_of};
use super::trouble;

/// Options of the question what is to be changed.
const DARKER: &str = "darker";
const BRIGHTER: &str = "brighter";
const ADD: &str = "add";
/// The option that nothing is to be changed, where there is nothing to confirm.
const FINE: &str = "fine";
/// Characters of a request in a reply.
const SHOWN: usize = 120;
/// Requests of one message.
const REQUESTS: usize = 12;

const THANKS: &[&str] = &[
    "thanks",
    "thank you",
    "спасибо",
    "благодарю",
    "谢谢",
    "多谢",
];
const GREETING: &[&str] = &[
    "hello",
    "hi",
    "hey",
    "привет",
    "здравствуй*",
    "добрый день",
    "你好",
    "您好",
];
const APPROVAL: &[&str] = &[
    "ok",
    "okay",
    "yes",
    "confirm",
    "approved",
    "looks good",
    "go ahead",
    "done",
    "да",
    "ок",
    "окей",
    "подходит",
    "принимаю",
    "согласен",
    "согласна",
    "годится",
    "好的",
    "可以",
    "确认",
    "同意",
    "好",
    "行",
];
const ASKS: &[&str] = &[
    "what",
    "how",
    "why",
    "when",
    "where",
    "who",
    "which",
    "should i",
    "is it",
    "are there",
    "почему",
    "зачем",
    "как",
    "что",
    "когда",
    "где",
    "кто",
    "сколько",
    "какой",
    "какие",
    "стоит ли",
    "нужно ли",
    "можно ли",
    "什么",
    "怎么",
    "为什么",
    "什么时候",
    "哪",
    "谁",
    "多少",
    "是否",
    "要不要",
];

/// Takes in everything that was said.
pub(super) fn take_in(place: &Place<'_>, draft: &mut Draft) {
    for answer in &place.answers {
        take_answer(place, draft, answer);
    }
    for message in &place.situation.messages {
        take_message(place, draft, &message.text);
    }
}

fn is_open(draft: &mut Draft, id: &str) -> bool {
    draft.item(id).is_some_and(|item| !item.state.is_closed())
}

fn take_answer(place: &Place<'_>, draft: &mut Draft, answer: &CardReply<'_>) {
    let words = place.words;
    draft.because("a person answered a card");
    let kind = Kind::ALL
        .into_iter()
        .find(|kind| Some(kind.option()) == answer.option);
    match (answer.option, kind) {
        (Some(option @ (trouble::AGAIN | trouble::RESTORED | trouble::STOP)), _)
            if is_open(draft, TROUBLE) =>
        {
            trouble::resolve(place, draft, option);
        }
        (Some(option @ (foreign::CLOSE | foreign::ANEW)), _) => {
            return foreign::resolve(place, draft, option);
        }
        (Some(_), Some(kind)) if is_open(draft, CLARIFY) => {
            return settle_kind(place, draft, kind, answer.comment);
        }
        (Some(DARKER), _) => take_request(place, draft, words.request_darker),
        (Some(BRIGHTER), _) => take_request(place, draft, words.request_brighter),
        (Some(ADD), _) => {
            if let Some(kind) = main_kind(place, draft) {
                take_request(place, draft, words.request_add[kind as usize]);
            }
        }
        (Some(ADJUST), _) if answer.comment.is_none() => ask_change(place, draft),
        (Some(CONFIRM | FINE), _) if answer.comment.is_none() => {}
        _ => {}
    }
    if let Some(comment) = answer.comment {
        take_message(place, draft, comment);
    }
}

/// What is wanted is known now.
fn settle_kind(place: &Place<'_>, draft: &mut Draft, kind: Kind, comment: Option<&str>) {
    let more: Vec<&str> = comment.into_iter().collect();
    if let Some(text) = comment {
        draft.remember(text);
    }
    draft.set(
        CLARIFY,
        ChecklistState::Done,
        Some(place.words.kind_options[kind as usize].to_owned()),
    );
    let wish = begin::wish_with(place, &more);
    begin::plan(place, draft, kind, &wish);
}

fn take_message(place: &Place<'_>, draft: &mut Draft, text: &str) {
    draft.because("a person wrote");
    if is_open(draft, CLARIFY) {
        return clarified(place, draft, text);
    }
    if is_open(draft, TROUBLE)
        && let Some(option) = trouble::option_said(text)
    {
        return trouble::resolve(place, draft, option);
    }
    if film::takes(place, draft, text) {
        return;
    }
    let phrase = Phrase::of(text);
    let asks = phrase.at(0, ASKS).is_some();
    // Before there is a work, requests about its parts wait for it.
    let work = place.main_work(&draft.checklist).map(|(_, work)| work);
    let work = addressed(place, text).or(work);
    let kind = work.and_then(|work| Kind::of_work(work.kind));
    let kind = kind.or_else(|| parts_of(&draft.checklist).map(|(kind, _)| kind));
    let taken = match kind {
        Some(kind) if !asks => take_requests(place, draft, text, (kind, work)),
        _ => Taken::default(),
    };
    if taken.understood > 0 && taken.unknown.is_empty() {
        return;
    }
    match taken.understood {
        0 => converse(place, draft, text, &phrase),
        _ => not_understood(place, draft, &taken.unknown.join("; ")),
    }
}

/// An answer in words to the question what is wanted.
fn clarified(place: &Place<'_>, draft: &mut Draft, text: &str) {
    let said = Phrase::of(text);
    if let Some(kind) = asked_for(&said) {
        settle_kind(place, draft, kind, Some(text));
    } else {
        draft.remember(text);
        let shown = one_line(text, SHOWN);
        draft.say(fill(
            place.words.not_understood_kind,
            &[("request", &shown)],
        ));
    }
}

/// What came of a message.
#[derive(Default)]
struct Taken {
    understood: usize,
    unknown: Vec<String>,
}

/// A work of the task that the message names by its kind, where that is not the main one.
fn addressed<'a>(place: &Place<'a>, text: &str) -> Option<&'a Work> {
    let phrase = Phrase::of(text);
    let is_named = |work: &Work| {
        Kind::of_work(work.kind)
            .is_some_and(|kind| kind.names().iter().any(|name| phrase.has(&[name])))
    };
    let mut works = place.situation.works.iter().map(|(_, work)| work);
    works.find(|work| work.deleted_at.is_none() && is_named(work))
}

fn take_requests(
    place: &Place<'_>,
    draft: &mut Draft,
    text: &str,
    (kind, work): (Kind, Option<&Work>),
) -> Taken {
    let mut taken = Taken::default();
    let mut changes = Vec::new();
    for request in requests_of(text).into_iter().take(REQUESTS) {
        match request::read(request, kind, &[]) {
            Some(Request::RenameWork) => {
                draft.say(place.words.cannot_rename_work);
                taken.understood += 1;
            }
            Some(read) => changes.push((read.turn(), request)),
            None if is_small_talk(request) => {}
            None => taken.unknown.push(one_line(request, SHOWN)),
        }
    }
    taken.understood += changes.len();
    changes.sort_by_key(|(turn, _)| *turn);
    for (_, request) in changes {
        add_change(place, draft, request, work);
    }
    taken
}

/// Takes the requests of a text as changes of a work; how many there were.
pub(super) fn take_changes(place: &Place<'_>, draft: &mut Draft, text: &str, work: &Work) -> usize {
    let kind = Kind::of_work(work.kind);
    kind.map_or(0, |kind| {
        take_requests(place, draft, text, (kind, Some(work))).understood
    })
}

fn take_request(place: &Place<'_>, draft: &mut Draft, request: &str) {
    if let Some((_, work)) = place.main_work(&draft.checklist) {
        add_change(place, draft, request, Some(work));
    }
}

/// A change that is to be made; the person sees it in the plan, and looks at the result again.
fn add_change(place: &Place<'_>, draft: &mut Draft, request: &str, work: Option<&Work>) {
    let words = place.words;
    let id = next_change(place, draft);
    let title = fill(words.item_change, &[("text", request)]);
    let item = draft.add_before_review(&id, &title, ChecklistState::Todo);
    item.outputs = work.iter().map(|work| work.id).collect();
    let fills = parts_of(&draft.checklist).is_some_and(|(_, places)| {
        places
            .iter()
            .any(|at| !draft.checklist[*at].state.is_closed())
    });
    if fills {
        draft.say(fill(
            words.noted_for_later,
            &[("text", &one_line(request, SHOWN))],
        ));
    }
    let is_handed_over = place.is_handed_over();
    if let Some(review) = draft
        .item(REVIEW)
        .filter(|item| item.state == ChecklistState::Done && !is_handed_over)
    {
        review.state = ChecklistState::Todo;
    }
}

/// Whether a text is thanks, a greeting, or praise.
pub(super) fn is_small_talk(text: &str) -> bool {
    let phrase = Phrase::of(text);
    [THANKS, GREETING, APPROVAL, PRAISE]
        .into_iter()
        .any(|list| phrase.has(list))
}

/// Whether a text asks something.
pub(super) fn is_question(text: &str) -> bool {
    Phrase::of(text).at(0, ASKS).is_some() || text.trim_end().ends_with(['?', '\u{ff1f}', '吗'])
}

/// A message that asks for no change.
fn converse(place: &Place<'_>, draft: &mut Draft, text: &str, phrase: &Phrase<'_>) {
    let words = place.words;
    let kind = main_kind(place, draft);
    let wanted = asked_for(phrase);
    if is_question(text) || phrase.at(0, GREETING).is_some() {
        let status = place.situation.projections.short_line.as_str();
        let status = super::making::sentence(status, words);
        let examples = words.examples[kind.unwrap_or(Kind::Storyboard) as usize];
        draft.say(fill(
            words.status,
            &[("status", &status), ("examples", examples)],
        ));
    } else if phrase.has(APPROVAL) || phrase.has(PRAISE) || phrase.has(THANKS) {
        if place.waits_for_review(&draft.checklist) {
            draft.say(words.press_confirm);
        } else {
            draft.say(words.thanks);
        }
    } else if let (Some((_, work)), true) = (
        place.main_work(&draft.checklist),
        wanted.is_some() && wanted != kind,
    ) {
        draft.say(fill(words.another_work, &[("work", &work.title)]));
    } else {
        not_understood(place, draft, &one_line(text, SHOWN));
    }
}

/// Says what was not understood; where nothing else goes on, asks what is meant.
fn not_understood(place: &Place<'_>, draft: &mut Draft, request: &str) {
    let words = place.words;
    let Some(kind) = main_kind(place, draft) else {
        return draft.say(fill(words.not_understood_kind, &[("request", request)]));
    };
    let examples = words.examples[kind as usize];
    draft.say(fill(
        words.not_understood,
        &[("request", request), ("examples", examples)],
    ));
    let goes_on = draft
        .checklist
        .iter()
        .any(|item| !item.state.is_closed() && item.id != super::place::FINISH);
    if !goes_on && !place.has_open_card() {
        ask_change(place, draft);
    }
}

fn main_kind(place: &Place<'_>, draft: &Draft) -> Option<Kind> {
    let work = place
        .main_work(&draft.checklist)
        .and_then(|(_, work)| Kind::of_work(work.kind));
    work.or_else(|| parts_of(&draft.checklist).map(|(kind, _)| kind))
}

/// Asks what is to be changed. Where a draft waits to be confirmed, one option confirms it.
pub(super) fn ask_change(place: &Place<'_>, draft: &mut Draft) {
    let words = place.words;
    let has_open_change = draft
        .checklist
        .iter()
        .any(|item| item.id.starts_with(CHANGE) && !item.state.is_closed());
    if has_open_change {
        return;
    }
    let (kind, fine) = if place.waits_for_review(&draft.checklist) {
        ("checkpoint", CONFIRM)
    } else {
        ("clarification", FINE)
    };
    let mut options = vec![
        (DARKER, words.option_darker),
        (BRIGHTER, words.option_brighter),
        (ADD, words.option_add),
    ];
    if main_kind(place, draft) == Some(Kind::Text) {
        options.drain(..2);
    }
    options.push((fine, words.option_fine));
    draft.ask(kind, words.ask_change, &options);
}
