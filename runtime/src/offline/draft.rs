//! A decision in the making: the plan as it will be, what is said, what is done.
//!
//! Invariants
//! - Everything that is said in a step is one reply, before everything that is done.
//! - Projections keep one size: old changes leave the plan, and the summary keeps few words.

use domain::ids::WorkId;
use domain::task::{ChecklistItem, ChecklistState};
use serde_json::{Value, json};

use super::language::fill;
use super::place::{CHANGE, CLARIFY, FINISH, Place, TROUBLE, number_of, parts_of};
use crate::context::cut;

/// Closed changes that stay in the plan.
const OLD_CHANGES: usize = 5;
/// Requests besides the goal that the summary keeps.
const ALSO: usize = 4;
/// Characters of each.
const ALSO_CHARACTERS: usize = 240;
/// Characters of the goal in the summary.
const GOAL_CHARACTERS: usize = 300;
/// Characters of a title of an item.
const TITLE: usize = 490;

/// A decision in the making.
pub(super) struct Draft {
    /// The plan as it will be.
    pub(super) checklist: Vec<ChecklistItem>,
    said: Vec<String>,
    shown: Vec<WorkId>,
    actions: Vec<Value>,
    also: Vec<String>,
    reasons: Vec<&'static str>,
    asks: bool,
}

impl Draft {
    /// The plan as it is.
    pub(super) fn of(place: &Place<'_>) -> Self {
        Self {
            checklist: place.checklist().to_vec(),
            said: Vec::new(),
            shown: Vec::new(),
            actions: Vec::new(),
            also: place.also_asked().into_iter().map(str::to_owned).collect(),
            reasons: Vec::new(),
            asks: false,
        }
    }

    /// Tells the person something.
    pub(super) fn say(&mut self, text: impl Into<String>) {
        self.said.push(text.into());
    }

    /// Shows a work with what is said.
    pub(super) fn show(&mut self, work: WorkId) {
        if !self.shown.contains(&work) {
            self.shown.push(work);
        }
    }

    /// Calls a tool.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers make the value on the spot"
    )]
    pub(super) fn act(&mut self, tool: &str, arguments: Value) {
        self.actions
            .push(json!({"tool": tool, "arguments": arguments}));
    }

    /// Asks the person; a question is asked once at a time.
    pub(super) fn ask(&mut self, kind: &str, prompt: &str, options: &[(&str, &str)]) {
        if self.asks {
            return;
        }
        self.asks = true;
        let options: Vec<_> = options
            .iter()
            .map(|(id, label)| json!({"id": id, "label": label}))
            .collect();
        self.act(
            "ask",
            json!({"kind": kind, "prompt": prompt, "options": options}),
        );
    }

    /// Why this step, for the journal.
    pub(super) fn because(&mut self, reason: &'static str) {
        self.reasons.push(reason);
    }

    /// Keeps what was asked for besides the goal.
    pub(super) fn remember(&mut self, text: &str) {
        self.also.push(one_line(text, ALSO_CHARACTERS));
    }

    /// Whether anything is done in this step.
    pub(super) fn has_actions(&self) -> bool {
        !self.actions.is_empty()
    }

    /// Whether the person is asked in this step.
    pub(super) fn asks(&self) -> bool {
        self.asks
    }

    /// Whether anything is said in this step.
    pub(super) fn says(&self) -> bool {
        !self.said.is_empty()
    }

    pub(super) fn item(&mut self, id: &str) -> Option<&mut ChecklistItem> {
        self.checklist.iter_mut().find(|item| item.id == id)
    }

    /// Gives an item another state, and says how one sees it.
    pub(super) fn set(&mut self, id: &str, state: ChecklistState, evidence: Option<String>) {
        if let Some(item) = self.item(id) {
            item.state = state;
            item.evidence = evidence;
        }
    }

    /// Appends an item.
    pub(super) fn add(
        &mut self,
        id: &str,
        title: &str,
        state: ChecklistState,
    ) -> &mut ChecklistItem {
        let at = self.checklist.len();
        self.insert(at, id, title, state)
    }

    /// Puts an item before the review and what follows it, or at the end.
    pub(super) fn add_before_review(
        &mut self,
        id: &str,
        title: &str,
        state: ChecklistState,
    ) -> &mut ChecklistItem {
        let is_last =
            |item: &ChecklistItem| [super::place::REVIEW, FINISH].contains(&item.id.as_str());
        let at = self
            .checklist
            .iter()
            .position(is_last)
            .unwrap_or(self.checklist.len());
        self.insert(at, id, title, state)
    }

    fn insert(
        &mut self,
        at: usize,
        id: &str,
        title: &str,
        state: ChecklistState,
    ) -> &mut ChecklistItem {
        let item = ChecklistItem {
            id: id.to_owned(),
            title: one_line(title, TITLE),
            state,
            needs_confirmation: false,
            is_confirmed: false,
            depends_on: Vec::new(),
            outputs: Vec::new(),
            evidence: None,
            needs: Vec::new(),
            stale_since: None,
        };
        self.checklist.insert(at, item);
        &mut self.checklist[at]
    }

    /// The decision, as the arguments of `decide`.
    pub(super) fn into_decision(mut self, place: &Place<'_>) -> Value {
        self.drop_old_changes();
        if !self.said.is_empty() {
            let text = self.said.join("\n\n");
            self.actions.insert(0, reply(&text, &self.shown));
        }
        let has_open = self.checklist.iter().any(|item| !item.state.is_closed());
        let next = match (
            has_open,
            self.asks || place.waits_for_review(&self.checklist),
        ) {
            (_, true) => "wait",
            (true, false) => "continue",
            (false, false) => "finish",
        };
        let rationale = if self.reasons.is_empty() {
            "nothing is left to do by the rules"
        } else {
            &self.reasons.join("; ")
        };
        json!({
            "rationale": rationale,
            "summary": self.summary(place),
            "short_line": cut(&self.short_line(place), 138),
            "checklist": self.checklist.iter().map(told).collect::<Vec<_>>(),
            "actions": self.actions,
            "next": next,
        })
    }

    fn drop_old_changes(&mut self) {
        let is_old = |item: &ChecklistItem| item.id.starts_with(CHANGE) && item.state.is_closed();
        let mut surplus = self
            .checklist
            .iter()
            .filter(|item| is_old(item))
            .count()
            .saturating_sub(OLD_CHANGES);
        self.checklist.retain(|item| {
            let goes = surplus > 0 && is_old(item);
            surplus -= usize::from(goes);
            !goes
        });
    }

    fn summary(&self, place: &Place<'_>) -> String {
        let words = place.words;
        let goal = one_line(&place.situation.task.goal, GOAL_CHARACTERS);
        let mut lines = vec![fill(words.asked, &[("text", &goal)])];
        let also = &self.also[self.also.len().saturating_sub(ALSO)..];
        lines.extend(
            also.iter()
                .map(|text| fill(words.also_asked, &[("text", text)])),
        );
        if let Some((_, work)) = place.main_work(&self.checklist) {
            let (title, version) = (cut(&work.title, 120), work.version.to_string());
            lines.push(fill(
                words.work_line,
                &[("title", &title), ("version", &version)],
            ));
        }
        if let Some((done, all)) = self.progress() {
            lines.push(fill(words.done_line, &[("done", &done), ("all", &all)]));
        }
        lines.push(self.short_line(place));
        lines.join("\n")
    }

    fn short_line(&self, place: &Place<'_>) -> String {
        let words = place.words;
        let is_open = |id: &str| {
            self.checklist
                .iter()
                .any(|item| item.id == id && !item.state.is_closed())
        };
        let has_open_change = self
            .checklist
            .iter()
            .any(|item| item.id.starts_with(CHANGE) && !item.state.is_closed());
        let has_open_part = parts_of(&self.checklist).is_some_and(|(_, places)| {
            places
                .iter()
                .any(|at| !self.checklist[*at].state.is_closed())
        });
        match self.progress() {
            _ if is_open(TROUBLE) => words.line_trouble.to_owned(),
            _ if is_open(CLARIFY) => words.line_clarify.to_owned(),
            Some((done, all)) if has_open_part => {
                fill(words.line_waiting, &[("done", &done), ("all", &all)])
            }
            _ if has_open_change => words.line_changing.to_owned(),
            _ if place.waits_for_review(&self.checklist) => words.line_review.to_owned(),
            _ => {
                let title = place
                    .main_work(&self.checklist)
                    .map_or(place.situation.task.title.as_str(), |(_, work)| {
                        work.title.as_str()
                    });
                fill(words.line_delivered, &[("title", title)])
            }
        }
    }

    /// How many parts are done, of how many.
    fn progress(&self) -> Option<(String, String)> {
        let (_, places) = parts_of(&self.checklist)?;
        let done = places
            .iter()
            .filter(|at| self.checklist[**at].state == ChecklistState::Done);
        Some((done.count().to_string(), places.len().to_string()))
    }
}

/// The id of the next change: never one that was used before.
pub(super) fn next_change(place: &Place<'_>, draft: &Draft) -> String {
    let closed = place
        .situation
        .task
        .course
        .closed_items
        .iter()
        .map(String::as_str);
    let ids = closed.chain(draft.checklist.iter().map(|item| item.id.as_str()));
    let last = ids
        .filter_map(|id| number_of(id, CHANGE))
        .max()
        .unwrap_or(0);
    format!("{CHANGE}{}", last + 1)
}

fn reply(text: &str, shown: &[WorkId]) -> Value {
    let mut arguments = json!({"text": text});
    if !shown.is_empty() {
        arguments["work_ids"] = json!(shown);
    }
    json!({"tool": "reply", "arguments": arguments})
}

fn told(item: &ChecklistItem) -> Value {
    let mut told = json!({
        "id": item.id,
        "title": item.title,
        "state": item.state.name().to_lowercase(),
        "needs_confirmation": item.needs_confirmation,
        "depends_on": item.depends_on,
        "outputs": item.outputs,
    });
    if let Some(evidence) = &item.evidence {
        told["evidence"] = json!(evidence);
    }
    if !item.needs.is_empty() {
        told["needs"] = json!(item.needs);
    }
    told
}

/// A text on one line, cut to so many characters.
pub(super) fn one_line(text: &str, characters: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    cut(&words.join(" "), characters)
}
