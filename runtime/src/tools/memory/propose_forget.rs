//! `propose_forget`: asks the person whether something remembered may be forgotten. The answer itself forgets it (A6, A7).

use async_trait::async_trait;
use domain::card::{
    CONFIRM, Card, CardKind, CardOption, CardOrigin, CardState, CardWords, DECLINE,
};
use domain::error::{Error, Result};
use domain::ids::MemoryId;
use domain::memory::visible_memory;
use domain::turn::{Effect, Risk};
use serde::Deserialize;
use serde_json::json;

use crate::tools::arguments::{object, read, text};
use crate::tools::identity::card_id;
use crate::tools::{Invocation, Ran, Tool, ToolSpec};

pub(super) struct ProposeForget(ToolSpec);

#[derive(Deserialize)]
struct Arguments {
    memory_id: String,
    reason: Option<String>,
}

impl Default for ProposeForget {
    fn default() -> Self {
        let properties = json!({
            "memory_id": text("The memory, as recall names it."),
            "reason": {"type": "string", "maxLength": 1_000, "description": "Why, for the person, in the task's language."},
        });
        Self(ToolSpec {
            domain: "memory",
            risk: Risk::Irreversible,
            ..ToolSpec::core(
                "propose_forget",
                "Asks the person whether something remembered is to be forgotten for good; a yes forgets it, and the task waits for the answer.",
                object(&["memory_id"], properties),
            )
        })
    }
}

#[async_trait]
impl Tool for ProposeForget {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn run(&self, invocation: &Invocation<'_>) -> Result<Ran> {
        let arguments: Arguments = read(&invocation.call.arguments)?;
        let task = invocation.task;
        let id: MemoryId = arguments.memory_id.parse()?;
        let reads = invocation.services.store.reads();
        let (memory, _) = visible_memory(reads, id, task.created_by).await?;
        let found = reads.list_contents(&[id]).await?.pop();
        let Some((_, content)) = found.filter(|_| memory.workspace == task.workspace) else {
            return Err(Error::not_found("memory", id));
        };
        let words = CardWords::of(&task.language);
        let reason = arguments.reason.unwrap_or_default();
        let question = format!("{}: \u{201c}{content}\u{201d}?\n{reason}", words.forget);
        let card = Card {
            id: card_id(invocation.call.id),
            workspace: task.workspace,
            kind: CardKind::ConfirmIrreversible,
            task: Some(task.id),
            message: None,
            call: Some(invocation.call.id.to_string()),
            item: None,
            prompt: question.trim_end().to_owned(),
            options: vec![
                CardOption::plain(CONFIRM, words.permit_forget),
                CardOption::plain(DECLINE, words.decline),
            ],
            recommended: None,
            works: Vec::new(),
            raised_by: CardOrigin::Guard,
            state: CardState::Open,
            answer: None,
            created_at: invocation.at,
            cost: None,
            job: None,
        };
        let result = json!({"waiting_for": card.id});
        Ok(Ran::done(result).with(Effect::Ask(Box::new(card))))
    }
}
