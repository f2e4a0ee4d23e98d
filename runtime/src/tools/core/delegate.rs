//! `delegate`: asks an executor, on a new line or on one that is there (J5, J6).
//!
//! Invariants
//! - A request holds the executor's rules, the earlier exchanges of its line once, and the new prompt: nothing of the journal.
//! - A prompt that points to what its reader has not seen is not sent.
//! - A line is continued only by the task that it belongs to.
//!
//! Not here: what makes a prompt dangle (`prompt_lint`); that the prompt is stored before it is sent (the engine).

use std::collections::HashSet;

use async_trait::async_trait;
use domain::error::{Error, Result};
use domain::line::{Line, LineExchange, line_of_task};
use domain::task::{Task, Usage};
use domain::turn::{Call, Effect, ExecutorPrompt};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::clean::clean;
use crate::context::cut;
use crate::executors::{Executor, Executors};
use crate::model::{
    Function, ModelError, ModelMessage, ModelReply, ModelRequest, ModelUsage, Speaker, check,
};
use crate::prompt_lint::{self, History};
use crate::tools::arguments::{object, read, text};
use crate::tools::identity::line_id;
use crate::tools::{Invocation, Ran, Tool, ToolServices, ToolSpec};

/// The name of the tool.
const NAME: &str = "delegate";
/// Characters of a prompt.
const PROMPT: usize = 60_000;
/// Characters of what a line is for.
const PURPOSE: usize = 500;
/// Characters of a misfitting answer that the executor is shown again.
const SHOWN_ANSWER: usize = 4_000;

pub(super) struct Delegate(ToolSpec);

#[derive(Debug, Clone, Deserialize)]
struct Arguments {
    executor: Option<String>,
    line_id: Option<String>,
    purpose: Option<String>,
    prompt: String,
}

impl Default for Delegate {
    fn default() -> Self {
        let properties = json!({
            "executor": text("Who is asked, on a new line."),
            "line_id": text("The line that is continued, instead of `executor`: only what is new needs to be said."),
            "purpose": {"type": "string", "maxLength": PURPOSE, "description": "What a new line is for."},
            "prompt": {"type": "string", "maxLength": PROMPT, "description":
                "The whole prompt. On a new line it must stand on its own: the executor sees nothing else."},
        });
        Self(ToolSpec {
            idempotent: false,
            ..ToolSpec::core(
                NAME,
                "Asks an executor and gives its answer, with the id of the line.",
                object(&["prompt"], properties),
            )
        })
    }
}

#[async_trait]
impl Tool for Delegate {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn objection(&self, _task: &Task, arguments: &Value) -> Option<String> {
        let arguments: Arguments = read(arguments).ok()?;
        if arguments.executor.is_none() && arguments.line_id.is_none() {
            return Some(
                "name an `executor` for a new line, or the `line_id` to continue".to_owned(),
            );
        }
        prompt_lint::dangling(&arguments.prompt, arguments.history())
    }

    async fn run(&self, invocation: &Invocation<'_>) -> Result<Ran> {
        let assignment =
            Assignment::load(invocation.services, invocation.task, invocation.call).await?;
        let mut used = ModelUsage::default();
        let answered = assignment.ask(invocation.services, &mut used).await;
        let used = usage(invocation.services, used);
        let ran = match answered? {
            Answered::Done(answer) => assignment.done(invocation, answer),
            Answered::Failed(reason) => Ran::failed(reason, None),
        };
        Ok(ran.with(Effect::Used(used)))
    }
}

impl Arguments {
    fn history(&self) -> History {
        match self.line_id {
            Some(_) => History::Line,
            None => History::None,
        }
    }
}

/// The prompt that a call is about to send, to be stored before it is; none where the call sends none.
pub async fn prompt_of(
    services: &ToolServices,
    task: &Task,
    call: &Call,
) -> Result<Option<ExecutorPrompt>> {
    if call.tool != NAME {
        return Ok(None);
    }
    match Assignment::load(services, task, call).await {
        Ok(assignment) => Ok(Some(ExecutorPrompt {
            index: call.id.index,
            executor: assignment.executor.name,
            line: assignment.line.id,
            text: assignment.prompt,
        })),
        Err(error @ (Error::Unavailable(_) | Error::Internal(_))) => Err(error),
        // It will fail with these words when it runs, before anything is sent.
        Err(_) => Ok(None),
    }
}

/// An executor, the line it works on, and what it is asked there.
struct Assignment {
    executor: Executor,
    line: Line,
    /// What was said on it and may be said again.
    earlier: Vec<LineExchange>,
    /// The place of what is said now.
    number: u32,
    prompt: String,
}

enum Answered {
    Done(Value),
    Failed(String),
}

impl Assignment {
    async fn load(services: &ToolServices, task: &Task, call: &Call) -> Result<Self> {
        let arguments: Arguments = read(&call.arguments)?;
        let (line, earlier, left_out) = match &arguments.line_id {
            Some(id) => {
                let reads = services.store.reads();
                let line = line_of_task(reads, task.id, id.parse()?).await?;
                let earlier = reads.list_exchanges(&[line.id]).await?;
                let left_out = reads.list_left_out_exchanges(&[line.id]).await?;
                (line, earlier, left_out)
            }
            None => (opened(&arguments, task, call), Vec::new(), Vec::new()),
        };
        let number = earlier.last().map_or(1, |last| last.number + 1);
        let is_left = |one: &LineExchange| !left_out.contains(&(one.line, one.number));
        let earlier = earlier.into_iter().filter(is_left).collect();
        let executor = executor(&services.executors, &line.executor)?;
        if let Some(other) = arguments.executor.filter(|name| *name != line.executor) {
            return Err(Error::Invalid(format!(
                "line {} is of {}; to ask {other}, open a new line",
                line.id, line.executor
            )));
        }
        if let Some(objection) = foreign_ids(services, task, &arguments.prompt).await? {
            return Err(Error::Invalid(objection));
        }
        Ok(Self {
            executor,
            line,
            earlier,
            number,
            prompt: arguments.prompt,
        })
    }

    fn request(&self) -> ModelRequest {
        let message = |speaker, text: &str| ModelMessage {
            speaker,
            text: text.to_owned(),
        };
        let mut messages = vec![message(Speaker::System, &self.executor.rules)];
        for exchange in &self.earlier {
            messages.push(message(Speaker::User, &exchange.prompt));
            messages.push(message(Speaker::Assistant, &exchange.answer));
        }
        messages.push(message(Speaker::User, &self.prompt));
        ModelRequest {
            function: Function::Answer,
            model: self.executor.model.clone(),
            messages,
            summaries: 0,
            situation: None,
            router: None,
        }
    }

    /// An answer that fits; a misfit is answered once with what is wrong.
    async fn ask(&self, services: &ToolServices, used: &mut ModelUsage) -> Result<Answered> {
        let mut request = self.request();
        let mut problem = String::new();
        for _ in 0..2 {
            let reply = services.model.ask(&request).await;
            let (said, wrong) = match judged(reply, used)? {
                Judged::Fits(answer) => return Ok(Answered::Done(answer)),
                Judged::Refused(reason) if self.earlier.is_empty() => {
                    return Ok(Answered::Failed(reason));
                }
                Judged::Refused(reason) => {
                    return Ok(Answered::Failed(format!(
                        "{reason}; if its line has become too long, open a new one"
                    )));
                }
                Judged::Misfits { said, problem } => (said, problem),
            };
            request.messages.push(ModelMessage {
                speaker: Speaker::Assistant,
                text: cut(&said, SHOWN_ANSWER),
            });
            request.messages.push(ModelMessage {
                speaker: Speaker::User,
                text: format!("This does not fit:\n{wrong}\nCall `answer` again, mended."),
            });
            problem = wrong;
        }
        Ok(Answered::Failed(format!(
            "{} gave no answer that fits, also when it was told so: {}",
            self.executor.name,
            cut(&problem, 500)
        )))
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers make the value on the spot"
    )]
    fn done(self, invocation: &Invocation<'_>, answer: Value) -> Ran {
        let said = answer["text"].as_str().unwrap_or_default().to_owned();
        let exchange = LineExchange {
            line: self.line.id,
            number: self.number,
            prompt: self.prompt,
            answer: match answer.get("data") {
                Some(data) => format!("{said}\n\n{data}"),
                None => said.clone(),
            },
            at: invocation.services.clock.now(),
            step: invocation.step,
        };
        let mut result = json!({
            "executor": self.executor.name,
            "line_id": self.line.id,
            "text": said,
        });
        if let Some(data) = answer.get("data") {
            result["data"] = data.clone();
        }
        let line = self.line;
        Ran::done(result).with(Effect::Exchange { line, exchange })
    }
}

/// The line that a call opens.
fn opened(arguments: &Arguments, task: &Task, call: &Call) -> Line {
    Line {
        id: line_id(call.id),
        workspace: task.workspace,
        task: task.id,
        executor: arguments.executor.clone().unwrap_or_default(),
        purpose: arguments.purpose.clone().unwrap_or_default(),
        opened_at: call.started_at.unwrap_or(task.updated_at),
    }
}

fn executor(executors: &Executors, name: &str) -> Result<Executor> {
    executors.get(name).cloned().ok_or_else(|| {
        let name = cut(name, 60);
        let known = executors.names();
        Error::Invalid(format!("there is no executor `{name}`; there are: {known}"))
    })
}

/// What a prompt says of ids that are not of the task or its workspace.
async fn foreign_ids(services: &ToolServices, task: &Task, prompt: &str) -> Result<Option<String>> {
    let ids = prompt_lint::ids(prompt);
    if ids.is_empty() {
        return Ok(None);
    }
    let reads = services.store.reads();
    let mut known = HashSet::new();
    let works: Vec<_> = ids.iter().filter_map(|id| id.parse().ok()).collect();
    for work in reads.list_works_by_id(&works).await? {
        if work.workspace == task.workspace {
            known.insert(work.id.to_string());
        }
    }
    let tasks: Vec<_> = ids.iter().filter_map(|id| id.parse().ok()).collect();
    for other in reads.list_tasks_by_id(&tasks).await? {
        if other.workspace == task.workspace {
            known.insert(other.id.to_string());
        }
    }
    let lines = reads.list_lines(&[task.id]).await?;
    known.extend(lines.iter().map(|line| line.id.to_string()));
    Ok(prompt_lint::foreign_ids(prompt, &known))
}

/// What a reply is worth.
enum Judged {
    Fits(Value),
    Misfits { said: String, problem: String },
    Refused(String),
}

fn judged(reply: Result<ModelReply, ModelError>, used: &mut ModelUsage) -> Result<Judged> {
    match reply {
        Ok(reply) => {
            add(used, reply.usage);
            Ok(match check(Function::Answer, &reply.arguments) {
                Ok(()) => Judged::Fits(clean(reply.arguments)),
                Err(problem) => Judged::Misfits {
                    said: reply.arguments.to_string(),
                    problem,
                },
            })
        }
        Err(ModelError::Misfit {
            problem,
            said,
            usage,
        }) => {
            add(used, usage);
            Ok(Judged::Misfits { said, problem })
        }
        Err(error @ ModelError::Refused(_)) => Ok(Judged::Refused(error.to_string())),
        Err(error @ ModelError::Unavailable { .. }) => Err(Error::Unavailable(error.into())),
    }
}

fn add(used: &mut ModelUsage, more: ModelUsage) {
    used.input += more.input;
    used.cached += more.cached;
    used.output += more.output;
}

/// What the exchange counts for the task's limits.
fn usage(services: &ToolServices, used: ModelUsage) -> Usage {
    Usage {
        steps: 0,
        input_tokens: used.input,
        cached_tokens: used.cached,
        output_tokens: used.output,
        spent_micros: services.prices.cost(&used),
    }
}
