//! From a model's reply to a decision, checked as far as it can be without acting.
//!
//! Invariants
//! - What does not fit is told to the model once, all of it at a time; nothing of such a reply is stored as a decision.

use domain::ids::WorkId;
use domain::task::{ChecklistItem, ChecklistState, Task};
use domain::turn::{Decision, NextHint};
use serde::Deserialize;
use serde_json::Value;

use crate::clean::clean;
use crate::model::{Function, check};
use crate::tools::Tools;

/// Actions of one decision.
const ACTIONS: usize = 20;
/// Items of a plan.
const ITEMS: usize = 200;
/// Bytes of a decision.
const BYTES: usize = 256 << 10;
/// Characters of the summary.
const SUMMARY: usize = 8_000;
/// Characters of the rationale.
const RATIONALE: usize = 4_000;

#[derive(Debug, Deserialize)]
struct Told {
    rationale: String,
    summary: String,
    short_line: String,
    checklist: Vec<ToldItem>,
    actions: Vec<ToldAction>,
    next: String,
}

#[derive(Debug, Deserialize)]
struct ToldItem {
    #[serde(default)]
    id: Option<String>,
    title: String,
    state: String,
    #[serde(default)]
    needs_confirmation: Option<bool>,
    #[serde(default)]
    depends_on: Option<Vec<String>>,
    #[serde(default)]
    outputs: Option<Vec<String>>,
    #[serde(default)]
    evidence: Option<String>,
    #[serde(default)]
    needs: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
struct ToldAction {
    tool: String,
    arguments: Value,
}

/// Reads a reply. An error says what is wrong with it, in words for the model.
pub(crate) fn read_decision(
    arguments: &Value,
    task: &Task,
    tools: &Tools,
) -> Result<Decision, String> {
    let bytes = arguments.to_string().len();
    if bytes > BYTES {
        return Err(format!(
            "the decision has {bytes} bytes, and at most {BYTES} are allowed; put long texts into works"
        ));
    }
    check(Function::Decide, arguments)?;
    let arguments = &clean(arguments.clone());
    let told: Told =
        serde_json::from_value(arguments.clone()).map_err(|error| error.to_string())?;
    let mut problems = Vec::new();
    look_at_sizes(&told, &mut problems);
    let checklist: Vec<_> = told
        .checklist
        .iter()
        .map(|item| read_item(item, &mut problems))
        .collect();
    look_at_plan(&checklist, &mut problems);
    if !problems.is_empty() {
        return Err(problems.join("\n"));
    }
    let plan = |action: &ToldAction| tools.plan(task, &action.tool, &action.arguments);
    Ok(Decision {
        calls: told.actions.iter().map(plan).collect(),
        rationale: told.rationale,
        summary: told.summary,
        short_line: told.short_line,
        checklist,
        next: NextHint::from_name(&told.next).unwrap_or(NextHint::Continue),
    })
}

fn look_at_sizes(told: &Told, problems: &mut Vec<String>) {
    let mut most = |what: &str, count: usize, most: usize| {
        if count > most {
            problems.push(format!("{what}: {count}, and at most {most} are allowed"));
        }
    };
    most("actions", told.actions.len(), ACTIONS);
    most("items of the checklist", told.checklist.len(), ITEMS);
    most(
        "characters of the summary",
        told.summary.chars().count(),
        SUMMARY,
    );
    most(
        "characters of the rationale",
        told.rationale.chars().count(),
        RATIONALE,
    );
}

fn read_item(item: &ToldItem, problems: &mut Vec<String>) -> ChecklistItem {
    let mut outputs = Vec::new();
    for output in item.outputs.iter().flatten() {
        match output.parse::<WorkId>() {
            Ok(work) => outputs.push(work),
            Err(error) => problems.push(format!(
                "outputs of \u{201c}{}\u{201d}: {error}",
                item.title
            )),
        }
    }
    if item.title.trim().is_empty() || item.title.chars().count() > 500 {
        problems.push("a checklist item needs a title of at most 500 characters".to_owned());
    }
    ChecklistItem {
        id: item.id.clone().unwrap_or_default().trim().to_owned(),
        title: item.title.clone(),
        // The schema has let only these through.
        state: ChecklistState::from_name(&item.state.to_uppercase())
            .unwrap_or(ChecklistState::Todo),
        needs_confirmation: item.needs_confirmation.unwrap_or_default(),
        is_confirmed: false,
        depends_on: item.depends_on.clone().unwrap_or_default(),
        outputs,
        evidence: item.evidence.clone(),
        needs: item.needs.clone().unwrap_or_default(),
        stale_since: None,
    }
}

fn look_at_plan(checklist: &[ChecklistItem], problems: &mut Vec<String>) {
    let mut ids = std::collections::HashSet::new();
    for item in checklist.iter().filter(|item| !item.id.is_empty()) {
        if item.id.len() > 100 {
            problems.push("an item's id can have 100 characters".to_owned());
        }
        if !ids.insert(item.id.as_str()) {
            problems.push(format!("two items have the id `{}`", item.id));
        }
    }
    for item in checklist {
        for before in &item.depends_on {
            if !ids.contains(before.as_str()) {
                problems.push(format!(
                    "\u{201c}{}\u{201d} depends on `{before}`, which is no item's id",
                    item.title
                ));
            }
        }
    }
}
