//! Tasks, messages and cards as people see them, without an agent: what is stored, shown, listed, refused.

mod events;
mod inbox;
mod isolation;
mod lists;
mod making;
mod standing;
