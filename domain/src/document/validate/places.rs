//! In which types blocks of a document stand, as far as accepted updates have shown it.
//!
//! Invariants
//! - What is known here is true: blocks never move to another type. What is not known, the document is asked, which walks
//!   the list that the block stands in; typing at the end of a long text must not do that for every letter.
//! - It is bounded, and may be forgotten at any time.

use std::collections::{BTreeMap, HashMap};

use super::walk::{BlockId, SharedType};

/// Ranges that are kept, some 24 bytes each. A person who types makes one of them longer; one who edits texts and nodes in
/// turns adds one with every edit, and then a block in the document takes several times as much.
const MOST: usize = 131_072;

/// Consecutive blocks of one client in one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlacedBlocks {
    pub(super) client: u64,
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) inside: SharedType,
}

/// What is known.
#[derive(Debug, Default)]
pub(crate) struct KnownPlaces {
    /// By client and first clock: the end, and the type.
    clients: HashMap<u64, BTreeMap<u32, (u32, SharedType)>>,
    ranges: usize,
}

impl KnownPlaces {
    /// The type that a block stands in, where that is known.
    pub(super) fn find(&self, block: BlockId) -> Option<SharedType> {
        let ranges = self.clients.get(&block.client)?;
        let (_, (end, inside)) = ranges.range(..=block.clock).next_back()?;
        (block.clock < *end).then_some(*inside)
    }

    /// Remembers what an accepted update has shown.
    pub(crate) fn learn(&mut self, placed: &[PlacedBlocks]) {
        for blocks in placed {
            self.learn_one(*blocks);
        }
    }

    pub(super) fn learn_one(&mut self, blocks: PlacedBlocks) {
        if self.ranges >= MOST {
            *self = Self::default();
        }
        let ranges = self.clients.entry(blocks.client).or_default();
        let before = ranges.range_mut(..=blocks.start).next_back();
        if let Some((_, (end, inside))) = before
            && *inside == blocks.inside
            && blocks.start <= *end
        {
            *end = blocks.end.max(*end);
            return;
        }
        let former = ranges.insert(blocks.start, (blocks.end, blocks.inside));
        self.ranges += usize::from(former.is_none());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(start: u32, end: u32, inside: SharedType) -> PlacedBlocks {
        PlacedBlocks {
            client: 7,
            start,
            end,
            inside,
        }
    }

    #[test]
    fn what_was_typed_letter_by_letter_is_one_range_and_its_neighbours_are_not_in_it() {
        let mut places = KnownPlaces::default();
        for clock in 3..1_000 {
            places.learn_one(blocks(clock, clock + 1, SharedType::Text));
        }
        places.learn_one(blocks(1_000, 1_002, SharedType::Map));
        let find = |clock| places.find(BlockId { client: 7, clock });
        assert_eq!(places.ranges, 2);
        assert_eq!((find(2), find(3)), (None, Some(SharedType::Text)));
        assert_eq!(
            (find(999), find(1_001), find(1_002)),
            (Some(SharedType::Text), Some(SharedType::Map), None)
        );
    }

    #[test]
    fn it_stays_bounded() {
        let mut places = KnownPlaces::default();
        for clock in 0..4 * MOST as u32 {
            places.learn_one(blocks(2 * clock, 2 * clock + 1, SharedType::Text));
            assert!(places.ranges <= MOST);
        }
    }
}
