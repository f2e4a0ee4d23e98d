//! Carrying out the calls of a decided step, in order; reads that stand side by side run side by side.

use domain::error::{Error, Result};
use domain::task::Task;
use domain::turn::{
    After, Call, CallOutcome, Fence, FinishCalls, FinishedCall, LARGE_RESULT_BYTES, LargeResult,
    Risk, Spare, StartCalls, Step, digest,
};
use futures_util::future::join_all;

use super::Engine;
use crate::clean::{clean, clean_text};
use crate::context::cut;
use crate::tools::{Invocation, Ran, prompt_of};

/// Reads that run side by side.
const SIDE_BY_SIDE: usize = 8;
/// Bytes of a result that are stored; the rest is cut off.
const STORED_RESULT: usize = 16 << 20;
/// How often a tool that could not be run just now is run again.
const ATTEMPTS: u32 = 3;

impl Engine {
    /// None where stored state says how to go on.
    pub(super) async fn run_calls(
        &self,
        fence: Fence,
        step: &Step,
        calls: &[Call],
    ) -> Result<Option<After>> {
        let batch = next_batch(calls);
        let task = self.reads().list_tasks_by_id(&[fence.task]).await?.pop();
        let task = task.ok_or_else(|| Error::not_found("task", fence.task))?;
        let mut prompts = Vec::new();
        for call in &batch {
            prompts.extend(prompt_of(&self.services, &task, call).await?);
        }
        let start = StartCalls {
            fence,
            step: step.at.step,
            indices: batch.iter().map(|call| call.id.index).collect(),
            prompts,
            at: self.now(),
        };
        let Some(started) = self.durably(start).await? else {
            return Ok(None);
        };
        let runs = started
            .iter()
            .map(|call| self.run_call(&task, fence, step, call));
        let finished: Result<Vec<FinishedCall>> = join_all(runs).await.into_iter().collect();
        let finish = FinishCalls {
            fence,
            step: step.at.step,
            finished: finished?,
            limits: self.options.limits,
            spare: Spare::new(),
            at: self.now(),
        };
        let stored = self.durably(finish).await?;
        // A turn that was stopped meanwhile has nothing more for this worker.
        Ok(stored.map(|after| after.unwrap_or(After::Ended)))
    }

    async fn run_call(
        &self,
        task: &Task,
        fence: Fence,
        step: &Step,
        call: &Call,
    ) -> Result<FinishedCall> {
        let invocation = Invocation {
            services: &self.services,
            task,
            fence,
            step: step.at,
            call,
            at: self.now(),
        };
        let run = tokio::time::timeout(self.options.call_time, self.attempts(&invocation));
        let ran = if let Ok(ran) = run.await {
            ran?
        } else {
            let seconds = self.options.call_time.as_secs();
            lost(call, format!("it did not end within {seconds} s"))
        };
        Ok(finished(call, ran))
    }

    async fn attempts(&self, invocation: &Invocation<'_>) -> Result<Ran> {
        let call = invocation.call;
        let Some(tool) = self.tools.get(&call.tool) else {
            return Ok(Ran::failed(
                format!("there is no tool `{}` any more", call.tool),
                None,
            ));
        };
        let mut attempt = 0;
        loop {
            attempt += 1;
            match tool.run(invocation).await {
                Err(error @ Error::Fenced { .. }) => return Err(error),
                Err(Error::Unavailable(source)) if call.idempotent && attempt < ATTEMPTS => {
                    tracing::warn!(tool = call.tool, error = %source, "a call could not be made; trying again");
                    tokio::time::sleep(std::time::Duration::from_millis(100 << attempt)).await;
                }
                Err(Error::Unavailable(source)) => {
                    tracing::warn!(tool = call.tool, error = %source, "a call could not be made");
                    return Ok(lost(call, "it could not be done at the moment".to_owned()));
                }
                Err(Error::Internal(source)) => {
                    tracing::error!(tool = call.tool, error = %source, "a call failed by a fault");
                    return Ok(lost(call, "an internal error".to_owned()));
                }
                Err(error) => return Ok(Ran::failed(error.to_string(), None)),
                Ok(ran) => return Ok(ran),
            }
        }
    }
}

/// The call did not say what came of it: harmless where it can be made again, unknown where not.
fn lost(call: &Call, reason: String) -> Ran {
    let outcome = if call.idempotent {
        CallOutcome::Failed {
            error: reason,
            result: None,
        }
    } else {
        CallOutcome::OutcomeUnknown(format!(
            "{reason}; it may have had its effect: check the state before you decide"
        ))
    };
    Ran {
        outcome,
        effects: Vec::new(),
    }
}

/// The calls that run next: the first that is not over, and with a plain read those that follow it and are the same.
fn next_batch(calls: &[Call]) -> Vec<&Call> {
    let is_plain_read = |call: &Call| call.risk == Risk::Read && call.idempotent;
    let mut left = calls.iter().filter(|call| !call.state.is_over());
    let Some(first) = left.next() else {
        return Vec::new();
    };
    let mut batch = vec![first];
    if is_plain_read(first) {
        batch.extend(
            left.take_while(|call| is_plain_read(call))
                .take(SIDE_BY_SIDE - 1),
        );
    }
    batch
}

/// What is stored of a run; a large result becomes a digest, and is kept beside it (C3).
fn finished(call: &Call, ran: Ran) -> FinishedCall {
    let mut large = None;
    let outcome = match ran.outcome {
        CallOutcome::Done(result) => {
            let result = clean(result);
            let body = result.to_string();
            if body.len() <= LARGE_RESULT_BYTES {
                CallOutcome::Done(result)
            } else {
                let body = within(body);
                let digest = digest(call.id, &body);
                large = Some(LargeResult { body });
                CallOutcome::Done(digest)
            }
        }
        CallOutcome::Failed { error, result } => CallOutcome::Failed {
            error: clean_text(error),
            result: result.map(clean),
        },
        CallOutcome::OutcomeUnknown(error) => CallOutcome::OutcomeUnknown(clean_text(error)),
    };
    FinishedCall {
        index: call.id.index,
        outcome,
        large,
        effects: ran.effects,
    }
}

fn within(body: String) -> String {
    if body.len() <= STORED_RESULT {
        return body;
    }
    // At most as many characters as bytes: never more than is allowed by four.
    cut(&body, STORED_RESULT / 4)
}
