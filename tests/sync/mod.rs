//! Sockets of editors, seen from outside.

mod clients;
