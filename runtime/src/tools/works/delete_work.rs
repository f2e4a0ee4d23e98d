//! `delete_work`: asks the person whether a work may go to the bin. The answer itself moves it there (A6, A7).

use async_trait::async_trait;
use domain::card::{
    CONFIRM, Card, CardKind, CardOption, CardOrigin, CardState, CardWords, DECLINE,
};
use domain::error::Result;
use domain::turn::{Effect, Risk};
use domain::work::Work;
use serde::Deserialize;
use serde_json::json;

use crate::tools::arguments::{object, read, text, work};
use crate::tools::identity::card_id;
use crate::tools::{Invocation, Ran, Tool, ToolSpec};

pub(super) struct AskToDelete(ToolSpec);

#[derive(Deserialize)]
struct Arguments {
    work_id: String,
    reason: Option<String>,
}

impl Default for AskToDelete {
    fn default() -> Self {
        let properties = json!({
            "work_id": text("The work."),
            "reason": {"type": "string", "maxLength": 1_000, "description": "Why, for the person, in the task's language."},
        });
        Self(ToolSpec {
            risk: Risk::Irreversible,
            ..ToolSpec::works(
                "delete_work",
                "Asks the person whether a work may be moved to the bin; a yes moves it, and the task waits for the answer.",
                object(&["work_id"], properties),
            )
        })
    }
}

#[async_trait]
impl Tool for AskToDelete {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn run(&self, invocation: &Invocation<'_>) -> Result<Ran> {
        let arguments: Arguments = read(&invocation.call.arguments)?;
        let work = work(invocation, &arguments.work_id).await?;
        let task = invocation.task;
        let words = CardWords::of(&task.language);
        let card = Card {
            id: card_id(invocation.call.id),
            workspace: task.workspace,
            kind: CardKind::ConfirmIrreversible,
            task: Some(task.id),
            message: None,
            call: Some(invocation.call.id.to_string()),
            item: None,
            prompt: question(&words, &work, arguments.reason.as_deref()),
            options: vec![
                CardOption::plain(CONFIRM, words.permit),
                CardOption::plain(DECLINE, words.decline),
            ],
            recommended: None,
            works: vec![work.id],
            cost: None,
            job: None,
            raised_by: CardOrigin::Guard,
            state: CardState::Open,
            answer: None,
            created_at: invocation.at,
        };
        let result = json!({"waiting_for": card.id});
        Ok(Ran::done(result).with(Effect::Ask(Box::new(card))))
    }
}

fn question(words: &CardWords, work: &Work, reason: Option<&str>) -> String {
    let question = format!("{}: \u{201c}{}\u{201d}?", words.delete, work.title);
    match reason.map(str::trim).filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("{question}\n{reason}"),
        None => question,
    }
}
