//! Money: amounts, and what a task may spend and has spent.

use async_graphql::{Object, SimpleObject};
use domain::task;

use crate::graphql::scalars::{Int64, int};

/// The currency of every amount.
pub(crate) const CURRENCY: &str = "USD";

/// Millionths of the currency unit, exact.
#[derive(Debug, Clone, SimpleObject)]
pub(crate) struct Money {
    /// Millionths of the currency unit.
    micros: Int64,
    /// Code of ISO 4217, such as USD.
    currency: &'static str,
}

impl Money {
    /// An amount.
    pub(crate) fn new(micros: u64) -> Self {
        Self {
            micros: Int64(i64::try_from(micros).unwrap_or(i64::MAX)),
            currency: CURRENCY,
        }
    }
}

/// What may be spent, and what was.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    pub(crate) limit: Option<u64>,
    pub(crate) spent: u64,
}

/// What may be spent, and what was.
#[Object]
impl Budget {
    /// What may be spent in all; null where there is no limit.
    async fn limit(&self) -> Option<Money> {
        self.limit.map(Money::new)
    }

    /// What was spent.
    async fn spent(&self) -> Money {
        Money::new(self.spent)
    }

    /// What is set aside for what has begun and is not paid yet.
    async fn reserved(&self) -> Money {
        Money::new(0)
    }
}

/// What a task has used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage(pub(crate) task::Usage);

/// What a task has used.
#[Object]
impl Usage {
    /// Decided steps.
    async fn steps(&self) -> i32 {
        int(self.0.steps)
    }

    /// Tokens of requests, cached ones included.
    async fn input_tokens(&self) -> i32 {
        int(self.0.input_tokens)
    }

    /// Of these, read from providers' caches.
    async fn cached_tokens(&self) -> i32 {
        int(self.0.cached_tokens)
    }

    /// Tokens of replies.
    async fn output_tokens(&self) -> i32 {
        int(self.0.output_tokens)
    }

    /// What models cost, where their prices are known.
    async fn spent(&self) -> Money {
        Money::new(self.0.spent_micros)
    }
}
