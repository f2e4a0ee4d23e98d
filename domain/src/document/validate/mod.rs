//! The gate in front of yrs: decides from the bytes alone whether an update may be applied.
//!
//! Invariants
//! - An update that is accepted and misses nothing leaves nothing pending inside yrs.
//! - Counts are believed only as far as bytes are left for them, and depth is bounded, so that neither this walk nor the
//!   decoding after it allocates or recurses beyond the limits.
//! - Only encoding v1, only the shared types of the kind, only content that fits them.
//!
//! - What only the document can say is asked of it by `check_neighbours`, before the update is applied.
//!
//! Not here: that a parent which the document has is a shared type at all, and how deep it lies. That is seen when the
//! update is applied (an error of yrs, and `recorder`).

mod dependencies;
mod neighbours;
mod places;
mod portions;
mod value;
mod walk;

#[cfg(test)]
mod fuzz_tests;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub(crate) use neighbours::{Neighbours, check_neighbours};
pub(crate) use places::{KnownPlaces, PlacedBlocks};
pub(crate) use portions::{Portion, Portions};
use yrs::block::ClientID;
use yrs::{ID, StateVector};

use crate::document::lib0::{Malformed, Reader};
use crate::work::WorkKind;

/// A state vector names at most this many clients.
const STATE_VECTOR_CLIENTS: u64 = 65_536;

/// For what is stored: it was accepted piece by piece.
const UNLIMITED: UpdateLimits = UpdateLimits {
    bytes: usize::MAX,
    clients: usize::MAX,
    value_depth: usize::MAX,
    type_depth: usize::MAX,
    decoded_bytes: usize::MAX,
    effort: Duration::MAX,
    strain: Duration::MAX,
};

/// How much an update may hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateLimits {
    /// Size of the update, in bytes.
    pub bytes: usize,
    /// Clients whose blocks it holds.
    pub clients: usize,
    /// Depth of lists and maps inside one value.
    pub value_depth: usize,
    /// Depth of shared types inside each other, counted within the update.
    pub type_depth: usize,
    /// Memory that decoding it would take, estimated, in bytes; the same holds for the whole document.
    pub decoded_bytes: usize,
    /// What applying it may cost beyond the ordinary, in processor time.
    pub effort: Duration,
    /// What opening the document may cost beyond the ordinary.
    pub strain: Duration,
}

impl Default for UpdateLimits {
    fn default() -> Self {
        Self {
            bytes: 16 << 20,
            clients: 4_096,
            value_depth: 32,
            type_depth: 8,
            decoded_bytes: 160 << 20,
            effort: Duration::from_secs(5),
            strain: Duration::from_secs(5),
        }
    }
}

/// What is known of an update that was accepted.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UpdateFacts {
    /// It depends on blocks that neither the document nor the update has: ask its sender for the rest, store nothing.
    pub missing: bool,
    /// It holds blocks that the document does not have.
    pub has_new_blocks: bool,
    /// Memory that it takes, estimated, in bytes.
    pub weight: usize,
    /// What it deletes; perhaps deleted already.
    pub deletes: yrs::IdSet,
    /// What the document has to say about it: see `check_neighbours`.
    pub(crate) neighbours: Neighbours,
    /// What it shows of its new blocks once it is applied: see `KnownPlaces`.
    pub(crate) placed: Vec<PlacedBlocks>,
    /// Its new blocks and deletions, to be applied piece by piece.
    pub(crate) portions: Portions,
}

impl UpdateFacts {
    /// Whether it deletes anything, perhaps again.
    pub fn has_deletes(&self) -> bool {
        !self.deletes.is_empty()
    }
}

/// Why bytes were refused; never wrong about an update of an editor that only uses the layout of the kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Rejection {
    /// For the sender and for the log.
    pub reason: String,
}

impl Rejection {
    fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
        }
    }
}

impl From<Malformed> for Rejection {
    fn from(malformed: Malformed) -> Self {
        Self::new(malformed.to_string())
    }
}

/// Checks an update (encoding v1) against the state that it would be applied to.
pub fn validate_update(
    update: &[u8],
    kind: WorkKind,
    known: &StateVector,
    limits: &UpdateLimits,
) -> Result<UpdateFacts, Rejection> {
    if update.len() > limits.bytes {
        return Err(Rejection::new(format!(
            "the update has {} bytes; at most {} are allowed",
            update.len(),
            limits.bytes
        )));
    }
    let skeleton = walk::walk(update, kind, limits)?;
    dependencies::check(skeleton, known, limits)
}

/// Memory that stored bytes take, estimated; they are not judged.
pub(crate) fn weigh(stored: &[u8], kind: WorkKind) -> usize {
    walk::walk(stored, kind, &UNLIMITED).map_or(stored.len(), |skeleton| skeleton.weight)
}

/// Things in the texts of a document that are no characters: the state of a document as one update (encoding v1).
pub(crate) fn find_embeds(state: &[u8]) -> Vec<ID> {
    let skeleton = WorkKind::ALL
        .into_iter()
        .find_map(|kind| walk::walk(state, kind, &UNLIMITED).ok());
    let Some(skeleton) = skeleton else {
        return Vec::new();
    };
    let mut deleted = yrs::IdSet::new();
    for (client, start, end) in &skeleton.deletes {
        deleted.insert(ID::new(ClientID::new(*client), *start), end - start);
    }
    let embeds = skeleton.sections.iter().flat_map(|section| {
        let is_embed = |block: &&walk::Block| block.shape == walk::Shape::Embed;
        let id = |block: &walk::Block| ID::new(ClientID::new(section.client), block.clock);
        section.blocks.iter().filter(is_embed).map(id)
    });
    embeds.filter(|id| !deleted.contains(id)).collect()
}

/// Reads a state vector without believing its count.
pub fn decode_state_vector(bytes: &[u8]) -> Result<StateVector, Rejection> {
    let mut reader = Reader::new(bytes);
    let count = reader.var_u53()?;
    if count > STATE_VECTOR_CLIENTS || count > (reader.remaining() / 2) as u64 {
        return Err(Rejection::new(
            "the state vector names more clients than it has",
        ));
    }
    let mut vector = StateVector::default();
    for _ in 0..count {
        let client = ClientID::new(reader.var_u53()?);
        let clock = reader.var_u32()?;
        if vector.contains_client(&client) {
            return Err(Rejection::new("the state vector names a client twice"));
        }
        vector.set_max(client, clock);
    }
    if !reader.is_at_end() {
        return Err(Rejection::new("bytes follow the state vector"));
    }
    Ok(vector)
}
