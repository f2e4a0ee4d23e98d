//! What a client is answered: a GraphQL response, with nothing in it that is not meant for clients.
//!
//! Invariants
//! - `data` is left out where nothing was executed; it is null only where execution made it so.

use std::collections::BTreeMap;

use async_graphql::{Response, ServerError, Value};
use serde::Serialize;

use crate::graphql::budget::Throttle;
use crate::graphql::error::{Refusal, masked_without_place, present};

/// One response of a query or mutation, or one event of a subscription.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// Errors of the request, or of fields.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ServerError>,
    /// What was executed gave this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// Cost, and what the executor adds.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub extensions: BTreeMap<String, Value>,
    /// What the caller has left, for headers.
    #[serde(skip)]
    pub throttle: Option<Throttle>,
}

impl Answer {
    /// An answer to a request that was not executed.
    pub fn refused(refusal: &Refusal) -> Self {
        Self::failed(refusal.to_error())
    }

    /// The answer where execution broke off; what happened is in the log.
    pub fn broken(request_id: &str) -> Self {
        Self::failed(masked_without_place(request_id))
    }

    /// The executor's response, made presentable.
    pub fn executed(response: Response, request_id: &str) -> Self {
        let was_executed = response.data != Value::Null
            || response.errors.iter().any(|error| !error.path.is_empty());
        Self {
            errors: response
                .errors
                .into_iter()
                .map(|error| present(error, request_id))
                .collect(),
            data: was_executed.then_some(response.data),
            extensions: response.extensions,
            throttle: None,
        }
    }

    /// The answer as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("values of GraphQL are JSON")
    }

    fn failed(error: ServerError) -> Self {
        Self {
            errors: vec![error],
            data: None,
            extensions: BTreeMap::new(),
            throttle: None,
        }
    }
}
