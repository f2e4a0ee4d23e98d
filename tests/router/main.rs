//! The router on real storage, with the real index and the offline planner: how often it finds the right place.
//!
//! Not here: what the whole program shows (`main.rs` beside this folder).

mod cases;
mod figures;
mod house;
