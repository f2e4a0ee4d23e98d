//! Walks the bytes of an update (encoding v1) from front to end into a skeleton of its blocks.
//!
//! Invariants
//! - Consumes the bytes exactly, or refuses them.
//! - The skeleton holds no content, and about as many bytes as the input at most a dozen times over.
//! - Blocks of one client follow each other without overlap; each client comes once.

use std::collections::HashMap;

use yrs::block::ClientID;

use super::value::{self, Budget, count_of};
use super::{Rejection, UpdateLimits};
use crate::document::lib0::Reader;
use crate::work::WorkKind;

/// Clocks stay below this: yrs computes with signed 32 bits.
const MAX_CLOCK: u32 = i32::MAX as u32;
/// Estimated memory of a decoded block, in bytes.
const BLOCK: usize = 240;

const HAS_LEFT: u8 = 0x80;
const HAS_RIGHT: u8 = 0x40;
const HAS_KEY: u8 = 0x20;

/// Names a character, value or type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct BlockId {
    pub(super) client: u64,
    pub(super) clock: u32,
}

/// A shared type that the layout has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum SharedType {
    Map,
    Text,
}

/// What a block says of its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parent {
    /// The parent of its neighbour.
    OfNeighbour,
    Root(SharedType),
    Block(BlockId),
}

/// What a block holds, as far as its place matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Nothing: collected, or a gap.
    Collected,
    Gap,
    Deleted,
    /// Characters and formats.
    Prose,
    /// What stands in a text and is no character.
    Embed,
    /// Values and bytes.
    Value,
    Type(SharedType),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub(super) clock: u32,
    pub(super) length: u32,
    pub(super) left: Option<BlockId>,
    pub(super) right: Option<BlockId>,
    pub(super) parent: Parent,
    pub(super) has_key: bool,
    pub(super) shape: Shape,
    /// Its place among the bytes of the update.
    pub(super) bytes: (u32, u32),
}

impl Block {
    pub(super) const fn end(&self) -> u32 {
        self.clock + self.length
    }

    const fn bare(clock: u32, length: u32, shape: Shape) -> Self {
        Self {
            clock,
            length,
            left: None,
            right: None,
            parent: Parent::OfNeighbour,
            has_key: false,
            shape,
            bytes: (0, 0),
        }
    }
}

/// The blocks of one client.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) client: u64,
    pub(super) blocks: Vec<Block>,
}

/// An update without its content.
#[derive(Debug)]
pub(super) struct Skeleton {
    pub(super) sections: Vec<Section>,
    /// Place of a client among the sections.
    pub(super) by_client: HashMap<u64, usize>,
    /// Client, first clock, end.
    pub(super) deletes: Vec<(u64, u32, u32)>,
    /// Whether documents of the kind are one text, without shared types inside.
    pub(super) is_flat: bool,
    /// Memory that it takes, estimated, in bytes.
    pub(super) weight: usize,
}

pub(super) fn walk(
    update: &[u8],
    kind: WorkKind,
    limits: &UpdateLimits,
) -> Result<Skeleton, Rejection> {
    let mut walker = Walker {
        reader: Reader::new(update),
        length: update.len(),
        budget: Budget::new(limits),
        kind,
        limits,
    };
    let skeleton = walker.update()?;
    if !walker.reader.is_at_end() {
        return Err(Rejection::new("bytes follow the update"));
    }
    Ok(skeleton)
}

/// The type of a root, for the kinds that have it.
fn root_type(kind: WorkKind, name: &str) -> Option<SharedType> {
    match (kind, name) {
        (WorkKind::Storyboard | WorkKind::Collection | WorkKind::Flow, "nodes")
        | (WorkKind::Flow, "edges")
        | (WorkKind::Asset, "asset") => Some(SharedType::Map),
        (WorkKind::Text, "text") => Some(SharedType::Text),
        _ => None,
    }
}

struct Walker<'bytes> {
    reader: Reader<'bytes>,
    length: usize,
    budget: Budget,
    kind: WorkKind,
    limits: &'bytes UpdateLimits,
}

impl Walker<'_> {
    fn update(&mut self) -> Result<Skeleton, Rejection> {
        let count = self.clients()?;
        let mut skeleton = Skeleton {
            sections: Vec::new(),
            by_client: HashMap::new(),
            deletes: Vec::new(),
            is_flat: self.kind == WorkKind::Text,
            weight: 0,
        };
        for place in 0..count {
            let section = self.section()?;
            if skeleton.by_client.insert(section.client, place).is_some() {
                return Err(Rejection::new("a client comes twice"));
            }
            skeleton.sections.push(section);
        }
        self.deletes(&mut skeleton.deletes)?;
        skeleton.weight = self.budget.spent(self.limits);
        Ok(skeleton)
    }

    fn clients(&mut self) -> Result<usize, Rejection> {
        let count = count_of(&mut self.reader, 2)?;
        if count > self.limits.clients {
            return Err(Rejection::new(format!(
                "the update holds changes of {count} clients; at most {} are allowed",
                self.limits.clients
            )));
        }
        Ok(count)
    }

    fn section(&mut self) -> Result<Section, Rejection> {
        let count = count_of(&mut self.reader, 2)?;
        let client = self.reader.var_u53()?;
        let mut clock = self.reader.var_u32()?;
        let mut blocks = Vec::new();
        for _ in 0..count {
            self.budget.spend(BLOCK)?;
            let from = self.position();
            let mut block = self.block(clock)?;
            block.bytes = (from, self.position());
            clock = clock
                .checked_add(block.length)
                .filter(|end| *end <= MAX_CLOCK)
                .ok_or_else(|| Rejection::new("a clock is too large"))?;
            blocks.push(block);
        }
        Ok(Section { client, blocks })
    }

    fn block(&mut self, clock: u32) -> Result<Block, Rejection> {
        let info = self.reader.byte()?;
        match info {
            0 => return Ok(Block::bare(clock, self.length()?, Shape::Collected)),
            10 => return Ok(Block::bare(clock, self.length()?, Shape::Gap)),
            _ => {}
        }
        let left = self.id_if(info & HAS_LEFT != 0)?;
        let right = self.id_if(info & HAS_RIGHT != 0)?;
        let has_parent = left.is_none() && right.is_none();
        let parent = if has_parent {
            self.parent()?
        } else {
            Parent::OfNeighbour
        };
        let has_key = has_parent && info & HAS_KEY != 0;
        if has_key {
            value::text(&mut self.reader, &mut self.budget)?;
        }
        let (length, shape) = self.content(info & 0x1f)?;
        Ok(Block {
            clock,
            length,
            left,
            right,
            parent,
            has_key,
            shape,
            bytes: (0, 0),
        })
    }

    /// How far the walk has come; an update is far smaller than what 32 bits can count.
    fn position(&self) -> u32 {
        (self.length - self.reader.remaining()) as u32
    }

    fn id_if(&mut self, there: bool) -> Result<Option<BlockId>, Rejection> {
        there.then(|| self.id()).transpose()
    }

    fn id(&mut self) -> Result<BlockId, Rejection> {
        let client = self.reader.var_u53()?;
        let clock = self.reader.var_u32()?;
        if clock >= MAX_CLOCK {
            return Err(Rejection::new("a clock is too large"));
        }
        Ok(BlockId { client, clock })
    }

    fn parent(&mut self) -> Result<Parent, Rejection> {
        match self.reader.var_u32()? {
            0 => self.id().map(Parent::Block),
            1 => {
                let name = value::text(&mut self.reader, &mut self.budget)?;
                root_type(self.kind, name).map(Parent::Root).ok_or_else(|| {
                    let name: String = name.chars().take(40).collect();
                    Rejection::new(format!(
                        "a work of kind {} has no shared type `{name}`",
                        self.kind.name()
                    ))
                })
            }
            _ => Err(Rejection::new("a parent is neither a root nor a block")),
        }
    }

    fn content(&mut self, content: u8) -> Result<(u32, Shape), Rejection> {
        match content {
            1 => Ok((self.length()?, Shape::Deleted)),
            3 => {
                self.budget.spend(self.reader.var_bytes()?.len())?;
                Ok((1, Shape::Value))
            }
            4 => self.characters(),
            5 => self.json().map(|()| (1, Shape::Embed)),
            6 => {
                value::text(&mut self.reader, &mut self.budget)?;
                self.json().map(|()| (1, Shape::Prose))
            }
            7 => Ok((1, Shape::Type(self.shared_type()?))),
            8 => self.values(),
            2 => Err(Rejection::new("values in the old JSON form are not taken")),
            9 => Err(Rejection::new("documents inside documents are not taken")),
            other => Err(Rejection::new(format!("{other} is not a kind of content"))),
        }
    }

    fn length(&mut self) -> Result<u32, Rejection> {
        match self.reader.var_u32()? {
            0 => Err(Rejection::new("a block is empty")),
            length if length > MAX_CLOCK => Err(Rejection::new("a clock is too large")),
            length => Ok(length),
        }
    }

    fn characters(&mut self) -> Result<(u32, Shape), Rejection> {
        let text = value::text(&mut self.reader, &mut self.budget)?;
        let length = text.encode_utf16().count() as u32;
        if length == 0 {
            return Err(Rejection::new("a block is empty"));
        }
        Ok((length, Shape::Prose))
    }

    fn json(&mut self) -> Result<(), Rejection> {
        value::skip_json(&mut self.reader, self.limits.value_depth, &mut self.budget)
    }

    fn values(&mut self) -> Result<(u32, Shape), Rejection> {
        let count = count_of(&mut self.reader, 1)?;
        if count == 0 {
            return Err(Rejection::new("a block is empty"));
        }
        value::skip_values(
            &mut self.reader,
            count,
            self.limits.value_depth,
            &mut self.budget,
        )?;
        Ok((count as u32, Shape::Value))
    }

    fn shared_type(&mut self) -> Result<SharedType, Rejection> {
        match self.reader.var_u32()? {
            1 => Ok(SharedType::Map),
            2 => Ok(SharedType::Text),
            _ => Err(Rejection::new(
                "of the shared types only Y.Map and Y.Text are taken",
            )),
        }
    }

    fn deletes(&mut self, deletes: &mut Vec<(u64, u32, u32)>) -> Result<(), Rejection> {
        let clients = count_of(&mut self.reader, 2)?;
        let mut seen = std::collections::HashSet::new();
        for _ in 0..clients {
            let client = self.reader.var_u53()?;
            if !seen.insert(ClientID::new(client)) {
                return Err(Rejection::new("a client is deleted from twice"));
            }
            let ranges = count_of(&mut self.reader, 2)?;
            let mut least = 0;
            for _ in 0..ranges {
                let start = self.reader.var_u32()?;
                let end = start
                    .checked_add(self.length()?)
                    .filter(|end| *end <= MAX_CLOCK)
                    .ok_or_else(|| Rejection::new("a clock is too large"))?;
                if start < least {
                    return Err(Rejection::new("deleted ranges overlap or are not sorted"));
                }
                least = end;
                self.budget.spend(16)?;
                deletes.push((client, start, end));
            }
        }
        Ok(())
    }
}
