//! Jobs: orders at media providers.

use std::sync::Arc;

use async_graphql::{Context, Enum, ID, Object, Result};
use domain::ids::JobId;
use domain::{job, media};

use super::money::Money;
use super::task::Task;
use super::work::Work;
use super::works::Asset;
use crate::graphql::error::{Nullable, nullable};
use crate::graphql::scalars::{DateTime, Json};
use crate::graphql::scope::Scope;

/// What is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "media::MediaKind")]
pub(crate) enum MediaKind {
    /// A picture.
    Image,
    /// A film, or moving pictures.
    Video,
    /// Sound.
    Audio,
    /// A body in space.
    #[graphql(name = "MODEL_3D")]
    Model3d,
}

/// Where an order stands. States only move forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "job::JobState")]
pub(crate) enum JobState {
    /// A person must say whether it may be paid.
    AwaitingApproval,
    /// It will be sent, or is being sent.
    Submitting,
    /// The upstream has it.
    Running,
    /// What was ordered is stored.
    Succeeded,
    /// Nothing comes of it.
    Failed,
    /// It was sent, and nobody knows whether the upstream has it; it is never sent again by itself.
    SubmissionUnknown,
    /// It was given up.
    Cancelled,
    /// A person did not want it to be paid.
    Declined,
}

/// An order at a media provider.
#[derive(Debug, Clone)]
pub(crate) struct GenerationJob(pub(crate) Arc<job::Job>);

impl GenerationJob {
    /// A job, where the caller may see it.
    pub(super) async fn find(ctx: &Context<'_>, id: JobId) -> Result<Option<Self>> {
        Ok(Scope::of(ctx)?.find_job(id).await?.map(Self))
    }
}

/// An order at a media provider.
#[Object]
impl GenerationJob {
    /// The id of the job.
    pub(crate) async fn id(&self) -> ID {
        self.0.id.into()
    }

    /// The task that ordered it.
    async fn task(&self, ctx: &Context<'_>) -> Nullable<Task> {
        nullable(Task::find(ctx, self.0.task).await)
    }

    /// The call that ordered it.
    async fn call_id(&self) -> ID {
        ID(self.0.call.to_string())
    }

    /// The key of the order: turn, step and index of its call. Two orders with one key are one.
    async fn idempotency_key(&self) -> String {
        self.0.call.to_string()
    }

    /// Who makes it.
    async fn provider(&self) -> &str {
        &self.0.provider
    }

    /// What is made.
    async fn kind(&self) -> MediaKind {
        self.0.kind.into()
    }

    /// What it should be.
    async fn prompt(&self) -> &str {
        &self.0.prompt
    }

    /// What else the provider takes.
    async fn parameters(&self) -> Json {
        Json(self.0.parameters.clone())
    }

    /// The id of the checklist's item that it is for.
    async fn item_id(&self) -> Option<ID> {
        self.0.item.as_ref().map(ID::from)
    }

    /// Where it stands.
    async fn state(&self) -> JobState {
        self.0.state.into()
    }

    /// How much of it is done, from 0 to 1.
    async fn progress(&self) -> f64 {
        f64::from(self.0.progress) / 1_000.0
    }

    /// Its id at the upstream, as soon as it is known.
    async fn upstream_id(&self) -> Option<&str> {
        self.0.upstream.as_deref()
    }

    /// What it costs, or at most costs.
    async fn cost(&self) -> Money {
        Money::new(self.0.price)
    }

    /// What it brought.
    async fn outputs(&self, ctx: &Context<'_>) -> Result<Vec<Asset>> {
        let works = Scope::of(ctx)?.works(&self.0.outputs).await?;
        let assets = works
            .into_iter()
            .map(Work::from)
            .filter_map(|work| match work {
                Work::Asset(asset) => Some(asset),
                _ => None,
            });
        Ok(assets.collect())
    }

    /// Why nothing came of it.
    async fn error(&self) -> Option<&str> {
        self.0.error.as_deref()
    }

    /// When it was ordered.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    /// When anything of it changed last.
    async fn updated_at(&self) -> DateTime {
        DateTime(self.0.updated_at)
    }
}

/// Something that an installation can make.
#[derive(Debug, Clone)]
pub(crate) struct Capability(pub(crate) media::Capability);

/// Something that an installation can make.
#[Object]
impl Capability {
    /// Its name, unique with its provider.
    async fn name(&self) -> &str {
        &self.0.name
    }

    /// Who does it.
    async fn provider(&self) -> &str {
        &self.0.provider
    }

    /// What comes of it.
    async fn media(&self) -> Option<MediaKind> {
        self.0.media.map(Into::into)
    }

    /// It in words.
    async fn description(&self) -> &str {
        &self.0.description
    }

    /// JSON Schema of what it takes.
    async fn inputs(&self) -> Json {
        Json(self.0.inputs.clone())
    }

    /// What one order costs; null where nobody knows before.
    async fn price(&self) -> Option<Money> {
        self.0.price.map(Money::new)
    }

    /// Whether orders are taken at the moment.
    async fn available(&self) -> bool {
        self.0.available
    }
}

/// How something is done well.
#[derive(Debug, Clone)]
pub(crate) struct Guide(pub(crate) media::Guide);

/// How something is done well.
#[Object]
impl Guide {
    /// Its name, the same in every language.
    async fn name(&self) -> &str {
        &self.0.name
    }

    /// Its heading.
    async fn title(&self) -> &str {
        &self.0.title
    }

    /// BCP 47 tag of its language.
    async fn language(&self) -> &str {
        &self.0.language
    }

    /// Its text.
    async fn markdown(&self) -> &str {
        &self.0.markdown
    }
}
