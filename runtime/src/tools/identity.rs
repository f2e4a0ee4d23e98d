//! Ids of what a call makes: the same at every attempt, so that running it again makes nothing twice.
//!
//! Invariants
//! - An id is a name-based UUID (RFC 9562, version 5) of the call's id and of what it names within the call.

use domain::idempotency::IdempotencyKey;
use domain::ids::{CardId, LineId, MessageId, WorkId};
use domain::turn::{Call, CallId};
use uuid::Uuid;

use super::Invocation;

/// Hexadecimal digits of an id of a node or edge: a work holds few enough of them.
const DIGITS: usize = 12;

pub(super) fn message_id(call: CallId) -> MessageId {
    MessageId::from_uuid(made(call, "message"))
}

pub(super) fn card_id(call: CallId) -> CardId {
    CardId::from_uuid(made(call, "card"))
}

pub(super) fn line_id(call: CallId) -> LineId {
    LineId::from_uuid(made(call, "line"))
}

pub(super) fn work_id(call: CallId) -> WorkId {
    WorkId::from_uuid(made(call, "work"))
}

/// The id of the node at a place in the call's arguments that brings none.
pub(super) fn node_id(call: CallId, place: usize) -> String {
    short("node", call, place)
}

/// The same for an edge.
pub(super) fn edge_id(call: CallId, place: usize) -> String {
    short("edge", call, place)
}

fn short(noun: &str, call: CallId, place: usize) -> String {
    let id = made(call, &format!("{noun}/{place}")).simple().to_string();
    format!("{noun}-{}", &id[..DIGITS])
}

fn made(call: CallId, what: &str) -> Uuid {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("{call}/{what}").as_bytes())
}

/// The key under which the call's one effect is stored.
pub(super) fn idempotency(invocation: &Invocation<'_>, mutation: &'static str) -> IdempotencyKey {
    IdempotencyKey {
        actor: invocation.actor(),
        mutation,
        key: invocation.call.id.to_string(),
        input_hash: hash(invocation.call),
        at: invocation.at,
    }
}

/// SHA-256 of what is asked for; the arguments of a call never change.
fn hash(call: &Call) -> [u8; 32] {
    let asked = format!("{}\n{}", call.tool, call.equal_key());
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, asked.as_bytes());
    digest.as_ref().try_into().expect("a SHA-256 has 32 bytes")
}
