//! What those who look after an installation do with the program.

mod commands;
mod moving;
mod statements;
mod stopping;
