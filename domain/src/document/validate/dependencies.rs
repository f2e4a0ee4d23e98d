//! What the blocks of an update depend on, in the order in which yrs would take them in.
//!
//! Invariants
//! - Nothing is missing means: every neighbour, parent and deleted block is there before it is needed.
//! - A circle is hostile: no editor can make a block before what it stands on.

use yrs::block::ClientID;
use yrs::{ID, StateVector};

use super::neighbours::Neighbours;
use super::places::PlacedBlocks;
use super::portions::{NewBlock, Portions};
use super::walk::{Block, BlockId, Parent, Section, Shape, SharedType, Skeleton};
use super::{Rejection, UpdateFacts, UpdateLimits};

/// Where a block stands: in which type, and how deep within the update.
#[derive(Debug, Clone, Copy)]
struct Place {
    inside: Option<SharedType>,
    depth: usize,
    /// The block of the document that it stands beside, where only the document knows the type.
    beside: Option<BlockId>,
    /// Whether the type is known, and not only what the block says of a parent that the document has.
    is_sure: bool,
}

impl Place {
    /// Known already, or collected.
    const NOWHERE: Self = Self {
        inside: None,
        depth: 0,
        beside: None,
        is_sure: false,
    };

    const fn inside(inside: SharedType, depth: usize) -> Self {
        Self {
            inside: Some(inside),
            depth,
            beside: None,
            is_sure: true,
        }
    }
}

pub(super) fn check(
    skeleton: Skeleton,
    known: &StateVector,
    limits: &UpdateLimits,
) -> Result<UpdateFacts, Rejection> {
    let mut facts = UpdateFacts {
        missing: is_missing(&skeleton, known)?,
        has_new_blocks: skeleton.sections.iter().any(|section| {
            let last = section
                .blocks
                .iter()
                .rev()
                .find(|block| block.shape != Shape::Gap);
            last.is_some_and(|block| block.end() > clock_of(known, section.client))
        }),
        weight: skeleton.weight,
        ..UpdateFacts::default()
    };
    for &(client, start, end) in &skeleton.deletes {
        let id = ID::new(ClientID::new(client), start);
        facts.deletes.insert(id, end - start);
    }
    if !facts.missing {
        let order = Order::new(&skeleton, known, limits).run()?;
        facts.neighbours = order.neighbours;
        facts.placed = order.placed;
        facts.portions = Portions::new(order.taken, skeleton.deletes);
    }
    Ok(facts)
}

fn clock_of(known: &StateVector, client: u64) -> u32 {
    known.get(&ClientID::new(client))
}

fn is_missing(skeleton: &Skeleton, known: &StateVector) -> Result<bool, Rejection> {
    let mut missing = false;
    for section in &skeleton.sections {
        let have = clock_of(known, section.client);
        missing |= section
            .blocks
            .first()
            .is_some_and(|block| block.clock > have);
        for block in &section.blocks {
            missing |= block.shape == Shape::Gap && block.end() > have;
            for id in needs(block).into_iter().flatten() {
                if id.client == section.client && id.clock >= block.clock {
                    return Err(circle());
                }
                missing |= !is_covered(skeleton, known, id);
            }
        }
    }
    for &(client, _, end) in &skeleton.deletes {
        missing |= !is_covered(
            skeleton,
            known,
            BlockId {
                client,
                clock: end - 1,
            },
        );
    }
    Ok(missing)
}

fn needs(block: &Block) -> [Option<BlockId>; 3] {
    let parent = match block.parent {
        Parent::Block(id) => Some(id),
        _ => None,
    };
    [block.left, block.right, parent]
}

/// Sections have no gaps beyond what is known, or the update is missing something anyway.
fn is_covered(skeleton: &Skeleton, known: &StateVector, id: BlockId) -> bool {
    id.clock < clock_of(known, id.client)
        || skeleton
            .by_client
            .get(&id.client)
            .and_then(|place| skeleton.sections[*place].blocks.last())
            .is_some_and(|last| id.clock < last.end())
}

fn circle() -> Rejection {
    Rejection::new("blocks depend on each other in a circle")
}

/// Takes the blocks in as yrs does: client by client, turning to another client where a block needs one of it.
struct Order<'update> {
    skeleton: &'update Skeleton,
    known: &'update StateVector,
    limits: &'update UpdateLimits,
    /// Per section, the places of the blocks that were taken in.
    places: Vec<Vec<Place>>,
    neighbours: Neighbours,
    /// New blocks, where it is sure in what type they stand once the neighbours are found to fit.
    placed: Vec<PlacedBlocks>,
    /// What the document does not have, in this order.
    taken: Vec<NewBlock>,
}

impl<'update> Order<'update> {
    fn new(
        skeleton: &'update Skeleton,
        known: &'update StateVector,
        limits: &'update UpdateLimits,
    ) -> Self {
        Self {
            skeleton,
            known,
            limits,
            places: vec![Vec::new(); skeleton.sections.len()],
            neighbours: Neighbours::default(),
            placed: Vec::new(),
            taken: Vec::new(),
        }
    }

    fn run(mut self) -> Result<Self, Rejection> {
        let mut waiting = vec![false; self.skeleton.sections.len()];
        for first in 0..self.skeleton.sections.len() {
            let mut stack = vec![first];
            waiting[first] = true;
            while let Some(&section) = stack.last() {
                match self.advance(section)? {
                    None => {
                        stack.pop();
                        waiting[section] = false;
                    }
                    Some(other) if waiting[other] => return Err(circle()),
                    Some(other) => {
                        stack.push(other);
                        waiting[other] = true;
                    }
                }
            }
        }
        Ok(self)
    }

    /// Takes in blocks of a section until it ends or needs a block of another, and then names that one.
    fn advance(&mut self, section: usize) -> Result<Option<usize>, Rejection> {
        let skeleton = self.skeleton;
        let Section { client, blocks } = &skeleton.sections[section];
        let have = clock_of(self.known, *client);
        while let Some(block) = blocks.get(self.places[section].len()) {
            if block.end() <= have {
                // The document has it, whatever is said of it here.
                self.places[section].push(Place::NOWHERE);
                continue;
            }
            let mut needed = needs(block).into_iter().flatten();
            if let Some(other) = needed.find_map(|id| self.awaited(id)) {
                return Ok(Some(other));
            }
            let place = self.place(block)?;
            check_fit(block, place)?;
            if let Some(inside) = self.note_neighbour(block, place)? {
                self.note_placed(*client, block, inside);
            }
            self.places[section].push(place);
            self.taken.push(NewBlock {
                client: *client,
                clock: block.clock,
                bytes: block.bytes,
            });
        }
        Ok(None)
    }

    /// The section that has to go on before this block is there.
    fn awaited(&self, id: BlockId) -> Option<usize> {
        if id.clock < clock_of(self.known, id.client) {
            return None;
        }
        let (section, index) = self.find(id)?;
        (index >= self.places[section].len()).then_some(section)
    }

    fn find(&self, id: BlockId) -> Option<(usize, usize)> {
        let section = *self.skeleton.by_client.get(&id.client)?;
        let blocks = &self.skeleton.sections[section].blocks;
        let index = blocks.partition_point(|block| block.end() <= id.clock);
        let block = blocks.get(index)?;
        (block.clock <= id.clock).then_some((section, index))
    }

    fn place(&self, block: &Block) -> Result<Place, Rejection> {
        match block.parent {
            Parent::Root(inside) => Ok(Place::inside(inside, 0)),
            Parent::Block(_) if self.skeleton.is_flat => {
                Err(Rejection::new("a parent is not a shared type"))
            }
            Parent::Block(id) => self.place_inside(block, id),
            Parent::OfNeighbour if self.skeleton.is_flat => Ok(Place::inside(SharedType::Text, 0)),
            Parent::OfNeighbour => Ok(self.place_beside(block)),
        }
    }

    fn place_beside(&self, block: &Block) -> Place {
        let Some(id) = block.left.or(block.right) else {
            return Place::NOWHERE;
        };
        if id.clock < clock_of(self.known, id.client) {
            return Place {
                beside: Some(id),
                ..Place::NOWHERE
            };
        }
        self.place_of(id).unwrap_or(Place::NOWHERE)
    }

    /// Notes what the document has to say about the block; the type that it stands in then, where that is sure.
    fn note_neighbour(
        &mut self,
        block: &Block,
        place: Place,
    ) -> Result<Option<SharedType>, Rejection> {
        let Some(beside) = place.beside else {
            return Ok(place.inside.filter(|_| place.is_sure));
        };
        let expected = match block.shape {
            Shape::Prose | Shape::Embed => SharedType::Text,
            Shape::Value | Shape::Type(_) => SharedType::Map,
            Shape::Collected | Shape::Gap | Shape::Deleted => return Ok(None),
        };
        self.neighbours.insert(beside, expected)?;
        Ok(Some(expected))
    }

    fn note_placed(&mut self, client: u64, block: &Block, inside: SharedType) {
        if let Some(last) = self.placed.last_mut()
            && last.client == client
            && last.end == block.clock
            && last.inside == inside
        {
            last.end = block.end();
            return;
        }
        self.placed.push(PlacedBlocks {
            client,
            start: block.clock,
            end: block.end(),
            inside,
        });
    }

    fn place_of(&self, id: BlockId) -> Option<Place> {
        let (section, index) = self.find(id)?;
        self.places[section].get(index).copied()
    }

    fn place_inside(&self, block: &Block, parent: BlockId) -> Result<Place, Rejection> {
        let known = parent.clock < clock_of(self.known, parent.client);
        let Some((section, index)) = self.find(parent).filter(|_| !known) else {
            let inside = if block.has_key {
                SharedType::Map
            } else {
                SharedType::Text
            };
            let said = Place::inside(inside, 0);
            return Ok(Place {
                is_sure: false,
                ..said
            });
        };
        match self.skeleton.sections[section].blocks[index].shape {
            Shape::Type(inside) => {
                let depth = self.places[section][index].depth + 1;
                if depth > self.limits.type_depth {
                    return Err(Rejection::new("shared types are nested too deep"));
                }
                Ok(Place::inside(inside, depth))
            }
            Shape::Collected | Shape::Deleted => Ok(Place::NOWHERE),
            _ => Err(Rejection::new("a parent is not a shared type")),
        }
    }
}

fn check_fit(block: &Block, place: Place) -> Result<(), Rejection> {
    let is_explicit = block.parent != Parent::OfNeighbour;
    match (place.inside, block.shape) {
        (_, Shape::Collected | Shape::Gap) | (None, _) => Ok(()),
        (Some(SharedType::Map), _) if is_explicit && !block.has_key => {
            Err(Rejection::new("a Y.Map is used as a list"))
        }
        (Some(SharedType::Text), _) if is_explicit && block.has_key => {
            Err(Rejection::new("a Y.Text is used as a map"))
        }
        (Some(SharedType::Map), Shape::Prose | Shape::Embed) => {
            Err(Rejection::new("a Y.Map is used as a text"))
        }
        (Some(SharedType::Text), Shape::Value | Shape::Type(_)) => {
            Err(Rejection::new("a Y.Text holds something other than text"))
        }
        _ => Ok(()),
    }
}
