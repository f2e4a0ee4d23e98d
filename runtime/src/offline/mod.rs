//! The offline planner: a model client that is no language model, but rules, in Russian, English and Chinese.
//!
//! It leads a person through a storyboard, a poster series, a flow or a text with the tools that every planner has, so that an
//! installation works without a key, and it says what it is in its first reply.
//!
//! Invariants
//! - A decision is a function of the situation: no memory, no clock, no randomness. Where the planner stands is read from the plan,
//!   the journal and the works, so it survives whatever its process does not.
//! - It never claims to have made a picture, or to have understood what it has not.
//! - It comes to an end: every part and every request has a last step.
//!
//! Not here: what a decision does (the engine), what tools do.

mod aim;
mod begin;
mod changing;
mod draft;
mod editing;
mod editing_text;
mod executor;
mod filling;
mod film;
mod flow;
mod foreign;
mod intake;
mod kind;
mod language;
mod lexicon;
mod likeness;
mod making;
mod memories;
mod numbers;
mod place;
mod rearranging;
mod request;
mod request_words;
mod route;
mod route_words;
mod style;
mod summary;
#[cfg(test)]
mod tests;
mod text;
mod trouble;
mod view;
mod wish;
mod words_en;
mod words_ru;
mod words_zh;

use async_trait::async_trait;
use domain::task::ChecklistItem;
use serde_json::Value;

use crate::context::Situation;
use crate::model::{Function, ModelClient, ModelError, ModelReply, ModelRequest, ModelUsage};
use draft::Draft;
use place::{Place, PlanOf};

/// The name of the provider, and of its model.
const NAME: &str = "offline";

/// The offline planner.
#[derive(Debug, Clone, Copy, Default)]
pub struct Offline;

#[async_trait]
impl ModelClient for Offline {
    fn provider(&self) -> &'static str {
        NAME
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        let arguments = match request.function {
            Function::Decide => {
                if let Some(situation) = &request.situation {
                    decide(situation)
                } else {
                    let reason =
                        "the offline planner decides from stored state, and the request has none";
                    return Err(ModelError::Refused(reason.to_owned()));
                }
            }
            Function::Answer => executor::answer(request),
            Function::SummarizeSegment => summary::summarize(request),
            Function::Route => route::route(request),
            Function::ConfirmNewTask => route::confirm(request),
            Function::ExtractMemories => memories::extract(request),
        };
        Ok(ModelReply {
            arguments,
            model: NAME.to_owned(),
            // Rules cost no tokens.
            usage: ModelUsage::default(),
        })
    }
}

/// The decision of a step, as the arguments of `decide`.
fn decide(situation: &Situation) -> Value {
    let place = Place::of(situation);
    let mut draft = Draft::of(&place);
    say_again(&place, &mut draft);
    match place.plan_of() {
        PlanOf::Nobody => begin::begin(&place, &mut draft),
        PlanOf::Model => foreign::go_on(&place, &mut draft),
        PlanOf::Rules => {
            intake::take_in(&place, &mut draft);
            filling::go_on(&place, &mut draft);
            leave_nothing_hanging(&place, &mut draft);
        }
    }
    draft.into_decision(&place)
}

/// A reply that could not be sent with its works is sent without them.
fn say_again(place: &Place<'_>, draft: &mut Draft) {
    let lost = place.outcome("reply").filter(|outcome| !outcome.is_done());
    let lost = lost.filter(|outcome| outcome.arguments["work_ids"].is_array());
    if let Some(text) = lost.and_then(|outcome| outcome.arguments["text"].as_str()) {
        draft.say(text);
    }
}

/// Where nothing is done and nothing is waited for, what is open would stay open for ever.
fn leave_nothing_hanging(place: &Place<'_>, draft: &mut Draft) {
    let is_open = |item: &ChecklistItem| !item.state.is_closed();
    let has_open = draft.checklist.iter().any(is_open);
    let waits = place.has_open_card()
        || draft.asks()
        || place.waits_for_review(&draft.checklist)
        || place.has_orders()
        || film::waits_for_hero(place, draft);
    if has_open && !waits && !draft.has_actions() && !draft.says() {
        trouble::close(place, draft, place.words.not_by_rules);
    }
}
