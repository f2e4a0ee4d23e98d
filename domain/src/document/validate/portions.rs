//! Cuts an accepted update into portions, each an update of its own, so that whoever applies them can stop in between.
//!
//! Invariants
//! - A portion builds on nothing but the document and the portions before it.
//! - Blocks come before deletions, and together the portions are what the document did not have of the update.

use yrs::IdSet;

use crate::document::lib0::write_var;

/// A block that the document does not have: whose it is, its first clock, its place among the bytes of the update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NewBlock {
    pub(super) client: u64,
    pub(super) clock: u32,
    pub(super) bytes: (u32, u32),
}

/// Client, first clock, end.
type Deleted = (u64, u32, u32);

/// What is left of an update to be applied.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Portions {
    /// In an order in which each is there before it is needed.
    blocks: Vec<NewBlock>,
    deletes: Vec<Deleted>,
    taken_blocks: usize,
    taken_deletes: usize,
}

/// A piece of an update.
#[derive(Debug)]
pub(crate) struct Portion {
    /// Encoding v1.
    pub(crate) update: Vec<u8>,
    /// Blocks it brings.
    pub(crate) blocks: usize,
}

impl Portions {
    pub(super) fn new(blocks: Vec<NewBlock>, deletes: Vec<Deleted>) -> Self {
        Self {
            blocks,
            deletes,
            taken_blocks: 0,
            taken_deletes: 0,
        }
    }

    /// How many blocks and deletions there are, taken or not.
    pub(crate) fn len(&self) -> usize {
        self.blocks.len() + self.deletes.len()
    }

    /// How many blocks there are, taken or not.
    pub(crate) fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Takes the next portion of `update`, with at most so many blocks or deletions; none when all was taken.
    pub(crate) fn next(&mut self, update: &[u8], most: usize) -> Option<Portion> {
        let blocks = rest(&self.blocks, &mut self.taken_blocks, most);
        if !blocks.is_empty() {
            let mut bytes = Vec::new();
            write_blocks(&mut bytes, update, blocks);
            write_deletes(&mut bytes, &[]);
            return Some(Portion {
                update: bytes,
                blocks: blocks.len(),
            });
        }
        let deletes = rest(&self.deletes, &mut self.taken_deletes, most);
        (!deletes.is_empty()).then(|| {
            let mut bytes = vec![0];
            write_deletes(&mut bytes, deletes);
            Portion {
                update: bytes,
                blocks: 0,
            }
        })
    }

    /// All new blocks of `update`, taken or not, with these deletions, as one update.
    pub(crate) fn shortened(&self, update: &[u8], deletes: &IdSet) -> Vec<u8> {
        let deletes: Vec<Deleted> = deletes
            .iter()
            .flat_map(|(client, ranges)| {
                ranges
                    .iter()
                    .map(|range| (client.get(), range.start, range.end))
            })
            .collect();
        let mut bytes = Vec::new();
        write_blocks(&mut bytes, update, &self.blocks);
        write_deletes(&mut bytes, &deletes);
        bytes
    }
}

fn rest<'all, T>(all: &'all [T], taken: &mut usize, most: usize) -> &'all [T] {
    let from = *taken;
    *taken = all.len().min(from + most);
    &all[from..*taken]
}

fn write_blocks(bytes: &mut Vec<u8>, update: &[u8], blocks: &[NewBlock]) {
    let mut sorted: Vec<&NewBlock> = blocks.iter().collect();
    // Stable: the blocks of one client stay in the order of their clocks, which follow each other without a gap.
    sorted.sort_by_key(|block| block.client);
    let sections: Vec<_> = sorted.chunk_by(|a, b| a.client == b.client).collect();
    write_var(bytes, sections.len() as u64);
    for section in sections {
        write_var(bytes, section.len() as u64);
        write_var(bytes, section[0].client);
        write_var(bytes, u64::from(section[0].clock));
        for block in section {
            bytes.extend_from_slice(&update[block.bytes.0 as usize..block.bytes.1 as usize]);
        }
    }
}

/// Deletions of one client stand together.
fn write_deletes(bytes: &mut Vec<u8>, deletes: &[Deleted]) {
    let sections: Vec<_> = deletes.chunk_by(|a, b| a.0 == b.0).collect();
    write_var(bytes, sections.len() as u64);
    for section in sections {
        write_var(bytes, section[0].0);
        write_var(bytes, section.len() as u64);
        for (_, start, end) in section {
            write_var(bytes, u64::from(*start));
            write_var(bytes, u64::from(end - start));
        }
    }
}
