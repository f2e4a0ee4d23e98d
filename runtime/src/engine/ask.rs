//! Asking the model for the decision of an open step, and storing it.

use std::sync::Arc;

use domain::error::{Error, Result};
use domain::line::ContextSegment;
use domain::task::ChecklistItem;
use domain::turn::{
    After, ContextUsage, Decision, FailStep, Fence, OpenedStep, Spare, StepFailure, StoreDecision,
    StoreSegment,
};
use tokio_util::sync::CancellationToken;

use super::Engine;
use crate::context::{Known, Situation, Span, cut, span_to_summarise, summary_request, tokens};
use crate::decision::read_decision;
use crate::media::Providers;
use crate::model::{ModelError, ModelMessage, ModelRequest, ModelUsage, Speaker, check};

/// Characters of a misfitting reply that the model is shown again.
const SHOWN_REPLY: usize = 4_000;

impl Engine {
    /// None where stored state says how to go on.
    pub(super) async fn ask(
        &self,
        fence: Fence,
        opened: &OpenedStep,
        (known, stop): (&mut Option<Known>, &CancellationToken),
    ) -> Result<Option<After>> {
        let mut situation = match known.take() {
            Some(known) => known.go_on(self.reads(), opened).await?,
            None => Situation::load(self.reads(), opened).await?,
        };
        if let Some(span) = span_to_summarise(&situation, self.context.limits())
            && self.summarise(fence, opened, &span).await?
        {
            let task = self.reads().list_tasks_by_id(&[fence.task]).await?.pop();
            situation = Situation::load(self.reads(), opened).await?;
            // Tools that were shown for the span are shown no longer.
            situation.task = task.ok_or_else(|| Error::not_found("task", fence.task))?;
        }
        let (request, mut usage) = self.context.request(situation);
        let asked = tokio::select! {
            biased;
            () = stop.cancelled() => return Ok(None),
            asked = self.decision(&request, &mut usage) => asked,
        };
        *known = request.situation.map(Known::new);
        let (number, at) = (opened.step.at.step, self.now());
        match asked {
            Ok(decision) => {
                let command = StoreDecision {
                    fence,
                    step: number,
                    decision,
                    context: usage,
                    limits: self.options.limits,
                    spare: Spare::new(),
                    at,
                };
                self.durably(command).await
            }
            Err(failure) => {
                let command = FailStep {
                    fence,
                    step: number,
                    failure,
                    limits: self.options.limits,
                    at,
                };
                Ok(self.durably(command).await?.map(|()| After::Ended))
            }
        }
    }

    /// A decision that fits, or why there is none. A misfit is answered once.
    async fn decision(
        &self,
        request: &ModelRequest,
        usage: &mut ContextUsage,
    ) -> Result<Decision, StepFailure> {
        let mut counted = ModelUsage::default();
        let first = self.attempt(request, &mut counted, usage).await;
        let answered = match first {
            Err(Attempt::Misfit { problem, said }) => {
                let again = answered_misfit(request, &problem, &said);
                self.attempt(&again, &mut counted, usage).await
            }
            other => other,
        };
        usage.input_tokens = counted.input;
        usage.cached_tokens = counted.cached;
        usage.output_tokens = counted.output;
        usage.cost_micros = self.options.prices.cost(&counted);
        answered.map_err(|attempt| match attempt {
            Attempt::Misfit { problem, .. } => StepFailure::Final(format!(
                "the model's decision did not fit, also when it was told so: {}",
                cut(&problem, 1_000)
            )),
            Attempt::Failed(failure) => failure,
        })
    }

    async fn attempt(
        &self,
        request: &ModelRequest,
        counted: &mut ModelUsage,
        usage: &mut ContextUsage,
    ) -> Result<Decision, Attempt> {
        let reply = match self.model().ask(request).await {
            Ok(reply) => reply,
            Err(error) => return Err(failed(error, counted)),
        };
        add(counted, reply.usage);
        usage.model = reply.model;
        let situation = request.situation.as_ref().ok_or_else(|| {
            Attempt::Failed(StepFailure::Final(
                "the request has no situation".to_owned(),
            ))
        })?;
        let read = read_decision(&reply.arguments, &situation.task, &self.tools);
        let fits = read.and_then(|decision| {
            missing_capabilities(&decision.checklist, &self.services.media.providers)?;
            Ok(decision)
        });
        fits.map_err(|problem| Attempt::Misfit {
            problem,
            said: reply.arguments.to_string(),
        })
    }

    /// Stores the summary of a span; false where the model gave none: the request then leaves the oldest out.
    async fn summarise(&self, fence: Fence, opened: &OpenedStep, span: &Span) -> Result<bool> {
        let request = summary_request(span);
        let summary = match self.model().ask(&request).await {
            Ok(reply) if check(request.function, &reply.arguments).is_ok() => {
                reply.arguments["summary"].as_str().map(str::to_owned)
            }
            Ok(_) => None,
            Err(error) => {
                tracing::warn!(%error, "old history could not be summarised");
                None
            }
        };
        let Some(summary) = summary else {
            return Ok(false);
        };
        let summary = cut(&summary, 2_000);
        let segment = ContextSegment {
            number: span.number,
            from_sequence: span.from_sequence,
            to_sequence: span.to_sequence,
            tokens: tokens(&summary),
            summary,
        };
        let command = StoreSegment {
            fence,
            step: opened.step.at.step,
            segment,
            drops_tools: true,
            at: self.now(),
        };
        self.durably(command).await?;
        Ok(true)
    }
}

/// A plan that needs what nobody makes here is refused, with what is missing (K2).
fn missing_capabilities(plan: &[ChecklistItem], providers: &Providers) -> Result<(), String> {
    let mut problems = Vec::new();
    for item in plan.iter().filter(|item| !item.state.is_closed()) {
        for need in &item.needs {
            if let Err(missing) = providers.find_capability(need) {
                problems.push(format!("\u{201c}{}\u{201d}: {missing}", item.title));
            }
        }
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems.join("\n"))
    }
}

/// Why an attempt gave no decision.
enum Attempt {
    Misfit { problem: String, said: String },
    Failed(StepFailure),
}

fn failed(error: ModelError, counted: &mut ModelUsage) -> Attempt {
    match error {
        ModelError::Misfit {
            problem,
            said,
            usage,
        } => {
            add(counted, usage);
            Attempt::Misfit { problem, said }
        }
        ModelError::Unavailable {
            reason,
            retry_after,
        } => Attempt::Failed(StepFailure::Passing {
            reason: format!("the model did not answer: {reason}"),
            retry_after,
        }),
        refused @ ModelError::Refused(_) => {
            Attempt::Failed(StepFailure::Final(refused.to_string()))
        }
    }
}

pub(super) fn add(sum: &mut ModelUsage, more: ModelUsage) {
    sum.input += more.input;
    sum.cached += more.cached;
    sum.output += more.output;
}

/// The same request, with what was said and what is wrong with it.
pub(super) fn answered_misfit(request: &ModelRequest, problem: &str, said: &str) -> ModelRequest {
    let mut again = request.clone();
    again.messages.push(ModelMessage {
        speaker: Speaker::Assistant,
        text: cut(said, SHOWN_REPLY),
    });
    again.messages.push(ModelMessage {
        speaker: Speaker::User,
        text: format!(
            "This does not fit, and nothing of it was stored:\n{problem}\nCall `{}` again, mended.",
            request.function.name()
        ),
    });
    again.situation = request.situation.as_ref().map(Arc::clone);
    again
}
