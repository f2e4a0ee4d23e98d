//! What a command of a turn finds stored as it begins: read at once, because every step needs all of it.
//!
//! Invariants
//! - It is read inside the command's own transaction, so it is true until the command ends.
//! - What people may have written meanwhile is told by its flags: where one is down there is nothing to read.

use super::{Call, Step, Turn};
use crate::memory::MemoryMark;
use crate::task::{Projections, Task};

/// A turn with what its next command looks at.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says of another list whether it is worth reading"
)]
pub struct Entered {
    /// The turn.
    pub turn: Turn,
    /// Its task.
    pub task: Task,
    /// The task's projections; none before its first decision, or where they were deleted.
    pub projections: Option<Projections>,
    /// The step at the resume point, the first that is not settled; none before it is opened.
    pub step: Option<Step>,
    /// Calls of that step, by index; none before it is decided.
    pub calls: Vec<Call>,
    /// Whether messages that no decision has read wait for the task, taken or not.
    pub has_inbox: bool,
    /// Whether works of the task were changed by others since it looked.
    pub has_notices: bool,
    /// Whether a card of the task is open.
    pub has_open_cards: bool,
    /// Whether the task refers to works.
    pub has_works: bool,
    /// Whether orders of the task are under way.
    pub has_jobs: bool,
    /// How often memory has changed for the person whose task it is.
    pub memory: MemoryMark,
}
