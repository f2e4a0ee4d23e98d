//! The schema, put together.

use async_graphql::{Data, Schema, SchemaBuilder};

use super::loader::PerExecution;
use super::mutation::Mutation;
use super::query::Query;
use super::scope::Scope;
use super::services::Services;
use super::subscription::Subscription;

#[cfg(feature = "test-support")]
mod roots {
    use async_graphql::{MergedObject, MergedSubscription};

    /// Reading.
    #[derive(MergedObject, Default)]
    pub struct QueryRoot(
        pub(super) super::Query,
        pub(super) crate::test_support::Query,
    );

    /// Listening.
    #[derive(MergedSubscription, Default)]
    pub struct SubscriptionRoot(
        pub(super) super::Subscription,
        pub(super) crate::test_support::Subscription,
    );
}

#[cfg(feature = "test-support")]
use roots::{QueryRoot, SubscriptionRoot};
#[cfg(not(feature = "test-support"))]
use {Query as QueryRoot, Subscription as SubscriptionRoot};

/// The schema of this server.
pub type AtelierSchema = Schema<QueryRoot, Mutation, SubscriptionRoot>;

/// The schema over these services.
pub fn schema(services: Services) -> AtelierSchema {
    let per_execution = services.clone();
    let scope = PerExecution::new(move |caller| {
        let mut data = Data::default();
        data.insert(Scope::new(per_execution.clone(), caller));
        data
    });
    builder(QueryRoot::default(), SubscriptionRoot::default())
        .data(services)
        .disable_suggestions()
        .extension(scope)
        .finish()
}

fn builder<Q, S>(query: Q, subscription: S) -> SchemaBuilder<Q, Mutation, S>
where
    Q: async_graphql::ObjectType + 'static,
    S: async_graphql::SubscriptionType + 'static,
{
    // Only reached through interfaces, so the schema would not find them by itself.
    Schema::build(query, Mutation::default(), subscription)
        .register_output_type::<super::model::WorkObject>()
        .register_output_type::<super::model::StructuredWork>()
}

/// The schema in the schema definition language; without fields that only tests have.
pub fn sdl() -> String {
    builder(Query, Subscription).finish().sdl()
}
