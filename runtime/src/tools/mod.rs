//! Tools: what a decision of the model can do, each with its schema, its risk and what it brings about.
//!
//! Invariants
//! - A tool acts through the services and commands that people use, behind the fence of the turn (invariant 5 of the design).
//! - A tool that is idempotent gives the same result and no second effect when it runs again under the same call id.
//! - What a tool wants stored besides the work itself, it returns as effects: they are stored with its result, or not at all.
//! - Visibility in a prompt is no permission: everything is checked at the call (C4).
//!
//! Results name things as arguments do (`call_id`, `next_offset`); what is of the API (nodes, edges, conflicts) has the API's names.
//!
//! Not here: when a call runs, what its states are (the engine, `domain::turn`).

mod arguments;
mod core;
mod generation;
mod identity;
mod memory;
mod registry;
#[cfg(test)]
mod tests;
mod works;

use std::sync::Arc;

use async_trait::async_trait;
use domain::Result;
use domain::actor::Actor;
use domain::document::DocumentService;
use domain::search::SharedSearchIndex;
use domain::store::SharedStore;
use domain::task::Task;
use domain::time::{SharedClock, Timestamp};
use domain::turn::{Call, CallOutcome, Effect, Fence, Risk, StepRef};
use serde_json::Value;

use crate::executors::Executors;
use crate::media::{Guides, Providers};
use crate::model::{ModelClient, Prices};

pub use self::core::prompt_of;
pub use registry::Tools;

/// What a tool is, for the model and for the engine.
#[derive(Debug, Clone)]
pub struct ToolSpec {
    /// Its name in the contract.
    pub name: &'static str,
    /// The domain it is shown with; `core` is always shown.
    pub domain: &'static str,
    /// What it can do to the world.
    pub risk: Risk,
    /// Whether it may run again under the same call id.
    pub idempotent: bool,
    /// What it does, for the model.
    pub description: &'static str,
    /// JSON Schema of its arguments, in the part of JSON Schema that `model::schema` checks.
    pub parameters: Value,
}

/// What tools work with.
#[derive(Clone)]
pub struct ToolServices {
    /// Commands and reads.
    pub store: SharedStore,
    /// Works.
    pub documents: DocumentService,
    /// Finds tasks and works by words and meaning.
    pub search: SharedSearchIndex,
    /// The hour.
    pub clock: SharedClock,
    /// The model behind executors.
    pub model: Arc<dyn ModelClient>,
    /// Who can be delegated to.
    pub executors: Arc<Executors>,
    /// What tokens cost.
    pub prices: Prices,
    /// What can be made, and how things are done well.
    pub media: MediaChoice,
}

/// What can be ordered, and guides.
#[derive(Clone, Default)]
pub struct MediaChoice {
    /// Who makes what.
    pub providers: Providers,
    /// How things are done well.
    pub guides: Guides,
}

/// One run of a call.
pub struct Invocation<'a> {
    /// What it works with.
    pub services: &'a ToolServices,
    /// The task, as it was when the call was started.
    pub task: &'a Task,
    /// The fence of the turn, for every write.
    pub fence: Fence,
    /// The step that decided it.
    pub step: StepRef,
    /// The call; its id is the idempotency key of what it does.
    pub call: &'a Call,
    /// When it was started.
    pub at: Timestamp,
}

impl Invocation<'_> {
    /// Who acts.
    pub(crate) fn actor(&self) -> Actor {
        Actor::Agent {
            task: self.task.id,
            turn: self.step.turn,
            step: self.step.step,
        }
    }
}

/// What came of a run.
#[derive(Debug)]
pub struct Ran {
    /// The outcome; a large result is stored outside by the engine.
    pub outcome: CallOutcome,
    /// What is stored with it.
    pub effects: Vec<Effect>,
}

impl Ran {
    /// It had its effect, and brings nothing else about.
    #[must_use]
    pub fn done(result: Value) -> Self {
        Self {
            outcome: CallOutcome::Done(result),
            effects: Vec::new(),
        }
    }

    /// It had no effect: why, and what helps the model.
    pub fn failed(error: impl Into<String>, result: Option<Value>) -> Self {
        Self {
            outcome: CallOutcome::Failed {
                error: error.into(),
                result,
            },
            effects: Vec::new(),
        }
    }

    /// The same with what is stored with it.
    #[must_use]
    pub fn with(mut self, effect: Effect) -> Self {
        self.effects.push(effect);
        self
    }
}

/// A tool.
#[async_trait]
pub trait Tool: Send + Sync + 'static {
    /// What it is.
    fn spec(&self) -> &ToolSpec;

    /// What speaks against running it with these arguments, which fit the schema: said to the model before anything is stored as begun.
    /// For what the schema can not say.
    fn objection(&self, _task: &Task, _arguments: &Value) -> Option<String> {
        None
    }

    /// Runs it. An error that the caller can mend (`Invalid`, `NotFound`, `Forbidden`, `Conflict`, `TooLarge`) is a failed call
    /// with its text; `Fenced` ends the worker's part in the turn; others are faults, and the engine tries again.
    async fn run(&self, invocation: &Invocation<'_>) -> Result<Ran>;
}
