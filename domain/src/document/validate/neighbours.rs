//! What an update puts beside blocks of the document, and whether that fits there.
//!
//! Invariants
//! - A format that becomes an entry of a Y.Map would make the library panic while it describes the change, so it is
//!   refused before it is applied.
//!
//! Not here: blocks that stand in a type of the update itself (`dependencies`).

use std::collections::HashSet;

use yrs::types::TypeRef;
use yrs::{Assoc, ClientID, ID, ReadTxn, StickyIndex};

use super::Rejection;
use super::places::{KnownPlaces, PlacedBlocks};
use super::walk::{BlockId, SharedType};

/// Each is looked up by walking its list, so there is a limit; an editor that was away touches far fewer places.
const MOST: usize = 10_000;

/// Blocks of the document, and the type that has to hold them.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Neighbours(HashSet<(BlockId, SharedType)>);

impl Neighbours {
    pub(super) fn insert(
        &mut self,
        beside: BlockId,
        expected: SharedType,
    ) -> Result<(), Rejection> {
        self.0.insert((beside, expected));
        if self.0.len() > MOST {
            return Err(Rejection::new(format!(
                "the update touches more than {MOST} places of the document at once"
            )));
        }
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Leaves those of which it is not known that they fit.
    pub(crate) fn forget_known(&mut self, places: &KnownPlaces) {
        self.0
            .retain(|(beside, expected)| places.find(*beside) != Some(*expected));
    }

    /// Takes some of them out.
    pub(crate) fn take(&mut self, most: usize) -> Self {
        let some: HashSet<_> = self.0.iter().take(most).copied().collect();
        self.0.retain(|neighbour| !some.contains(neighbour));
        Self(some)
    }
}

/// Refuses an accepted update that would put text into a Y.Map or values into a Y.Text of the document. What fits is
/// remembered.
pub(crate) fn check_neighbours<T: ReadTxn>(
    txn: &T,
    neighbours: &Neighbours,
    places: &mut KnownPlaces,
) -> Result<(), Rejection> {
    for (beside, expected) in &neighbours.0 {
        let id = ID::new(ClientID::new(beside.client), beside.clock);
        // A block that was collected has no place any more, and what stands beside it is collected too.
        let Some(place) = StickyIndex::from_id(id, Assoc::After).get_offset(txn) else {
            continue;
        };
        let fits = match place.branch.type_ref() {
            TypeRef::Map => *expected == SharedType::Map,
            TypeRef::Text => *expected == SharedType::Text,
            _ => false,
        };
        if !fits {
            return Err(Rejection::new("content is put where it does not fit"));
        }
        places.learn_one(PlacedBlocks {
            client: beside.client,
            start: beside.clock,
            end: beside.clock + 1,
            inside: *expected,
        });
    }
    Ok(())
}
