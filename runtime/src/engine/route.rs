//! A step of Main: where one message of the main thread belongs (R2, R4), decided and delivered.
//!
//! Invariants
//! - What can not be decided now waits, and is decided later: a model or a search that is away loses and blocks nothing.
//! - A reply that never fits becomes a question to the person.

use std::sync::Arc;

use domain::error::Result;
use domain::message::Message;
use domain::routing::{Candidate, Placement, Routed, StoreRouting, similar_in_work};
use domain::task::TaskKind;
use domain::turn::{After, ContextUsage, FailStep, Fence, OpenedStep, Spare, StepFailure};
use tokio_util::sync::CancellationToken;

use super::Engine;
use super::ask::{add, answered_misfit};
use crate::model::{ModelError, ModelRequest, ModelUsage};
use crate::router::{
    Confirmed, RouterSituation, confirm_request, read_confirmed, read_routed, route_request, shown,
};

impl Engine {
    /// None where stored state says how to go on.
    pub(super) async fn route(
        &self,
        fence: Fence,
        opened: &OpenedStep,
        stop: &CancellationToken,
    ) -> Result<Option<After>> {
        let number = opened.step.at.step;
        let mut context = ContextUsage::default();
        let decided = match opened.messages.first() {
            None => Ok(None),
            Some(message) => tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(None),
                routed = self.find_place(message, &mut context) => routed?.map(Some),
            },
        };
        let (limits, at) = (self.options.limits, self.now());
        match decided {
            Ok(routed) => {
                let command = StoreRouting {
                    fence,
                    step: number,
                    routed,
                    context,
                    limits,
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
                    limits,
                    at,
                };
                Ok(self.durably(command).await?.map(|()| After::Ended))
            }
        }
    }

    /// Where a message belongs, or why that can not be told now.
    async fn find_place(
        &self,
        message: &Message,
        context: &mut ContextUsage,
    ) -> Result<Result<Routed, StepFailure>> {
        let search = &*self.services.search;
        let situation = RouterSituation::load(self.reads(), search, message).await?;
        if situation.is_blind {
            metrics::counter!("atelier_router_waits_total", "for" => "search").increment(1);
            return Ok(Err(passing("the search does not answer")));
        }
        let weighed = situation.shown.iter().map(|shown| &shown.weighed);
        let candidates: Vec<Candidate> = weighed.map(|one| one.candidate.clone()).collect();
        let situation = Arc::new(situation);
        let (request, usage) = route_request(situation.clone());
        *context = usage;
        let read = |arguments: &serde_json::Value| read_routed(arguments, &situation);
        let mut routed = match self.told(&request, context, read).await {
            Told::Fits((placement, rationale)) => Routed {
                message: message.id,
                placement,
                rationale,
                candidates,
            },
            Told::Never(reason) => ask(message, reason, candidates),
            Told::Later(failure) => return Ok(Err(failure)),
        };
        if let Some(failure) = self.look_twice(message, &mut routed, context).await? {
            return Ok(Err(failure));
        }
        Ok(Ok(routed))
    }

    /// Before a persistent task is made, its goal is compared with the latest tasks in work (R4).
    async fn look_twice(
        &self,
        message: &Message,
        routed: &mut Routed,
        context: &mut ContextUsage,
    ) -> Result<Option<StepFailure>> {
        let Placement::New {
            kind: TaskKind::Persistent,
            goal,
            ..
        } = &routed.placement
        else {
            return Ok(None);
        };
        let place = (message.workspace, message.person().unwrap_or_default());
        let search = &*self.services.search;
        let alike = similar_in_work(self.reads(), search, place, goal).await?;
        if alike.is_empty() {
            return Ok(None);
        }
        for one in &alike {
            let known = routed
                .candidates
                .iter_mut()
                .find(|known| known.task == one.task.id);
            match known {
                Some(known) => known.reasons.extend(&one.candidate.reasons),
                None => routed.candidates.push(one.candidate.clone()),
            }
        }
        let situation = Arc::new(RouterSituation {
            message: Message {
                text: goal.clone(),
                ..message.clone()
            },
            shown: shown(self.reads(), alike).await?,
            thread: Vec::new(),
            missing: Vec::new(),
            is_blind: false,
        });
        let (request, _) = confirm_request(situation.clone());
        let read = |arguments: &serde_json::Value| read_confirmed(arguments, &situation);
        match self.told(&request, context, read).await {
            Told::Fits((Confirmed::New, _)) => {}
            Told::Fits((Confirmed::Continue(task), rationale)) => {
                routed.placement = Placement::Existing(task);
                routed.rationale = rationale;
            }
            Told::Never(reason) => {
                routed.placement = Placement::Ask {
                    question: String::new(),
                    tasks: situation
                        .shown
                        .iter()
                        .map(crate::router::Shown::id)
                        .collect(),
                };
                routed.rationale = reason;
            }
            Told::Later(failure) => return Ok(Some(failure)),
        }
        Ok(None)
    }

    /// Asks the model; a misfit is answered once.
    async fn told<T>(
        &self,
        request: &ModelRequest,
        context: &mut ContextUsage,
        read: impl Fn(&serde_json::Value) -> Result<T, String>,
    ) -> Told<T> {
        let mut counted = ModelUsage::default();
        let mut asked = request.clone();
        let mut problem = String::new();
        for _ in 0..2 {
            let (what, said) = match self.model().ask(&asked).await {
                Ok(reply) => {
                    add(&mut counted, reply.usage);
                    context.model = reply.model;
                    match read(&reply.arguments) {
                        Ok(told) => {
                            self.count(context, &counted);
                            return Told::Fits(told);
                        }
                        Err(problem) => (problem, reply.arguments.to_string()),
                    }
                }
                Err(ModelError::Misfit {
                    problem,
                    said,
                    usage,
                }) => {
                    add(&mut counted, usage);
                    (problem, said)
                }
                Err(ModelError::Unavailable {
                    reason,
                    retry_after,
                }) => {
                    metrics::counter!("atelier_router_waits_total", "for" => "model").increment(1);
                    return Told::Later(StepFailure::Passing {
                        reason: format!("the model did not answer: {reason}"),
                        retry_after,
                    });
                }
                Err(refused @ ModelError::Refused(_)) => {
                    self.count(context, &counted);
                    return Told::Never(refused.to_string());
                }
            };
            asked = answered_misfit(request, &what, &said);
            problem = what;
        }
        self.count(context, &counted);
        tracing::warn!(
            problem,
            "the router's reply did not fit, and the person is asked"
        );
        Told::Never("the model's reply did not fit, also when it was told so".to_owned())
    }

    fn count(&self, context: &mut ContextUsage, counted: &ModelUsage) {
        context.input_tokens += counted.input;
        context.cached_tokens += counted.cached;
        context.output_tokens += counted.output;
        context.cost_micros += self.options.prices.cost(counted);
    }
}

/// What came of asking the model.
enum Told<T> {
    Fits(T),
    /// It will not say better.
    Never(String),
    /// It can not answer now.
    Later(StepFailure),
}

fn passing(reason: &str) -> StepFailure {
    StepFailure::Passing {
        reason: reason.to_owned(),
        retry_after: None,
    }
}

/// The person says what the model could not.
fn ask(message: &Message, rationale: String, candidates: Vec<Candidate>) -> Routed {
    Routed {
        message: message.id,
        placement: Placement::Ask {
            question: String::new(),
            tasks: Vec::new(),
        },
        rationale,
        candidates,
    }
}
