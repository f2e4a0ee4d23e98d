//! The door for programs of others: what they can do beside people, and what they can not.

mod authority;
mod clients;
mod door;
mod editing;
mod reading;
