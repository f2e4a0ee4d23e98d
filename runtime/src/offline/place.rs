//! Where a task stands, read out of its stored situation: the plan, what came of the last decision, what people said since.
//!
//! Invariants
//! - Nothing is remembered between steps; the same situation is read the same way by every process.
//!
//! Not here: what follows from it (`begin`, `intake`, `filling`, `changing`).

use domain::document::Version;
use domain::ids::WorkId;
use domain::journal::{JournalEntry, JournalKind};
use domain::line::Line;
use domain::task::{Autonomy, ChecklistItem, ChecklistState, LinkedWork};
use domain::turn::{CallId, CallState};
use domain::work::Work;
use serde_json::Value;

use super::kind::Kind;
use super::language::{Language, Words};
use super::wish::Wish;
use crate::context::Situation;

/// Ids of the items that a plan of this planner has.
pub(super) const CLARIFY: &str = "clarify";
pub(super) const LOOK: &str = "look";
pub(super) const WORK: &str = "work";
pub(super) const REVIEW: &str = "review";
pub(super) const FINISH: &str = "finish";
pub(super) const TROUBLE: &str = "trouble";
/// What ids of changes begin with; a number follows.
pub(super) const CHANGE: &str = "change-";

/// Where a task stands.
pub(super) struct Place<'a> {
    pub(super) situation: &'a Situation,
    pub(super) language: Language,
    pub(super) words: &'static Words,
    /// What came of the calls of the last decision.
    pub(super) outcomes: Vec<Outcome<'a>>,
    /// What people answered to cards since.
    pub(super) answers: Vec<CardReply<'a>>,
}

/// What came of one call.
pub(super) struct Outcome<'a> {
    pub(super) tool: &'a str,
    pub(super) arguments: &'a Value,
    pub(super) state: CallState,
    pub(super) result: &'a Value,
    pub(super) error: &'a str,
    /// What an executor answered.
    pub(super) answer: Option<&'a str>,
}

impl Outcome<'_> {
    pub(super) fn is_done(&self) -> bool {
        self.state == CallState::Done
    }
}

/// An answer to a card.
pub(super) struct CardReply<'a> {
    pub(super) option: Option<&'a str>,
    pub(super) comment: Option<&'a str>,
}

/// What kind of plan a task has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlanOf {
    /// Nobody's yet.
    Nobody,
    /// This planner's.
    Rules,
    /// A language model's.
    Model,
}

impl<'a> Place<'a> {
    pub(super) fn of(situation: &'a Situation) -> Self {
        let task = &situation.task;
        let language = Language::of(&task.language, &task.goal);
        let plan_at = situation
            .recent
            .iter()
            .rposition(|entry| entry.kind == JournalKind::Plan);
        let plan = plan_at.map(|at| &situation.recent[at]);
        let since = &situation.recent[plan_at.map_or(0, |at| at + 1)..];
        Self {
            situation,
            language,
            words: language.words(),
            outcomes: outcomes(plan, since),
            answers: since.iter().filter_map(card_reply).collect(),
        }
    }

    pub(super) fn checklist(&self) -> &'a [ChecklistItem] {
        &self.situation.projections.checklist
    }

    pub(super) fn item(&self, id: &str) -> Option<&'a ChecklistItem> {
        self.checklist().iter().find(|item| item.id == id)
    }

    pub(super) fn plan_of(&self) -> PlanOf {
        if self.checklist().is_empty() {
            return PlanOf::Nobody;
        }
        let is_ours = |item: &ChecklistItem| {
            [CLARIFY, WORK, REVIEW, FINISH, TROUBLE].contains(&item.id.as_str())
        };
        let is_change = |item: &ChecklistItem| item.id.starts_with(CHANGE);
        if self.checklist().iter().any(is_ours) || self.checklist().iter().all(is_change) {
            PlanOf::Rules
        } else {
            PlanOf::Model
        }
    }

    /// What is wanted, by the goal and what was said since.
    pub(super) fn wish(&self) -> Wish {
        let task = &self.situation.task;
        let also = self.also_asked();
        let texts = [task.goal.as_str(), task.brief.as_str()];
        Wish::of(
            texts
                .into_iter()
                .filter(|text| !text.trim().is_empty())
                .chain(also),
        )
    }

    /// What was asked for after the goal; the summary keeps it.
    pub(super) fn also_asked(&self) -> Vec<&'a str> {
        let begins = self.words.also_asked.split('{').next().unwrap_or_default();
        let lines = self.situation.projections.summary.lines();
        lines.filter_map(|line| line.strip_prefix(begins)).collect()
    }

    /// The work that the plan is about: the one it made, else the one written last, else the first that was given.
    pub(super) fn main_work(&self, checklist: &[ChecklistItem]) -> Option<&'a (LinkedWork, Work)> {
        let works = &self.situation.works;
        if let Some(item) = checklist.iter().find(|item| item.id == WORK) {
            return item.outputs.first().and_then(|made| self.find_work(*made));
        }
        let usable = || {
            works
                .iter()
                .filter(|(_, work)| Kind::of_work(work.kind).is_some())
        };
        let written = usable().filter(|(linked, _)| linked.last_written_at.is_some());
        written
            .max_by_key(|(linked, _)| linked.last_written_at)
            .or_else(|| usable().next())
    }

    /// A work that a person gave to the task before anything was made.
    pub(super) fn given_work(&self) -> Option<&'a (LinkedWork, Work)> {
        let is_given = |(_, work): &&(LinkedWork, Work)| {
            work.deleted_at.is_none() && Kind::of_work(work.kind).is_some()
        };
        self.situation.works.iter().find(is_given)
    }

    pub(super) fn find_work(&self, id: WorkId) -> Option<&'a (LinkedWork, Work)> {
        self.situation.works.iter().find(|(_, work)| work.id == id)
    }

    /// The version up to which the task knows a work.
    pub(super) fn seen(&self, id: WorkId) -> Version {
        self.find_work(id)
            .map_or(Version(0), |(linked, _)| linked.seen_version)
    }

    /// The line of an executor.
    pub(super) fn line(&self, executor: &str) -> Option<&'a Line> {
        self.situation
            .lines
            .iter()
            .find(|line| line.executor == executor)
    }

    pub(super) fn outcome(&self, tool: &str) -> Option<&Outcome<'a>> {
        self.outcomes.iter().find(|outcome| outcome.tool == tool)
    }

    /// Whether a call of this tool did not do what it should.
    pub(super) fn has_failed(&self, tool: &str) -> bool {
        self.outcomes
            .iter()
            .any(|outcome| outcome.tool == tool && !outcome.is_done())
    }

    /// Whether something that was ordered has not come yet.
    pub(super) fn has_orders(&self) -> bool {
        !self.situation.jobs.is_empty()
    }

    pub(super) fn has_open_card(&self) -> bool {
        !self.situation.cards.is_empty()
    }

    /// Whether a person must confirm before the task goes on past the review.
    pub(super) fn waits_for_review(&self, checklist: &[ChecklistItem]) -> bool {
        self.situation.task.autonomy != Autonomy::RunUntilDone
            && checklist
                .iter()
                .any(|item| item.id == REVIEW && item.is_open_checkpoint())
    }

    /// Whether the task was handed over before.
    pub(super) fn is_handed_over(&self) -> bool {
        self.item(FINISH)
            .is_some_and(|item| item.state == ChecklistState::Done)
    }
}

fn outcomes<'a>(plan: Option<&'a JournalEntry>, since: &'a [JournalEntry]) -> Vec<Outcome<'a>> {
    let results = since
        .iter()
        .filter(|entry| entry.kind == JournalKind::Result);
    results
        .filter_map(|entry| outcome(plan, since, entry))
        .collect()
}

fn outcome<'a>(
    plan: Option<&'a JournalEntry>,
    since: &'a [JournalEntry],
    entry: &'a JournalEntry,
) -> Option<Outcome<'a>> {
    let data = &entry.data;
    let call = data["call"].as_str()?;
    let index = call.parse::<CallId>().ok()?.index as usize;
    let is_answer = |other: &&JournalEntry| {
        other.kind == JournalKind::Answer && other.data["call"].as_str() == Some(call)
    };
    let planned = plan.map_or(&Value::Null, |plan| &plan.data["actions"][index]);
    let result = &data["result"];
    Some(Outcome {
        tool: data["tool"].as_str()?,
        arguments: &planned["arguments"],
        state: CallState::from_name(data["state"].as_str()?)?,
        // A call that was not made twice shows what the first brought.
        result: if result["repeats"].is_null() {
            result
        } else {
            &result["result"]
        },
        error: data["error"].as_str().unwrap_or_default(),
        answer: since
            .iter()
            .find(is_answer)
            .map(|answer| answer.text.as_str()),
    })
}

fn card_reply(entry: &JournalEntry) -> Option<CardReply<'_>> {
    let is_answer = entry.kind == JournalKind::IncomingMessage && entry.data["card"].is_string();
    is_answer.then(|| CardReply {
        option: entry.data["option"].as_str(),
        comment: entry.data["comment"]
            .as_str()
            .filter(|text| !text.trim().is_empty()),
    })
}

/// The number behind a prefix of an item's id.
pub(super) fn number_of(id: &str, prefix: &str) -> Option<u32> {
    id.strip_prefix(prefix)?.parse().ok()
}

/// The kind of work whose parts a plan makes, and the places of their items in it, in order.
pub(super) fn parts_of(checklist: &[ChecklistItem]) -> Option<(Kind, Vec<usize>)> {
    Kind::ALL.into_iter().find_map(|kind| {
        let prefix = format!("{}-", kind.part());
        let is_part = |(_, item): &(usize, &ChecklistItem)| number_of(&item.id, &prefix).is_some();
        let places: Vec<_> = checklist
            .iter()
            .enumerate()
            .filter(is_part)
            .map(|(at, _)| at)
            .collect();
        (!places.is_empty()).then_some((kind, places))
    })
}
