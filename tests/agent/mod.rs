//! The agent as people see it, with a model behind a real socket that says what a test writes.

mod authority;
mod bad_input;
