//! `reply`: a message to the person, in the task's thread and in the main thread of whose task it is.

use async_trait::async_trait;
use domain::Result;
use domain::message::{Message, MessageState};
use domain::task::Task;
use domain::turn::Effect;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::arguments::{object, read, texts, work_ids};
use crate::tools::identity::message_id;
use crate::tools::{Invocation, Ran, Tool, ToolSpec};

/// Works that one message can bring, as for people.
const ATTACHMENTS: usize = 20;

pub(super) struct Reply(ToolSpec);

#[derive(Deserialize)]
struct Arguments {
    text: String,
    #[serde(default)]
    work_ids: Vec<String>,
}

impl Default for Reply {
    fn default() -> Self {
        let text = json!({"type": "string", "maxLength": 20_000, "description": "What the person reads, in the task's language."});
        let properties = json!({"text": text, "work_ids": texts("Works that it is about.")});
        Self(ToolSpec::core(
            "reply",
            "Sends the person a message. It does not wait for an answer.",
            object(&["text"], properties),
        ))
    }
}

#[async_trait]
impl Tool for Reply {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn objection(&self, _task: &Task, arguments: &Value) -> Option<String> {
        let arguments: Arguments = read(arguments).ok()?;
        if arguments.text.trim().is_empty() {
            return Some("`text` is empty; say something, or leave the reply out".to_owned());
        }
        let works = arguments.work_ids.len();
        (works > ATTACHMENTS)
            .then(|| format!("a message can bring {ATTACHMENTS} works, and brings {works}"))
    }

    async fn run(&self, invocation: &Invocation<'_>) -> Result<Ran> {
        let arguments: Arguments = read(&invocation.call.arguments)?;
        let task = invocation.task;
        let message = Message {
            id: message_id(invocation.call.id),
            workspace: task.workspace,
            main_of: Some(task.created_by),
            task: Some(task.id),
            author: invocation.actor(),
            text: arguments.text,
            language: Some(task.language.clone()),
            created_at: invocation.at,
            // It is in nobody's inbox: the decision that wrote it knows it.
            state: MessageState::Consumed,
            taken_by: None,
            replaced_by: None,
            by_program: false,
            reply_to: None,
            attachments: work_ids(invocation, &arguments.work_ids).await?,
            routing: None,
        };
        let result = json!({"message_id": message.id});
        Ok(Ran::done(result).with(Effect::Reply(Box::new(message))))
    }
}
