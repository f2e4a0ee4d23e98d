//! Connections to a live document, independent of the wire protocol.
//!
//! Invariants
//! - Frames for one connection arrive in order, and none is left out silently: a connection that can not keep up is closed
//!   with 1013, and catches up when it comes back.
//! - `Acknowledged` follows the commit of what it acknowledges.
//! - Dropping a [`Connection`] leaves the document.

use bytes::Bytes;
use serde_json::{Map, Value};

use crate::actor::Actor;
use crate::ids::{ConnectionId, WorkId};
use crate::time::Timestamp;

pub use super::service::Connection;

/// What a connection may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Receive.
    Read,
    /// Receive and change.
    Write,
}

/// A wish to join a document; permission was checked by the caller.
#[derive(Debug, Clone)]
pub struct Join {
    /// The document.
    pub work: WorkId,
    /// The connection; new for each join.
    pub connection: ConnectionId,
    /// Who joins.
    pub actor: Actor,
    /// The name that others see.
    pub label: String,
    /// What it may do.
    pub access: Access,
}

/// What an editor sends.
#[derive(Debug, Clone, PartialEq)]
pub enum Inbound {
    /// Asks for what it lacks: a state vector, encoding v1.
    SyncStep1(Bytes),
    /// Answers the server's step 1: an update, encoding v1. Acknowledged like an update.
    SyncStep2(Bytes),
    /// A change: an update, encoding v1.
    Update(Bytes),
    /// An awareness update (y-protocols), without the outer message type.
    Awareness(Bytes),
    /// Asks for everybody's awareness.
    QueryAwareness,
}

/// What an editor gets.
#[derive(Debug, Clone, PartialEq)]
pub enum Outbound {
    /// What it lacks.
    SyncStep2(Bytes),
    /// Asks for what the server lacks: a state vector.
    SyncStep1(Bytes),
    /// A stored change; also to its sender.
    Update(Bytes),
    /// An awareness update (y-protocols), without the outer message type; also to its sender.
    Awareness(Bytes),
    /// One `SyncStep2` or `Update` of this connection is stored (true), or was refused because it may not write (false).
    Acknowledged(bool),
    /// What it may do has changed.
    AccessChanged(Access),
    /// The end: the document refuses this connection (hostile bytes), is gone, or the server stops. A WebSocket close code
    /// (4400, 4403, 4404, 1012, 1013) and a reason of at most 120 bytes.
    Closed(u16, String),
}

/// Somebody at a document, as others see it.
#[derive(Debug, Clone, PartialEq)]
pub struct Presence {
    /// Who.
    pub actor: Actor,
    /// The name that others see.
    pub label: String,
    /// The node that is being looked at or edited (`nodeId` in the awareness state).
    pub node_id: Option<String>,
    /// Since when.
    pub since: Timestamp,
    /// The awareness state as the editor sent it, with `user.name` and `user.id` set by the server.
    pub state: Map<String, Value>,
}
