//! The engine on real storage, with recorded replies of the model: crashes, lost answers, borders between steps, age.
//!
//! Time moves by a clock of the test, and workers are driven step by step, so that each test decides what happens when.

mod borders;
mod carried;
mod crashes;
mod extracting;
mod flat;
mod forgetting;
mod journal;
mod misfits;
mod orders;
mod routing;
mod schedules;
mod switched;
mod world;
