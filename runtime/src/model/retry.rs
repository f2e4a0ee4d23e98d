//! Asking again: a client that stands before another one and bears its provider's bad moments.
//!
//! Invariants
//! - Only [`ModelError::Unavailable`] is asked again; every attempt is one request below, and is counted.
//! - A provider's own word on when to ask again is kept, or it is not asked again at all.
//! - All attempts and pauses together end within the policy's time.
//!
//! Not here: asking again about a reply that does not fit (the engine), asking again after a restart (the engine).

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use tokio::select;
use tracing::{Instrument, Span, field, info_span, warn};

use super::{ModelClient, ModelError, ModelReply, ModelRequest};

/// How often and how long a provider is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts at most; at least one is made.
    pub attempts: u32,
    /// The longest first pause; it doubles with each further one.
    pub first_pause: Duration,
    /// The longest pause of all that are chosen here.
    pub longest_pause: Duration,
    /// The time for all attempts and pauses.
    pub time: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 5,
            first_pause: Duration::from_millis(500),
            longest_pause: Duration::from_secs(30),
            time: Duration::from_mins(10),
        }
    }
}

impl RetryPolicy {
    /// The longest pause after this attempt, counted from 1.
    fn pause_after(&self, attempt: u32) -> Duration {
        let doubled = 2_u32.checked_pow(attempt.saturating_sub(1));
        let pause = doubled.and_then(|factor| self.first_pause.checked_mul(factor));
        pause.unwrap_or(self.longest_pause).min(self.longest_pause)
    }
}

/// Time and chance, so that tests need neither wait nor guess.
#[async_trait]
pub trait RetryTimer: fmt::Debug + Send + Sync + 'static {
    /// Time since some fixed moment.
    fn elapsed(&self) -> Duration;
    /// Waits.
    async fn sleep(&self, duration: Duration);
    /// Some duration up to the longest, all equally likely.
    fn chance(&self, longest: Duration) -> Duration;
}

/// The machine's own time and chance.
#[derive(Debug)]
struct MachineTimer(Instant);

#[async_trait]
impl RetryTimer for MachineTimer {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }

    fn chance(&self, longest: Duration) -> Duration {
        let chance = uuid::Uuid::new_v4().as_u128() as u64;
        let micros = u64::try_from(longest.as_micros()).unwrap_or(u64::MAX);
        Duration::from_micros(chance % micros.saturating_add(1).max(1))
    }
}

/// A client that asks another one again.
pub struct Retry {
    client: Arc<dyn ModelClient>,
    policy: RetryPolicy,
    timer: Arc<dyn RetryTimer>,
}

impl Retry {
    /// Stands before a client.
    pub fn new(client: Arc<dyn ModelClient>, policy: RetryPolicy) -> Self {
        Self::with_timer(client, policy, Arc::new(MachineTimer(Instant::now())))
    }

    /// Stands before a client, with time and chance of one's own.
    pub fn with_timer(
        client: Arc<dyn ModelClient>,
        policy: RetryPolicy,
        timer: Arc<dyn RetryTimer>,
    ) -> Self {
        Self {
            client,
            policy,
            timer,
        }
    }

    /// One attempt, counted and traced; cut off when the time is up.
    async fn attempt(
        &self,
        request: &ModelRequest,
        time: Duration,
    ) -> Result<ModelReply, ModelError> {
        let began = self.timer.elapsed();
        let outcome = select! {
            biased;
            outcome = self.client.ask(request) => outcome,
            () = self.timer.sleep(time) => Err(ModelError::Unavailable {
                reason: format!("no answer within the {:?} for all attempts", self.policy.time),
                retry_after: None,
            }),
        };
        let took = self.timer.elapsed().saturating_sub(began);
        self.count(request, &outcome, took);
        outcome
    }

    fn count(
        &self,
        request: &ModelRequest,
        outcome: &Result<ModelReply, ModelError>,
        took: Duration,
    ) {
        let name = match outcome {
            Ok(_) => "replied",
            Err(ModelError::Misfit { .. }) => "misfit",
            Err(ModelError::Unavailable { .. }) => "unavailable",
            Err(ModelError::Refused(_)) => "refused",
        };
        let (provider, function) = (self.provider(), request.function.name());
        metrics::counter!("atelier_model_attempts_total", "provider" => provider, "function" => function, "outcome" => name)
            .increment(1);
        metrics::histogram!("atelier_model_attempt_seconds", "provider" => provider, "function" => function)
            .record(took);
        let span = Span::current();
        span.record("outcome", name);
        if let Ok(reply) = outcome {
            span.record("model", &reply.model);
        }
    }

    fn span(&self, request: &ModelRequest, attempt: u32) -> Span {
        info_span!(
            "model.ask",
            provider = self.provider(),
            model = request.model,
            function = request.function.name(),
            attempt,
            outcome = field::Empty,
        )
    }

    /// The pause before the next attempt; none if there shall not be one.
    fn pause(&self, failure: &ModelError, attempt: u32, left: Duration) -> Option<Duration> {
        let ModelError::Unavailable { retry_after, .. } = failure else {
            return None;
        };
        if attempt >= self.policy.attempts {
            return None;
        }
        let pause = match retry_after {
            // Everybody else who was turned away was told the same moment.
            Some(wait) => wait.saturating_add(self.timer.chance(self.policy.first_pause)),
            None => self.timer.chance(self.policy.pause_after(attempt)),
        };
        (pause < left).then_some(pause)
    }
}

#[async_trait]
impl ModelClient for Retry {
    fn provider(&self) -> &'static str {
        self.client.provider()
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        let ends = self.timer.elapsed().saturating_add(self.policy.time);
        let left = || ends.saturating_sub(self.timer.elapsed());
        let mut attempt = 1;
        loop {
            let span = self.span(request, attempt);
            let outcome = self.attempt(request, left()).instrument(span.clone()).await;
            let Err(failure) = outcome else {
                return outcome;
            };
            let Some(pause) = self.pause(&failure, attempt, left()) else {
                return Err(failure);
            };
            warn!(parent: &span, reason = %failure, ?pause, "a model is asked again");
            self.timer.sleep(pause).await;
            attempt += 1;
        }
    }
}
