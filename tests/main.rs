//! The cross-crate tests: the program as its clients see it.
//!
//! Invariants
//! - Only public doors are used: sockets, GraphQL, the command line.
//!
//! Not here: tests of one crate's own rules, which stand beside its code.

mod sync;
