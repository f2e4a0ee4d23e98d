//! What those who look after an installation do with the program.

mod commands;
mod statements;
mod stopping;
