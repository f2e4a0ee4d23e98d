//! Faults: processes that die at any moment, and databases that are left for a while.

mod database;
mod disk;
mod kill;
mod load;
mod processes;
mod restarts;
mod showcase;
mod turns;
mod wakes;
