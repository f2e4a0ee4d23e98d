//! Sockets of editors, seen from outside.

pub(crate) mod clients;
