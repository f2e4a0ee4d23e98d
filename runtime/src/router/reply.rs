//! From the router's reply to a placement. An error says what is wrong with it, in words for the model.

use std::str::FromStr as _;

use domain::ids::{MessageId, TaskId, WorkId};
use domain::routing::Placement;
use domain::task::TaskKind;
use serde::Deserialize;
use serde_json::Value;

use super::RouterSituation;
use crate::clean::clean;
use crate::context::cut;
use crate::model::{Function, check};

/// Characters of an answer, a goal and a question.
const TEXT: usize = 20_000;
/// Characters of a title.
const TITLE: usize = 200;
/// Characters of a rationale.
const RATIONALE: usize = 1_000;

#[derive(Deserialize)]
struct Told {
    outcome: String,
    rationale: String,
    #[serde(default)]
    answer: Option<String>,
    #[serde(default)]
    task_id: Option<String>,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    goal: Option<String>,
    #[serde(default)]
    work_ids: Option<Vec<String>>,
    #[serde(default)]
    question: Option<String>,
    #[serde(default)]
    candidate_task_ids: Option<Vec<String>>,
}

/// Where the reply puts the message, and why.
pub(crate) fn read_routed(
    arguments: &Value,
    situation: &RouterSituation,
) -> Result<(Placement, String), String> {
    check(Function::Route, arguments)?;
    let told: Told =
        serde_json::from_value(clean(arguments.clone())).map_err(|error| error.to_string())?;
    let placement = match told.outcome.as_str() {
        "answer" => {
            let text = words(told.answer.as_deref())
                .ok_or("`answer` is missing: an answer has words for the person")?;
            Placement::Answer {
                reply: MessageId::new(),
                text,
            }
        }
        "existing_task" => Placement::Existing(known(told.task_id.as_deref(), situation)?),
        "clarify" => Placement::Ask {
            question: words(told.question.as_deref()).unwrap_or_default(),
            tasks: named(told.candidate_task_ids.as_deref(), situation),
        },
        outcome => {
            let kind = match outcome {
                "lightweight_task" => TaskKind::Lightweight,
                _ => TaskKind::Persistent,
            };
            let works = told.work_ids.iter().flatten();
            Placement::New {
                kind,
                title: words(told.title.as_deref()).map(|title| cut(&title, TITLE - 1)),
                // What the person wrote is what a light task is to show, whatever the model made of it.
                goal: words(told.goal.as_deref())
                    .filter(|_| kind == TaskKind::Persistent)
                    .unwrap_or_else(|| situation.message.text.clone()),
                works: works.filter_map(|id| WorkId::from_str(id).ok()).collect(),
            }
        }
    };
    Ok((placement, cut(&told.rationale, RATIONALE)))
}

/// What the model says about a goal that looks like tasks in work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Confirmed {
    /// A task of its own.
    New,
    /// It is this task.
    Continue(TaskId),
}

/// What a second look came to, and why.
pub(crate) fn read_confirmed(
    arguments: &Value,
    situation: &RouterSituation,
) -> Result<(Confirmed, String), String> {
    check(Function::ConfirmNewTask, arguments)?;
    let rationale = arguments["rationale"].as_str().unwrap_or_default();
    let rationale = cut(rationale, RATIONALE);
    if arguments["decision"] != "continue_existing" {
        return Ok((Confirmed::New, rationale));
    }
    let task = known(arguments["task_id"].as_str(), situation)?;
    Ok((Confirmed::Continue(task), rationale))
}

fn words(text: Option<&str>) -> Option<String> {
    let text = text.unwrap_or_default().trim();
    (!text.is_empty()).then(|| cut(text, TEXT - 1))
}

/// A task that was shown.
fn known(id: Option<&str>, situation: &RouterSituation) -> Result<TaskId, String> {
    let found = id
        .and_then(|id| TaskId::from_str(id.trim()).ok())
        .and_then(|id| situation.find(id));
    found.map(super::Shown::id).ok_or_else(|| {
        format!(
            "`task_id` is {}, and must be the id of one of the tasks that stand in the index, or the outcome another one",
            id.map_or("missing".to_owned(), |id| format!("`{}`", cut(id, 80)))
        )
    })
}

/// Those that were shown.
fn named(ids: Option<&[String]>, situation: &RouterSituation) -> Vec<TaskId> {
    let mut tasks: Vec<TaskId> = ids
        .unwrap_or_default()
        .iter()
        .filter_map(|id| TaskId::from_str(id).ok())
        .filter(|id| situation.find(*id).is_some())
        .collect();
    tasks.dedup();
    tasks
}
