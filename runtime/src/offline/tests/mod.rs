//! The offline planner in whole tasks: on a stage of its own for every turn that a task can take, and on the real engine.

mod board;
mod edits;
mod faults;
mod goals;
mod properties;
mod stage;
mod talk;

use stage::Stage;
