//! The schema: its three roots, and what every execution is given.
//!
//! Invariants
//! - What the schema is depends on nothing but the code: the same text is printed on every machine.
//! - Suggestions are off, so that nobody learns names they were not told.
//!
//! Not here: limits and transports (`budget`, `transport`).

use std::sync::Arc;

use async_graphql::{ObjectType, SDLExportOptions, Schema, SchemaBuilder, SubscriptionType};

use super::model::work::StructuredWork;
use super::mutation::Mutation;
use super::query::Query;
use super::scope::per_execution;
use super::services::Services;
use super::subscription::Subscription;

/// The roots with the fields that only the conformance checks need.
#[cfg(feature = "test-support")]
mod roots {
    use async_graphql::{MergedObject, MergedSubscription};

    use crate::{graphql, test_support};

    /// What can be asked for, and what checks need.
    #[derive(MergedObject, Default)]
    pub struct QueryRoot(graphql::Query, test_support::Query);

    /// What can be followed, and what checks need.
    #[derive(MergedSubscription, Default)]
    pub struct SubscriptionRoot(graphql::Subscription, test_support::Subscription);
}

#[cfg(feature = "test-support")]
use roots::{QueryRoot, SubscriptionRoot};
#[cfg(not(feature = "test-support"))]
use {Query as QueryRoot, Subscription as SubscriptionRoot};

/// The schema of the server.
pub type AtelierSchema = Schema<QueryRoot, Mutation, SubscriptionRoot>;

/// The schema over these services.
pub fn schema(services: Services) -> AtelierSchema {
    let services = Arc::new(services);
    builder(QueryRoot::default(), SubscriptionRoot::default())
        .extension(per_execution(services.clone()))
        .data(services)
        .finish()
}

/// The schema as text, as it stands in `schema.graphql`; without fields that only checks need.
pub fn sdl() -> String {
    let schema = builder(Query, Subscription).finish();
    schema.sdl_with_options(sdl_options())
}

/// How the schema is printed, wherever it is.
pub(crate) fn sdl_options() -> SDLExportOptions {
    SDLExportOptions::new()
        .include_specified_by()
        .prefer_single_line_descriptions()
        .use_space_ident()
}

fn builder<Q, S>(query: Q, subscription: S) -> SchemaBuilder<Q, Mutation, S>
where
    Q: ObjectType + 'static,
    S: SubscriptionType + 'static,
{
    Schema::build(query, Mutation::default(), subscription)
        // No field has this type, so the schema would not find it by itself.
        .register_output_type::<StructuredWork>()
        .disable_suggestions()
}
