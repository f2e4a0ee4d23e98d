//! The schema: its three roots, and what every execution is given.
//!
//! Invariants
//! - What the schema is depends on nothing but the code: the same text is printed on every machine.
//! - Suggestions are off, so that nobody learns names they were not told.
//!
//! Not here: limits and transports (`budget`, `transport`).

use std::sync::Arc;

use async_graphql::{MergedObject, MergedSubscription, SDLExportOptions, SchemaBuilder};

use super::model::work::StructuredWork;
use super::mutation::{EditMutation, PeopleMutation, UploadMutation, WorkMutation};
use super::query::WorksQuery;
use super::scope::per_execution;
use super::services::Services;
use super::subscription::WorksSubscription;

/// What can be asked for.
#[derive(MergedObject, Default)]
pub struct Query(
    WorksQuery,
    #[cfg(feature = "test-support")] crate::test_support::Query,
);

/// What can be changed. Every mutation takes one `input`; `clientMutationId` is echoed.
#[derive(MergedObject, Default)]
pub struct Mutation(PeopleMutation, WorkMutation, EditMutation, UploadMutation);

/// What can be followed.
#[derive(MergedSubscription, Default)]
pub struct Subscription(
    WorksSubscription,
    #[cfg(feature = "test-support")] crate::test_support::Subscription,
);

/// The schema of the server.
pub type Schema = async_graphql::Schema<Query, Mutation, Subscription>;

/// The schema over these services.
pub fn schema(services: Services) -> Schema {
    let services = Arc::new(services);
    builder()
        .extension(per_execution(services.clone()))
        .data(services)
        .finish()
}

/// The schema as text, as it stands in `schema.graphql`.
pub fn sdl() -> String {
    builder().finish().sdl_with_options(sdl_options())
}

/// How the schema is printed, wherever it is.
pub(crate) fn sdl_options() -> SDLExportOptions {
    SDLExportOptions::new()
        .include_specified_by()
        .prefer_single_line_descriptions()
        .use_space_ident()
}

fn builder() -> SchemaBuilder<Query, Mutation, Subscription> {
    Schema::build(
        Query::default(),
        Mutation::default(),
        Subscription::default(),
    )
    .register_output_type::<StructuredWork>()
    .disable_suggestions()
}
