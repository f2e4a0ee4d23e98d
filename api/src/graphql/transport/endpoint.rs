//! The endpoint behind all transports: prepares an operation, executes it, and makes its answers presentable.
//!
//! Invariants
//! - [`Endpoint::prepare`] is the only way to an executable request: it resolves trusted documents, keeps the document
//!   budget, and takes the cost from the person's bucket.
//! - A panic in a resolver ends that operation with a masked error, and nothing else.
//!
//! Not here: how requests and answers travel.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

use async_graphql::parser::types::{ExecutableDocument, OperationType};
use async_graphql::{
    IntrospectionMode, ObjectType, Request, Response, Schema, SubscriptionType, Value, parser,
    value,
};
use async_trait::async_trait;
use domain::ids::UserId;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt as _, Stream, StreamExt as _, stream};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use super::answer::Answer;
use super::documents::Documents;
use super::origin::Origins;
use super::request::{Allowed, Parameters};
use super::resume::resume;
use super::{Introspection, Settings};
use crate::auth::{Authenticate, Caller};
use crate::graphql::budget::{self, Buckets, SchemaTypes, Shape, Throttle};
use crate::graphql::error::{Code, Refusal};
use crate::graphql::schema::sdl_options;

/// What executes requests; every schema does.
#[async_trait]
pub trait Execute: Send + Sync + 'static {
    /// Runs a query or mutation.
    async fn execute(&self, request: Request) -> Response;

    /// Runs a subscription.
    fn subscribe(&self, request: Request) -> BoxStream<'static, Response>;

    /// The schema as text.
    fn sdl(&self) -> String;
}

#[async_trait]
impl<Q, M, S> Execute for Schema<Q, M, S>
where
    Q: ObjectType + 'static,
    M: ObjectType + 'static,
    S: SubscriptionType + 'static,
{
    async fn execute(&self, request: Request) -> Response {
        Schema::execute(self, request).await
    }

    fn subscribe(&self, request: Request) -> BoxStream<'static, Response> {
        self.execute_stream(request)
    }

    fn sdl(&self) -> String {
        self.sdl_with_options(sdl_options())
    }
}

/// The id of a request: in the log, in masked errors, in the header `X-Request-Id`, and among a resolver's data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(pub Arc<str>);

impl RequestId {
    /// A new id.
    pub fn generate() -> Self {
        Self(uuid::Uuid::now_v7().simple().to_string().into())
    }
}

/// What an endpoint is made of.
pub struct Parts {
    /// The schema. Build it with `disable_suggestions`, and without limits of its own.
    pub execute: Arc<dyn Execute>,
    /// Who finds the caller of a token.
    pub authenticate: Arc<dyn Authenticate>,
    /// Trusted documents.
    pub documents: Documents,
    /// Web pages that may open sockets.
    pub origins: Origins,
    /// Limits and times.
    pub settings: Settings,
    /// Cancelled when the server stops: sockets close with 1012, event streams end.
    pub shutdown: CancellationToken,
}

/// One GraphQL endpoint; cheap to clone.
#[derive(Clone)]
pub struct Endpoint(Arc<Inner>);

struct Inner {
    parts: Parts,
    types: SchemaTypes,
    sdl: String,
    buckets: Option<Buckets>,
    sockets: TaskTracker,
    connections_by_person: Mutex<HashMap<UserId, usize>>,
}

/// An operation that may be executed.
pub struct Prepared {
    request: Request,
    /// Whether it is a query, a mutation or a subscription.
    pub kind: OperationType,
    person: UserId,
    requested_cost: u64,
    shape: Shape,
    request_id: RequestId,
}

impl Endpoint {
    /// An endpoint over these parts; fails where the schema's own text does not parse.
    pub fn try_new(parts: Parts) -> Result<Self, parser::Error> {
        let sdl = parts.execute.sdl();
        let types = SchemaTypes::try_new(&sdl)?;
        let buckets = parts.settings.rate_limit.map(Buckets::new);
        let (sockets, connections_by_person) = (TaskTracker::new(), Mutex::default());
        Ok(Self(Arc::new(Inner {
            parts,
            types,
            sdl,
            buckets,
            sockets,
            connections_by_person,
        })))
    }

    /// Waits until every socket has ended; call it after the shutdown token was cancelled.
    pub async fn drained(&self) {
        self.0.sockets.close();
        self.0.sockets.wait().await;
    }

    /// The caller of a bearer token.
    pub async fn authenticate(
        &self,
        bearer: Option<&str>,
        request_id: &RequestId,
    ) -> Result<Caller, Refusal> {
        let caller = self.0.parts.authenticate.authenticate(bearer).await;
        caller.map_err(|error| Refusal::from_domain(&error, &request_id.0))
    }

    /// Makes a request executable, or refuses it.
    pub fn prepare(
        &self,
        caller: Caller,
        parameters: Parameters,
        request_id: &RequestId,
    ) -> Result<Prepared, Refusal> {
        let Parameters {
            source,
            operation_name,
            mut variables,
            resume_after,
            allowed,
        } = parameters;
        let text = self.0.parts.documents.resolve(source)?;
        let (name, limits) = (operation_name.as_deref(), &self.settings().limits);
        let mut budgeted = budget::check(&text, name, &variables, &self.0.types, limits)?;
        self.check_introspection(&budgeted.document, name)?;
        if allowed == Allowed::Queries && budgeted.kind == OperationType::Mutation {
            return Err(Refusal::service(
                Code::MethodNotAllowed,
                "a mutation needs POST",
            ));
        }
        if let (OperationType::Subscription, Some(id)) = (budgeted.kind, resume_after) {
            resume(
                &mut budgeted.document,
                name,
                &mut variables,
                &self.0.types,
                &id,
            );
        }
        self.charge(caller.user, budgeted.requested_cost)?;
        let mut request = Request::new(text)
            .variables(variables)
            .data(caller)
            .data(request_id.clone());
        request.operation_name = operation_name;
        request.set_parsed_query(budgeted.document);
        if self.settings().introspection == Introspection::Off {
            // Refused above; the executor keeps to it as well.
            request.introspection_mode = IntrospectionMode::Disabled;
        }
        Ok(Prepared {
            request,
            kind: budgeted.kind,
            person: caller.user,
            requested_cost: budgeted.requested_cost,
            shape: budgeted.shape,
            request_id: request_id.clone(),
        })
    }

    /// Without this the executor would answer null, as if there were no schema.
    fn check_introspection(
        &self,
        document: &ExecutableDocument,
        name: Option<&str>,
    ) -> Result<(), Refusal> {
        let operation = budget::select(document, name)?;
        let is_off = self.settings().introspection == Introspection::Off;
        if is_off && budget::introspects(document, &operation.node.selection_set.node) {
            return Err(Refusal::document(
                Code::ValidationFailed,
                "introspection is off on this server: start it with `--introspection on`, or print the schema with `atelier schema`",
            ).at(operation.pos));
        }
        Ok(())
    }

    /// Runs a query or mutation to its end, or to the time limit.
    pub async fn run(&self, prepared: Prepared) -> Answer {
        let id = prepared.request_id.0;
        let span =
            tracing::debug_span!("graphql.execute", request.id = %id, user.id = %prepared.person);
        let execution = AssertUnwindSafe(self.0.parts.execute.execute(prepared.request))
            .catch_unwind()
            .instrument(span);
        let mut answer = match tokio::time::timeout(self.settings().time_limit, execution).await {
            Ok(Ok(response)) => Answer::executed(response, &id),
            Ok(Err(panic)) => broken(&*panic, &id),
            Err(_) => Answer::refused(&self.timed_out()),
        };
        let actual_cost = answer
            .data
            .as_ref()
            .map_or(0, |data| prepared.shape.price(data))
            .max(1);
        answer.throttle = self.settle(prepared.person, prepared.requested_cost, actual_cost);
        let cost = cost_extension(prepared.requested_cost, actual_cost, answer.throttle);
        answer.extensions.insert("cost".into(), cost);
        answer
    }

    /// The events of a subscription. An answer without data is the last one: the request failed.
    pub fn stream(&self, prepared: Prepared) -> impl Stream<Item = Answer> + Send + use<> {
        let id = prepared.request_id.0;
        let responses = AssertUnwindSafe(self.0.parts.execute.subscribe(prepared.request))
            .catch_unwind()
            .boxed();
        stream::unfold(Some((responses, None)), move |state| {
            let id = id.clone();
            async move {
                let (mut responses, held) = state?;
                let response = match held {
                    Some(response) => response,
                    None => responses.next().await?,
                };
                match response {
                    Err(panic) => Some((broken(&*panic, &id), None)),
                    Ok(response) => {
                        let mut answer = Answer::executed(response, &id);
                        // The executor reports a failed subscription as an event that is followed by nothing.
                        let following = is_failure(&answer)
                            .then(|| responses.next().now_or_never())
                            .flatten();
                        if let Some(None) = following {
                            answer.data = None;
                        }
                        let state = answer
                            .data
                            .is_some()
                            .then(|| (responses, following.flatten()));
                        Some((answer, state))
                    }
                }
            }
        })
    }

    /// Returns once this caller may no longer be served.
    pub(super) async fn revoked(self, caller: Caller) {
        self.0.parts.authenticate.revoked(caller).await;
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.0.parts.settings
    }

    pub(super) fn origins(&self) -> &Origins {
        &self.0.parts.origins
    }

    pub(super) fn shutdown(&self) -> &CancellationToken {
        &self.0.parts.shutdown
    }

    pub(super) fn sdl(&self) -> &str {
        &self.0.sdl
    }

    pub(super) fn sockets(&self) -> &TaskTracker {
        &self.0.sockets
    }

    /// Counts a socket or event stream of this person while the guard lives; `None` where there are too many.
    pub(super) fn count_connection(&self, person: UserId) -> Option<ConnectionGuard> {
        let mut connections = self
            .0
            .connections_by_person
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let open = connections.entry(person).or_default();
        if *open >= self.settings().connections_per_person {
            return None;
        }
        *open += 1;
        Some(ConnectionGuard {
            endpoint: self.clone(),
            person,
        })
    }

    /// Takes a cost from a person's bucket.
    pub(super) fn charge(&self, person: UserId, cost: u64) -> Result<(), Refusal> {
        let Some(buckets) = &self.0.buckets else {
            return Ok(());
        };
        buckets
            .take(person, cost, Instant::now())
            .map(drop)
            .map_err(|wait| {
                let message = format!(
                    "this person's cost over time is used up; try again in {} s",
                    wait.as_secs_f64().ceil()
                );
                Refusal {
                    retry_after: Some(wait),
                    ..Refusal::service(Code::RateLimited, message)
                }
            })
    }

    fn settle(&self, person: UserId, requested: u64, actual: u64) -> Option<Throttle> {
        Some(
            self.0
                .buckets
                .as_ref()?
                .settle(person, requested, actual, Instant::now()),
        )
    }

    fn timed_out(&self) -> Refusal {
        let limit = self.settings().time_limit.as_secs_f64();
        Refusal::service(
            Code::Timeout,
            format!("the operation took longer than {limit} s; ask for less at once"),
        )
    }
}

/// One live connection of a person, counted.
pub(super) struct ConnectionGuard {
    endpoint: Endpoint,
    person: UserId,
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        let mut connections = self
            .endpoint
            .0
            .connections_by_person
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = connections.get_mut(&self.person) {
            *open -= 1;
            if *open == 0 {
                connections.remove(&self.person);
            }
        }
    }
}

fn is_failure(answer: &Answer) -> bool {
    !answer.errors.is_empty() && matches!(answer.data, Some(Value::Null))
}

fn broken(panic: &(dyn std::any::Any + Send), request_id: &str) -> Answer {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    tracing::error!(request.id = %request_id, error = text.unwrap_or("unknown"), "a resolver broke off");
    Answer::broken(request_id)
}

fn cost_extension(requested: u64, actual: u64, throttle: Option<Throttle>) -> Value {
    let Some(throttle) = throttle else {
        return value!({ "requestedQueryCost": requested, "actualQueryCost": actual });
    };
    value!({
        "requestedQueryCost": requested,
        "actualQueryCost": actual,
        "throttleStatus": {
            "maximumAvailable": throttle.maximum,
            "currentlyAvailable": throttle.available,
            "restoreRate": throttle.restore_rate,
        },
    })
}
