//! The agent of this process: its model, tools and worker, as the settings say.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use api::config::{AgentSettings, ModelChoice, ModelProvider, Settings};
use domain::document::DocumentService;
use domain::search::SharedSearchIndex;
use domain::task::TaskLimits;
use runtime::engine::{Engine, EngineOptions};
use runtime::executors::Executors;
use runtime::memory::ExtractionOptions;
use runtime::model::{self, ModelClient, ModelLimits, ModelSettings, Prices};
use runtime::tools::{MediaChoice, ToolServices, Tools};
use runtime::worker::{Worker, WorkerOptions};

use super::installation::Installation;

/// Starts a worker over the installation's tasks.
pub(crate) fn start(
    settings: &Settings,
    installation: &Installation,
    documents: &DocumentService,
    (search, media): (SharedSearchIndex, &MediaChoice),
) -> Result<Worker> {
    let agent = &settings.agent;
    let services = ToolServices {
        store: installation.store.clone(),
        documents: documents.clone(),
        search,
        clock: installation.clock.clone(),
        model: model_client(&agent.model)?,
        executors: Arc::new(Executors::default()),
        prices: prices(&agent.model),
        media: media.clone(),
    };
    let engine = Engine::new(services, Arc::new(Tools::default()), engine_options(agent));
    let options = WorkerOptions {
        turns: agent.turns,
        turns_per_workspace: agent.turns_per_workspace,
        watchdog: agent.watchdog_interval,
        extraction: ExtractionOptions {
            delay: agent.extraction_delay,
            lease: agent.extraction_lease,
            ..ExtractionOptions::default()
        },
        ..WorkerOptions::default()
    };
    Ok(Worker::start(engine, options))
}

/// The model that the settings choose.
pub(crate) fn model_client(choice: &ModelChoice) -> Result<Arc<dyn ModelClient>> {
    let provider = match choice.provider {
        ModelProvider::Offline => model::ModelProvider::Offline,
        ModelProvider::Instant => model::ModelProvider::Instant,
        ModelProvider::OpenAi => model::ModelProvider::OpenAi,
        ModelProvider::Anthropic => model::ModelProvider::Anthropic,
    };
    let settings = ModelSettings {
        base_url: choice.base_url.clone(),
        model: choice.model.clone(),
        router_model: choice.router_model.clone(),
        executor_model: choice.executor_model.clone(),
        api_key: choice.api_key.clone(),
        limits: ModelLimits {
            request_time: choice.request_time,
            ..ModelLimits::default()
        },
        prices: prices(choice),
        ..ModelSettings::new(provider)
    };
    model::client(&settings).context("the model can not be used")
}

fn prices(choice: &ModelChoice) -> Prices {
    let [input, cached, output] = choice.prices;
    Prices {
        input,
        cached,
        output,
    }
}

fn engine_options(agent: &AgentSettings) -> EngineOptions {
    EngineOptions {
        lease: agent.lease,
        limits: TaskLimits {
            steps_per_turn: agent.steps_per_turn,
            turns: agent.turns_per_task,
            ..TaskLimits::default()
        },
        prices: prices(&agent.model),
        ..EngineOptions::default()
    }
}
