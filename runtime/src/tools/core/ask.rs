//! `ask`: a card for the person; the task waits for the answer.

use async_trait::async_trait;
use domain::card::{ADJUST, CONFIRM, Card, CardKind, CardOption, CardOrigin, CardState, CardWords};
use domain::error::{Error, Result};
use domain::ids::WorkId;
use domain::task::{ChecklistItem, Task};
use domain::turn::Effect;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::arguments::{object, read, text, work, work_ids};
use crate::tools::identity::card_id;
use crate::tools::{Invocation, Ran, Tool, ToolSpec};

/// Options that a person can take in at once.
const OPTIONS: usize = 12;

pub(super) struct Ask(ToolSpec);

#[derive(Deserialize)]
struct Arguments {
    prompt: String,
    kind: String,
    #[serde(default)]
    options: Vec<OptionArguments>,
    recommended: Option<String>,
    item_id: Option<String>,
}

#[derive(Deserialize)]
struct OptionArguments {
    id: Option<String>,
    label: String,
    detail: Option<String>,
    work_id: Option<String>,
}

impl Default for Ask {
    fn default() -> Self {
        let id = json!({"type": "string", "maxLength": 100});
        let label = json!({"type": "string", "maxLength": 200});
        let detail = json!({"type": "string", "maxLength": 2_000});
        let option = object(
            &["label"],
            json!({"id": id, "label": label, "detail": detail, "work_id": {"type": "string"}}),
        );
        let properties = json!({
            "prompt": {"type": "string", "maxLength": 4_000, "description": "The question, in the task's language."},
            "kind": {"type": "string", "enum": ["checkpoint", "choice", "clarification"], "description":
                "checkpoint: is what was done right; choice: which of these; clarification: what is meant."},
            "options": {"type": "array", "items": option, "description":
                "What can be answered; a checkpoint without any has confirm and adjust, a clarification is answered in words."},
            "recommended": text("The id of the option that you recommend."),
            "item_id": text("checkpoint: the checklist item that is to be confirmed; without it, all that wait for it."),
        });
        Self(ToolSpec::core(
            "ask",
            "Asks the person; the task waits for the answer.",
            object(&["prompt", "kind"], properties),
        ))
    }
}

#[async_trait]
impl Tool for Ask {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn objection(&self, task: &Task, arguments: &Value) -> Option<String> {
        let arguments: Arguments = read(arguments).ok()?;
        arguments.objection(&task.language)
    }

    async fn run(&self, invocation: &Invocation<'_>) -> Result<Ran> {
        let arguments: Arguments = read(&invocation.call.arguments)?;
        let task = invocation.task;
        let mut options = arguments.options(&task.language);
        for (option, given) in options.iter_mut().zip(&arguments.options) {
            if let Some(id) = &given.work_id {
                option.work = Some(work(invocation, id).await?.id);
            }
        }
        let recommended = match &arguments.recommended {
            None if arguments.is_plain_checkpoint() => Some(CONFIRM.to_owned()),
            given => given.clone(),
        };
        let card = Card {
            id: card_id(invocation.call.id),
            workspace: task.workspace,
            kind: arguments.card_kind()?,
            task: Some(task.id),
            message: None,
            call: Some(invocation.call.id.to_string()),
            item: arguments.item_id.clone(),
            works: shown_works(invocation, &arguments).await?,
            prompt: arguments.prompt,
            options,
            recommended,
            cost: None,
            job: None,
            raised_by: CardOrigin::Model,
            state: CardState::Open,
            answer: None,
            created_at: invocation.at,
        };
        let result = json!({"waiting_for": card.id});
        Ok(Ran::done(result).with(Effect::Ask(Box::new(card))))
    }
}

impl Arguments {
    fn objection(&self, language: &str) -> Option<String> {
        if self.prompt.trim().is_empty() {
            return Some("`prompt` is empty; ask something".to_owned());
        }
        let options = self.options(language);
        if options.len() > OPTIONS {
            let count = options.len();
            return Some(format!("a card has at most {OPTIONS} options, not {count}"));
        }
        if self.kind == "choice" && options.len() < 2 {
            return Some("a choice needs at least two options".to_owned());
        }
        if let Some(unnamed) = options
            .iter()
            .find(|option| option.id.trim().is_empty() || option.label.trim().is_empty())
        {
            return Some(format!(
                "option `{}` needs an id and a label that are not blank",
                unnamed.id
            ));
        }
        let ids: Vec<_> = options.iter().map(|option| option.id.as_str()).collect();
        for (place, id) in ids.iter().enumerate() {
            if ids[..place].contains(id) {
                return Some(format!("two options have the id `{id}`"));
            }
        }
        let recommended = self.recommended.as_deref()?;
        (!ids.contains(&recommended)).then(|| {
            format!(
                "`recommended` is `{recommended}`, and the options are: {}",
                ids.join(", ")
            )
        })
    }

    fn card_kind(&self) -> Result<CardKind> {
        CardKind::from_name(&self.kind.to_uppercase())
            .ok_or_else(|| Error::Invalid(format!("`{}` is no kind of question", self.kind)))
    }

    fn is_plain_checkpoint(&self) -> bool {
        self.kind == "checkpoint" && self.options.is_empty()
    }

    fn options(&self, language: &str) -> Vec<CardOption> {
        if self.is_plain_checkpoint() {
            let words = CardWords::of(language);
            return vec![
                CardOption::plain(CONFIRM, words.confirm),
                CardOption::plain(ADJUST, words.adjust),
            ];
        }
        let option = |(place, given): (usize, &OptionArguments)| CardOption {
            id: match &given.id {
                Some(id) => id.clone(),
                None => format!("option-{}", place + 1),
            },
            label: given.label.clone(),
            detail: given.detail.clone(),
            work: None,
            task: None,
        };
        self.options.iter().enumerate().map(option).collect()
    }
}

/// Works that the card shows: those of its options, and what a checkpoint is about.
async fn shown_works(invocation: &Invocation<'_>, arguments: &Arguments) -> Result<Vec<WorkId>> {
    let given = arguments.options.iter();
    let given: Vec<String> = given.filter_map(|option| option.work_id.clone()).collect();
    let mut works = work_ids(invocation, &given).await?;
    if arguments.kind != "checkpoint" {
        return Ok(works);
    }
    let reads = invocation.services.store.reads();
    let found = reads.list_projections(&[invocation.task.id]).await?.pop();
    let checklist = found.map(|(_, projections)| projections.checklist);
    let checklist = checklist.unwrap_or_default();
    let is_asked = |item: &&ChecklistItem| match &arguments.item_id {
        Some(id) => item.id == *id,
        None => item.is_open_checkpoint(),
    };
    if let Some(id) = &arguments.item_id
        && !checklist.iter().any(|item| item.id == *id)
    {
        let known: Vec<_> = checklist.iter().map(|item| item.id.as_str()).collect();
        return Err(Error::Invalid(format!(
            "the checklist has no item `{id}`; it has: {}",
            known.join(", ")
        )));
    }
    let outputs: Vec<WorkId> = checklist
        .iter()
        .filter(is_asked)
        .flat_map(|item| item.outputs.clone())
        .collect();
    // A model may have written any id into its checklist.
    for output in reads.list_works_by_id(&outputs).await? {
        if output.workspace == invocation.task.workspace && !works.contains(&output.id) {
            works.push(output.id);
        }
    }
    Ok(works)
}
