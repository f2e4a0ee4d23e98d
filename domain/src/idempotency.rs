//! Idempotency keys: the same key by the same actor gives the first result again, and no second effect.
//!
//! Invariants
//! - A key belongs to one actor (a person with all tokens is one) and one mutation, and is kept 24 hours.
//! - The row is written in the transaction of the effect; the primary key decides who was first.
//! - Refusals (conflicts) are not stored: the same key may try again.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

use crate::actor::Actor;
use crate::error::{Error, Result};
use crate::time::Timestamp;

/// How long a key is remembered.
pub const IDEMPOTENCY_TTL: Duration = Duration::from_hours(24);

/// A key as a client gave it, in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// Whose key.
    pub actor: Actor,
    /// Of which mutation, such as `editNodes`.
    pub mutation: &'static str,
    /// The key itself, 1 to 255 characters.
    pub key: String,
    /// SHA-256 of the input without the key, so that another input is noticed.
    pub input_hash: [u8; 32],
    /// When it was used.
    pub at: Timestamp,
}

/// A remembered use of a key.
#[derive(Debug, Clone, PartialEq)]
pub struct IdempotencyRecord {
    /// Hash of the input it was used with.
    pub input_hash: [u8; 32],
    /// What came of it, as the mutation stored it.
    pub result: Value,
    /// When.
    pub at: Timestamp,
}

/// Storing and finding keys.
#[async_trait]
pub trait IdempotencyStore {
    /// The remembered use of a key, however old.
    async fn find_idempotency(&self, key: &IdempotencyKey) -> Result<Option<IdempotencyRecord>>;
    /// Remembers a use, in place of one that has expired; `Conflict` where a living one is there. Only inside a command.
    async fn remember_idempotency(&self, key: &IdempotencyKey, result: &Value) -> Result<()>;
}

/// The first result for this key, if it was used within its time; an error if that use had another input.
pub async fn first_result(
    store: &(impl IdempotencyStore + ?Sized),
    key: &IdempotencyKey,
) -> Result<Option<Value>> {
    match store.find_idempotency(key).await? {
        Some(record) if key.at.since(record.at) > IDEMPOTENCY_TTL => Ok(None),
        Some(record) if record.input_hash != key.input_hash => Err(Error::IdempotencyKeyReused),
        Some(record) => Ok(Some(record.result)),
        None => Ok(None),
    }
}
