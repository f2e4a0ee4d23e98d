//! Rest: the replica of a document that is open and not worked on leaves memory, and comes back from the store.
//!
//! Invariants
//! - Only a document whose every change is stored rests, so that waking gives the same document.
//! - Whoever is connected stays connected: presence and connections do not need the replica.
//!
//! Not here: documents that nobody has open; their actors end.

use std::sync::Arc;

use crate::document::attribution::Attribution;
use crate::document::replica::{Failure, Replica};
use crate::document::room::Inbound;

use super::{DocumentActor, Home, Life, Message};

/// Changes since the last snapshot from which on resting stores one: waking reads fewer.
const TAIL: u64 = 64;

/// A replica, where it is in memory.
pub(super) enum Resident {
    /// It is.
    Awake(Box<Replica>),
    /// The document rests, and is counted as one that does.
    Resting { _counted: Arc<()> },
}

impl Resident {
    pub(super) fn new(replica: Replica) -> Self {
        Self::Awake(Box::new(replica))
    }

    /// The replica; a failure where the document rests: whoever needs it wakes the document first.
    pub(super) fn get(&self) -> Result<&Replica, Failure> {
        match self {
            Self::Awake(replica) => Ok(replica),
            Self::Resting { .. } => Err(resting()),
        }
    }

    /// The same, for changing it.
    pub(super) fn get_mut(&mut self) -> Result<&mut Replica, Failure> {
        match self {
            Self::Awake(replica) => Ok(replica),
            Self::Resting { .. } => Err(resting()),
        }
    }

    fn is_resting(&self) -> bool {
        matches!(self, Self::Resting { .. })
    }
}

fn resting() -> Failure {
    Failure::Spoilt("the document is not in memory".to_owned())
}

impl Message {
    /// Whether the document must be awake for it.
    fn needs_replica(&self) -> bool {
        match self {
            Self::Frame(_, frame) => {
                !matches!(frame, Inbound::Awareness(_) | Inbound::QueryAwareness)
            }
            Self::Edit(_) => true,
            _ => false,
        }
    }
}

impl DocumentActor {
    /// Lets the document rest where nobody has worked on it since the last time this was asked.
    pub(super) fn rest_if_unused(&mut self) {
        let was_used = std::mem::take(&mut self.was_used);
        let is_quiet = self.in_flight.is_none()
            && self.pending.is_empty()
            && self.edits.is_empty()
            && self.log_head == self.version;
        // One on a thread of its own is large: reading it anew would be felt.
        if was_used || !is_quiet || self.home == Home::OwnThread || self.replica.is_resting() {
            return;
        }
        if self.growth.changes() >= TAIL {
            match self.replica.get().and_then(Replica::state) {
                Ok(state) => self.save_snapshot(self.version, state),
                Err(failure) => return self.fail(&failure),
            }
        }
        tracing::debug!(document.id = %self.work.id, "rests");
        self.replica = Resident::Resting {
            _counted: self.shared.rest(),
        };
        self.attribution = Attribution::new(Vec::new());
    }

    /// Wakes the document where a message needs it awake.
    pub(super) async fn wake_for(&mut self, message: &Message) {
        if message.needs_replica() {
            self.wake().await;
        }
    }

    /// Brings the document back, with what others have stored meanwhile.
    pub(super) async fn wake(&mut self) {
        self.was_used = true;
        if self.replica.is_resting()
            && self.life == Life::Open
            && let Err(error) = self.rebuild().await
        {
            self.fail(&error);
        }
    }
}
